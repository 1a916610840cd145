"""Files: JSON files that are replaced atomically, and gzip files that are decompressed with bounded memory."""

from __future__ import annotations

import json
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sitemap_crawler.exceptions import GzipError
from sitemap_crawler.utils.replace import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

GZIP_MAGIC = b"\x1f\x8b"
"""First bytes of every gzip file, https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1."""
_GZIP_WBITS = 31
"""Window bits with which zlib expects a gzip header and trailer."""


def write_json(path: Path, value: Any, *, private: bool = False, durable: bool = True) -> None:
    """Replace `path` by a file with `value` as JSON: see `replacing`. Raises UntrustedLinkError, OSError."""
    data = (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
    with replacing(path, private=private, durable=durable) as file:
        file.write(data)


def gunzip(pieces: Iterable[bytes], *, max_piece_bytes: int) -> Iterator[bytes]:
    """Decompress the pieces of a gzip file and yield pieces of at most `max_piece_bytes`.

    A gzip file may consist of several members and may be padded with zero bytes (RFC 1952, section 2.2; gzip(1)). A
    decompression bomb costs no more memory than one piece: the caller limits the total. Raises GzipError after the
    content before the damage.
    """
    decompressor = zlib.decompressobj(_GZIP_WBITS)
    complete_members = 0
    in_member = True
    for piece in pieces:
        data = piece
        while data or in_member:
            if not in_member:
                data = data.lstrip(b"\0")
                if not data:
                    break
                decompressor, in_member = zlib.decompressobj(_GZIP_WBITS), True
            before = decompressor.copy()
            try:
                out = decompressor.decompress(data, max_piece_bytes)
            except zlib.error as error:
                yield from _before_damage(before, data, max_piece_bytes)
                raise _gzip_error(error, complete_members) from None
            if out:
                yield out
            if decompressor.eof:
                data, in_member, complete_members = decompressor.unused_data, False, complete_members + 1
            elif decompressor.unconsumed_tail or len(out) == max_piece_bytes:
                data = decompressor.unconsumed_tail
            else:
                break
    if in_member:
        raise GzipError("truncated")


def _before_damage(decompressor: zlib._Decompress, data: bytes, max_piece_bytes: int) -> Iterator[bytes]:
    """Yield the readable part of damaged data. zlib drops the output of a call that finds the damage."""
    out = bytearray()
    with suppress(zlib.error):
        for position in range(len(data)):
            out += decompressor.decompress(data[position : position + 1])
            if len(out) >= max_piece_bytes:
                break
    if out:
        yield bytes(out[:max_piece_bytes])


def _gzip_error(error: zlib.error, complete_members: int) -> GzipError:
    if complete_members and "incorrect header check" in str(error):
        return GzipError("trailing-garbage", str(error))
    return GzipError("corrupt", str(error))
