"""From a target to a report: which files belong to it, and what they say about one another."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urldefrag

from sitemap_crawler.exceptions import TargetError, UnreadableError
from sitemap_crawler.validation.files import MAX_COMPARED, Child, FileCheck, Run
from sitemap_crawler.validation.findings import Kind, Report, error, warning
from sitemap_crawler.validation.sources import is_file, open_file, sitemaps_in, stem
from sitemap_crawler.validation.values import Place, UrlProblem, parse_url

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def validate(target: str) -> Report:
    """Checks a sitemap file, a directory of them, or an http(s) URL; what an index lists is checked with it.

    Raises `TargetError` when there is nothing to check.
    """
    if not target:
        raise TargetError("the name of what to validate is empty; give a sitemap file, a directory or an http(s) URL")
    run = Run(datetime.now(UTC))
    if _SCHEME.match(target):
        _check_url(run, target)
    else:
        _check_path(run, Path(target))
    if len(run.listed) >= MAX_COMPARED:
        message = f"only the first {MAX_COMPARED:,} URLs were compared with one another"
        run.collector.add(target, warning("duplicates-unchecked", message))
    return Report(target, tuple(run.files), run.collector.result(target))


def _check_path(run: Run, path: Path) -> None:
    try:
        if path.is_dir():
            _Folder(run, path).check_all()
        elif path.exists():
            with open_file(path):
                pass
            _Folder(run, path.parent).check_with_children(path.name)
        else:
            raise TargetError(f"{path} does not exist; give a sitemap file, a directory or an http(s) URL")
    except OSError as exc:
        raise TargetError(f"{path} can't be read: {exc.strerror}; check its name and permissions") from None
    except UnreadableError as exc:
        raise TargetError(f"{path} {exc.message}; check its name and permissions") from None


class _Folder:
    """Files beside one another; an index's sitemaps are looked up by the last segment of their loc."""

    def __init__(self, run: Run, path: Path) -> None:
        self._run = run
        self._path = path
        self._done: dict[str, Kind] = {}

    def check_all(self) -> None:
        kinds = sitemaps_in(self._path)
        if not kinds:
            raise TargetError(f"{self._path} holds no sitemap; give {self._where_else()}")
        places: dict[str, Place | None] = {}
        for name, kind in kinds.items():
            if kind == "sitemapindex" and name not in self._done:
                children = self.check_with_children(name)
                places[stem(name)] = Place.of(children[0].url) if children else None
        for name, kind in kinds.items():
            if name in self._done:
                continue
            if kind == "urlset" and stem(name) in places:
                issue = warning("unlisted-file", "no index lists this file; delete it, or list it")
                self._run.collector.add(name, issue)
            self._check(name, f"beside {stem(name)}", places.get(stem(name)))

    def _where_else(self) -> str:
        """What to give instead: one of the directories in this one, as of a site of several hosts."""
        below = sorted(path.name for path in self._path.iterdir() if path.is_dir() and sitemaps_in(path))
        if below:
            return f"one of its directories, such as {self._path / below[0]}"
        return "a directory with *.xml, *.xml.gz or *.txt sitemaps"

    def check_with_children(self, index: str) -> list[Child]:
        children = self._check(index, index, None)
        for child in children:
            name = unquote(child.url.path.rpartition("/")[2])
            if not self._is_here(name):
                issue = error("missing-file", f"there is no file {name!r} beside the index that lists it", child.line)
                self._run.collector.add(index, issue, child.loc)
                continue
            if name not in self._done:
                self._check(name, index, Place.of(child.url))
            if self._done[name] == "sitemapindex":
                _report_nested(self._run, index, child)
        return children

    def _is_here(self, name: str) -> bool:
        # The name comes from a file: it must not lead out of the folder.
        return name not in {"", ".", ".."} and not set(name) & set("/\\\0") and is_file(self._path / name)

    def _check(self, name: str, group: str, place: Place | None) -> list[Child]:
        check = FileCheck(self._run, name, group, place)
        try:
            with open_file(self._path / name) as file:
                check.check(file)
        except UnreadableError as exc:
            self._run.collector.add(name, error(exc.rule, f"the file {exc.message}"))
        self._done[name] = check.kind
        return check.children


def _check_url(run: Run, target: str) -> None:
    # Only here: a local check needs no HTTP client.
    from sitemap_crawler.validation.remote import open_url

    address = urldefrag(target)[0]
    url = parse_url(address)
    if isinstance(url, UrlProblem):
        shown = re.sub(r"//[^/?#]*@", "//…@", target)  # a password does not belong in messages
        raise TargetError(f"{shown} can't be validated: the URL {url.message}")
    try:
        with open_url(address) as download:
            index = FileCheck(run, address, "", _place(run, address, download.url))
            index.check(download)
    except UnreadableError as exc:
        raise TargetError(f"{target} {exc.message}; check the address, or try again later") from None
    origin = index.place.origin if index.place else url.origin
    kinds: dict[str, Kind] = {address: index.kind, download.url: index.kind}
    for child in index.children:
        if child.url.origin != origin:
            continue  # said where it is listed
        if child.loc not in kinds:
            kinds[child.loc] = _check_child(run, child.loc, origin)
        if kinds[child.loc] == "sitemapindex":
            _report_nested(run, address, child)


def _check_child(run: Run, address: str, origin: str) -> Kind:
    from sitemap_crawler.validation.remote import open_url

    try:
        with open_url(address, origin) as download:
            check = FileCheck(run, address, "", _place(run, address, download.url))
            check.check(download)
            return check.kind
    except UnreadableError as exc:
        run.collector.add(address, error(exc.rule, f"the sitemap {exc.message}"))
        return "unknown"


def _place(run: Run, address: str, final: str) -> Place | None:
    """Where a fetched sitemap stands: redirects decide."""
    if final != address:
        run.collector.add(address, warning("redirected", f"the sitemap is at {final} now; use that address"))
    url = parse_url(final)
    return None if isinstance(url, UrlProblem) else Place.of(url)


def _report_nested(run: Run, index: str, child: Child) -> None:
    issue = error("nested-index", "an index lists sitemaps only, and this is another index", child.line)
    run.collector.add(index, issue, child.loc)
