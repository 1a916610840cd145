"""One sitemap file being written: open, then full, then finalised, then written to its place."""

from __future__ import annotations

import hashlib
import zlib
from gzip import GzipFile
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from sitemap_crawler.sitemap.limits import IMAGE_NAMESPACE, SITEMAP_NAMESPACE, VIDEO_NAMESPACE, XHTML_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator

# All extensions are always declared: so the head's bytes don't depend on what only the last entry may need.
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    f'<urlset xmlns="{SITEMAP_NAMESPACE}" xmlns:image="{IMAGE_NAMESPACE}" xmlns:video="{VIDEO_NAMESPACE}"'
    f' xmlns:xhtml="{XHTML_NAMESPACE}">\n'
).encode()
TAIL = b"</urlset>\n"

_BLOCK = 1 << 18
# A gzip stream, whose header zlib writes with no time and no file name; https://zlib.net/manual.html#Advanced
GZIP_WBITS = 31


class Frame(NamedTuple):
    """What a format has before its first entry and after its last one."""

    head: bytes
    tail: bytes

    @property
    def size(self) -> int:
        return len(self.head) + len(self.tail)


URLSET = Frame(HEAD, TAIL)
EMPTY_SIZE = URLSET.size


def read_body(file: BinaryIO, *, size: int, gzip: bool, frame: Frame = URLSET) -> Iterator[bytes]:
    """Yield the serialised entries of a finalised shard of `size` uncompressed bytes, in blocks."""
    plain = GzipFile(fileobj=file) if gzip else file
    plain.read(len(frame.head))
    left = size - frame.size
    while left:
        block = plain.read(min(left, _BLOCK))
        if not block:
            raise OSError(f"a temporary sitemap lost {left} bytes")
        left -= len(block)
        yield block


class Shard:
    """Streams entries to `file`, in bytes that depend on nothing but the entries.

    `size` counts uncompressed bytes, head and closing tag included, so it is the size of the file if it ended now.
    """

    def __init__(self, file: BinaryIO, *, max_urls: int, max_bytes: int, gzip: bool, frame: Frame = URLSET) -> None:
        self.urls = 0
        self.size = frame.size
        self.full = False
        self.finalised = False
        self.file_bytes = 0
        self._file = file
        self._max_urls = max_urls
        self._max_bytes = max_bytes
        self._compressor = zlib.compressobj(wbits=GZIP_WBITS) if gzip else None
        self._hash = hashlib.sha256()
        self._tail = frame.tail
        self._buffer = bytearray(frame.head)

    def fits(self, size: int) -> bool:
        """Whether an entry of `size` serialised bytes fits; the first that does not makes the shard full."""
        if not self.has_room(size):
            self.full = True
        return not self.full

    def has_room(self, size: int, *, urls: int = 1) -> bool:
        """Whether `urls` entries of `size` serialised bytes fit together."""
        return not self.full and self.urls + urls <= self._max_urls and self.size + size <= self._max_bytes

    def add(self, body: bytes, *, urls: int = 1) -> None:
        """Append `urls` serialised entries, which the caller knows to fit."""
        self._buffer += body
        self.urls += urls
        self.size += len(body)
        while len(self._buffer) >= _BLOCK:
            self._flush()

    def finalise(self) -> None:
        """Write the frame's end and close the file; `file_bytes` and `sha256` are then those of the file."""
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
        # All blocks have one size: what the compressor makes of them can't depend on how the entries came.
        data = bytes(self._buffer[:_BLOCK])
        del self._buffer[:_BLOCK]
        self._write(data if self._compressor is None else self._compressor.compress(data))

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.file_bytes += len(data)
