"""A file's bytes, decompressed and counted, never more than the protocol allows a sitemap to have."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Protocol

from sitemap_crawler.validation.protocol import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CHUNK = 65_536
GZIP_MAGIC = b"\x1f\x8b"
# Deflate never makes a whole file notably larger; more than this is a stream without end.
_MAX_RAW = MAX_BYTES + 1_048_576


class Readable(Protocol):
    """`read` may give fewer bytes than asked for; none at the end."""

    def read(self, size: int, /) -> bytes: ...


class UnreadableError(Exception):
    """The rest of a file can't be read; `rule` and `message` become its finding."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message


class Stream:
    """Iterates over pieces of at most CHUNK bytes.

    Raises `UnreadableError` for a damaged gzip, and as soon as one byte more has come than a sitemap may have: what a
    decompression bomb costs is one piece.
    """

    def __init__(self, source: Readable) -> None:
        self.size = 0  # uncompressed bytes so far
        self.gzipped = False
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        raw = self._raw()
        head = b""
        while len(head) < len(GZIP_MAGIC) and (piece := next(raw, b"")):
            head += piece
        self.gzipped = head.startswith(GZIP_MAGIC)
        pieces = _chain(head, raw)
        for piece in gunzip(pieces) if self.gzipped else pieces:
            self.size += len(piece)
            if self.size > MAX_BYTES:
                raise UnreadableError("file-too-large", f"has more than {MAX_BYTES:,} bytes uncompressed; split it")
            yield piece

    def _raw(self) -> Iterator[bytes]:
        total = 0
        while piece := self._source.read(CHUNK):
            total += len(piece)
            if total > _MAX_RAW:
                raise UnreadableError("file-too-large", f"has more than {MAX_BYTES:,} bytes; split it")
            yield piece


def _chain(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from rest


def gunzip(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A gzip file may be several members in a row, and be padded with zeros (RFC 1952, section 2.2; gzip(1))."""
    inflater = zlib.decompressobj(wbits=31)
    complete = 0
    started = True
    for piece in pieces:
        data = piece
        while data or started:
            if not started:
                data = data.lstrip(b"\0")
                if not data:
                    break
                inflater, started = zlib.decompressobj(wbits=31), True
            try:
                out = inflater.decompress(data, CHUNK)
            except zlib.error as exc:
                raise _damaged(complete, exc) from None
            if out:
                yield out
            if inflater.eof:
                data, started, complete = inflater.unused_data, False, complete + 1
            elif inflater.unconsumed_tail or len(out) == CHUNK:
                data = inflater.unconsumed_tail
            else:
                break
    if started:
        raise UnreadableError("gzip-truncated", "is a gzip file that ends too early; upload or write it again")


def _damaged(complete: int, exc: zlib.error) -> UnreadableError:
    if complete and "incorrect header check" in str(exc):
        return UnreadableError("gzip-trailing-garbage", "has other bytes after the end of its gzip data")
    return UnreadableError("gzip-corrupt", f"is a damaged gzip file ({exc}); upload or write it again")
