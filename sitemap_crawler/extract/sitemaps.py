"""A foreign sitemap → the URLs that it names and their language versions, in whatever state it is: what can be read
counts.

It may be XML, a feed or lines of text, compressed or not. It is decompressed, decoded and read in pieces, no further
than a sitemap may be long.
"""

from __future__ import annotations

import codecs
import re
from itertools import chain
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import GzipError
from sitemap_crawler.extract.parser import decide_charset
from sitemap_crawler.extract.sitemap_xml import ENTRIES, MAX_LOC_LENGTH, Named, XmlReader
from sitemap_crawler.sitemap.limits import MAX_BYTES
from sitemap_crawler.utils.files import GZIP_MAGIC, gunzip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PIECE = 262_144
HEAD = 1_024
"""Bytes that tell what a file is and in which charset."""
_BLANK = " \t\r\n\ufeff"
_URL_START = re.compile("https?://", re.IGNORECASE)


class SitemapFile:
    """Iterated once, over the entries of each piece; a piece may have none."""

    def __init__(self, batches: Iterator[list[Named]], source: _Source, *, index: bool) -> None:
        self.index = index
        """Whether the URLs are those of further sitemaps."""
        self._batches = batches
        self._source = source

    def __iter__(self) -> Iterator[list[Named]]:
        return self._batches

    @property
    def damage(self) -> str | None:
        """What kept the file from being read to its end, once it was iterated: `is ...`, `has ...`."""
        return self._source.damage

    @property
    def too_long(self) -> int:
        """How many entries were passed over as longer than MAX_LOC_LENGTH, once the file was iterated."""
        return self._source.too_long


def read_sitemap(body: bytes) -> SitemapFile | None:
    """None where the bytes are no sitemap."""
    source = _Source(body)
    texts = source.texts()
    head = next(texts, "").lstrip(_BLANK)
    if head.startswith("<"):
        return _read_xml(chain((head,), texts), source)
    if _URL_START.match(head):
        return SitemapFile(_lines(chain((head,), texts), source), source, index=False)
    return None


def _read_xml(texts: Iterator[str], source: _Source) -> SitemapFile | None:
    reader = XmlReader()
    found: list[Named] = []
    for text in texts:
        found += reader.feed(text)
        if reader.root is not None or reader.damage is not None:
            break
    if reader.root not in ENTRIES:
        return None
    return SitemapFile(chain((found,), _rest(reader, texts, source)), source, index=reader.root == "sitemapindex")


def _rest(reader: XmlReader, texts: Iterator[str], source: _Source) -> Iterator[list[Named]]:
    yield from reader.batches(texts)
    # What the bytes are like explains what is wrong with the text.
    source.damage = source.damage or reader.damage
    source.too_long = reader.too_long


class _Source:
    """A file's text in pieces, the first of which tells what it is."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.damage: str | None = None
        self.too_long = 0

    def texts(self) -> Iterator[str]:
        pieces = self._bounded(self._gunzipped() if self._body.startswith(GZIP_MAGIC) else self._pieces())
        head = b""
        while len(head) < HEAD and (piece := next(pieces, b"")):
            head = (head + piece).lstrip(b" \t\r\n")
        decoder = codecs.getincrementaldecoder(_charset(head))("replace")
        for piece in chain((head,), pieces):
            if text := decoder.decode(piece):
                yield text
        if text := decoder.decode(b"", True):
            yield text

    def _pieces(self) -> Iterator[bytes]:
        for start in range(0, len(self._body), PIECE):
            yield self._body[start : start + PIECE]

    def _gunzipped(self) -> Iterator[bytes]:
        try:
            yield from gunzip(self._pieces(), max_piece_bytes=PIECE)
        except GzipError as error:
            truncated = error.kind == "truncated"
            self.damage = "is a gzip file that ends too early" if truncated else "is a damaged gzip file"

    def _bounded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        room = MAX_BYTES
        for piece in pieces:
            if len(piece) > room:
                self.damage = f"has more than {MAX_BYTES:,} bytes"
                yield piece[:room]
                return
            room -= len(piece)
            yield piece


def _charset(head: bytes) -> str:
    # Without a byte order mark UTF-16 shows in its first character, which is ASCII.
    if head.startswith((b"<\0", b"h\0")):
        return "utf-16-le"
    if head.startswith((b"\0<", b"\0h")):
        return "utf-16-be"
    return decide_charset(head, "")


def _lines(texts: Iterable[str], source: _Source) -> Iterator[list[Named]]:
    rest = ""
    for text in texts:
        *lines, rest = (rest + text).split("\n")
        # Longer than a URL may be, it needs no more than its length to be known.
        rest = rest[: MAX_LOC_LENGTH + 1]
        yield _locs(lines, source)
    yield _locs([rest], source)


def _locs(lines: list[str], source: _Source) -> list[Named]:
    locs = [loc for line in lines if (loc := line.strip(_BLANK))]
    short = [loc for loc in locs if len(loc) <= MAX_LOC_LENGTH]
    source.too_long += len(locs) - len(short)
    return [Named(loc) for loc in short]
