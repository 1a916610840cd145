"""Dates in microformats: which entry is the page's own, and which of its dates is one of modification."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract import microformats
from sitemap_crawler.extract.microformats import entry_date
from sitemap_crawler.extract.page_dates import PageDate, modified_date
from tests.support.reading_page import URL, page

if TYPE_CHECKING:
    from lxml import etree

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
MAY = "2024-05-01T10:15:00+02:00"
JUNE = "2024-06-02T10:15:00Z"
IN_MAY = datetime(2024, 5, 1, 8, 15, tzinfo=UTC)
OTHER = "https://example.com/docs/other.html"
UPDATED = f'<time class="updated" datetime="{MAY}">1 May</time>'
PUBLISHED = f'<time class="entry-date published" datetime="{JUNE}">2 June</time>'


def entry(inside: str, kind: str = "post hentry") -> str:
    return f'<article class="{kind}">{inside}</article>'


OWN = [
    # WordPress, Twenty Nineteen and the themes made from _s: a post that was modified, and one that was not.
    entry(
        f'<h1 class="entry-title">T</h1><span class="posted-on"><a href="{URL}" rel="bookmark">'
        f'<time class="entry-date published" datetime="2023-01-01T00:00:00+00:00">1 Jan</time>{UPDATED}</a></span>',
        "post-7 post type-post status-publish format-standard hentry category-a entry",
    ),
    entry(f'<time class="entry-date published updated" datetime="{MAY}">1 May</time>'),
    # microformats2
    entry(f'<a class="u-url" href="{URL}"><time class="dt-updated" datetime="{MAY}">1 May</time></a>', "h-entry"),
    entry(f'<time class="dt-published dt-updated" datetime="{MAY}">1 May</time>', "h-entry"),
    f'<body class="h-entry"><p>x</p>{UPDATED}</body>',
    f'<ul><li class="hentry">{UPDATED}</li></ul>',
    # The same date twice is one date.
    entry(UPDATED + UPDATED.replace(MAY, "2024-05-01T08:15:00Z")),
    # Other dates and links inside the entry
    entry(PUBLISHED + UPDATED),
    entry(f'{UPDATED}<ol class="comment-list"><li><time class="updated" datetime="{JUNE}"></time></li></ol>'),
    entry(f'{UPDATED}<div class="h-cite"><time class="dt-updated" datetime="{JUNE}"></time></div>', "h-entry"),
    entry(f'{UPDATED}<p class="p-author h-card"><a class="u-url" href="/jo">Jo</a></p>'),
    entry(f'{UPDATED}<a class="p-author vcard u-url" href="/jo">Jo</a><a href="{OTHER}">a link</a>'),
    entry(f'{UPDATED}<ul class="comments"><li><a rel="bookmark" href="{OTHER}">a comment</a></li></ul>'),
    entry(f'{UPDATED}<a rel="bookmark" href="{OTHER}">the next</a><a rel="bookmark" href="#top">this</a>'),
    f'<link rel="canonical" href="{OTHER}">' + entry(f'<h1 class="p-name"><a href="{OTHER}">T</a></h1>{UPDATED}'),
]


@pytest.mark.parametrize("markup", OWN)
def test_the_only_entry_dates_the_page(markup: str) -> None:
    assert modified_date(page(markup), now=NOW) == PageDate(IN_MAY, has_time=True, source="microformats")


NOT_OWN = [
    PUBLISHED,
    UPDATED,
    entry(PUBLISHED),
    entry(f'<time class="dt-published" datetime="{MAY}"></time>', "h-entry"),
    # A list: several entries, or one that names another page.
    2 * entry(UPDATED),
    entry(UPDATED) + entry(PUBLISHED),
    f'<ul><li class="post hentry">{UPDATED}</li><li class="post hentry">x</li></ul>',
    entry(f'<h2 class="entry-title"><a href="{OTHER}" rel="bookmark">T</a></h2>{UPDATED}'),
    entry(f'<h2 class="entry-title"><a href="{OTHER}">T</a></h2>{UPDATED}'),
    entry(f'<a class="u-url" href="{OTHER}">{UPDATED}</a>', "h-entry"),
    entry(f'<a class="p-name" href="{OTHER}">T</a>{UPDATED}', "h-entry"),
    # Outside of the entry, of a comment, of a card
    entry("x") + UPDATED,
    entry(f'<div class="comment">{UPDATED}</div>'),
    entry(f'<div class="h-cite">{UPDATED}</div>', "h-entry"),
    # Two dates
    entry(UPDATED + UPDATED.replace(MAY, JUNE)),
    # No date, and names that only begin alike
    entry('<time class="updated">1 May</time>'),
    entry('<time class="updated" datetime="yesterday">1 May</time>'),
    entry('<time class="updated" datetime="2099-01-01">2099</time>'),
    entry(UPDATED, "hentry-list"),
    entry(f'<time class="last-updated" datetime="{MAY}">1 May</time>'),
]


@pytest.mark.parametrize("markup", NOT_OWN)
def test_other_dates_do_not_date_the_page(markup: str) -> None:
    assert modified_date(page(markup), now=NOW) is None


# Real output of WordPress 6.1.9 with Twenty Twenty-One, for a post of 1 August 2022 that was modified on 26 June 2023.
TWENTY_TWENTY_ONE = """
<article id="post-5" class="post-5 post type-post status-publish format-standard hentry category-uncategorized entry">
<header class="entry-header alignwide"><h1 class="entry-title">Entry 1</h1></header>
<div class="entry-content"><p>Text of entry 1.</p></div>
<footer class="entry-footer default-max-width">
<div class="posted-by"><span class="posted-on">Published <time class="entry-date published updated"
 datetime="2022-08-01T10:05:53+02:00">August 1, 2022</time></span><span class="byline">By
 <a href="http://127.0.0.1:8803/author/admin/" rel="author">admin</a></span></div>
</footer></article>"""


def test_a_theme_that_calls_the_date_of_publication_updated_is_not_believed() -> None:
    assert entry_date(page(TWENTY_TWENTY_ONE)) is None


def test_json_ld_and_microdata_come_first() -> None:
    microdata = f'<meta itemprop="dateModified" content="{JUNE}">'
    found = modified_date(page(microdata + entry(UPDATED)), now=NOW)
    assert found == PageDate(datetime(2024, 6, 2, 10, 15, tzinfo=UTC), has_time=True, source="microdata")


def test_many_times_and_links_are_bounded() -> None:
    many = entry(2_000 * f'<time class="updated" datetime="{MAY}"></time><a rel="bookmark" href="{URL}">x</a>')
    assert entry_date(page(many)) == MAY


def test_the_depth_between_an_entry_and_its_dates_and_links_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []

    def count(element: etree._Element) -> list[str]:
        steps.append(element)
        return (element.get("class") or "").split()

    monkeypatch.setattr(microformats, "_classes", count)
    assert entry_date(page(entry(f'{"<div>" * 49}<a rel="bookmark" href="{OTHER}">x</a>{UPDATED}'))) is None
    assert entry_date(page(entry("<div>" * 48 + UPDATED))) == MAY
    assert entry_date(page(entry("<div>" * 51 + UPDATED))) is None
    steps.clear()
    assert entry_date(page(entry("<div>" * 1_900 + 5_000 * '<a href="x">x</a>' + UPDATED))) is None
    assert len(steps) < 2_000 * 52 + 100


@given(st.text(), st.text())
def test_no_text_raises(date: str, link: str) -> None:
    entry_date(page(entry(f'<a rel="bookmark" href="{link}">x</a><time class="updated" datetime="{date}">x</time>')))
