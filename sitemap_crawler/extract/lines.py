"""The lines of a file from outside, compressed or not, in bounded memory: over-long lines are counted and skipped."""

from __future__ import annotations

import codecs
import io
import re
from itertools import chain
from typing import TYPE_CHECKING, cast

from sitemap_crawler.exceptions import GzipError
from sitemap_crawler.utils.files import GZIP_MAGIC, gunzip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PIECE_BYTES = 262_144
"""Size of one piece of a file."""
MAX_LINE = 1_048_576
"""Maximum number of characters of a line that is read. A line of JSON may have a thousand images."""
_NO_UTF_8 = re.compile("[\ud800-\udfff]")
_ENCODINGS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def pieces_of(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file. Raises OSError."""
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece


class Lines:
    """Iterator over the lines of a file, as one list for each piece. A list may be empty.

    A line ends with CR, LF or both. An over-long line becomes an empty one. The values below are valid after the
    iteration, `number` also during it. Bytes that are no text become U+FFFD.
    """

    def __init__(self, pieces: Iterable[bytes], *, max_lines: int, max_bytes: int) -> None:
        """`max_bytes` counts uncompressed bytes."""
        self._raw = pieces
        self._max_lines = max_lines
        self._max_bytes = max_bytes
        self.number = 0
        """Number of lines, with the over-long ones."""
        self.too_long = 0
        """Number of lines with more than MAX_LINE characters."""
        self.size = 0
        """Uncompressed bytes."""
        self.first_not_utf_8: int | None = None
        """Number of the first line, from 1, with bytes that are no UTF-8; None if there is none."""
        self.damage: str | None = None
        """Why the file was not read to its end, as `is …` or `has …`."""

    def __iter__(self) -> Iterator[list[str]]:
        rest, dropping = "", False
        for text in self._texts():
            *ended, last = text.split("\n")
            if not ended:
                rest += "" if dropping else last
            else:
                first = None if dropping else rest + ended[0]
                yield self._kept([first, *ended[1:]])
                if self.damage is not None:
                    return
                rest, dropping = last, False
            if len(rest) > MAX_LINE:
                rest, dropping = "", True
        if rest or dropping:
            yield self._kept([None if dropping else rest])

    def _kept(self, lines: list[str | None]) -> list[str]:
        left = self._max_lines - self.number
        if len(lines) > left:
            self.damage = f"has more than {self._max_lines:,} lines"
            del lines[left:]
        self.number += len(lines)
        too_long = [position for position, line in enumerate(lines) if line is None or len(line) > MAX_LINE]
        for position in too_long:
            lines[position] = ""
        self.too_long += len(too_long)
        return cast("list[str]", lines)

    def _texts(self) -> Iterator[str]:
        pieces = self._bounded(self._plain())
        head = b""
        while len(head) < len(codecs.BOM_UTF8) and (piece := next(pieces, b"")):
            head += piece
        encoding = next((name for mark, name in _ENCODINGS if head.startswith(mark)), "utf-8")
        # Bytes that are no UTF-8 become lone surrogates at first, which no valid text has.
        errors = "replace" if encoding == "utf-16" else "surrogateescape"
        decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(errors), translate=True)
        for piece in chain((head,), pieces):
            yield self._readable(decoder.decode(piece))
        yield self._readable(decoder.decode(b"", True))

    def _readable(self, text: str) -> str:
        """Return a text without bytes that are no UTF-8, and note the first line with any."""
        if text.isascii() or (found := _NO_UTF_8.search(text)) is None:
            return text
        if self.first_not_utf_8 is None:
            self.first_not_utf_8 = self.number + text.count("\n", 0, found.start()) + 1
        return _NO_UTF_8.sub("\ufffd", text)

    def _plain(self) -> Iterator[bytes]:
        pieces = iter(self._raw)
        head = b""
        while len(head) < len(GZIP_MAGIC) and (piece := next(pieces, b"")):
            head += piece
        pieces = chain((head,), pieces)
        if not head.startswith(GZIP_MAGIC):
            yield from pieces
            return
        try:
            yield from gunzip(pieces, max_piece_bytes=PIECE_BYTES)
        except GzipError as error:
            truncated = error.kind == "truncated"
            self.damage = "is a gzip file that ends too early" if truncated else "is a damaged gzip file"

    def _bounded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            if self.size + len(piece) > self._max_bytes:
                self.damage = f"has more than {self._max_bytes:,} bytes"
                return
            self.size += len(piece)
            yield piece
