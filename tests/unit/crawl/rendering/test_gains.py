"""What counts as a gain of a rendering."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from sitemap_crawler.crawl.rendering.gains import Gain, gains_of
from sitemap_crawler.extract.page_dates import PageDate
from sitemap_crawler.extract.scripts import ScriptFacts
from sitemap_crawler.items import Observation, Page, QueuedUrl

URL = "https://example.com/page"
NOW = datetime(2026, 7, 6, tzinfo=UTC)
STATED = PageDate(NOW, has_time=True, source="json-ld")


def read(
    text_bytes: int = 1_000, links: tuple[str, ...] = (), nofollow_links: tuple[str, ...] = (), **facts: Any
) -> Page:
    """Return a page as the readers leave it."""
    observation = replace(Observation(1, NOW, status=200, title="Title"), **facts)
    page = Page(QueuedUrl(1, URL, 0), observation, links=links, nofollow_links=nofollow_links)
    page.scripts = ScriptFacts(b"12345678", is_shell=False, text_bytes=text_bytes, charset="utf-8")
    return page


def gains(plain: Page, rendered: Page) -> tuple[tuple[Gain, ...], int]:
    found = gains_of(plain, rendered, follows=lambda url: url.startswith("https://example.com/"))
    return found.kinds, found.links


def test_the_same_page_gains_nothing() -> None:
    page = read(links=("https://example.com/a",), canonical=URL)
    assert gains(page, page) == ((), 0)


def test_links_within_the_site_count() -> None:
    known = ("https://example.com/a", "https://example.com/b")
    added = (*known, "https://example.com/c", "https://other.com/", URL)
    assert gains(read(links=known[:1], nofollow_links=known[1:]), read(links=added)) == ((Gain.LINKS,), 1)
    assert gains(read(links=known), read(links=("https://example.com/a",))) == ((), 0)


@pytest.mark.parametrize(
    ("before", "after", "is_gain"),
    [(0, 19, False), (0, 20, True), (1_000, 1_499, False), (1_000, 1_500, True), (30, 45, False), (1_000, 0, False)],
)
def test_text_counts_if_there_is_half_as_much_again(before: int, after: int, is_gain: bool) -> None:
    assert gains(read(before), read(after)) == ((Gain.TEXT,) if is_gain else (), 0)


@pytest.mark.parametrize(
    ("before", "after", "gain"),
    [
        ({}, {"title": "Another"}, Gain.TITLE),
        ({}, {"title": None}, None),
        ({}, {"canonical": "https://example.com/other"}, Gain.CANONICAL),
        ({}, {"canonical": URL}, None),
        ({"canonical": "https://example.com/other"}, {}, Gain.CANONICAL),
        ({}, {"noindex": True}, Gain.DIRECTIVES),
        ({}, {"nofollow": True}, Gain.DIRECTIVES),
        ({}, {"unavailable_after": NOW}, Gain.DIRECTIVES),
        ({}, {"page_date": STATED}, Gain.DATE),
        ({"page_date": STATED}, {}, None),
        ({}, {"images": ("https://example.com/a.png",)}, Gain.MEDIA),
        ({"images": ("https://example.com/a.png",)}, {}, None),
    ],
)
def test_what_else_is_a_gain(before: dict[str, Any], after: dict[str, Any], gain: Gain | None) -> None:
    assert gains(read(**before), read(**after)) == ((gain,) if gain else (), 0)
