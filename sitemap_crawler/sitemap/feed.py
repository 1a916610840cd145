"""RSS 2.0 and Atom 1.0 feeds of the pages that changed last, which search engines read as sitemaps.

No library makes them: of those there are, one writes characters that XML forbids and the other raises for them, so the
only hard part would be left to us; both write the time of writing, or their own version, unless told otherwise.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime
from heapq import nsmallest
from typing import TYPE_CHECKING, Literal, NamedTuple

from sitemap_crawler.sitemap.escaping import escape, rfc3986
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

# A reader must not miss a change between two visits, but a feed is fetched often and should be small,
# https://developers.google.com/search/blog/2014/10/best-practices-for-xml-sitemaps-rssatom
MAX_ITEMS = 500
_MAX_TITLE = 1_000  # characters; a bound on hostile pages

_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_ATOM_NAMESPACE = "http://www.w3.org/2005/Atom"


class Channel(NamedTuple):
    """The feed itself; `site_url` is the page that it is about, `feed_url` its own public address."""

    title: str
    site_url: str
    feed_url: str


class ChangedPage(NamedTuple):
    """`changed` has a time zone: when the page was added, or its content changed."""

    url: str
    title: str | None
    changed: datetime
    kind: Literal["added", "changed"]


def newest(pages: Iterable[ChangedPage], limit: int = MAX_ITEMS) -> list[ChangedPage]:
    """The pages of a feed, newest first; no more than these are in memory. `pages` holds each URL once."""
    return nsmallest(limit, pages, key=lambda page: (-page.changed.timestamp(), page.url))


def rss(channel: Channel, pages: Iterable[ChangedPage]) -> bytes | None:
    """The feed by https://www.rssboard.org/rss-specification; None without pages, as it could not be dated."""
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
    """The feed by https://www.rfc-editor.org/rfc/rfc4287; None without pages, as it could not be dated."""
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
    """The title escaped for a text or an attribute; the URL where there is none."""
    return escape(one_line(title or "", _MAX_TITLE) or url)


def _rfc822(moment: datetime) -> str:
    return format_datetime(moment.astimezone(UTC))


def _rfc3339(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
