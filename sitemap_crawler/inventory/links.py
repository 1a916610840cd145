"""A page's outgoing links as one small blob: sorted URL ids, each as its distance to the one before, 7 bits a byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def encode_links(ids: Iterable[int]) -> bytes:
    """The ids in ascending order without duplicates, delta-coded."""
    blob = bytearray()
    last = 0
    for link_id in sorted(set(ids)):
        delta = link_id - last
        last = link_id
        while delta > 0x7F:
            blob.append(delta & 0x7F | 0x80)
            delta >>= 7
        blob.append(delta)
    return bytes(blob)


def decode_links(blob: bytes) -> Iterator[int]:
    link_id = shift = delta = 0
    for byte in blob:
        delta |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
            continue
        link_id += delta
        yield link_id
        shift = delta = 0
