"""Blobs of links."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.inventory.sql import decode_links, encode_links


@given(ids=st.sets(st.integers(1, 2**40)))
def test_links_survive_their_encoding(ids: set[int]) -> None:
    assert list(decode_links(encode_links(ids))) == sorted(ids)


def test_neighbouring_links_take_a_byte_each() -> None:
    assert encode_links(range(1, 101)) == b"\x01" * 100
    assert encode_links([300, 300]) == b"\xac\x02"
