"""One article as the bytes of one `<url>` element of a news sitemap.

The rules are those of https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
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
# Articles of one file.
MAX_ARTICLES = 1_000
# "Created in the last two days", in seconds.
WINDOW = 2 * 86_400
# By how much a site's clock may be ahead of ours, in seconds.
_SKEW = 300
# Characters. Google names no limit and shortens what it shows: a bound on what a hostile page can make us write.
MAX_TITLE = 1_000

NEWS_FRAME = Frame(
    (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{SITEMAP_NAMESPACE}" xmlns:news="{NEWS_NAMESPACE}">\n'
    ).encode(),
    TAIL,
)

_LANGUAGE = re.compile(r"([a-z]{2,3})(?:-([a-z0-9-]{1,60}))?", re.ASCII)
# https://www.loc.gov/standards/iso639-2/php/code_list.php: uncoded, several, none, undetermined
_NO_LANGUAGE = frozenset({"mis", "mul", "und", "zxx"})
# Where Chinese is written in the traditional script, https://www.unicode.org/cldr/charts/latest/supplemental/likely_subtags.html
_TRADITIONAL = frozenset({"hk", "mo", "tw"})


class NewsEntry(NamedTuple):
    """`name` and `language` are the publication's; `publication_date` is a W3C datetime with a zone, or a date."""

    loc: str
    name: str
    language: str
    publication_date: str
    title: str


def serialise(entry: NewsEntry) -> bytes:
    """One `<url>` element and a line end, UTF-8."""
    return (
        f"<url><loc>{escape(rfc3986(entry.loc))}</loc><news:news>"
        f"<news:publication><news:name>{escape(one_line(entry.name, MAX_TITLE))}</news:name>"
        f"<news:language>{escape(entry.language)}</news:language></news:publication>"
        f"<news:publication_date>{escape(entry.publication_date)}</news:publication_date>"
        f"<news:title>{escape(one_line(entry.title, MAX_TITLE))}</news:title></news:news></url>\n"
    ).encode()


def is_recent(published: float, now: float) -> bool:
    """Whether a news sitemap written at `now` may list it; both in seconds since 1970.

    A date without a time counts as its midnight in UTC, so that its article leaves rather too early than too late.
    """
    return now - WINDOW <= published <= now + _SKEW


def publication_date(published: float, *, has_time: bool) -> str:
    """Seconds since 1970 as the W3C datetime of a NewsEntry."""
    moment = datetime.fromtimestamp(published, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ" if has_time else "%Y-%m-%d")


def news_language(tag: str) -> str | None:
    """The code that Google wants for a language tag such as `en-GB` or `pt_BR`; None for what is no language.

    "Use an ISO 639 language code (two or three letters). Exception: for Simplified Chinese use zh-cn, for Traditional
    Chinese zh-tw." What a tag says of the script decides, then its region; Chinese without either is simplified.
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
