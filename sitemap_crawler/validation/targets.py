"""Validation of a target: its files, and the consistency between an index and its sitemaps."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from sitemap_crawler.exceptions import TargetError, UnreadableError
from sitemap_crawler.validation.files import MAX_COMPARED, Child, FileCheck, Validation
from sitemap_crawler.validation.findings import Kind, ValidationReport, issue
from sitemap_crawler.validation.reading.sources import is_file, open_file, sitemaps_in, stem
from sitemap_crawler.validation.values import Place, UrlProblem, parse_url

if TYPE_CHECKING:
    from sitemap_crawler.validation.reading.remote import Client

_USERINFO = re.compile(r"//[^/?#]*@")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def validate(target: str) -> ValidationReport:
    """Check a sitemap file, a directory of sitemaps or an http(s) URL. The sitemaps of an index are checked, too.

    Raises TargetError if there is nothing to check.
    """
    if not target:
        raise TargetError("the target of the validation is empty; give a sitemap file, a directory or an http(s) URL")
    validation = Validation(datetime.now(UTC))
    if _SCHEME.match(target):
        _check_url(validation, target)
    else:
        _check_path(validation, Path(target))
    if len(validation.listed) >= MAX_COMPARED:
        message = f"only the first {MAX_COMPARED:,} URLs were compared with one another"
        validation.collector.add(target, issue("duplicates-unchecked", message))
    return ValidationReport(
        (target,), tuple(validation.files), validation.collector.result(), validation.collector.counts
    )


def _check_path(validation: Validation, path: Path) -> None:
    try:
        if path.is_dir():
            _Folder(validation, path).check_all()
        elif path.exists():
            with open_file(path):
                pass
            _Folder(validation, path.parent).check_with_children(path.name)
        else:
            raise TargetError(f"{path} does not exist; give a sitemap file, a directory or an http(s) URL")
    except OSError as exc:
        raise TargetError(f"{path} can't be read: {exc.strerror}; check its name and permissions") from None
    except UnreadableError as exc:
        raise TargetError(f"{path} {exc.message}; check its name and permissions") from None


class _Folder:
    """Check of the files of one directory. The sitemaps of an index are found by the last segment of their loc."""

    def __init__(self, validation: Validation, path: Path) -> None:
        self._validation = validation
        self._path = path
        self._done: dict[str, Kind] = {}

    def check_all(self) -> None:
        """Check all sitemaps of the directory. Raises TargetError if there is none."""
        kinds = sitemaps_in(self._path)
        if not kinds:
            raise TargetError(f"{self._path} contains no sitemap; give {self._alternative()}")
        places: dict[str, Place | None] = {}
        for name, kind in kinds.items():
            if kind == "sitemapindex" and name not in self._done:
                children = self.check_with_children(name)
                places[stem(name)] = Place.for_sitemap(children[0].url) if children else None
        for name, kind in kinds.items():
            if name in self._done:
                continue
            if kind == "urlset" and stem(name) in places:
                self._validation.collector.add(
                    name, issue("unlisted-file", "the index next to this file does not list it")
                )
            self._check(name, f"next to {stem(name)}", places.get(stem(name)))

    def _alternative(self) -> str:
        """Return a target to suggest: a subdirectory with sitemaps, as for a site of several hosts."""
        below = sorted(path.name for path in self._path.iterdir() if path.is_dir() and sitemaps_in(path))
        if below:
            return f"one of its directories, such as {self._path / below[0]}"
        return "a directory with *.xml, *.xml.gz or *.txt sitemaps"

    def check_with_children(self, index: str) -> list[Child]:
        """Check a file and, if it is an index, its sitemaps; return those."""
        children = self._check(index, index, None)
        for child in children:
            name = unquote(child.url.path.rpartition("/")[2])
            if not self._is_here(name):
                message = f"there is no file {name!r} in the directory of the index"
                self._validation.collector.add(index, issue("missing-file", message, child.line), child.loc)
                continue
            if name not in self._done:
                self._check(name, index, Place.for_sitemap(child.url))
            if self._done[name] == "sitemapindex":
                _report_nested(self._validation, index, child, is_same=name == index)
        return children

    def _is_here(self, name: str) -> bool:
        # The name comes from a file, so it must not lead out of the directory.
        return name not in {"", ".", ".."} and not set(name) & set("/\\\0") and is_file(self._path / name)

    def _check(self, name: str, group: str, place: Place | None) -> list[Child]:
        check = FileCheck(self._validation, name, group, place)
        try:
            with open_file(self._path / name) as file:
                check.check(file)
        except UnreadableError as exc:
            self._validation.collector.add(name, issue(exc.rule, f"the file {exc.message}"))
        self._done[name] = check.kind
        return check.children


def _check_url(validation: Validation, target: str) -> None:
    # Imported here, because a local check needs no HTTP client.
    from sitemap_crawler.validation.reading.remote import MAX_SECONDS, Client

    address = urldefrag(target)[0]
    url = parse_url(address)
    if isinstance(url, UrlProblem):
        shown = _USERINFO.sub("//…@", target)  # without the password
        raise TargetError(f"{shown} can't be validated: the URL {url.message}")
    client = Client(url.origin)
    try:
        with client.open_url(address) as download:
            index = FileCheck(validation, address, "", _place(validation, address, download.url))
            index.check(download)
    except UnreadableError as exc:
        raise TargetError(f"{target} {exc.message}; check the address, or try again later") from None
    origin = index.place.origin if index.place else url.origin
    own = {address, download.url}
    kinds: dict[str, Kind] = dict.fromkeys(own, index.kind)
    for child in index.children:
        if child.url.origin != origin:
            continue  # reported as index-child-foreign in the index
        if child.loc not in kinds:
            if client.is_late:
                message = f"the sitemaps from {child.loc} on were not checked: {MAX_SECONDS / 3600:g} hours are over"
                validation.collector.add(address, issue("not-checked", message))
                break
            kinds[child.loc] = _check_child(validation, client, child.loc, origin)
        if kinds[child.loc] == "sitemapindex":
            _report_nested(validation, address, child, is_same=child.loc in own)


def _check_child(validation: Validation, client: Client, address: str, origin: str) -> Kind:
    try:
        with client.open_url(address, origin) as download:
            check = FileCheck(validation, address, "", _place(validation, address, download.url))
            check.check(download)
            return check.kind
    except UnreadableError as exc:
        validation.collector.add(address, issue(exc.rule, f"the sitemap {exc.message}"))
        return "unknown"


def _place(validation: Validation, address: str, final: str) -> Place | None:
    """Return the place of a downloaded sitemap, by its URL after redirects."""
    if final != address:
        validation.collector.add(address, issue("redirected", f"the sitemap is at {final} now"))
    url = parse_url(final)
    return None if isinstance(url, UrlProblem) else Place.for_sitemap(url)


def _report_nested(validation: Validation, index: str, child: Child, *, is_same: bool) -> None:
    if is_same:
        found = issue("index-names-itself", "the index lists itself", child.line)
    else:
        found = issue("nested-index", "the listed file is an index itself", child.line)
    validation.collector.add(index, found, child.loc)
