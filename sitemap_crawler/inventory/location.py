"""Location of the inventory that a command reads: the named one, that of a start URL, or the only one."""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from sitemap_crawler.config.state_location import STATE_VARIABLE, ServerLocation, parse_location
from sitemap_crawler.exceptions import LocateError, OldVersionError, OptionError
from sitemap_crawler.urls.normalise import directory_of
from sitemap_crawler.urls.scope import DomainScope, Scope, default_sitemap_url
from sitemap_crawler.urls.spelling import absolute_spellings, directories_above, shown, without_variant
from sitemap_crawler.utils.runtime import echo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.exceptions import InventoryError
    from sitemap_crawler.inventory.lookup import LatestRun

FIND_REMEDY = "crawl first, or give --config FILE or --state PATH of the crawl"
"""Remedy when no inventory is in the user's state directory. A site file can name another place."""
_NOT_IN_NAMES = re.compile("[^a-z0-9]")
MAX_SHOWN = 20
"""Maximum number of inventories that a message lists."""


def schema_name(sitemap_url: str) -> str:
    """Return the default schema of a site in a database, made as the name of the default file."""
    host = _NOT_IN_NAMES.sub("_", _host(sitemap_url).lower())
    return f"{host[:50]}_{_digest(sitemap_url)}"


def default_location(sitemap_url: str, server: ServerLocation | None = None) -> StateLocation:
    """Return the default place of a site's inventory: on a server, or in the user's state directory."""
    return server.with_schema(schema_name(sitemap_url)) if server else default_state_path(sitemap_url)


def default_state_path(sitemap_url: str) -> Path:
    """Return the default path of a site's inventory. Its name has the host for readers and a digest for uniqueness."""
    return state_directory() / f"{_host(sitemap_url)}-{_digest(sitemap_url)}.sqlite"


def state_location(options: Options) -> StateLocation:
    """Return the place of the inventory of a crawl with these options. Raises OptionError."""
    location = _given_location(options.state)
    if isinstance(location, ServerLocation):
        return location.with_schema(schema_name(options.site_url))
    return location or default_state_path(options.site_url)


def _given_location(state: str | None) -> StateLocation | None:
    """Return the place that `--state` or the environment names; None without both."""
    text = state or os.environ.get(STATE_VARIABLE)
    if not text:
        return None
    location = parse_location(text)
    if isinstance(location, ServerLocation) and location.has_password and any(text in word for word in sys.argv):
        _warn_of_password()
    return location


@cache
def _warn_of_password() -> None:
    """Print a warning, once."""
    echo(
        f"Warning: all users of this machine can read the password of --state: give it by {STATE_VARIABLE} in the "
        "environment, .pgpass or service=",
        err=True,
    )


def inventory_exists(location: StateLocation) -> bool:
    """Return whether there is an inventory. Raises InventoryError if a server cannot be asked."""
    if isinstance(location, Path):
        return location.exists()
    from sitemap_crawler.inventory.postgresql import server_inventories

    return location.schema in server_inventories(location)


def state_directory() -> Path:
    """Return the user's directory of inventories."""
    from platformdirs import user_state_path

    return user_state_path("sitemap-crawler")


def find_inventory(
    *, state: str | None, config: Path | None, start_url: str | None, any_page: bool = False
) -> StateLocation:
    """Return the inventory at `state`, or that of a site file, of a start URL, or the only one.

    With `any_page` the start URL may be any URL in the scope of a site.

    Raises LocateError if no inventory or several match, SpellingError for a start URL that is none, OptionError for an
    unusable site file, InventoryError if the file cannot be read.
    """
    if state is None and config is not None:
        return _configured(site_file_of(config, start_url, any_page=any_page), start_url, any_page=any_page)
    location = _given_location(state)
    if location is not None and not _is_database(location):
        return _named(location, start_url, any_page=any_page)
    inventories = _all_inventories(location)
    if start_url is not None:
        return _of_start_url(inventories, start_url, any_page=any_page)
    return _only_one(inventories, "there are several inventories: give the start URL, or --state")


def find_inventory_to_write(*, state: str | None, config: Path | None, start_url: str | None) -> StateLocation:
    """Return the inventory as `find_inventory` does, after its migration if an earlier release wrote it."""
    from sitemap_crawler.inventory.store import open_store

    try:
        return find_inventory(state=state, config=config, start_url=start_url)
    except OldVersionError as error:
        open_store(error.location).close()
    return find_inventory(state=state, config=config, start_url=start_url)


def inventory_place(*, state: str | None, config: Path | None, start_url: str | None) -> StateLocation:
    """Return the place of the inventory as `find_inventory` does, without opening it. Raises LocateError."""
    location = None if state is None and config is not None else _given_location(state)
    candidates: list[StateLocation]
    if location is not None and not _is_database(location):
        candidates = [location]
    elif config is not None and state is None:
        candidates = [state_location(options) for options in _options_of(site_file_of(config, start_url), start_url)]
    elif start_url is not None:
        server = location if isinstance(location, ServerLocation) else None
        candidates = [default_location(default_sitemap_url(url), server) for url in _start_urls(start_url)]
    else:
        candidates = _stored_in(location)
        if len(candidates) > 1:
            raise LocateError("there are several inventories: give the start URL, or --state")
    for candidate in candidates:
        if inventory_exists(candidate):
            return candidate
    missing = candidates[0] if candidates else f"in {location or state_directory()}"
    raise LocateError(f"there is no inventory {missing}: crawl first, or give the right --state")


def site_file_of(config: Path, start_url: str | None, *, any_page: bool = False) -> Path:
    """Return the site file that `--config` means: the file itself, or in a directory the file of a start URL.

    With `any_page` the start URL may be any URL in the scope of a site. Raises LocateError if no file or several
    match, OptionError if the directory has none.
    """
    if not config.is_dir():
        return config
    sites = _sites_in(config)
    if start_url is None:
        if len(sites.readable) == 1 and not sites.unreadable:
            return Path(str(next(iter(sites.readable))))
        remedy = "give the start URL of one, or its file instead of the directory"
        raise LocateError(f"--config {config} has several site files: {remedy}{sites.listing()}")
    asked = _start_urls(start_url)
    started = {file: run for file, run in sites.readable.items() if _starts_at(run, asked)}
    if len(started) > 1:
        listing = _Inventories(started, {}).listing()
        raise LocateError(f"--config {config} has several files of this site: give one of them{listing}")
    file: StateLocation | None = next(iter(started), None)
    if file is None and any_page:
        file = _admitting(sites, asked) or _admitting_variant(sites, asked)
    if not isinstance(file, Path):
        raise LocateError(f"no site file in {config} is of {shown(start_url)}: give one of these{sites.listing()}")
    return file


def _sites_in(directory: Path) -> _Inventories:
    """Return the site files of a directory in the place of inventories, with the sites that they describe."""
    from sitemap_crawler.config.sources import find_site_files
    from sitemap_crawler.inventory.lookup import LatestRun

    sites = _Inventories({}, {})
    for file in find_site_files([directory]):
        try:
            options = _options_of(file, None)[0]
        except OptionError as error:
            sites.unreadable[file] = error
        else:
            remembered = {"subdomains": options.subdomains, "public_url": options.public_url}
            url = options.start_url
            sites.readable[file] = LatestRun(0, url, url, options.entry_url, 0.0, None, remembered)
    return sites


def inventory_for(text: str, *, state: str | None = None) -> StateLocation:
    """Return the inventory with the longest scope that admits the URL spelt `text`, or else the only inventory.

    `state` or the environment may name a database instead of the user's state directory, or one inventory.
    """
    location = _given_location(state)
    if location is not None and not _is_database(location):
        return _named(location, None, any_page=True)
    asked = absolute_spellings(text)
    inventories = _all_inventories(location)
    return (
        _admitting(inventories, asked)
        or _admitting_variant(inventories, asked)
        or _only_one(inventories, _none_admits(text))
    )


def inventory_of(texts: Sequence[str]) -> StateLocation:
    """Return the inventory whose scope admits the URLs spelt `texts`, or else the only inventory.

    The environment may name a database instead of the user's state directory, or one inventory. URLs that no scope
    admits count for none, as long as another one names the site. Raises LocateError if the URLs are of several sites,
    SpellingError for a text that is no URL, InventoryError if the inventory cannot be read.
    """
    location = _given_location(None)
    if location is not None and not _is_database(location):
        return _named(location, None, any_page=True)
    inventories = _all_inventories(location)
    found: dict[StateLocation, str] = {}
    for text in texts:
        asked = absolute_spellings(text)
        path = _admitting(inventories, asked) or _admitting_variant(inventories, asked)
        if path is not None:
            found.setdefault(path, text)
    if len(found) > 1:
        first, second, *_ = map(shown, found.values())
        raise LocateError(f"{first} and {second} are of different sites: give each site a command of its own")
    return next(iter(found), None) or _only_one(inventories, _none_admits(texts[0]))


def _none_admits(text: str) -> str:
    return f"none of the inventories has {shown(text)} in its scope: crawl that site first, or name one with --state"


def _is_database(location: StateLocation) -> bool:
    """Return whether the location is a database without a schema, which may hold several inventories."""
    return isinstance(location, ServerLocation) and location.schema is None


def _stored_in(location: StateLocation | None) -> list[StateLocation]:
    """Return the inventories in a database, or in the user's state directory."""
    if not isinstance(location, ServerLocation):
        return [*sorted(state_directory().glob("*.sqlite"))]
    from sitemap_crawler.inventory.postgresql import server_inventories

    return [location.with_schema(name) for name in server_inventories(location, readable=True)]


class _Inventories(NamedTuple):
    """The inventories in the user's state directory or in a database."""

    readable: dict[StateLocation, LatestRun]
    unreadable: dict[StateLocation, InventoryError | OptionError]
    """The requested inventory may be among them."""
    database: ServerLocation | None = None
    """The database, if they are in one."""

    def default(self, url: str) -> StateLocation:
        """Return the default place of the inventory of the site that starts at a URL."""
        return default_location(default_sitemap_url(url), self.database)

    def listing(self) -> str:
        """Return the end of a message: a list with one inventory a line, or the remedy if there is none."""
        lines = [f"\n  {run.requested_url}  {path}" for path, run in self.readable.items()]
        lines += [f"\n  not readable: {error}" for error in self.unreadable.values()]
        more = f"\n  … and {len(lines) - MAX_SHOWN:,} more" if len(lines) > MAX_SHOWN else ""
        return ":" + "".join(lines[:MAX_SHOWN]) + more if lines else f": {FIND_REMEDY}"


def _all_inventories(location: StateLocation | None = None) -> _Inventories:
    from sitemap_crawler.exceptions import InventoryError
    from sitemap_crawler.inventory.lookup import open_inventory

    inventories = _Inventories({}, {}, location if isinstance(location, ServerLocation) else None)
    for path in _stored_in(location):
        try:
            with open_inventory(path) as inventory:
                inventories.readable[path] = inventory.run
        except InventoryError as error:
            inventories.unreadable[path] = error
    return inventories


def _of_start_url(inventories: _Inventories, start_url: str, *, any_page: bool) -> StateLocation:
    asked = _start_urls(start_url)
    for url in asked:
        if error := inventories.unreadable.get(inventories.default(url)):
            raise error
    started = {path: run for path, run in inventories.readable.items() if _starts_at(run, asked)}
    if len(started) > 1:
        raise LocateError(f"there are several inventories: give --state{_Inventories(started, {}).listing()}")
    path = next(iter(started), None) or (_admitting(inventories, asked) if any_page else None)
    if path is None:
        remedy = ": crawl first, or give the start URL of one of these" if inventories.readable else ""
        raise LocateError(f"no crawl of {shown(start_url)} is known{remedy}{inventories.listing()}")
    return path


def _admitting(inventories: _Inventories, asked: list[str]) -> StateLocation | None:
    """Return the inventory with the longest scope that admits one of the URLs, or None.

    Raises InventoryError if that one cannot be read, or the only one of the host.
    """
    readable = inventories.readable
    best = _longest({path: run for path, run in readable.items() if _admits(run, asked)})
    _raise_for_longer(inventories, asked, longest=len(_prefix(readable[best])) if best else 0)
    if best is None:
        _raise_for_host(inventories, {_host(url) for url in asked})
    return best


def _admitting_variant(inventories: _Inventories, asked: list[str]) -> StateLocation | None:
    """Return the same for the variants of the URLs with http or https, with and without www."""
    variants = [without_variant(url) for url in asked]
    prefixes = {path: without_variant(_prefix(run)) for path, run in inventories.readable.items()}
    admitting = [path for path, prefix in prefixes.items() if any(variant.startswith(prefix) for variant in variants)]
    best = _longest({path: inventories.readable[path] for path in admitting})
    if best is None:
        hosts = {_host(url).removeprefix("www.") for url in asked}
        _raise_for_host(inventories, hosts | {f"www.{host}" for host in hosts})
    return best


def _raise_for_longer(inventories: _Inventories, asked: list[str], *, longest: int) -> None:
    """Raise the error of an unreadable inventory whose scope is longer than `longest` and admits one of the URLs."""
    for url in asked if inventories.unreadable else ():
        for directory in directories_above(url):
            if len(directory) <= longest:
                break
            if error := inventories.unreadable.get(inventories.default(directory)):
                raise error


def _raise_for_host(inventories: _Inventories, hosts: set[str]) -> None:
    """Raise the error of an unreadable inventory whose file name has one of the hosts."""
    names = hosts | {schema_name(f"//{host}").rpartition("_")[0] for host in hosts}
    for location, error in inventories.unreadable.items():
        host = (
            location.stem.rpartition("-")[0] if isinstance(location, Path) else str(location.schema).rpartition("_")[0]
        )
        if host in names:
            raise error


def _longest(runs: dict[StateLocation, LatestRun]) -> StateLocation | None:
    return max(runs, key=lambda place: (len(_prefix(runs[place])), runs[place].started, str(place)), default=None)


def _prefix(run: LatestRun) -> str:
    return Scope.for_sitemap(run.sitemap_url).prefix


def _admits(run: LatestRun, asked: list[str]) -> bool:
    scope = DomainScope(_prefix(run)) if run.options.get("subdomains") else Scope(_prefix(run))
    preview = directory_of(run.start_url) if run.options.get("public_url") else None
    return any(scope.admits(url) or (preview is not None and url.startswith(preview)) for url in asked)


def _starts_at(run: LatestRun, asked: list[str]) -> bool:
    return run.requested_url in asked or run.start_url in asked


def _named(path: StateLocation, start_url: str | None, *, any_page: bool) -> StateLocation:
    from sitemap_crawler.inventory.lookup import open_inventory

    if not inventory_exists(path):
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


def _configured(config: Path, start_url: str | None, *, any_page: bool) -> StateLocation:
    candidates = _options_of(config, start_url)
    paths = [state_location(options) for options in candidates]
    path = next(filter(inventory_exists, paths), paths[0])
    return _named(path, start_url or candidates[0].start_url, any_page=any_page)


def _options_of(config: Path, start_url: str | None) -> list[Options]:
    """Return the options of a site file: first with `start_url`, as a crawl from there has them, then with its own."""
    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.sources import naming_site_file, read_site_file

    values, _ = read_site_file(config)
    spellings = [] if start_url is None else _start_urls(start_url)
    own = [values] if "start_url" in values or not spellings else []
    with naming_site_file(config, values, given={"start_url"} if spellings else ()):
        return [Options.parse(given) for given in [*({**values, "start_url": url} for url in spellings), *own]]


def _only_one(inventories: _Inventories, problem: str) -> StateLocation:
    """Return the only inventory. Raises LocateError if there is none, or with `problem` if there are several.

    Raises InventoryError if it is unreadable.
    """
    if len(inventories.readable) > 1:
        raise LocateError(f"{problem}{inventories.listing()}")
    for path in inventories.readable:
        return path
    for error in inventories.unreadable.values():
        raise error
    raise LocateError(f"there is no inventory in {inventories.database or state_directory()}: {FIND_REMEDY}")


def _start_urls(text: str) -> list[str]:
    urls = absolute_spellings(text)
    if not urls:
        raise LocateError(f"{shown(text)} is not an http or https URL: give the start URL of the crawl")
    return urls


def _digest(sitemap_url: str) -> str:
    return blake2b(sitemap_url.encode(), digest_size=4).hexdigest()


def _host(url: str) -> str:
    """Return the host of a URL in the form of an inventory's file name."""
    return (urlsplit(url).hostname or "").replace(":", "-")
