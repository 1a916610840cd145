"""The news article that a page is, with the values that a news sitemap needs."""

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

# https://schema.org/NewsArticle and its subtypes, and the type of live coverage. Plain Article and BlogPosting are not
# news: encyclopedias and manuals use these types.
_NEWS_TYPES = frozenset(
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
_PUBLISHED_META = "article:published_time"  # https://ogp.me/#type_article
_META_NAMES = frozenset({_PUBLISHED_META, "og:title", "og:locale"})

# Text that was escaped for HTML. Text in JSON is plain, but many sites escape it. Escaped text has no characters that
# escaping replaces: "Q&amp;A" was escaped, "Q&A in 5 < 6 &amp; minutes" was not.
_ESCAPED = re.compile(r"(?:[^&<>]++|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});)*+")

# Bounds on hostile pages; real ones stay far below.
_MAX_ARTICLES = 1_000
_MAX_METAS = 1_000
_MAX_HEADINGS = 50


@dataclass(frozen=True, slots=True)
class Article:
    """The values of a news article."""

    title: str
    """Plain text on one line."""
    published: float
    """Seconds since 1970. A date without a time counts as its midnight in UTC."""
    has_time: bool
    """Whether the page states the time of publication in addition to the date."""
    language: str | None
    """Language in the form of a news sitemap; `None` if the page states none."""


def find_article(document: Document, now: datetime) -> Article | None:
    """Return the news article of the page.

    Return `None` if the page states neither that it is news nor when it was published, or has no title. A date that is
    not credible, by the rules of `modified_date`, does not count.
    """
    article = _own_article(document)
    metas = _meta_contents(document)
    if article is None and _PUBLISHED_META not in metas:
        return None
    article = article or {}
    date = _first_credible([article.get("datePublished"), metas.get(_PUBLISHED_META)], now)
    title = next(filter(None, _titles(document, article, metas)), None) if date else None
    if date is None or title is None:
        return None
    language = next(filter(None, map(news_language, _languages(document, article, metas))), None)
    return Article(title, date.moment.timestamp(), date.has_time, language)


def _own_article(document: Document) -> dict[str, Any] | None:
    """Return the JSON-LD object of the news article that is this page.

    The object names the URL of the page, or is the only news article and names no URL.
    """
    objects = (value for root in json_ld_roots(document) for value in objects_in(root, without=FOREIGN_PROPERTIES))
    articles = [value for value in objects if not _NEWS_TYPES.isdisjoint(type_names(value.get("@type")))]
    if not articles:
        return None
    urls = own_urls(document)
    ranked = [(ownership_rank(article, document, urls), article) for article in articles[:_MAX_ARTICLES]]
    own = [article for rank, article in ranked if rank == 0]
    if own:
        return next((article for article in own if "datePublished" in article), own[0])
    unnamed = [article for rank, article in ranked if rank]
    # A front page may describe its teasers without their URLs.
    distinct = {
        (_text_or_empty(article.get("headline")), _text_or_empty(article.get("datePublished"))) for article in unnamed
    }
    return unnamed[0] if len(distinct) == 1 else None


def _meta_contents(document: Document) -> dict[str, str]:
    """Return the first content of each meta element in _META_NAMES, by name."""
    contents: dict[str, str] = {}
    for meta in islice(document.all("meta"), _MAX_METAS):
        name = (meta.get("property") or meta.get("name") or "").strip().lower()
        if name in _META_NAMES:
            contents.setdefault(name, meta.get("content") or "")
    return contents


def _first_credible(values: list[object], now: datetime) -> PageDate | None:
    dates = (credible(value, "", now) for value in values if isinstance(value, str))
    return next(filter(None, dates), None)


def _titles(document: Document, article: dict[str, Any], metas: dict[str, str]) -> Iterator[str]:
    for name in ("headline", "name"):
        text = _text_or_empty(article.get(name))[:MAX_INPUT]
        yield one_line(unescape(text) if "&" in text and _ESCAPED.fullmatch(text) else text, MAX_TITLE)
    yield one_line(metas.get("og:title", ""), MAX_TITLE)
    for heading in document.all("h1")[:_MAX_HEADINGS]:
        yield text_of(heading)[:MAX_TITLE]
    yield page_title(document)[:MAX_TITLE]


def _languages(document: Document, article: dict[str, Any], metas: dict[str, str]) -> Iterator[str]:
    stated = article.get("inLanguage")
    for value in stated[:1] if isinstance(stated, list) else [stated]:
        # An object of https://schema.org/Language has the code as its alternate name.
        yield _text_or_empty(value.get("alternateName") if isinstance(value, dict) else value)
    for element in document.all("html")[:1]:
        yield element.get("lang") or element.get("xml:lang") or ""
    yield metas.get("og:locale", "")


def _text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""
