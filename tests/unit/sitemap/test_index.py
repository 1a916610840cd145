"""The index of a set: its bytes, its limits, reading it back."""

from __future__ import annotations

from io import BytesIO

import pytest
from lxml import etree

from sitemap_crawler.exceptions import IndexOverflowError
from sitemap_crawler.sitemap.index import read_index, serialise_index
from tests.unit.sitemap.test_shard import EMPTY, ENTRY


def test_index_bytes():
    assert serialise_index([("https://e.example/a&b-1.xml", "2024-05-06T07:08:09Z")]) == (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        b'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        b"<sitemap><loc>https://e.example/a&amp;b-1.xml</loc><lastmod>2024-05-06T07:08:09Z</lastmod></sitemap>\n"
        b"</sitemapindex>\n"
    )


def test_index_lists_50_000_and_no_more():
    row = ("https://e.example/map-1.xml", "2024-05-06T07:08:09Z")
    assert len(etree.fromstring(serialise_index([row] * 50_000))) == 50_000
    with pytest.raises(IndexOverflowError, match=r"\A[^\n]*at most 50000 sitemaps, not 50001[^\n]*\Z"):
        serialise_index([row] * 50_001)


def test_index_has_52_428_800_bytes_and_no_more():
    fixed = len(serialise_index([("", "")] * 40_000))
    length, rest = divmod(52_428_800 - fixed, 40_000)
    rows = [("x" * length, "")] * 39_999
    assert len(serialise_index([*rows, ("x" * (length + rest), "")])) == 52_428_800
    with pytest.raises(IndexOverflowError, match="52428800"):
        serialise_index([*rows, ("x" * (length + rest + 1), "")])


def test_index_is_read_back():
    locs = ["https://e.example/a&b'-1.xml", "https://e.example/&amp;-2.xml"]
    assert read_index(BytesIO(serialise_index([(loc, "2024-05-06T07:08:09Z") for loc in locs]))) == locs


@pytest.mark.parametrize("data", [b"", b"\xff\x00", EMPTY.replace(b"</urlset>", ENTRY + b"</urlset>")])
def test_nothing_is_read_from_what_is_no_index(data):
    assert read_index(BytesIO(data)) == []
