"""Feeds of recently changed pages: their bytes, their order, and that they stay well-formed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sitemap_crawler.sitemap.feed import ChangedPage, Channel, atom, newest, rss

CHANNEL = Channel("Tom & Co", "https://example.com/", "https://example.com/map.rss?a&b")
NOON = datetime(2024, 5, 6, 12, 0, 0, tzinfo=UTC)
ATOM = "{http://www.w3.org/2005/Atom}"
MINUTE = timedelta(minutes=1)


def changed(
    url: str = "https://example.com/a?b=1&c", title: str | None = "Title", when: datetime = NOON
) -> ChangedPage:
    return ChangedPage(url, title, when, "changed")


PAGES = [
    ChangedPage("https://example.com/old", "Old <one>", NOON - timedelta(days=1), "added"),
    changed(),
    ChangedPage(
        "https://example.com/untitled",
        None,
        datetime(2024, 5, 6, 1, 2, 3, 999, tzinfo=timezone(-3 * 60 * MINUTE)),
        "added",
    ),
]


def test_rss_bytes():
    assert rss(CHANNEL, PAGES) == (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        b'<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">\n<channel>\n'
        b"<title>Tom &amp; Co</title>\n<link>https://example.com/</link>\n"
        b"<description>New and changed pages of https://example.com/</description>\n"
        b'<atom:link href="https://example.com/map.rss?a&amp;b" rel="self" type="application/rss+xml"/>\n'
        b"<lastBuildDate>Mon, 06 May 2024 12:00:00 +0000</lastBuildDate>\n"
        b"<item><title>Title</title><link>https://example.com/a?b=1&amp;c</link>"
        b'<guid isPermaLink="true">https://example.com/a?b=1&amp;c</guid><category>changed</category>'
        b"<pubDate>Mon, 06 May 2024 12:00:00 +0000</pubDate></item>\n"
        b"<item><title>https://example.com/untitled</title><link>https://example.com/untitled</link>"
        b'<guid isPermaLink="true">https://example.com/untitled</guid><category>added</category>'
        b"<pubDate>Mon, 06 May 2024 04:02:03 +0000</pubDate></item>\n"
        b"<item><title>Old &lt;one&gt;</title><link>https://example.com/old</link>"
        b'<guid isPermaLink="true">https://example.com/old</guid><category>added</category>'
        b"<pubDate>Sun, 05 May 2024 12:00:00 +0000</pubDate></item>\n"
        b"</channel>\n</rss>\n"
    )


def test_atom_bytes():
    assert atom(CHANNEL, PAGES) == (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        b'<feed xmlns="http://www.w3.org/2005/Atom">\n<title>Tom &amp; Co</title>\n'
        b'<link rel="alternate" href="https://example.com/"/>\n'
        b'<link rel="self" href="https://example.com/map.rss?a&amp;b"/>\n'
        b"<id>https://example.com/map.rss?a&amp;b</id>\n"
        b"<author><name>Tom &amp; Co</name></author>\n<updated>2024-05-06T12:00:00Z</updated>\n"
        b'<entry><title>Title</title><link rel="alternate" href="https://example.com/a?b=1&amp;c"/>'
        b'<id>https://example.com/a?b=1&amp;c</id><category term="changed"/>'
        b"<updated>2024-05-06T12:00:00Z</updated></entry>\n"
        b'<entry><title>https://example.com/untitled</title><link rel="alternate" href="https://example.com/untitled"/>'
        b'<id>https://example.com/untitled</id><category term="added"/>'
        b"<updated>2024-05-06T04:02:03Z</updated></entry>\n"
        b'<entry><title>Old &lt;one&gt;</title><link rel="alternate" href="https://example.com/old"/>'
        b'<id>https://example.com/old</id><category term="added"/>'
        b"<updated>2024-05-05T12:00:00Z</updated></entry>\n"
        b"</feed>\n"
    )


@pytest.mark.parametrize("write", [rss, atom])
def test_equal_input_gives_equal_bytes(write):
    assert write(CHANNEL, PAGES) == write(CHANNEL, reversed(PAGES))


@pytest.mark.parametrize("write", [rss, atom])
def test_without_pages_there_is_no_feed(write):
    assert write(CHANNEL, []) is None


def test_newest_first_then_by_url():
    named = [("b", 0), ("a", 0), ("c", 9)]
    pages = [changed(f"https://example.com/{name}", when=NOON + minutes * MINUTE) for name, minutes in named]
    assert [page.url[-1] for page in newest(pages)] == ["c", "a", "b"]


@pytest.mark.parametrize(("write", "item"), [(rss, "item"), (atom, f"{ATOM}entry")])
def test_only_the_500_newest(write, item):
    pages = (changed(f"https://example.com/{number}", when=NOON - number * MINUTE) for number in range(600))
    tree = etree.fromstring(write(CHANNEL, pages))
    locs = [found.findtext("link") or found.find(f"{ATOM}link").get("href") for found in tree.iter(item)]
    assert locs == [f"https://example.com/{number}" for number in range(500)]


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("a & b <i>c</i> ]]> \"q\" 'r'", "a & b <i>c</i> ]]> \"q\" 'r'"),
        ("two\r\n lines\tand\u2028more", "two lines and more"),
        ("con\x00trol\x08\x7f\x9f\ud800\udfff\ufffe\uffff", "control"),
        ("日本 🎉", "日本 🎉"),
        pytest.param("x" * 1_000_000, "x" * 1_000, id="huge"),
        ("\x00 \n", "https://example.com/p"),
        ("", "https://example.com/p"),
        (None, "https://example.com/p"),
    ],
)
def test_hostile_titles(title, written):
    page = changed("https://example.com/p", title)
    channel = Channel(title or "", "https://example.com/p", "https://example.com/map.atom")
    rss_tree, atom_tree = etree.fromstring(rss(channel, [page])), etree.fromstring(atom(channel, [page]))
    assert [found.text for found in rss_tree.iter("title")] == [written, written]
    assert [found.text for found in atom_tree.iter(f"{ATOM}title", f"{ATOM}name")] == [written, written, written]


@given(st.text(), st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_any_title_and_time_can_be_read_back(title, when):
    second = when.replace(microsecond=0)
    item = etree.fromstring(rss(CHANNEL, [changed(title=title, when=when)])).find("channel/item")
    assert parsedate_to_datetime(item.findtext("pubDate")) == second
    entry = etree.fromstring(atom(CHANNEL, [changed(title=title, when=when)])).find(f"{ATOM}entry")
    assert datetime.fromisoformat(entry.findtext(f"{ATOM}updated")) == second
    assert item.findtext("title") == entry.findtext(f"{ATOM}title")
