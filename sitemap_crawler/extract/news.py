"""Whether a page is a news article, and what a news sitemap has to say of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, Any

from sitemap_crawler.extract.page_dates import credible
from sitemap_crawler.extract.structured_data import (
    FOREIGN_PROPERTIES,
    json_ld_roots,
    objects_in,
    own_urls,
    ownership_rank,
    type_names,
)
from sitemap_crawler.extract.text import page_title, text_of
from sitemap_crawler.sitemap.news import MAX_TITLE, news_language
from sitemap_crawler.utils.text import MAX_INPUT, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sitemap_crawler.extract.document import Document
    from sitemap_crawler.extract.page_dates import PageDate

# https://schema.org/NewsArticle and its subtypes, and the blog posting whose only use is to cover an event. A plain
# Article or BlogPosting is none: encyclopedias and manuals call their pages so.
_NEWS = frozenset(
    {
        "analysisnewsarticle",
        "askpublicnewsarticle",
        "backgroundnewsarticle",
        "liveblogposting",
        "newsarticle",
        "opinionnewsarticle",
        "reportagenewsarticle",
        "reviewnewsarticle",
    }
)
_PUBLISHED = "article:published_time"  # https://ogp.me/#type_article
_META = frozenset({_PUBLISHED, "og:title", "og:locale"})

# Text in JSON is plain, but many sites escape it as for HTML. Where that was done there is nothing that it would have
# replaced: "Q&amp;A" was escaped, "Q&A in 5 < 6 &amp; minutes" is meant as it stands.
_ESCAPED = re.compile(r"(?:[^&<>]++|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});)*+")

# Bounds on hostile pages; real ones stay far below.
_MAX_ARTICLES = 1_000
_MAX_METAS = 1_000
_MAX_HEADINGS = 50


@dataclass(frozen=True, slots=True)
class Article:
    """What a page says of itself as news; the title is plain text on one line."""

    title: str
    published: float
    """Seconds since 1970; of a date without a time, its midnight in UTC."""
    has_time: bool
    language: str | None
    """As a news sitemap writes it; None when the page does not say."""


def find_article(document: Document, now: datetime) -> Article | None:
    """Return the article that the page is; None when it says of itself neither that it is news nor when it appeared.

    A time of publication that is not credible (as in `modified_date`) is none.
    """
    article = _own_article(document)
    metas = _metas(document)
    if article is None and _PUBLISHED not in metas:
        return None
    article = article or {}
    date = _first_credible([article.get("datePublished"), metas.get(_PUBLISHED)], now)
    title = next(filter(None, _titles(document, article, metas)), None) if date else None
    if date is None or title is None:
        return None
    language = next(filter(None, map(news_language, _languages(document, article, metas))), None)
    return Article(title, date.moment.timestamp(), date.has_time, language)


def _own_article(document: Document) -> dict[str, Any] | None:
    """Return the news article in JSON-LD that is this page: it names the page, or is the only one and names none."""
    found = (value for root in json_ld_roots(document) for value in objects_in(root, without=FOREIGN_PROPERTIES))
    articles = [value for value in found if not _NEWS.isdisjoint(type_names(value.get("@type")))]
    if not articles:
        return None
    urls = own_urls(document)
    ranked = [(ownership_rank(article, document, urls), article) for article in articles[:_MAX_ARTICLES]]
    own = [article for place, article in ranked if place == 0]
    if own:
        return next((article for article in own if "datePublished" in article), own[0])
    unnamed = [article for place, article in ranked if place]
    # A front page may describe its teasers without saying where they lead.
    distinct = {(_string(article.get("headline")), _string(article.get("datePublished"))) for article in unnamed}
    return unnamed[0] if len(distinct) == 1 else None


def _metas(document: Document) -> dict[str, str]:
    """Return the first value of each property that matters here."""
    found: dict[str, str] = {}
    for meta in islice(document.all("meta"), _MAX_METAS):
        name = (meta.get("property") or meta.get("name") or "").strip().lower()
        if name in _META:
            found.setdefault(name, meta.get("content") or "")
    return found


def _first_credible(values: list[object], now: datetime) -> PageDate | None:
    dates = (credible(value, "", now) for value in values if isinstance(value, str))
    return next(filter(None, dates), None)


def _titles(document: Document, article: dict[str, Any], metas: dict[str, str]) -> Iterator[str]:
    for name in ("headline", "name"):
        text = _string(article.get(name))[:MAX_INPUT]
        yield one_line(unescape(text) if "&" in text and _ESCAPED.fullmatch(text) else text, MAX_TITLE)
    yield one_line(metas.get("og:title", ""), MAX_TITLE)
    for heading in document.all("h1")[:_MAX_HEADINGS]:
        yield text_of(heading)[:MAX_TITLE]
    yield page_title(document)[:MAX_TITLE]


def _languages(document: Document, article: dict[str, Any], metas: dict[str, str]) -> Iterator[str]:
    stated = article.get("inLanguage")
    for value in stated[:1] if isinstance(stated, list) else [stated]:
        # https://schema.org/Language keeps the code beside the name
        yield _string(value.get("alternateName") if isinstance(value, dict) else value)
    for element in document.all("html")[:1]:
        yield element.get("lang") or element.get("xml:lang") or ""
    yield metas.get("og:locale", "")


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
