"""RSS 2.0 and Atom 1.0 feeds of the pages that changed last. Search engines read them as sitemaps.

No library is used. One of the two that exist writes characters that XML forbids, the other raises an exception for
them, so escaping would remain to be done here. By default, both write the time of writing or their own version.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime
from heapq import nsmallest
from typing import TYPE_CHECKING, Literal, NamedTuple

from sitemap_crawler.sitemap.escaping import escape, rfc3986
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sitemap_crawler.sitemap.names import FeedEnding

MAX_ITEMS = 500
"""Pages of one feed. A feed is fetched often and should be small, but must hold all changes between two fetches,
https://developers.google.com/search/blog/2014/10/best-practices-for-xml-sitemaps-rssatom"""
_MAX_TITLE = 1_000
"""Characters of a title, because a hostile page can have a title of any length."""

_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_ATOM_NAMESPACE = "http://www.w3.org/2005/Atom"


class Channel(NamedTuple):
    """The feed itself."""

    title: str
    site_url: str
    """URL of the site's start page."""
    feed_url: str
    """Public URL of the feed."""


class ChangedPage(NamedTuple):
    """One page of a feed."""

    url: str
    title: str | None
    changed: datetime
    """Time, with a zone, when the page was added or its content changed."""
    kind: Literal["added", "changed"]


def newest(pages: Iterable[ChangedPage], limit: int = MAX_ITEMS) -> list[ChangedPage]:
    """Return the newest pages, newest first. Only `limit` pages are held in memory. `pages` holds each URL once."""
    return nsmallest(limit, pages, key=lambda page: (-page.changed.timestamp(), page.url))


def rss(channel: Channel, pages: Iterable[ChangedPage]) -> bytes | None:
    """Return the feed, https://www.rssboard.org/rss-specification; None without pages, as it would have no date."""
    items = newest(pages)
    if not items:
        return None
    head = (
        f'{_XML}<rss version="2.0" xmlns:atom="{_ATOM_NAMESPACE}">\n<channel>\n'
        f"<title>{_title(channel.title, channel.site_url)}</title>\n<link>{escape(channel.site_url)}</link>\n"
        f"<description>New and changed pages of {escape(channel.site_url)}</description>\n"
        # https://www.rssboard.org/rss-profile#namespace-elements-atom-link
        f'<atom:link href="{escape(channel.feed_url)}" rel="self" type="application/rss+xml"/>\n'
        f"<lastBuildDate>{_rfc822(items[0].changed)}</lastBuildDate>\n"
    )
    return "".join([head, *map(_item, items), "</channel>\n</rss>\n"]).encode()


def atom(channel: Channel, pages: Iterable[ChangedPage]) -> bytes | None:
    """Return the feed, https://www.rfc-editor.org/rfc/rfc4287; None without pages, as it would have no date."""
    entries = newest(pages)
    if not entries:
        return None
    title = _title(channel.title, channel.site_url)
    head = (
        f'{_XML}<feed xmlns="{_ATOM_NAMESPACE}">\n<title>{title}</title>\n'
        f'<link rel="alternate" href="{escape(channel.site_url)}"/>\n'
        f'<link rel="self" href="{escape(channel.feed_url)}"/>\n<id>{escape(channel.feed_url)}</id>\n'
        # Section 4.1.1: a feed has an author, unless each entry has one.
        f"<author><name>{title}</name></author>\n<updated>{_rfc3339(entries[0].changed)}</updated>\n"
    )
    return "".join([head, *map(_entry, entries), "</feed>\n"]).encode()


FEEDS: dict[FeedEnding, Callable[[Channel, Iterable[ChangedPage]], bytes | None]] = {"rss": rss, "atom": atom}
"""Serialiser of each kind of feed, by the ending of the file's name."""


def _item(page: ChangedPage) -> str:
    url = escape(rfc3986(page.url))
    return (
        f"<item><title>{_title(page.title, page.url)}</title><link>{url}</link>"
        f'<guid isPermaLink="true">{url}</guid><category>{page.kind}</category>'
        f"<pubDate>{_rfc822(page.changed)}</pubDate></item>\n"
    )


def _entry(page: ChangedPage) -> str:
    url = escape(rfc3986(page.url))
    return (
        f'<entry><title>{_title(page.title, page.url)}</title><link rel="alternate" href="{url}"/><id>{url}</id>'
        f'<category term="{page.kind}"/><updated>{_rfc3339(page.changed)}</updated></entry>\n'
    )


def _title(title: str | None, url: str) -> str:
    """Return the escaped title; the URL for a page without one."""
    return escape(one_line(title or "", _MAX_TITLE) or url)


def _rfc822(moment: datetime) -> str:
    return format_datetime(moment.astimezone(UTC))


def _rfc3339(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
