"""Validation of targets: their files, and the consistency between an index and its sitemaps."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urldefrag

from sitemap_crawler.exceptions import TargetError, UnreadableError
from sitemap_crawler.validation.files import MAX_COMPARED, Child, FileCheck
from sitemap_crawler.validation.files import Validation as FileState
from sitemap_crawler.validation.findings import Collector, Kind, ValidationReport, issue
from sitemap_crawler.validation.listing import ListedUrl, read_listed, read_media
from sitemap_crawler.validation.reading.detect import head_of, looks_like_html
from sitemap_crawler.validation.reading.sources import is_file, open_file, sitemaps_in, stem
from sitemap_crawler.validation.reading.stream import MAX_RAW_BYTES, PIECE_BYTES, Readable, Stream
from sitemap_crawler.validation.recommendations import recommendations
from sitemap_crawler.validation.values import Place, UrlProblem, parse_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sitemap_crawler.validation.reading.remote import Client

STANDARD_INPUT = "-"
MAX_SPOOL_BYTES = 20_000_000_000
"""Maximum number of bytes of downloaded files that a validation keeps on the disk until its end."""
_USERINFO = re.compile(r"//[^/?#]*@")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


class _Source(NamedTuple):
    """A file that was checked: its name in the report, its kind, and its copy on this machine."""

    name: str
    kind: Kind
    path: Path


class Validation:
    """A validation whose files can still be read."""

    def __init__(self, targets: Sequence[str], directory: Path) -> None:
        """`directory` takes the files that are downloaded."""
        self._targets = tuple(targets)
        self._spool = _Spool(directory)
        self._state = FileState(datetime.now(UTC))
        self._sources: list[_Source] = []
        self.statistics: dict[str, Any] = {}

    @property
    def collector(self) -> Collector:
        """The findings so far. More may be added."""
        return self._state.collector

    def check_all(self) -> None:
        """Check all targets. Raises TargetError."""
        for target in self._targets:
            if not target:
                raise TargetError("a target is empty; give a sitemap file, a directory, an http(s) URL, or -")
            if target != STANDARD_INPUT and not _SCHEME.match(target):
                _check_exists(Path(target))
        for target in self._targets:
            if target == STANDARD_INPUT:
                self.check(target, self._spool.save(partial(os.read, sys.stdin.fileno())), group="", place=None)
            elif _SCHEME.match(target):
                _Site(self, self._spool, target).check_all()
            else:
                _check_path(self, Path(target))
        if len(self._state.listed) >= MAX_COMPARED:
            message = f"only the first {MAX_COMPARED:,} URLs were compared with one another"
            self.collector.add(self._targets[0], issue("duplicates-unchecked", message))
        files = self._state.files
        listing = [file for file in files if file.kind != "sitemapindex"]
        self.statistics |= {
            "total_urls": sum(file.urls for file in listing),
            "duplicate_urls": self.collector.counts["duplicate-loc"],
            "files": len(files),
            "bytes": sum(file.bytes for file in files),
        }

    def check(self, name: str, path: Path, *, group: str, place: Place | None) -> FileCheck:
        """Check one file and return its check. A URL must be unique within its group of files."""
        check = FileCheck(self._state, name, group, place)
        try:
            with open_file(path) as file:
                check.check(file)
        except UnreadableError as exc:
            self.collector.add(name, issue(exc.rule, f"the file {exc.message}"))
        self._sources.append(_Source(name, check.kind, path))
        return check

    def listed_urls(self) -> Iterator[ListedUrl]:
        """Yield the URLs that all files list, in their order. Each call reads the files anew."""
        return self._read(read_listed)

    def media_urls(self) -> Iterator[ListedUrl]:
        """Yield the images and videos that all files list."""
        return self._read(read_media)

    def _read(self, read: Callable[[str, Kind, Readable], Iterator[ListedUrl]]) -> Iterator[ListedUrl]:
        for source in self._sources:
            if source.kind in {"unknown", "sitemapindex"}:
                continue
            try:
                with open_file(source.path) as file:
                    yield from read(source.name, source.kind, file)
            except UnreadableError:
                continue  # reported when the file was checked

    def report(self) -> ValidationReport:
        """Return the report of everything that was found so far."""
        collector, found = self.collector, self.collector.result()
        return ValidationReport(
            self._targets,
            tuple(self._state.files),
            found,
            collector.counts.copy(),
            dict(self.statistics),
            recommendations(collector.counts, found),
        )


@contextmanager
def open_validation(targets: Sequence[str]) -> Iterator[Validation]:
    """Check sitemap files, directories, http(s) URLs and standard input (`-`), and keep them readable.

    The sitemaps of an index are checked, too. The address of a site stands for the sitemaps that its robots.txt names,
    or else for its sitemap.xml. Raises TargetError if a target does not exist.
    """
    with tempfile.TemporaryDirectory(prefix="sitemap-crawler-") as directory:
        validation = Validation(targets, Path(directory))
        validation.check_all()
        yield validation


def validate(*targets: str) -> ValidationReport:
    """Check targets and return the report. Raises TargetError as `open_validation` does."""
    with open_validation(targets) as validation:
        return validation.report()


class _Spool:
    """Directory with copies of the files that were downloaded, numbered."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._number = self._bytes = 0

    @property
    def is_full(self) -> bool:
        return self._bytes >= MAX_SPOOL_BYTES

    def save(self, read: Callable[[int], bytes]) -> Path:
        """Copy a file, at most the bytes that a sitemap may have and a few more. Raises UnreadableError."""
        self._number += 1
        path = self._directory / str(self._number)
        size_bytes = 0
        with path.open("wb") as copy:
            while size_bytes <= MAX_RAW_BYTES and (piece := read(PIECE_BYTES)):
                copy.write(piece)
                size_bytes += len(piece)
        self._bytes += size_bytes
        return path


def _check_exists(path: Path) -> None:
    try:
        path.stat()
    except FileNotFoundError:
        raise TargetError(f"{path} does not exist; give a sitemap file, a directory or an http(s) URL") from None
    except (OSError, ValueError) as exc:
        reason = getattr(exc, "strerror", None) or exc
        raise TargetError(f"{path} can't be read: {reason}; check its name and permissions") from None


def _check_path(validation: Validation, path: Path) -> None:
    try:
        if path.is_dir():
            _Folder(validation, path).check_all()
        else:
            with open_file(path):
                pass
            _Folder(validation, path.parent).check_with_children(path.name)
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
        check = self._validation.check(name, self._path / name, group=group, place=place)
        self._done[name] = check.kind
        return check.children


class _Site:
    """Check of the sitemaps on a web server."""

    def __init__(self, validation: Validation, spool: _Spool, target: str) -> None:
        """Raises TargetError if the target is no http(s) URL."""
        # Imported here, because a local check needs no HTTP client.
        from sitemap_crawler.validation.reading.remote import Client

        self._address = urldefrag(target)[0]
        url = parse_url(self._address)
        if isinstance(url, UrlProblem):
            shown = _USERINFO.sub("//…@", target)  # without the password
            raise TargetError(f"{shown} can't be validated: the URL {url.message}")
        self._origin = url.origin
        self._validation = validation
        self._spool = spool
        self._client: Client = Client(url.origin)
        self._kinds: dict[str, Kind] = {}

    def check_all(self) -> None:
        """Check the target and its children. For a page of the site, check the sitemaps of the site."""
        copy = self._fetch(self._address, None)
        if copy is None:
            return
        if not _is_html(copy.path):
            self._check_with_children(self._address, copy)
            return
        named = self._named_in_robots() or [f"{self._origin}/sitemap.xml"]
        for address in named:
            if address in self._kinds:
                continue
            copy = self._fetch(address, None)
            if copy is not None:
                self._check_with_children(address, copy)

    def _named_in_robots(self) -> list[str]:
        """Return the sitemaps that the robots.txt of the site names."""
        from sitemap_crawler.policy.robots_txt import RobotsTxt

        try:
            with self._client.open_url(f"{self._origin}/robots.txt") as download:
                body = b"".join(iter(lambda: download.read(PIECE_BYTES), b""))
        except UnreadableError:
            return []
        named = []
        for address in dict.fromkeys(RobotsTxt.parse(body).sitemaps):
            url = parse_url(urldefrag(address)[0])
            if isinstance(url, UrlProblem):
                message = f"robots.txt names the sitemap {address}, whose URL {url.message}"
                self._validation.collector.add(f"{self._origin}/robots.txt", issue("unreachable", message))
                continue
            self._client.name(url.origin)
            named.append(str(url))
        return named

    def _check_with_children(self, address: str, copy: _Copy) -> None:
        index = self._check(address, copy)
        origin = index.place.origin if index.place else self._origin
        own = {address, copy.url}
        self._kinds.update(dict.fromkeys(own, index.kind))
        for child in index.children:
            if child.url.origin != origin:
                continue  # reported as index-child-foreign in the index
            if child.loc not in self._kinds:
                if why := self._why_ended():
                    message = f"the sitemaps from {child.loc} on were not checked: {why}"
                    self._validation.collector.add(address, issue("not-checked", message))
                    break
                fetched = self._fetch(child.loc, origin)
                self._kinds[child.loc] = "unknown" if fetched is None else self._check(child.loc, fetched).kind
            if self._kinds[child.loc] == "sitemapindex":
                _report_nested(self._validation, address, child, is_same=child.loc in own)

    def _why_ended(self) -> str | None:
        from sitemap_crawler.validation.reading.remote import MAX_SECONDS

        if self._client.is_late:
            return f"{MAX_SECONDS / 3600:g} hours are over"
        return f"the files have {MAX_SPOOL_BYTES:,} bytes so far" if self._spool.is_full else None

    def _fetch(self, address: str, origin: str | None) -> _Copy | None:
        """Download a file; None if that fails, which is a finding then. With `origin`, no other site is asked."""
        try:
            with self._client.open_url(address, origin) as download:
                return _Copy(self._spool.save(download.read), download.url)
        except UnreadableError as exc:
            self._validation.collector.add(address, issue(exc.rule, f"the sitemap {exc.message}"))
            return None

    def _check(self, address: str, copy: _Copy) -> FileCheck:
        if copy.url != address:
            self._validation.collector.add(address, issue("redirected", f"the sitemap is at {copy.url} now"))
        url = parse_url(copy.url)
        place = None if isinstance(url, UrlProblem) else Place.for_sitemap(url)
        return self._validation.check(address, copy.path, group="", place=place)


class _Copy(NamedTuple):
    """A downloaded file."""

    path: Path
    url: str
    """After redirects."""


def _is_html(path: Path) -> bool:
    try:
        with open_file(path) as file:
            return looks_like_html(head_of(iter(Stream(file))))
    except UnreadableError:
        return False


def _report_nested(validation: Validation, index: str, child: Child, *, is_same: bool) -> None:
    if is_same:
        found = issue("index-names-itself", "the index lists itself", child.line)
    else:
        found = issue("nested-index", "the listed file is an index itself", child.line)
    validation.collector.add(index, found, child.loc)
