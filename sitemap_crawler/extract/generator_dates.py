"""The date of the last change in the footer of a page, where a known generator of pages writes it.

Each generator has a row: its name in `<meta name=generator>`, the element that holds the date, the form of the date.
Footers give the day in the time zone of the site, so the time of day is left out. Sphinx and Doxygen write the moment
at which they generated the page, and Antora writes none. Hugo, Jekyll and Docusaurus write microdata, JSON-LD and meta
elements, as Sphinx does with the extension sphinx-last-updated-by-git: other modules read those.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, cast

from lxml import etree

if TYPE_CHECKING:
    from sitemap_crawler.extract.document import Document


class GeneratorDate(NamedTuple):
    """A day in the footer of a page."""

    text: str
    """The day in ISO 8601."""
    source: str


class _Generator(NamedTuple):
    """A generator of pages whose footers hold a date of modification."""

    name: str
    """Start of the generator's name in lower case."""
    source: str
    find: etree.XPath
    """Expression for the texts of the footer with the date."""


# "Last modified: 2021/03/21 04:50": the name of the page in <bdi> before it may hold a date, too.
_DOKUWIKI = etree.XPath("(//div[@class='docInfo'])[1]/bdi[1]/following-sibling::text()[1]")
# "This page was last edited on 5 January 2024, at 12:34."
_MEDIAWIKI = etree.XPath("(//*[@id='footer-info-lastmod'])[1]//text()")
# The first fact is the last update, the second one the creation: "March 5, 2024 13:20:30 UTC".
_MKDOCS = etree.XPath(
    "(//aside[@class='md-source-file']/span[@class='md-source-file__fact'])[1]"
    "/span[starts-with(@class, 'git-revision-date-localized-plugin')][1]/@title"
)

_GENERATORS = (
    _Generator("dokuwiki", "dokuwiki-footer", _DOKUWIKI),
    _Generator("mediawiki", "mediawiki-footer", _MEDIAWIKI),
    _Generator("mkdocs", "mkdocs-footer", _MKDOCS),
)

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_NUMBER_BY_MONTH = {name: number for number, month in enumerate(_MONTHS, 1) for name in (month, month[:3])}
# Only forms that leave no doubt which number is the day: 03/04/2024 is none of them.
_DAY_FORMS = (
    re.compile(r"\b(?P<year>\d{4})[-/.](?P<month>\d\d)[-/.](?P<day>\d\d)(?!\d)"),
    re.compile(r"\b(?P<day>\d{1,2})\.? (?P<month>[a-z]{3,9}),? (?P<year>\d{4})\b", re.IGNORECASE),
    re.compile(r"\b(?P<month>[a-z]{3,9}) (?P<day>\d{1,2}), (?P<year>\d{4})\b", re.IGNORECASE),
    re.compile(r"\b(?P<year>\d{4}),? (?P<month>[a-z]{3,9}) (?P<day>\d{1,2})\b", re.IGNORECASE),
)

# Bounds on hostile pages; real ones stay far below.
_MAX_METAS = 1_000
_MAX_TEXTS = 20
_MAX_LENGTH = 300  # characters of a footer


def generator_date(document: Document) -> GeneratorDate | None:
    """Return the day in the footer of a known generator; `None` without one that can be read in English or numbers."""
    name = _generator_name(document)
    generator = next((row for row in _GENERATORS if name.startswith(row.name)), None)
    if generator is None:
        return None
    texts = cast("list[str]", generator.find(document.root))
    day = _day_in(" ".join("".join(texts[:_MAX_TEXTS])[:_MAX_LENGTH].split()))
    return GeneratorDate(day.isoformat(), generator.source) if day is not None else None


def _generator_name(document: Document) -> str:
    for meta in islice(document.all("meta"), _MAX_METAS):
        if (meta.get("name") or "").lower() == "generator":
            return (meta.get("content") or "").strip().lower()
    return ""


def _day_in(text: str) -> date | None:
    """Return the only day in a text; `None` without one, or with several."""
    days = {day for form in _DAY_FORMS for match in form.finditer(text) if (day := _day_of(match)) is not None}
    return days.pop() if len(days) == 1 else None


def _day_of(match: re.Match[str]) -> date | None:
    month = match["month"].lower()
    number = int(month) if month.isdigit() else _NUMBER_BY_MONTH.get(month, 0)
    try:
        return date(int(match["year"]), number, int(match["day"]))
    except ValueError:
        return None
