"""Basic check of the entries of RSS and Atom feeds, which search engines accept as sitemaps."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from sitemap_crawler.validation.findings import Issue, issue
from sitemap_crawler.validation.rules import loc_text
from sitemap_crawler.validation.values import parse_url, w3c_datetime

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def feed_issues(node: Node) -> Iterator[Issue]:
    """Check the link and the date of an `item` or `entry`."""
    link = link_of(node)
    if link is None:
        yield issue("feed-link-missing", f"<{node.name}> has no <link>", node.line)
    else:
        yield from loc_text(url_of(link), parse_url(url_of(link)), link.line)
    for child in node.children:
        if child.namespace == node.namespace and child.name in {"pubDate", "updated"}:
            problem = _rfc822_problem(child.value) if child.name == "pubDate" else w3c_datetime(child.value).problem
            if problem:
                yield issue("feed-date-invalid", f'{child.name} "{child.value}" {problem}', child.line)


def _rfc822_problem(text: str) -> str:
    try:
        parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return "is not a date such as Sat, 31 Jan 2026 18:30:00 +0000"
    return ""
