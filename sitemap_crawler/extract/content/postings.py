"""Statements of when a text was posted, and of how long its author has been a member: they change with the clock.

Lists of questions say "asked 4 days ago" or "edited 4 days ago", a week later "asked Nov 25", and in the next year
"asked Nov 25, 2026". Other lists say "17 novembre, par Ann" until the end of the year.

Texts are in UTF-8 without white space, as those of a fingerprint, and without ages.
"""

from __future__ import annotations

import re
from itertools import islice

from sitemap_crawler.extract.content.date_words import DATE_WORDS

_VERBS = (
    b"nswered", b"sked", b"ommented", b"osted",
    b"dited", b"losed", b"eopened", b"ecategorized", b"etagged", b"elected", b"oved",
)  # fmt: skip
"""The common part of all spellings of a verb: of a post, and of what happens to it, such as "edited" and "moved"."""
_MONTH = (
    rb"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    rb"|nov(?:ember)?|dec(?:ember)?)[.,]?"
)
# The word "ago" is left of an age whose number is in an element with a whole date.
_POSTED = re.compile(
    rb"(?i:(?:on)?(?:ago|(?:%s[0-9]{1,2}|[0-9]{1,2}[.]?%s)(?:,?(?:19|20)[0-9]{2}(?![0-9]))?))" % (_MONTH, _MONTH)
)
_MEMBER_MARK = b"emberfor"
_MEMBER_FOR = re.compile(
    rb"(?i::?(?:[0-9]{1,4}(?:year|month|week|day|hour|hr|minute|min|second|sec)s?){1,3}(?:\(since[^()]{1,20}\))?)"
)
_YEAR = re.compile(rb"20[2-9][0-9]")
"""A year that may have been the present one when a page was read before."""
_DAY_AND_MONTH = re.compile(
    rb"(?i:(?<![0-9])[0-9]{1,2}(?:\.|er|st|nd|rd|th|\xc2\xba)?(?:de|of)?([a-z\x80-\xff]{3,20}?)|%s[0-9]{1,2}(?:st|nd|rd|th)?)"
    rb"(\.?(?:del?)?,?)\Z" % _MONTH
)
_MAX_DAY_BYTES = 40
_MAX_PLACES = 2_000
"""Maximum number of places of one text that are looked at for each of these words."""


def without_postings(text: bytes) -> bytes:
    """Return a text without the dates of its posts, and without the time for which authors have been members."""
    for verb in _VERBS:
        text = _without_after(text, verb, _POSTED)
    return _without_after(text, _MEMBER_MARK, _MEMBER_FOR)


def without_years(text: bytes) -> bytes:
    """Return a text without the years of dates with a day and the name of a month. Lists leave out the present year."""
    parts: list[bytes] = []
    start = 0
    for year in islice(_YEAR.finditer(text), _MAX_PLACES):
        date = _DAY_AND_MONTH.search(text, max(start, year.start() - _MAX_DAY_BYTES), year.start())
        if date is not None and (date[1] is None or date[1].decode(errors="ignore").lower() in DATE_WORDS):
            parts.append(text[start : date.start(2)])
            start = year.end()
    return b"".join((*parts, text[start:])) if parts else text


def _without_after(text: bytes, mark: bytes, pattern: re.Pattern[bytes]) -> bytes:
    """Return a text without what matches directly after a mark."""
    first, *parts = text.split(mark, _MAX_PLACES)
    if not parts:
        return text
    return mark.join((first, *(pattern.sub(b"", part, 1) if pattern.match(part) else part for part in parts)))
