"""Conversion between the two addresses of a previewed site."""

from __future__ import annotations

import pytest

from sitemap_crawler.urls.public_address import PublicAddress


@pytest.mark.parametrize(
    ("start", "public", "crawled_at", "published_at"),
    [
        ("http://localhost:3000/", "https://example.com/", "http://localhost:3000/", "https://example.com/"),
        ("http://localhost:3000/", "https://example.com/docs", "http://localhost:3000/", "https://example.com/docs/"),
        ("http://localhost/build/", "https://example.com/", "http://localhost/build/", "https://example.com/"),
        ("http://localhost/index.html", "https://example.com/", "http://localhost/", "https://example.com/"),
        ("http://localhost/index.html", "https://example.com/index.html", "http://localhost/", "https://example.com/"),
        ("http://localhost/docs", "https://example.com/docs", "http://localhost/", "https://example.com/"),
        ("http://localhost/docs/", "https://example.com/docs/", "http://localhost/", "https://example.com/"),
        ("http://localhost/docs/", "https://example.com/docs", "http://localhost/", "https://example.com/"),
        ("http://localhost/a/b/c/", "https://example.com/x/b/c/", "http://localhost/a/", "https://example.com/x/"),
        ("http://localhost/a/", "https://example.com/b/", "http://localhost/a/", "https://example.com/b/"),
    ],
)
def test_directories_of_both_addresses(start: str, public: str, crawled_at: str, published_at: str) -> None:
    assert PublicAddress.for_urls(start, public) == PublicAddress(crawled_at, published_at)


def test_urls_inside_are_converted_and_others_unchanged() -> None:
    address = PublicAddress("http://localhost/build/", "https://example.com/docs/")
    assert address.to_public("http://localhost/build/a?b=c") == "https://example.com/docs/a?b=c"
    assert address.to_public("http://localhost/build") == "http://localhost/build"
    assert address.to_public("https://other.example/build/") == "https://other.example/build/"
    assert address.to_crawled("https://example.com/docs/a?b=c") == "http://localhost/build/a?b=c"
    assert address.to_crawled("https://example.com/other") == "https://example.com/other"


def test_urls_of_the_preview_only_are_private() -> None:
    address = PublicAddress("http://localhost/build/", "https://example.com/")
    assert address.is_private("http://localhost/logo.png")
    assert not address.is_private("http://localhost/build/logo.png")
    assert not address.is_private("http://localhost:8000/logo.png")
    assert not address.is_private("https://cdn.example.com/logo.png")


@pytest.mark.parametrize(
    ("crawled_at", "published_at", "robots"),
    [
        ("http://localhost/", "https://example.com/", None),
        ("http://localhost/build/", "https://example.com/", "http://localhost/build/robots.txt"),
        ("http://localhost/", "https://example.com/docs/", None),
        ("http://localhost/build/", "https://example.com/docs/", None),
    ],
)
def test_url_of_the_robots_txt_of_the_live_site(crawled_at: str, published_at: str, robots: str | None) -> None:
    assert PublicAddress(crawled_at, published_at).robots_url == robots
