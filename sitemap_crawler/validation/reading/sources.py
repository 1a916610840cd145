"""Local sitemap files: opening them, and finding them in a directory. `remote` downloads sitemaps."""

from __future__ import annotations

import re
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import UnreadableError
from sitemap_crawler.utils.shortage import raise_shortage
from sitemap_crawler.validation.findings import FEEDS
from sitemap_crawler.validation.reading.detect import head_of, looks_like_html, sniff, without_query
from sitemap_crawler.validation.reading.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sitemap_crawler.validation.findings import Kind
    from sitemap_crawler.validation.reading.stream import Readable

SUFFIX = re.compile(r"\.(?:xml|txt|rss|atom)(?:\.gz)?$", re.IGNORECASE)
_SERIES = re.compile(r"-(?:[0-9]+|news)$")


class _LocalFile:
    """File whose read errors become UnreadableError."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)

    def read(self, size: int, /) -> bytes:
        try:
            return self._file.read(size)
        except OSError as exc:
            raise_shortage(exc)
            raise UnreadableError("unreadable", f"can't be read: {exc.strerror}") from None

    def close(self) -> None:
        self._file.close()


@contextmanager
def open_file(path: Path) -> Iterator[Readable]:
    """Open a regular file. Raises UnreadableError."""
    if not is_file(path):
        # Reading a pipe or device could block forever.
        raise UnreadableError("unreadable", "is not a regular file, or is out of reach")
    try:
        file = _LocalFile(path)
    except OSError as exc:
        raise_shortage(exc)
        raise UnreadableError("unreadable", f"can't be opened: {exc.strerror}") from None
    try:
        yield file
    finally:
        file.close()


def is_file(path: Path) -> bool:
    """Return whether `path` is a file; False also for a name that is too long or a directory without access."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def stem(name: str) -> str:
    """Return the common part of the names of a site's files: `map` for `map.xml`, `map-2.xml.gz` and `map-news.xml`."""
    return _SERIES.sub("", SUFFIX.sub("", without_query(name)))


def sitemaps_in(folder: Path) -> dict[str, Kind | None]:
    """Return the kinds of the sitemaps in a directory by name, in sorted order. The kind of a damaged file is None.

    The directory of a web server contains other XML and text files, too. A text file counts if it begins with a URL. A
    feed or unknown file counts if it is named like a sitemap. A feed also counts if there are only feeds. Raises
    OSError.
    """
    names = sorted(path.name for path in folder.iterdir() if _is_candidate(path))
    kinds = {name: kind_of(folder / name) for name in names}
    stems = {stem(name) for name, kind in kinds.items() if kind in {"urlset", "sitemapindex"}}
    return {
        name: kind
        for name, kind in kinds.items()
        if kind in {None, "urlset", "sitemapindex", "text"}
        or stem(name) in stems
        or (kind == "unknown" and name.lower().startswith("sitemap"))
        or (kind in FEEDS and not stems)
    }


def _is_candidate(path: Path) -> bool:
    return not path.name.startswith((".", "~")) and bool(SUFFIX.search(without_query(path.name))) and is_file(path)


def kind_of(path: Path) -> Kind | None:
    """Return the kind of a file by its beginning; None if the beginning is damaged or cannot be read."""
    try:
        with open_file(path) as file:
            return sniff(file, path.name)
    except UnreadableError:
        return None


def begins_as_html(path: Path) -> bool:
    """Return whether a file is an HTML page."""
    try:
        with open_file(path) as file:
            return looks_like_html(head_of(iter(Stream(file))))
    except UnreadableError:
        return False


def have_same_content(paths: Iterable[Path]) -> bool:
    """Return whether files have the same bytes after decompression. A damaged file has no copy."""
    digests = set()
    for path in paths:
        digest = sha256()
        try:
            with open_file(path) as file:
                for piece in Stream(file):
                    digest.update(piece)
        except UnreadableError:
            return False
        digests.add(digest.digest())
    return len(digests) == 1
