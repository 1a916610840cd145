"""Decoding of content codings, bounded: a decompression bomb yields no more bytes than were asked for.

https://www.rfc-editor.org/rfc/rfc9110#section-8.4
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Any, Protocol

import brotli  # type: ignore[import-untyped]

from sitemap_crawler.exceptions import CodingError
from sitemap_crawler.utils.files import GZIP_MAGIC

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CODINGS = 2
"""Maximum number of content codings of one body. More are an attack."""
SLICE_BYTES = 4_096
"""Encoded bytes that are decoded at a time, so that the ratio of a decompression bomb is known."""


class _Decoder(Protocol):
    @property
    def is_complete(self) -> bool:
        """Whether the end of the coded data has been seen."""

    def decode(self, data: bytes, max_bytes: int) -> bytes:
        """Return at most `max_bytes`; the rest is lost. Raises an exception of the library's own."""


class BodyDecoder:
    """Decoder of one body, in pieces of any size. It is false if the body has no known coding."""

    def __init__(self, content_encoding: str) -> None:
        """Take the value of the header. Unknown codings are ignored, as browsers do. Raises CodingError."""
        names = [name.strip().lower() for name in content_encoding.split(",")]
        codings = [_DECODERS[name] for name in names if name in _DECODERS]
        if len(codings) > MAX_CODINGS:
            raise CodingError(f"it is compressed {len(codings)} times")
        self._decoders = [make() for make in reversed(codings)]
        self.encoded_bytes = 0
        """Encoded bytes that were decoded so far."""

    def __bool__(self) -> bool:
        return bool(self._decoders)

    def decode(self, data: bytes, max_bytes: int) -> bytes:
        """Return the next decoded bytes of the body, at most `max_bytes`. Raises CodingError."""
        decoded: list[bytes] = []
        for start in range(0, len(data), SLICE_BYTES):
            piece = data[start : start + SLICE_BYTES]
            self.encoded_bytes += len(piece)
            try:
                for decoder in self._decoders:
                    piece = decoder.decode(piece, max_bytes)
            except Exception as error:
                # Each library has its own exceptions.
                raise CodingError(f"it cannot be decompressed: {error}") from error
            decoded.append(piece)
            max_bytes -= len(piece)
            if max_bytes <= 0:
                break
        return b"".join(decoded)

    def finish(self) -> None:
        """Check that the body is complete. An empty body is. Raises CodingError."""
        if self.encoded_bytes and not all(decoder.is_complete for decoder in self._decoders):
            raise CodingError("it is cut off")


class _Zlib:
    """Decoder of gzip, with any number of members, and of deflate.

    Deflate has a zlib wrapper by its standard; some servers send it without.
    """

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._object = zlib.decompressobj(wbits)
        self._has_begun = False
        self._held_back = b""
        """A byte that may be the first of another gzip member."""
        self._has_ended = False
        """Whether data that is no gzip member has followed the last member. It is ignored."""

    @property
    def is_complete(self) -> bool:
        return self._object.eof

    def decode(self, data: bytes, max_bytes: int) -> bytes:
        if not self._has_begun and data:
            self._has_begun = True
            if self._wbits == zlib.MAX_WBITS and not _has_wrapper(data):
                self._object = zlib.decompressobj(-zlib.MAX_WBITS)
        data, self._held_back = self._held_back + data, b""
        decoded = b""
        while data and max_bytes > 0 and self._belongs_to_member(data):
            piece = self._object.decompress(data, max_bytes)
            decoded, max_bytes = decoded + piece, max_bytes - len(piece)
            data = self._object.unused_data
        return decoded

    def _belongs_to_member(self, data: bytes) -> bool:
        """Return whether `data` continues a member or begins another. Other data is ignored, as browsers do."""
        if not self._object.eof:
            return True
        if self._has_ended:
            return False
        if data == GZIP_MAGIC[:1]:
            self._held_back = data
            return False
        if not data.startswith(GZIP_MAGIC):
            self._has_ended = True
            return False
        self._object = zlib.decompressobj(self._wbits)
        return True


def _has_wrapper(data: bytes) -> bool:
    # https://www.rfc-editor.org/rfc/rfc1950#section-2.2
    return data[0] & 0x0F == 8 and (len(data) < 2 or (data[0] * 256 + data[1]) % 31 == 0)


class _Brotli:
    def __init__(self) -> None:
        self._object: Any = brotli.Decompressor()

    @property
    def is_complete(self) -> bool:
        return bool(self._object.is_finished())

    def decode(self, data: bytes, max_bytes: int) -> bytes:
        if self.is_complete:
            if data:
                # The library raises the same for such data in one piece with the end.
                raise ValueError("data follows the end")
            return b""
        decoded: bytes = self._object.process(data, output_buffer_limit=max_bytes)
        while len(decoded) < max_bytes and not self._object.can_accept_more_data():
            decoded += self._object.process(b"", output_buffer_limit=max_bytes - len(decoded))
        return decoded[:max_bytes]


class _Zstd:
    def __init__(self) -> None:
        self._object: Any = _zstd().ZstdDecompressor()

    @property
    def is_complete(self) -> bool:
        return bool(self._object.eof)

    def decode(self, data: bytes, max_bytes: int) -> bytes:
        decoded = b""
        while max_bytes > 0 and not self._object.eof and (data or not self._object.needs_input):
            piece: bytes = self._object.decompress(data, max_bytes)
            decoded, max_bytes, data = decoded + piece, max_bytes - len(piece), b""
        return decoded


def _zstd() -> Any:
    # Imported with the first body that needs it.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _gzip() -> _Decoder:
    return _Zlib(16 + zlib.MAX_WBITS)


def _deflate() -> _Decoder:
    return _Zlib(zlib.MAX_WBITS)


_DECODERS: dict[str, Callable[[], _Decoder]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}
