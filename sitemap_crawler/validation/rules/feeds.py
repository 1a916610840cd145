"""Rules for RSS and Atom feeds, which search engines accept as sitemaps."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.findings import Issue, issue
from sitemap_crawler.validation.rules.entry import loc_text, moment_issues
from sitemap_crawler.validation.values import Moment, parse_url, w3c_datetime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sitemap_crawler.validation.reading.reader import Node


def link_of(node: Node) -> Node | None:
    """Return the element of an `item` or `entry` that contains the URL of its page."""
    for child in node.children:
        # Only Atom has `rel`; a link of RSS has no attributes.
        is_link = child.name == "link" and child.namespace == node.namespace
        if is_link and child.attributes.get("rel", "alternate") == "alternate":
            return child
    return None


def url_of(link: Node) -> str:
    """Return the URL of an Atom or RSS link element."""
    return link.attributes["href"].strip() if "href" in link.attributes else link.value


def root_issues(root: Node) -> Iterator[Issue]:
    """Check the version that the root element of a feed states."""
    version = root.attributes.get("version")
    if root.name == "rss" and version not in {None, protocol.RSS_VERSION}:
        yield issue("feed-version", f"the feed is RSS {version}", root.line)


def feed_issues(node: Node, now: datetime) -> Iterator[Issue]:
    """Check the link and the date of an `item` or `entry`."""
    link = link_of(node)
    if link is None:
        yield issue("feed-link-missing", f"<{node.name}> has no <link>", node.line)
    else:
        yield from loc_text(url_of(link), parse_url(url_of(link)), link.line)
    for child in node.children:
        if child.namespace == node.namespace and child.name in {"pubDate", "updated"}:
            moment = _rfc822(child.value) if child.name == "pubDate" else w3c_datetime(child.value)
            yield from moment_issues(child, moment, "feed-date-invalid", now)


def _rfc822(text: str) -> Moment:
    try:
        time = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return Moment(None, "is not a date such as Sat, 31 Jan 2026 18:30:00 +0000")
    return Moment(time if time.tzinfo else time.replace(tzinfo=UTC))
