"""Which inventory a command reads: the one that was named, the one of a start URL, or the only one there is."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from sitemap_crawler.exceptions import LocateError
from sitemap_crawler.urls.normalise import directory_of
from sitemap_crawler.urls.scope import DomainScope, Scope, default_sitemap_url
from sitemap_crawler.urls.spelling import absolute_spellings, any_variant, directories_above, shown

if TYPE_CHECKING:
    from sitemap_crawler.config.options import Options
    from sitemap_crawler.exceptions import InventoryError
    from sitemap_crawler.inventory.lookup import LatestRun

SHOWN = 20
"""Inventories named when one has to be chosen."""


def default_state_path(sitemap_url: str) -> Path:
    """One inventory per site: the file's name holds the host for people and a digest for uniqueness."""
    digest = blake2b(sitemap_url.encode(), digest_size=4).hexdigest()
    return state_directory() / f"{_host(sitemap_url)}-{digest}.sqlite"


def state_path(options: Options) -> Path:
    """The inventory of a site."""
    return Path(options.state) if options.state else default_state_path(options.site_url)


def state_directory() -> Path:
    from platformdirs import user_state_path

    return user_state_path("sitemap-crawler")


def find_inventory(*, state: str | None, config: Path | None, start_url: str | None, any_page: bool = False) -> Path:
    """The inventory that was named, or else searched. With `any_page` any URL in a site's scope means that site, when
    no crawl began at it.

    Raises LocateError, SpellingError, OptionError for what the site file says, InventoryError when the file is no
    inventory.
    """
    if state is not None:
        return _named(Path(state.removeprefix("sqlite:///")), start_url, any_page=any_page)
    if config is not None:
        return _configured(config, start_url, any_page=any_page)
    found = _inventories()
    if start_url is not None:
        return _of_start(found, start_url, any_page=any_page)
    return _only(found, "give the start URL, or --state")


def inventory_for(text: str) -> Path:
    """The inventory whose scope holds the URL that is spelt `text`, the longest scope first; else the only one."""
    asked = absolute_spellings(text)
    found = _inventories()
    return _holding(found, asked) or _holding_variant(found, asked) or _only(found, "give the one meant with --state")


class _Found(NamedTuple):
    """What is in the user's state directory."""

    known: dict[Path, LatestRun]
    refused: dict[Path, InventoryError]
    """Those that can't be read, and why: the one asked for may be among them."""

    def those(self) -> str:
        """A list for a message, one to a line."""
        lines = [f"\n  {run.requested_url}  {path}" for path, run in self.known.items()]
        lines += [f"\n  not readable: {error}" for error in self.refused.values()]
        more = f"\n  … and {len(lines) - SHOWN:,} more" if len(lines) > SHOWN else ""
        return ":" + "".join(lines[:SHOWN]) + more if lines else ": crawl it first, or give --state"


def _inventories() -> _Found:
    from sitemap_crawler.exceptions import InventoryError
    from sitemap_crawler.inventory.lookup import open_inventory

    found = _Found({}, {})
    for path in sorted(state_directory().glob("*.sqlite")):
        try:
            with open_inventory(path) as inventory:
                found.known[path] = inventory.run
        except InventoryError as error:
            found.refused[path] = error
    return found


def _of_start(found: _Found, start_url: str, *, any_page: bool) -> Path:
    asked = _start_urls(start_url)
    for url in asked:
        if refused := found.refused.get(default_state_path(default_sitemap_url(url))):
            raise refused
    chosen = {path: run for path, run in found.known.items() if _starts_at(run, asked)}
    if len(chosen) > 1:
        raise LocateError(f"there are several inventories: give --state{_Found(chosen, {}).those()}")
    holding = next(iter(chosen), None) or (_holding(found, asked) if any_page else None)
    if holding is None:
        raise LocateError(f"no crawl of {shown(start_url)} is known{found.those()}")
    return holding


def _holding(found: _Found, asked: list[str]) -> Path | None:
    """The inventory with the longest scope that admits one of the URLs. Raises InventoryError when that, or the only
    one of the host, can't be read."""
    best = _longest({path: run for path, run in found.known.items() if _admits(run, asked)})
    _refuse_longer(found, asked, longest=len(_prefix(found.known[best])) if best else 0)
    if best is None:
        _refuse_host(found, {_host(url) for url in asked})
    return best


def _holding_variant(found: _Found, asked: list[str]) -> Path | None:
    """The same among the http, https, www and apex addresses of a site."""
    variants = [any_variant(url) for url in asked]
    prefixes = {path: any_variant(_prefix(run)) for path, run in found.known.items()}
    holding = [path for path, prefix in prefixes.items() if any(variant.startswith(prefix) for variant in variants)]
    best = _longest({path: found.known[path] for path in holding})
    if best is None:
        hosts = {_host(url).removeprefix("www.") for url in asked}
        _refuse_host(found, hosts | {f"www.{host}" for host in hosts})
    return best


def _refuse_longer(found: _Found, asked: list[str], *, longest: int) -> None:
    """Raises the error of an unreadable inventory for a directory above one of the URLs, longer than any known."""
    for url in asked if found.refused else ():
        for directory in directories_above(url):
            if len(directory) <= longest:
                break
            if refused := found.refused.get(default_state_path(default_sitemap_url(directory))):
                raise refused


def _refuse_host(found: _Found, hosts: set[str]) -> None:
    """Raises the error of an unreadable inventory of one of the hosts, by its file's name."""
    for path, refused in found.refused.items():
        if path.stem.rpartition("-")[0] in hosts:
            raise refused


def _longest(holding: dict[Path, LatestRun]) -> Path | None:
    return max(holding, key=lambda path: (len(_prefix(holding[path])), holding[path].started, path), default=None)


def _prefix(run: LatestRun) -> str:
    return Scope.of_sitemap(run.sitemap_url).prefix


def _admits(run: LatestRun, asked: list[str]) -> bool:
    scope = DomainScope(_prefix(run)) if run.options.get("subdomains") else Scope(_prefix(run))
    preview = directory_of(run.start_url) if run.options.get("public_url") else None
    return any(scope.admits(url) or (preview is not None and url.startswith(preview)) for url in asked)


def _starts_at(run: LatestRun, asked: list[str]) -> bool:
    return run.requested_url in asked or run.start_url in asked


def _named(path: Path, start_url: str | None, *, any_page: bool) -> Path:
    from sitemap_crawler.inventory.lookup import open_inventory

    if not path.exists():
        raise LocateError(f"there is no inventory {path}: crawl first, or give the right --state")
    with open_inventory(path) as inventory:
        run = inventory.run
    if start_url is None:
        return path
    asked = _start_urls(start_url)
    if not _starts_at(run, asked) and not (any_page and _admits(run, asked)):
        raise LocateError(
            f"the inventory {path} holds the site of {run.requested_url}, not {shown(start_url)}: give one of the two"
        )
    return path


def _configured(config: Path, start_url: str | None, *, any_page: bool) -> Path:
    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.sources import read_site_file

    values, _ = read_site_file(config)
    if start_url is not None:
        values["start_url"] = start_url
    options = Options.parse(values)
    return _named(state_path(options), options.start_url, any_page=any_page)


def _only(found: _Found, advice: str) -> Path:
    """Raises InventoryError when all that is there can't be read."""
    if len(found.known) > 1:
        raise LocateError(f"there are several inventories: {advice}{found.those()}")
    for path in found.known:
        return path
    for refused in found.refused.values():
        raise refused
    raise LocateError(f"there is no inventory in {state_directory()}: crawl first, or give --state")


def _start_urls(text: str) -> list[str]:
    urls = absolute_spellings(text)
    if not urls:
        raise LocateError(f"{shown(text)} is no http or https URL: give the start URL of the crawl")
    return urls


def _host(url: str) -> str:
    """As the name of an inventory's file has it."""
    return (urlsplit(url).hostname or "").replace(":", "-")
