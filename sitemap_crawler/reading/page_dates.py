"""When a page says that it was last modified."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from sitemap_crawler.reading.dates import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml import etree

    from sitemap_crawler.reading.document import Document

_SKEW = timedelta(minutes=5)
_GENERATED = timedelta(seconds=2)
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
_TIME = re.compile(r":|\dT\d\d", re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of https://schema.org that stand for a page or for what it is about.
_PAGES = _words(
    """
    aboutpage checkoutpage collectionpage contactpage faqpage imagegallery itempage mediagallery medicalwebpage
    profilepage qapage searchresultspage videogallery webpage
    """
)
_ARTICLES = _words(
    """
    advertisercontentarticle analysisnewsarticle apireference article askpublicnewsarticle backgroundnewsarticle
    blogposting creativework dataset discussionforumposting howto liveblogposting medicalscholarlyarticle newsarticle
    opinionnewsarticle recipe report reportagenewsarticle reviewnewsarticle satiricalarticle scholarlyarticle
    socialmediaposting techarticle
    """
)
# Properties whose values are other pages, or parts that change by themselves.
_OTHERS = _words(
    """
    blogpost blogposts citation comment hasoccurrence haspart isbasedon ispartof itemlistelement mentions
    relatedlink review reviews significantlink subjectof workexample
    """
)

# In the order in which they are believed; what they are called in the inventory.
_META = {
    "article:modified_time": "article:modified_time",
    "og:updated_time": "og:updated_time",
    "dcterms.modified": "meta",
    "dc.date.modified": "meta",
    "last-modified": "meta",
    "revised": "meta",
}
_META_ATTRIBUTES = ("property", "name", "http-equiv")

# Bounds on hostile pages; real ones stay far below.
_MAX_SCRIPTS = 50
_MAX_SCRIPT = 1_000_000  # characters
_MAX_VALUES = 20_000  # objects and lists of one script
_MAX_NAMES = 20
_MAX_METAS = 1_000
_MAX_TIMES = 1_000
_MAX_TEXTS = 20

# What surrounds a script for the sake of browsers that nobody has any more.
_OPENINGS = ("//", "/*", "<!--", "<![CDATA[", "*/")
_CLOSINGS = ("*/", "-->", "]]>", "//", "/*", ";")
_BLANK = "\ufeff \t\r\n"
_TRAILING_COMMA = re.compile(r",\s*+(?=[}\]])")


@dataclass(frozen=True, slots=True)
class PageDate:
    moment: datetime  # UTC; midnight of a date without time
    has_time: bool
    source: str  # json-ld, article:modified_time, og:updated_time, meta or microdata


def modified_date(document: Document, *, now: datetime) -> PageDate | None:
    """Return the date of the last change that the page states of itself, if it is credible.

    Not credible: unreadable, in the future, before the web, or the time at which the page was made for us. When it
    was published is not when it was modified.
    """
    for text, source in _stated(document):
        date = _credible(text, source, now)
        if date is not None:
            return date
    return None


def _stated(document: Document) -> Iterator[tuple[str, str]]:
    for text in _in_json(document):
        yield text, "json-ld"
    yield from _in_meta(document)
    for text in _in_microdata(document):
        yield text, "microdata"


def _credible(text: str, source: str, now: datetime) -> PageDate | None:
    text = text.strip()
    moment = parse_date(text)
    if moment is None or not _EARLIEST <= moment <= now + _SKEW:
        return None
    has_time = _TIME.search(text) is not None
    if has_time and abs(now - moment) <= _GENERATED:
        return None
    return PageDate(moment, has_time, source)


def _in_json(document: Document) -> Iterator[str]:
    """Yield the dates of what is about this page, then of pages, then of articles that do not say what they are about.

    An object that names another page is not believed.
    """
    scripts = (script.text for script in document.all("script") if "ld+json" in (script.get("type") or "").lower())
    stating = (text for text in islice(scripts, _MAX_SCRIPTS) if text and "dateModified" in text)
    objects = [found for text in stating for found in _objects(_parsed(text))]
    if not objects:
        return
    own = _own_urls(document)
    ranked: tuple[list[str], list[str], list[str]] = ([], [], [])
    for found in objects:
        rank = _rank(found, document, own)
        date = found["dateModified"]
        if rank is not None and isinstance(date, str):
            ranked[rank].append(date)
    for dates in ranked:
        yield from dates


def _parsed(text: str) -> object:
    if len(text) > _MAX_SCRIPT:
        return None
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        return None
    except ValueError:
        pass
    try:
        return json.loads(_TRAILING_COMMA.sub("", _unwrapped(text)), strict=False)
    except (ValueError, RecursionError):
        return None


def _unwrapped(text: str) -> str:
    text = text.strip(_BLANK)
    for opening in _OPENINGS:
        text = text.removeprefix(opening).lstrip(_BLANK)
    for closing in _CLOSINGS:
        text = text.removesuffix(closing).rstrip(_BLANK)
    return text


def _objects(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects with a dateModified that may be the page, in the order in which they stand there."""
    pending = [value]
    for _ in range(_MAX_VALUES):
        if not pending:
            return
        value = pending.pop()
        if isinstance(value, dict):
            if "dateModified" in value:
                yield value
            parts: Iterable[object] = [part for name, part in value.items() if name.lower() not in _OTHERS]
        elif isinstance(value, list):
            parts = value
        else:
            continue
        pending += [part for part in parts if isinstance(part, dict | list)][::-1]


def _rank(found: dict[str, Any], document: Document, own: set[str]) -> int | None:
    kinds = _kinds(found.get("@type"))
    if kinds.isdisjoint(_PAGES) and kinds.isdisjoint(_ARTICLES):
        return None
    named = {*_names(document, found.get("url")), *_names(document, found.get("mainEntityOfPage"))}
    if not own.isdisjoint(named) or not own.isdisjoint(_names(document, found.get("@id"))):
        return 0
    if named:
        return None
    return 2 if kinds.isdisjoint(_PAGES) else 1


def _kinds(value: object) -> set[str]:
    """Return the words of `Article`, `schema:Article` or `["https://schema.org/Article", …]`, in lower case."""
    values = value[:_MAX_NAMES] if isinstance(value, list) else [value]
    return {re.split(r"[/:#]", kind)[-1].lower() for kind in values if isinstance(kind, str)}


def _names(document: Document, value: object) -> Iterator[str]:
    """Yield the URLs of a reference in any of its forms."""
    for name in value[:_MAX_NAMES] if isinstance(value, list) else [value]:
        references = [name.get("@id"), name.get("url")] if isinstance(name, dict) else [name]
        for reference in references:
            url = document.resolve(reference) if isinstance(reference, str) and reference else None
            if url:
                yield url


def _own_urls(document: Document) -> set[str]:
    canonicals = (link for link in document.all("link") if "canonical" in (link.get("rel") or "").lower().split())
    urls = (document.resolve(link.get("href") or "") for link in islice(canonicals, _MAX_NAMES))
    return {document.url, *filter(None, urls)}


def _in_meta(document: Document) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for meta in islice(document.all("meta"), _MAX_METAS):
        for attribute in _META_ATTRIBUTES:
            name = (meta.get(attribute) or "").strip().lower()
            if name in _META:
                found.setdefault(name, meta.get("content") or "")
    return [(found[name], source) for name, source in _META.items() if name in found] if found else []


def _in_microdata(document: Document) -> list[str]:
    """Return the date of the only thing on the page that has one."""
    dates: dict[etree._Element | None, str] = {}
    for elements in (islice(document.all("meta"), _MAX_METAS), islice(document.root.iter("time"), _MAX_TIMES)):
        for element in elements:
            if "dateModified" not in (element.get("itemprop") or "").split():
                continue
            item = next((above for above in element.iterancestors() if above.get("itemscope") is not None), None)
            if item is None or not (_PAGES | _ARTICLES).isdisjoint(_kinds((item.get("itemtype") or "").split())):
                dates.setdefault(item, _written(element))
    return list(dates.values()) if len(dates) == 1 else []


def _written(element: etree._Element) -> str:
    return (
        element.get("content") or element.get("datetime") or "".join(map(str, islice(element.itertext(), _MAX_TEXTS)))
    )
