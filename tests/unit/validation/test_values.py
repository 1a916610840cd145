"""Values of sitemaps, and the reader of entries."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import pytest

from sitemap_crawler.validation.entries import ReadEntry, read_entries
from sitemap_crawler.validation.values import Place, Url, _known_datetime, parse_url, w3c_datetime
from tests.support.sitemap_documents import (
    BASE,
    GZ,
    PAGE,
    PUBLICATION,
    VALID,
    index,
    urlset,
)

# Values

DATES: list[tuple[str, str | None]] = [
    ("2024", "2024-01-01T00:00:00+00:00"),
    ("2024-02", "2024-02-01T00:00:00+00:00"),
    ("2024-02-29", "2024-02-29T00:00:00+00:00"),
    ("2024-02-29T12:30Z", "2024-02-29T12:30:00+00:00"),
    ("2024-02-29T12:30:05+02:00", "2024-02-29T12:30:05+02:00"),
    ("2024-02-29T12:30:05.5-14:00", "2024-02-29T12:30:05.500000-14:00"),
    ("0000", None),
    ("2024-00", None),
    ("2024-2-9", None),
    ("20240229", None),
    ("2024-02-29T24:00Z", None),
    ("2024-02-29T12Z", None),
    ("2024-02-29T12:30:61Z", None),
    ("2024-02-29T12:30:05z", None),
    ("2024-02-29T12:30:05+0200", None),
    ("2024-02-29T12:30:05+14:01", None),
    ("2024-02-29T12:30:05+01:60", None),
    ("2024-02-29Z", None),
    ("٢٠٢٤", None),
    ("2024\n", None),
]


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_w3c_datetime(text: str, expected: str | None) -> None:
    moment = w3c_datetime(text)
    assert (moment.time.isoformat() if moment.time else None) == expected
    assert bool(moment.problem) == (expected is None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.com", Url("https://example.com", "/", "")),
        ("HTTP://Example.COM:80/A?B", Url("http://example.com", "/A", "?B")),
        ("https://example.com:8443/", Url("https://example.com:8443", "/", "")),
        ("https://example.com/a/./b/../c", Url("https://example.com", "/a/c", "")),
        ("https://example.com/..", Url("https://example.com", "/", "")),
        ("https://example.com//a/.well-known", Url("https://example.com", "//a/.well-known", "")),
        ("https://example.com/a//../b/..", Url("https://example.com", "/a/", "")),
        ("https://example.com/a/%2E%2e/..b/.%2e", Url("https://example.com", "/", "")),
        ("https://example.com?q=/../x", Url("https://example.com", "/", "?q=/../x")),
    ],
)
def test_parse_url(text: str, expected: Url) -> None:
    assert parse_url(text) == expected


@pytest.mark.parametrize(
    ("path", "inside"),
    [("/docs/", True), ("/docs/a", True), ("/docs", False), ("/docs-old/a", False), ("/%64ocs/a", True)],
)
def test_place(path: str, inside: bool) -> None:
    place = Place.for_sitemap(Url("https://example.com", "/docs/sitemap.xml", ""))
    assert place == Place("https://example.com", "/docs/")
    assert place.contains(path) == inside


# Reading back


def test_read_entries() -> None:
    body = (
        "<url><loc>https://example.com/?a=1&amp;b=2</loc><lastmod>2024-01-01</lastmod>"
        "<changefreq>daily</changefreq><priority>0.8</priority>"
        "<image:image><image:loc>https://e.com/1.png</image:loc></image:image>"
        "<image:image><image:loc>https://e.com/2.png</image:loc></image:image>"
        "<video:video><video:title>T</video:title><video:tag>a</video:tag><video:tag>b</video:tag></video:video>"
        '<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de"/></url>'
        f"<url><loc>{PAGE}</loc><news:news>{PUBLICATION}<news:title>News</news:title></news:news></url>"
    )
    expected = [
        ReadEntry(
            "https://example.com/?a=1&b=2",
            "2024-01-01",
            "daily",
            "0.8",
            images=("https://e.com/1.png", "https://e.com/2.png"),
            videos=((("title", "T"), ("tag", "a"), ("tag", "b")),),
            alternates=(("de", "https://example.com/de"),),
        ),
        ReadEntry(PAGE, news=(("name", "The Daily"), ("language", "en"), ("title", "News"))),
    ]
    assert read_entries(urlset(body).encode()) == expected
    assert read_entries(gzip.compress(urlset(body).encode())) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (index(f"{BASE}a.xml", f"{BASE}b.xml"), [f"{BASE}a.xml", f"{BASE}b.xml"]),
        (f"{PAGE}\nhttps://example.com/b\n", [PAGE, "https://example.com/b"]),
        (VALID["rss"], [PAGE]),
        (VALID["atom"], [PAGE]),
        (urlset(""), []),
    ],
)
def test_read_entries_of_other_kinds(content: str, expected: list[str]) -> None:
    assert [entry.loc for entry in read_entries(content.encode())] == expected


@pytest.mark.parametrize("content", [b"", b"<urlset>", b"nothing", GZ[:-9], b"<!DOCTYPE a><a/>"])
def test_read_entries_refuses_unreadable_content(content: bytes) -> None:
    with pytest.raises(ValueError, match="the sitemap "):
        read_entries(content)


def test_long_texts_of_dates_are_not_kept() -> None:
    text = f"2024-01-01T00:00:00.{'1' * 10_000}Z"
    before = _known_datetime.cache_info().currsize
    assert w3c_datetime(text).time == datetime(2024, 1, 1, 0, 0, 0, 111_111, UTC)
    assert _known_datetime.cache_info().currsize == before
