"""One article, and its `<url>` element in a news sitemap.

The rules: https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from sitemap_crawler.sitemap.escaping import escape, rfc3986
from sitemap_crawler.sitemap.limits import SITEMAP_NAMESPACE
from sitemap_crawler.sitemap.shard import TAIL, Frame
from sitemap_crawler.utils.text import one_line

NEWS_NAMESPACE = "http://www.google.com/schemas/sitemap-news/0.9"
MAX_ARTICLES = 1_000
"""Articles of one file."""
MAX_AGE_SECONDS = 2 * 86_400
"""Age up to which an article is listed: "created in the last two days"."""
_MAX_SKEW_SECONDS = 300
"""Time by which a site's clock may be ahead."""
MAX_TITLE = 1_000
"""Characters of a title. Google names no limit; this one bounds the text that a hostile page can have written."""

NEWS_FRAME = Frame(
    (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{SITEMAP_NAMESPACE}" xmlns:news="{NEWS_NAMESPACE}">\n'
    ).encode(),
    TAIL,
)

_LANGUAGE = re.compile(r"([a-z]{2,3})(?:-([a-z0-9-]{1,60}))?", re.ASCII)
_NO_LANGUAGE = frozenset({"mis", "mul", "und", "zxx"})
"""Uncoded, several, undetermined and no language, https://www.loc.gov/standards/iso639-2/php/code_list.php"""
_TRADITIONAL = frozenset({"hk", "mo", "tw"})
"""Regions that write Chinese in the traditional script,
https://www.unicode.org/cldr/charts/latest/supplemental/likely_subtags.html"""


class NewsEntry(NamedTuple):
    """One article of a news sitemap."""

    loc: str
    name: str
    """Name of the publication."""
    language: str
    """Language code of the publication."""
    publication_date: str
    """A W3C datetime with a zone, or a date."""
    title: str


def serialise(entry: NewsEntry) -> bytes:
    """Return the `<url>` element and a line end, in UTF-8."""
    return (
        f"<url><loc>{escape(rfc3986(entry.loc))}</loc><news:news>"
        f"<news:publication><news:name>{escape(one_line(entry.name, MAX_TITLE))}</news:name>"
        f"<news:language>{escape(entry.language)}</news:language></news:publication>"
        f"<news:publication_date>{escape(entry.publication_date)}</news:publication_date>"
        f"<news:title>{escape(one_line(entry.title, MAX_TITLE))}</news:title></news:news></url>\n"
    ).encode()


def is_recent(published: float, now: float) -> bool:
    """Return whether a news sitemap written at `now` may list the article. Both times are in seconds since 1970.

    A date without a time counts as its midnight in UTC, so that its article is dropped too early rather than too late.
    """
    return now - MAX_AGE_SECONDS <= published <= now + _MAX_SKEW_SECONDS


def publication_date(published: float, *, has_time: bool) -> str:
    """Return seconds since 1970 as a W3C datetime, or as a date if the time of day is unknown."""
    moment = datetime.fromtimestamp(published, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ" if has_time else "%Y-%m-%d")


def news_language(tag: str) -> str | None:
    """Return the code that Google demands for a language tag such as `en-GB` or `pt_BR`; None for an invalid tag.

    "Use an ISO 639 language code (two or three letters). Exception: for Simplified Chinese use zh-cn, for Traditional
    Chinese zh-tw." The script of the tag decides, else its region. Chinese without either is simplified.
    """
    match = _LANGUAGE.fullmatch(tag.strip().lower().replace("_", "-")) if len(tag) < 100 else None
    if match is None or match[1] in _NO_LANGUAGE:
        return None
    if match[1] != "zh":
        return match[1]
    subtags = set((match[2] or "").split("-"))
    if "hans" in subtags:
        return "zh-cn"
    return "zh-cn" if "hant" not in subtags and subtags.isdisjoint(_TRADITIONAL) else "zh-tw"
