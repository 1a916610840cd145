"""Bytes of a sitemap file: decompressed, counted and limited to the size that the protocol allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from sitemap_crawler.exceptions import GzipError, UnreadableError
from sitemap_crawler.utils.files import GZIP_MAGIC, gunzip
from sitemap_crawler.validation.protocol import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PIECE_BYTES = 65_536
"""Maximum number of bytes that are read or decompressed at once."""
MIN_PIECE_BYTES = 32_768
"""Minimum number of bytes of a piece that is not the last one."""
MAX_RAW_BYTES = MAX_BYTES + 1_048_576
"""Maximum number of bytes before decompression. Deflate never makes a file notably longer than its content."""


class Readable(Protocol):
    """Source of bytes. `read` may return fewer bytes than requested and returns no bytes at the end."""

    def read(self, size: int, /) -> bytes: ...


def is_decoded(source: Readable) -> bool:
    """Return whether a server has sent the bytes with a content encoding that was removed."""
    return bool(getattr(source, "decoded", False))


class Stream:
    """Iterator over the decompressed content of a file, in pieces of at most PIECE_BYTES.

    Iterating raises UnreadableError for damaged gzip data and as soon as the content exceeds the maximum size of a
    sitemap. A decompression bomb therefore costs at most one piece more than that.
    """

    def __init__(self, source: Readable) -> None:
        self.size = 0
        """Uncompressed bytes so far."""
        self.gzipped = False
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        raw = self._raw()
        head = b""
        while len(head) < len(GZIP_MAGIC) and (piece := next(raw, b"")):
            head += piece
        self.gzipped = head.startswith(GZIP_MAGIC)
        pieces = _chain(head, raw)
        small: list[bytes] = []
        waiting = 0
        try:
            for piece in decompress(pieces) if self.gzipped else pieces:
                self.size += len(piece)
                if self.size > MAX_BYTES:
                    raise UnreadableError("file-too-large", f"has more than {MAX_BYTES:,} bytes uncompressed")
                # A reader looks at the end of a piece again, so many small pieces would take it long.
                small.append(piece)
                waiting += len(piece)
                if waiting >= MIN_PIECE_BYTES:
                    yield b"".join(small)
                    small.clear()
                    waiting = 0
        except UnreadableError:
            if small:
                yield b"".join(small)
            raise
        if small:
            yield b"".join(small)

    def _raw(self) -> Iterator[bytes]:
        total = 0
        while piece := self._source.read(PIECE_BYTES):
            total += len(piece)
            if total > MAX_RAW_BYTES:
                raise UnreadableError("file-too-large", f"has more than {MAX_BYTES:,} bytes")
            yield piece


def _chain(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from rest


def decompress(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content of a gzip file in pieces of at most PIECE_BYTES. Raises UnreadableError."""
    try:
        yield from gunzip(pieces, max_piece_bytes=PIECE_BYTES)
    except GzipError as error:
        raise _unreadable(error) from None


def _unreadable(error: GzipError) -> UnreadableError:
    if error.kind == "truncated":
        return UnreadableError("gzip-truncated", "is a gzip file that ends too early")
    if error.kind == "trailing-garbage":
        return UnreadableError("gzip-trailing-garbage", "has other bytes after the end of its gzip data")
    return UnreadableError("gzip-corrupt", f"is a damaged gzip file ({error})")
