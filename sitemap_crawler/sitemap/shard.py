"""One sitemap file while it is written: open, full, finalised."""

from __future__ import annotations

import hashlib
import zlib
from gzip import GzipFile
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from sitemap_crawler.sitemap.limits import IMAGE_NAMESPACE, SITEMAP_NAMESPACE, VIDEO_NAMESPACE, XHTML_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    f'<urlset xmlns="{SITEMAP_NAMESPACE}" xmlns:image="{IMAGE_NAMESPACE}" xmlns:video="{VIDEO_NAMESPACE}"'
    f' xmlns:xhtml="{XHTML_NAMESPACE}">\n'
).encode()
"""Declares every extension, used or not, so that the head's bytes do not depend on the entries that follow."""
TAIL = b"</urlset>\n"

_BLOCK_BYTES = 1 << 18
"""Bytes that are written, compressed or read at once."""
GZIP_WBITS = 31
"""A gzip stream. zlib writes its header without a time or a file name; https://zlib.net/manual.html#Advanced"""


class Frame(NamedTuple):
    """The bytes of a format before its first entry and after its last one."""

    head: bytes
    tail: bytes

    @property
    def size(self) -> int:
        return len(self.head) + len(self.tail)


URLSET = Frame(HEAD, TAIL)
EMPTY_SIZE = URLSET.size
"""Bytes of a sitemap without entries."""


def read_body(file: BinaryIO, *, size: int, gzip: bool, frame: Frame = URLSET) -> Iterator[bytes]:
    """Yield the serialised entries of a finalised shard of `size` uncompressed bytes, in blocks."""
    plain = GzipFile(fileobj=file) if gzip else file
    plain.read(len(frame.head))
    left = size - frame.size
    while left:
        block = plain.read(min(left, _BLOCK_BYTES))
        if not block:
            raise OSError(f"a temporary sitemap lost {left} bytes")
        left -= len(block)
        yield block


class Shard:
    """Writer of one sitemap file. The same entries always give the same bytes."""

    def __init__(self, file: BinaryIO, *, max_urls: int, max_bytes: int, gzip: bool, frame: Frame = URLSET) -> None:
        self.urls = 0
        self.size = frame.size
        """Uncompressed bytes of the file if it ended now, with head and tail."""
        self.full = False
        self.finalised = False
        self.file_bytes = 0
        """Bytes on disk. Complete when the shard is finalised."""
        self._file = file
        self._max_urls = max_urls
        self._max_bytes = max_bytes
        self._compressor = zlib.compressobj(wbits=GZIP_WBITS) if gzip else None
        self._hash = hashlib.sha256()
        self._tail = frame.tail
        self._buffer = bytearray(frame.head)

    def fits(self, size: int) -> bool:
        """Return whether an entry of `size` serialised bytes fits. The first one that does not marks the shard full."""
        if not self.has_room(size):
            self.full = True
        return not self.full

    def has_room(self, size: int, *, urls: int = 1) -> bool:
        """Return whether `urls` entries of `size` serialised bytes together fit."""
        return not self.full and self.urls + urls <= self._max_urls and self.size + size <= self._max_bytes

    def add(self, body: bytes, *, urls: int = 1) -> None:
        """Append `urls` serialised entries. The caller has checked that they fit."""
        self._buffer += body
        self.urls += urls
        self.size += len(body)
        while len(self._buffer) >= _BLOCK_BYTES:
            self._flush()

    def finalise(self) -> None:
        """Write the tail and close the file. `file_bytes` and `sha256` are final afterwards."""
        self._buffer += self._tail
        while self._buffer:
            self._flush()
        if self._compressor is not None:
            self._write(self._compressor.flush())
        self._file.close()
        self.finalised = True

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def _flush(self) -> None:
        # Blocks of one size keep the compressed bytes independent of the sizes of the calls of `add`.
        data = bytes(self._buffer[:_BLOCK_BYTES])
        del self._buffer[:_BLOCK_BYTES]
        self._write(data if self._compressor is None else self._compressor.compress(data))

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.file_bytes += len(data)
