"""A foreign sitemap → its URLs, their dates and their language versions. In a damaged file, the readable part counts.

The file may be XML, a feed or lines of text, compressed or not. It is decompressed, decoded and read in pieces, up to
the maximum size of a sitemap.
"""

from __future__ import annotations

import codecs
import re
from itertools import chain
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import GzipError
from sitemap_crawler.extract.parser import decide_charset
from sitemap_crawler.extract.sitemap_xml import ENTRY_ELEMENTS, MAX_LOC_LENGTH, SitemapEntry, XmlReader
from sitemap_crawler.sitemap.limits import MAX_BYTES
from sitemap_crawler.utils.files import GZIP_MAGIC, gunzip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PIECE_BYTES = 262_144
"""Size of one piece of a file."""
HEAD_BYTES = 1_024
"""Bytes at the start of a file that decide its format and its charset."""
_BLANK = " \t\r\n\ufeff"
_TOO_LONG = "x" * (MAX_LOC_LENGTH + 1)
"""Stands for the start of a line that is longer than any URL. Such a line is only counted."""
_URL_START = re.compile("https?://", re.IGNORECASE)


class SitemapFile:
    """Iterator over the entries of a sitemap, as one list for each piece of the file. A list may be empty."""

    def __init__(
        self, batches: Iterator[list[SitemapEntry]], source: _Source, *, is_index: bool, is_feed: bool = False
    ) -> None:
        self.is_index = is_index
        """Whether the URLs are those of other sitemaps."""
        self.is_feed = is_feed
        """Whether the entries are those of a feed."""
        self._batches = batches
        self._source = source

    def __iter__(self) -> Iterator[list[SitemapEntry]]:
        return self._batches

    @property
    def damage(self) -> str | None:
        """Reason why the file could not be read to its end, as `is ...` or `has ...`; valid after the iteration."""
        return self._source.damage

    @property
    def too_long(self) -> int:
        """Number of skipped entries with more than MAX_LOC_LENGTH characters; valid after the iteration."""
        return self._source.too_long


def read_sitemap(body: bytes) -> SitemapFile | None:
    """Return the sitemap in the bytes, or `None` if they are not a sitemap."""
    source = _Source(body)
    texts = source.texts()
    head = next(texts, "").lstrip(_BLANK)
    if head.startswith("<"):
        return _read_xml(chain((head,), texts), source)
    if _URL_START.match(head):
        return SitemapFile(_read_lines(chain((head,), texts), source), source, is_index=False)
    return None


def _read_xml(texts: Iterator[str], source: _Source) -> SitemapFile | None:
    reader = XmlReader()
    entries: list[SitemapEntry] = []
    for text in texts:
        entries += reader.feed(text)
        if reader.root is not None or reader.damage is not None:
            break
    if reader.root not in ENTRY_ELEMENTS:
        return None
    batches = chain((entries,), _remaining_batches(reader, texts, source))
    is_index, is_feed = reader.root == "sitemapindex", reader.root in ("rss", "feed")
    return SitemapFile(batches, source, is_index=is_index, is_feed=is_feed)


def _remaining_batches(reader: XmlReader, texts: Iterator[str], source: _Source) -> Iterator[list[SitemapEntry]]:
    yield from reader.batches(texts)
    # A problem of the bytes is the cause of the problem of the text.
    source.damage = source.damage or reader.damage
    source.too_long = reader.too_long


class _Source:
    """The bytes of a file, and what is known about its damage."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.damage: str | None = None
        self.too_long = 0

    def texts(self) -> Iterator[str]:
        """Yield the text in pieces. The first piece decides the format of the file."""
        pieces = self._bounded(self._gunzipped() if self._body.startswith(GZIP_MAGIC) else self._pieces())
        head = b""
        while len(head) < HEAD_BYTES and (piece := next(pieces, b"")):
            head = (head + piece).lstrip(b" \t\r\n")
        decoder = codecs.getincrementaldecoder(_charset(head))("replace")
        for piece in chain((head,), pieces):
            if text := decoder.decode(piece):
                yield text
        if text := decoder.decode(b"", True):
            yield text

    def _pieces(self) -> Iterator[bytes]:
        for start in range(0, len(self._body), PIECE_BYTES):
            yield self._body[start : start + PIECE_BYTES]

    def _gunzipped(self) -> Iterator[bytes]:
        try:
            yield from gunzip(self._pieces(), max_piece_bytes=PIECE_BYTES)
        except GzipError as error:
            truncated = error.kind == "truncated"
            self.damage = "is a gzip file that ends too early" if truncated else "is a damaged gzip file"

    def _bounded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        bytes_left = MAX_BYTES
        for piece in pieces:
            if len(piece) > bytes_left:
                self.damage = f"has more than {MAX_BYTES:,} bytes"
                yield piece[:bytes_left]
                return
            bytes_left -= len(piece)
            yield piece


def _charset(head: bytes) -> str:
    # The first character is ASCII, so it shows UTF-16 without a byte order mark.
    if head.startswith((b"<\0", b"h\0")):
        return "utf-16-le"
    if head.startswith((b"\0<", b"\0h")):
        return "utf-16-be"
    return decide_charset(head, "")


def _read_lines(texts: Iterable[str], source: _Source) -> Iterator[list[SitemapEntry]]:
    rest = ""
    for text in texts:
        *lines, rest = (rest + text).split("\n")
        rest = _bounded_start(rest.lstrip(_BLANK))
        yield _short_entries(lines, source)
    yield _short_entries([rest], source)


def _bounded_start(line: str) -> str:
    """Return the start of a line, cut so that the whole line is still known to be too long, or not."""
    if len(line) <= MAX_LOC_LENGTH:
        return line
    # Blanks at the end of a line do not count. Any other character after them makes the line too long.
    return _TOO_LONG if len(line.rstrip(_BLANK)) > MAX_LOC_LENGTH else line[: MAX_LOC_LENGTH + 1]


def _short_entries(lines: list[str], source: _Source) -> list[SitemapEntry]:
    locs = [loc for line in lines if (loc := line.strip(_BLANK))]
    short = [loc for loc in locs if len(loc) <= MAX_LOC_LENGTH]
    source.too_long += len(locs) - len(short)
    return [SitemapEntry(loc) for loc in short]
