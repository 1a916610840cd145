"""Location of the inventory that a command reads: the named one, that of a start URL, or the only one."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from sitemap_crawler.exceptions import LocateError, OptionError
from sitemap_crawler.urls.normalise import directory_of
from sitemap_crawler.urls.scope import DomainScope, Scope, default_sitemap_url
from sitemap_crawler.urls.spelling import absolute_spellings, directories_above, shown, without_variant

if TYPE_CHECKING:
    from sitemap_crawler.config.options import Options
    from sitemap_crawler.exceptions import InventoryError
    from sitemap_crawler.inventory.lookup import LatestRun

FIND_REMEDY = "crawl first, or give --config FILE or --state PATH of the crawl"
"""Remedy when no inventory is in the user's state directory. A site file can name another place."""
MAX_SHOWN = 20
"""Maximum number of inventories that a message lists."""


def default_state_path(sitemap_url: str) -> Path:
    """Return the default path of a site's inventory. Its name has the host for readers and a digest for uniqueness."""
    digest = blake2b(sitemap_url.encode(), digest_size=4).hexdigest()
    return state_directory() / f"{_host(sitemap_url)}-{digest}.sqlite"


def state_path(options: Options) -> Path:
    """Return the path of the inventory of a crawl with these options."""
    return Path(options.state) if options.state else default_state_path(options.site_url)


def state_directory() -> Path:
    """Return the user's directory of inventories."""
    from platformdirs import user_state_path

    return user_state_path("sitemap-crawler")


def find_inventory(*, state: str | None, config: Path | None, start_url: str | None, any_page: bool = False) -> Path:
    """Return the inventory at `state`, or that of a site file, of a start URL, or the only one.

    With `any_page` the start URL may be any URL in the scope of a site.

    Raises LocateError if no inventory or several match, SpellingError for a start URL that is none, OptionError for an
    unusable site file, InventoryError if the file cannot be read.
    """
    if state is not None:
        return _named(Path(state.removeprefix("sqlite:///")), start_url, any_page=any_page)
    if config is not None:
        return _configured(site_file_of(config, start_url, any_page=any_page), start_url, any_page=any_page)
    inventories = _all_inventories()
    if start_url is not None:
        return _of_start_url(inventories, start_url, any_page=any_page)
    return _only_one(inventories, "give the start URL, or --state")


def inventory_file(*, state: str | None, config: Path | None, start_url: str | None) -> Path:
    """Return the path of the inventory as `find_inventory` does, without opening it. Raises LocateError."""
    if state is not None:
        candidates = [Path(state.removeprefix("sqlite:///"))]
    elif config is not None:
        candidates = [state_path(options) for options in _options_of(site_file_of(config, start_url), start_url)]
    elif start_url is not None:
        candidates = [default_state_path(default_sitemap_url(url)) for url in _start_urls(start_url)]
    else:
        candidates = sorted(state_directory().glob("*.sqlite"))
        if len(candidates) > 1:
            raise LocateError("there are several inventories: give the start URL, or --state")
    for path in candidates:
        if path.exists():
            return path
    missing = candidates[0] if candidates else f"in {state_directory()}"
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
            return next(iter(sites.readable))
        remedy = "give the start URL of one, or its file instead of the directory"
        raise LocateError(f"--config {config} has several site files: {remedy}{sites.listing()}")
    asked = _start_urls(start_url)
    started = {file: run for file, run in sites.readable.items() if _starts_at(run, asked)}
    if len(started) > 1:
        listing = _Inventories(started, {}).listing()
        raise LocateError(f"--config {config} has several files of this site: give one of them{listing}")
    file = next(iter(started), None)
    if file is None and any_page:
        file = _admitting(sites, asked) or _admitting_variant(sites, asked)
    if file is None:
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


def inventory_for(text: str) -> Path:
    """Return the inventory with the longest scope that admits the URL spelt `text`, or else the only inventory."""
    asked = absolute_spellings(text)
    inventories = _all_inventories()
    return (
        _admitting(inventories, asked)
        or _admitting_variant(inventories, asked)
        or _only_one(inventories, "name one with --state")
    )


class _Inventories(NamedTuple):
    """The inventories in the user's state directory."""

    readable: dict[Path, LatestRun]
    unreadable: dict[Path, InventoryError | OptionError]
    """The requested inventory may be among them."""

    def listing(self) -> str:
        """Return the end of a message: a list with one inventory a line, or the remedy if there is none."""
        lines = [f"\n  {run.requested_url}  {path}" for path, run in self.readable.items()]
        lines += [f"\n  not readable: {error}" for error in self.unreadable.values()]
        more = f"\n  … and {len(lines) - MAX_SHOWN:,} more" if len(lines) > MAX_SHOWN else ""
        return ":" + "".join(lines[:MAX_SHOWN]) + more if lines else f": {FIND_REMEDY}"


def _all_inventories() -> _Inventories:
    from sitemap_crawler.exceptions import InventoryError
    from sitemap_crawler.inventory.lookup import open_inventory

    inventories = _Inventories({}, {})
    for path in sorted(state_directory().glob("*.sqlite")):
        try:
            with open_inventory(path) as inventory:
                inventories.readable[path] = inventory.run
        except InventoryError as error:
            inventories.unreadable[path] = error
    return inventories


def _of_start_url(inventories: _Inventories, start_url: str, *, any_page: bool) -> Path:
    asked = _start_urls(start_url)
    for url in asked:
        if error := inventories.unreadable.get(default_state_path(default_sitemap_url(url))):
            raise error
    started = {path: run for path, run in inventories.readable.items() if _starts_at(run, asked)}
    if len(started) > 1:
        raise LocateError(f"there are several inventories: give --state{_Inventories(started, {}).listing()}")
    path = next(iter(started), None) or (_admitting(inventories, asked) if any_page else None)
    if path is None:
        raise LocateError(f"no crawl of {shown(start_url)} is known{inventories.listing()}")
    return path


def _admitting(inventories: _Inventories, asked: list[str]) -> Path | None:
    """Return the inventory with the longest scope that admits one of the URLs, or None.

    Raises InventoryError if that one cannot be read, or the only one of the host.
    """
    readable = inventories.readable
    best = _longest({path: run for path, run in readable.items() if _admits(run, asked)})
    _raise_for_longer(inventories, asked, longest=len(_prefix(readable[best])) if best else 0)
    if best is None:
        _raise_for_host(inventories, {_host(url) for url in asked})
    return best


def _admitting_variant(inventories: _Inventories, asked: list[str]) -> Path | None:
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
            if error := inventories.unreadable.get(default_state_path(default_sitemap_url(directory))):
                raise error


def _raise_for_host(inventories: _Inventories, hosts: set[str]) -> None:
    """Raise the error of an unreadable inventory whose file name has one of the hosts."""
    for path, error in inventories.unreadable.items():
        if path.stem.rpartition("-")[0] in hosts:
            raise error


def _longest(runs: dict[Path, LatestRun]) -> Path | None:
    return max(runs, key=lambda path: (len(_prefix(runs[path])), runs[path].started, path), default=None)


def _prefix(run: LatestRun) -> str:
    return Scope.for_sitemap(run.sitemap_url).prefix


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
    candidates = _options_of(config, start_url)
    paths = [state_path(options) for options in candidates]
    path = next((path for path in paths if path.exists()), paths[0])
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


def _only_one(inventories: _Inventories, remedy: str) -> Path:
    """Return the only inventory. Raises LocateError if there is none or several, InventoryError if it is unreadable."""
    if len(inventories.readable) > 1:
        raise LocateError(f"there are several inventories: {remedy}{inventories.listing()}")
    for path in inventories.readable:
        return path
    for error in inventories.unreadable.values():
        raise error
    raise LocateError(f"there is no inventory in {state_directory()}: {FIND_REMEDY}")


def _start_urls(text: str) -> list[str]:
    urls = absolute_spellings(text)
    if not urls:
        raise LocateError(f"{shown(text)} is not an http or https URL: give the start URL of the crawl")
    return urls


def _host(url: str) -> str:
    """Return the host of a URL in the form of an inventory's file name."""
    return (urlsplit(url).hostname or "").replace(":", "-")
