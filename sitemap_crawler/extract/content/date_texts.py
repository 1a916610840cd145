"""Dates in short texts, such as the heading of a day in a calendar."""

from __future__ import annotations

import re

from sitemap_crawler.extract.content.date_words import DATE_WORDS

MAX_DATED = 60
"""Maximum number of characters, without white space, of a text whose date is removed. A longer one is prose."""

_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_DATE = re.compile(
    r"(?<![0-9])(?:(?:19|20)[0-9]{2}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2(?:19|20)[0-9]{2})"
    r"(?![0-9])"
)
_DAY = re.compile(r"(?<![0-9])[0-9]{1,2}[-/.][0-9]{1,2}(?![0-9])")
_NAMES = re.compile(r"[^\W\d_]+")


def without_date(words: list[str]) -> list[str]:
    """Return the words of a text without its date: none for "Mon, Jan 12", two for "Events on April 6, 2026".

    Words around a date make it part of a longer text, which must name the year: "Room 12 Sat 3" remains. A text without
    a date is returned itself.
    """
    text = " ".join(words)
    has_year = _YEAR.search(text) is not None
    names = _NAMES.findall(text)
    if not has_year and DATE_WORDS.isdisjoint(map(str.lower, names)):
        return words
    others = [name for name in names if name.lower() not in DATE_WORDS]
    has_date = len(others) < len(names) or _DATE.search(text) is not None
    if others:
        has_date = has_year and (has_date or _DAY.search(text) is not None)
    return others if has_date else words
