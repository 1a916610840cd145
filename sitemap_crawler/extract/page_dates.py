"""The date of the last change that a page states."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.extract.dates import EARLIEST, GENERATION_TIME, parse_date
from sitemap_crawler.extract.generator_dates import generator_date
from sitemap_crawler.extract.microformats import entry_date
from sitemap_crawler.extract.structured_data import (
    ARTICLE_TYPES,
    FOREIGN_PROPERTIES,
    PAGE_TYPES,
    json_ld_roots,
    objects_in,
    own_urls,
    ownership_rank,
    read_microdata,
    type_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from sitemap_crawler.extract.document import Document

# A date may be later than the response by this difference between clocks.
_MAX_SKEW = timedelta(minutes=5)
_HAS_TIME = re.compile(r":|\dT\d\d", re.IGNORECASE)

# Sources in the inventory by the name of the meta element; the most reliable come first.
_SOURCE_BY_META = {
    "article:modified_time": "article:modified_time",
    "og:updated_time": "og:updated_time",
    "dcterms.modified": "meta",
    "dc.date.modified": "meta",
    "last-modified": "meta",
    "revised": "meta",
}
_DATED_TYPES = PAGE_TYPES | ARTICLE_TYPES
_NAME_ATTRIBUTES = ("property", "name", "http-equiv")

# Bounds on hostile pages; real ones stay far below.
_MAX_METAS = 1_000
_MAX_TIMES = 1_000
_MAX_ITEMS = 100
_MAX_TEXTS = 20  # pieces of text of one element


@dataclass(frozen=True, slots=True)
class PageDate:
    """A date that a page states."""

    moment: datetime
    """Time in UTC; midnight for a date without a time."""
    has_time: bool
    source: str
    """json-ld, article:modified_time, og:updated_time, meta, microdata, microformats, or the footer of a generator."""


def modified_date(document: Document, *, now: datetime) -> PageDate | None:
    """Return the first credible date of the last change that the page states, or `None`.

    An unreadable date, a date in the future, a date before the web and the time of the response are not credible. The
    date of publication does not count.
    """
    for text, source in _stated_dates(document):
        date = credible(text, source, now)
        if date is not None:
            return date
    return None


def credible(text: str, source: str, now: datetime) -> PageDate | None:
    """Return the date in a text; `None` if it is not credible by the rules of `modified_date`."""
    text = text.strip()
    moment = parse_date(text)
    if moment is None or not EARLIEST <= moment <= now + _MAX_SKEW:
        return None
    has_time = _HAS_TIME.search(text) is not None
    if has_time and abs(now - moment) <= GENERATION_TIME:
        return None
    return PageDate(moment, has_time, source)


def _stated_dates(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the dates as written with their sources, the most reliable first."""
    for text in _json_ld_dates(document):
        yield text, "json-ld"
    yield from _meta_dates(document)
    for text in _microdata_dates(document):
        yield text, "microdata"
    entry = entry_date(document)
    if entry is not None:
        yield entry, "microformats"
    footer = generator_date(document)
    if footer is not None:
        yield footer


def _json_ld_dates(document: Document) -> Iterator[str]:
    """Yield the dates of objects about this page, then of pages and then of articles that name no URL.

    Objects that name another page do not count.
    """
    values = (value for root in json_ld_roots(document) for value in objects_in(root, without=FOREIGN_PROPERTIES))
    objects = [value for value in values if "dateModified" in value]
    if not objects:
        return
    own = own_urls(document)
    ranked: tuple[list[str], list[str], list[str]] = ([], [], [])
    for value in objects:
        rank = ownership_rank(value, document, own)
        date = value["dateModified"]
        if rank is not None and isinstance(date, str):
            ranked[rank].append(date)
    for dates in ranked:
        yield from dates


def _meta_dates(document: Document) -> list[tuple[str, str]]:
    contents: dict[str, str] = {}
    for meta in islice(document.all("meta"), _MAX_METAS):
        for attribute in _NAME_ATTRIBUTES:
            name = (meta.get(attribute) or "").strip().lower()
            if name in _SOURCE_BY_META:
                contents.setdefault(name, meta.get("content") or "")
    if not contents:
        return []
    return [(contents[name], source) for name, source in _SOURCE_BY_META.items() if name in contents]


def _microdata_dates(document: Document) -> list[str]:
    """Return the date of the page's own item: of the only one with a date that names this page, or names no page.

    An item that names another page does not count. Several items without a name have no date of the page.
    """
    dates: dict[etree._Element | None, str] = {}
    for elements in (islice(document.all("meta"), _MAX_METAS), islice(document.all("time"), _MAX_TIMES)):
        for element in elements:
            if "dateModified" not in (element.get("itemprop") or "").split():
                continue
            item = next((above for above in element.iterancestors() if above.get("itemscope") is not None), None)
            # A date outside of all items is that of the page.
            types = type_names((item.get("itemtype") or "").split()) if item is not None else PAGE_TYPES
            if not types.isdisjoint(_DATED_TYPES):
                dates.setdefault(item, _date_text(element))
    if not dates:
        return []
    own = own_urls(document)
    named: list[str] = []
    unnamed = [dates[None]] if None in dates else []
    items = [item for item in islice(dates, _MAX_ITEMS) if item is not None]
    for item, data in zip(items, read_microdata(items), strict=True):
        rank = ownership_rank(data, document, own)
        if rank is not None:
            (unnamed if rank else named).append(dates[item])
    return named if len(named) == 1 else unnamed if not named and len(unnamed) == 1 else []


def _date_text(element: etree._Element) -> str:
    return (
        element.get("content") or element.get("datetime") or "".join(map(str, islice(element.itertext(), _MAX_TEXTS)))
    )
