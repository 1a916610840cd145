"""Undoes the content codings of a body, never more than asked for.

https://www.rfc-editor.org/rfc/rfc9110#section-8.4
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Any, Protocol

import brotli  # type: ignore[import-untyped]

from sitemap_crawler.exceptions import CodingError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CODINGS = 2
"""Of one body: more are a trap."""
SLICE = 4_096
"""Bytes that are unpacked at a time, so that it is known how few have become so many."""
GZIP = b"\x1f\x8b"
"""What a gzip stream begins with."""


class _Decoder(Protocol):
    @property
    def complete(self) -> bool:
        """Whether nothing is missing at the end."""

    def unpack(self, data: bytes, room: int) -> bytes:
        """At most `room` bytes; what does not fit is lost. Raises an error of the library's own."""


class Unpacker:
    """Take the bytes of a body as they come, and say at its end that it has ended."""

    def __init__(self, content_encoding: str) -> None:
        """Codings that nobody knows are passed over, as browsers do."""
        names = [name.strip().lower() for name in content_encoding.split(",")]
        codings = [_DECODERS[name] for name in names if name in _DECODERS]
        if len(codings) > MAX_CODINGS:
            raise CodingError(f"it is packed {len(codings)} times")
        self._decoders = [make() for make in reversed(codings)]
        self.packed = 0
        """Bytes that were unpacked."""

    def __bool__(self) -> bool:
        return bool(self._decoders)

    def unpack(self, data: bytes, room: int) -> bytes:
        """The next bytes of the body, at most `room` of them. Raises CodingError."""
        found: list[bytes] = []
        for start in range(0, len(data), SLICE):
            piece = data[start : start + SLICE]
            self.packed += len(piece)
            try:
                for decoder in self._decoders:
                    piece = decoder.unpack(piece, room)
            except Exception as error:
                # Each library has errors of its own.
                raise CodingError(f"it can't be unpacked: {error}") from error
            found.append(piece)
            room -= len(piece)
            if room <= 0:
                break
        return b"".join(found)

    def end(self) -> None:
        """Raises CodingError when something is missing. A body without a byte is no packed one."""
        if self.packed and not all(decoder.complete for decoder in self._decoders):
            raise CodingError("it ends before its end")


class _Zlib:
    """gzip, of any number of members, or deflate, with its wrapper or, as some servers have it, without."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._object = zlib.decompressobj(wbits)
        self._begun = False
        self._held = b""
        """What may be the first byte of another member."""

    @property
    def complete(self) -> bool:
        return self._object.eof

    def unpack(self, data: bytes, room: int) -> bytes:
        if not self._begun and data:
            self._begun = True
            if self._wbits == zlib.MAX_WBITS and not _has_wrapper(data):
                self._object = zlib.decompressobj(-zlib.MAX_WBITS)
        data, self._held = self._held + data, b""
        found = b""
        while data and room > 0 and self._goes_on(data):
            unpacked = self._object.decompress(data, room)
            found, room = found + unpacked, room - len(unpacked)
            data = self._object.unused_data
        return found

    def _goes_on(self, data: bytes) -> bool:
        """Whether `data` is part of a member; what else follows the end is passed over, as browsers do."""
        if not self._object.eof:
            return True
        if data == GZIP[:1]:
            self._held = data
        if not data.startswith(GZIP):
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
    def complete(self) -> bool:
        return bool(self._object.is_finished())

    def unpack(self, data: bytes, room: int) -> bytes:
        if self.complete:
            return b""
        found: bytes = self._object.process(data, output_buffer_limit=room)
        while len(found) < room and not self._object.can_accept_more_data():
            found += self._object.process(b"", output_buffer_limit=room - len(found))
        return found[:room]


class _Zstd:
    def __init__(self) -> None:
        self._object: Any = _zstd().ZstdDecompressor()

    @property
    def complete(self) -> bool:
        return bool(self._object.eof)

    def unpack(self, data: bytes, room: int) -> bytes:
        found = b""
        while room > 0 and not self._object.eof and (data or not self._object.needs_input):
            unpacked: bytes = self._object.decompress(data, room)
            found, room, data = found + unpacked, room - len(unpacked), b""
        return found


def _zstd() -> Any:
    # Loaded with the first body that needs it.
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
