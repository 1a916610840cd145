"""When a page says that it was last modified."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.extract.dates import parse_date
from sitemap_crawler.extract.structured_data import (
    ARTICLE_TYPES,
    FOREIGN_PROPERTIES,
    PAGE_TYPES,
    json_ld_roots,
    objects_in,
    own_urls,
    ownership_rank,
    type_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from sitemap_crawler.extract.document import Document

_SKEW = timedelta(minutes=5)
_GENERATED = timedelta(seconds=2)
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
_TIME = re.compile(r":|\dT\d\d", re.IGNORECASE)

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
_MAX_METAS = 1_000
_MAX_TIMES = 1_000
_MAX_TEXTS = 20


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
        date = credible(text, source, now)
        if date is not None:
            return date
    return None


def credible(text: str, source: str, now: datetime) -> PageDate | None:
    """Return the date that a text is; `None` when it is not credible, as in `modified_date`."""
    text = text.strip()
    moment = parse_date(text)
    if moment is None or not _EARLIEST <= moment <= now + _SKEW:
        return None
    has_time = _TIME.search(text) is not None
    if has_time and abs(now - moment) <= _GENERATED:
        return None
    return PageDate(moment, has_time, source)


def _stated(document: Document) -> Iterator[tuple[str, str]]:
    for text in _in_json(document):
        yield text, "json-ld"
    yield from _in_meta(document)
    for text in _in_microdata(document):
        yield text, "microdata"


def _in_json(document: Document) -> Iterator[str]:
    """Yield the dates of what is about this page, then of pages, then of articles that do not say what they are about.

    An object that names another page is not believed.
    """
    found = (value for root in json_ld_roots(document) for value in objects_in(root, without=FOREIGN_PROPERTIES))
    objects = [value for value in found if "dateModified" in value]
    if not objects:
        return
    own = own_urls(document)
    ranked: tuple[list[str], list[str], list[str]] = ([], [], [])
    for value in objects:
        place = ownership_rank(value, document, own)
        date = value["dateModified"]
        if place is not None and isinstance(date, str):
            ranked[place].append(date)
    for dates in ranked:
        yield from dates


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
    for elements in (islice(document.all("meta"), _MAX_METAS), islice(document.all("time"), _MAX_TIMES)):
        for element in elements:
            if "dateModified" not in (element.get("itemprop") or "").split():
                continue
            item = next((above for above in element.iterancestors() if above.get("itemscope") is not None), None)
            if item is None or not (PAGE_TYPES | ARTICLE_TYPES).isdisjoint(
                type_names((item.get("itemtype") or "").split())
            ):
                dates.setdefault(item, _written(element))
    return list(dates.values()) if len(dates) == 1 else []


def _written(element: etree._Element) -> str:
    return (
        element.get("content") or element.get("datetime") or "".join(map(str, islice(element.itertext(), _MAX_TEXTS)))
    )
