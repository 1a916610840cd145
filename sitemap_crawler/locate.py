"""Which inventory a command reads: the one that was named, the one of a start URL, or the only one there is."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sitemap_crawler.scope import Scope
from sitemap_crawler.spellings import absolute_spellings, any_variant

if TYPE_CHECKING:
    from sitemap_crawler.inventory.lookup import LatestRun

SHOWN = 20
"""Inventories named when one has to be chosen."""


class LocateError(Exception):
    """There is no such inventory, or more than one; the message is one line, but for a list of them."""


def default_state_path(sitemap_url: str) -> Path:
    """One inventory per site: the file's name holds the host for people and a digest for uniqueness."""
    parts = urlsplit(sitemap_url)
    digest = blake2b(sitemap_url.encode(), digest_size=4).hexdigest()
    host = (parts.hostname or "").replace(":", "-")
    return state_directory() / f"{host}-{digest}.sqlite"


def state_directory() -> Path:
    from platformdirs import user_state_path

    return user_state_path("sitemap-crawler")


def find_inventory(*, state: str | None, config: Path | None, start_url: str | None) -> Path:
    """Raises LocateError, OptionError for what the site file says, InventoryError when a named file is no inventory."""
    if state is not None:
        return _named(Path(state.removeprefix("sqlite:///")), start_url)
    if config is not None:
        return _configured(config, start_url)
    known = _inventories()
    if start_url is not None:
        asked = _start_urls(start_url)
        chosen = {path: run for path, run in known.items() if not asked.isdisjoint((run.requested_url, run.start_url))}
        if not chosen:
            raise LocateError(f"no crawl of {_shown(start_url)} is known{_those(known)}")
        return _only(chosen)
    if not known:
        raise LocateError(f"there is no inventory in {state_directory()}: crawl first, or give --state")
    return _only(known)


def inventory_for(text: str) -> Path:
    """The inventory whose scope holds the URL that is spelt `text`, the longest scope first; else the only one."""
    known = _inventories()
    asked = absolute_spellings(text)
    scopes = {path: Scope.of_sitemap(run.sitemap_url) for path, run in known.items()}
    holding = [path for path, scope in scopes.items() if any(scope.admits(url) for url in asked)]
    if not holding:
        prefixes = {path: any_variant(scope.prefix) for path, scope in scopes.items()}
        holding = [
            path for path, prefix in prefixes.items() if any(any_variant(url).startswith(prefix) for url in asked)
        ]
    if holding:
        return max(holding, key=lambda path: (len(scopes[path].prefix), known[path].started, path))
    return find_inventory(state=None, config=None, start_url=None)


def _named(path: Path, start_url: str | None) -> Path:
    from sitemap_crawler.inventory.lookup import open_inventory

    if not path.exists():
        raise LocateError(f"there is no inventory {path}: crawl first, or give the right --state")
    with open_inventory(path) as inventory:
        run = inventory.run
    if start_url is not None and _start_urls(start_url).isdisjoint((run.requested_url, run.start_url)):
        raise LocateError(
            f"the inventory {path} holds the site of {run.requested_url}, not {_shown(start_url)}: give one of the two"
        )
    return path


def _configured(config: Path, start_url: str | None) -> Path:
    from sitemap_crawler.options import Options, read_site_file

    values, _ = read_site_file(config)
    if start_url is not None:
        values["start_url"] = start_url
    options = Options.parse(values)
    path = Path(options.state) if options.state else default_state_path(options.entry_url)
    return _named(path, options.start_url)


def _inventories() -> dict[Path, LatestRun]:
    """Those in the user's state directory. Raises InventoryError when all that is there can't be read."""
    from sitemap_crawler.inventory.lookup import open_inventory
    from sitemap_crawler.inventory.store import InventoryError

    known = {}
    refused: InventoryError | None = None
    for path in sorted(state_directory().glob("*.sqlite")):
        try:
            with open_inventory(path) as inventory:
                known[path] = inventory.run
        except InventoryError as error:
            refused = refused or error
    if refused is not None and not known:
        raise refused
    return known


def _only(known: dict[Path, LatestRun]) -> Path:
    if len(known) > 1:
        raise LocateError(f"there are several inventories: give the start URL, or --state{_those(known)}")
    return next(iter(known))


def _those(known: dict[Path, LatestRun]) -> str:
    lines = [f"\n  {run.requested_url}  {path}" for path, run in list(known.items())[:SHOWN]]
    more = f"\n  … and {len(known) - SHOWN:,} more" if len(known) > SHOWN else ""
    return ":" + "".join(lines) + more if lines else ": crawl it first, or give --state"


def _start_urls(text: str) -> set[str]:
    urls = absolute_spellings(text)
    if not urls:
        raise LocateError(f"{_shown(text)} is no http or https URL: give the start URL of the crawl")
    return set(urls)


def _shown(text: str) -> str:
    """As it was typed, without what may be a user and a password."""
    return repr(text.rpartition("@")[2][:200])
