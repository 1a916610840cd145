"""When a page's content changed, by what is known of it before and what was seen now. Pure.

A date is believed that the page states about itself, else a `Last-Modified` that moves when the content does and only
then, else the time of the fetch that first saw the content changed. What is known moves only when the content has.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sitemap_crawler.items import Observation

LAST_MODIFIED = "last-modified"
OBSERVED_CHANGE = "observed-change"
_EPOCH = date(1970, 1, 1)
_MINUTES = [f"T{hour:02}:{minute:02}:" for hour in range(24) for minute in range(60)]
_SECONDS = [f"{second:02}+00:00" for second in range(60)]


class Dated(NamedTuple):
    """`lastmod` in seconds since 1970, None when nothing is known; `day` when it came without a time of day."""

    lastmod: float | None = None
    source: str | None = None
    day: bool = False


class Before(NamedTuple):
    """What an earlier fetch has seen; `fetched` in seconds since 1970."""

    fetched: float
    fingerprint: bytes | None
    comparable: bool
    """Whether the same readers made the fingerprint."""
    dated: Dated


UNDATED = Dated()


def w3c_datetime(seconds: float | None, *, day: bool = False) -> str | None:
    """Seconds since 1970 as the W3C writes them, in UTC; `day` without the time."""
    if seconds is None:
        return None
    days, rest = divmod(math.floor(seconds), 86_400)
    if day:
        return _date_of(days)
    minute, second = divmod(rest, 60)
    return f"{_date_of(days)}{_MINUTES[minute]}{_SECONDS[second]}"


@lru_cache(maxsize=4_096)
def _date_of(days: int) -> str:
    """Of a day, by its number since 1970: a site's dates are on few days."""
    return (_EPOCH + timedelta(days)).isoformat()


def settle_date(before: Before | None, observed: Observation) -> Dated:
    """The date of the content that `observed` shows."""
    if observed.fingerprint is None:
        return UNDATED
    claims = _claims(observed)
    if before is None or before.fingerprint is None:
        return claims[0] if claims else UNDATED
    if not before.comparable or before.fingerprint == observed.fingerprint:
        return _unchanged(before, claims)
    return _changed(before, claims, observed)


def _claims(observed: Observation) -> list[Dated]:
    """What the page and the server say, the page first."""
    claims = []
    if observed.page_date is not None:
        claims.append(
            Dated(observed.page_date.moment.timestamp(), observed.page_date.source, not observed.page_date.has_time)
        )
    if observed.last_modified is not None:
        claims.append(Dated(observed.last_modified.timestamp(), LAST_MODIFIED))
    return claims


def _unchanged(before: Before, claims: list[Dated]) -> Dated:
    if before.dated.lastmod is not None:
        return before.dated
    # A date that appears later is believed when the content that it dates had been seen by then.
    return next((claim for claim in claims if claim.lastmod is not None and claim.lastmod <= before.fetched), UNDATED)


def _changed(before: Before, claims: list[Dated], observed: Observation) -> Dated:
    for claim in claims:
        # A page may well say that a correction is no new version; a server whose date stays knows of no change.
        if claim.source != LAST_MODIFIED or _later(claim, before):
            return claim
    return Dated(observed.fetched.timestamp(), OBSERVED_CHANGE)


def _later(claim: Dated, before: Before) -> bool:
    known = before.dated.lastmod
    return claim.lastmod is not None and (known is None or claim.lastmod > known)


DAY = 86_400.0  # seconds
SLACK = 1.1  # nightly runs are not a day apart to the second

# By the interval between two changes, in days, from which on the word holds: hourly is below one day.
_INTERVALS = (1, 7, 30, 365)
_FREQUENCIES = ("hourly", "daily", "weekly", "monthly", "yearly")

# By clicks from the start page; the last for all that are further away.
_BY_DEPTH = (10, 8, 6, 5, 4, 3)
# One tenth more from each of these numbers of pages that link to it on.
_LINKING = (10, 100, 1_000)
_HIGHEST = 10


class History(NamedTuple):
    """The changes of a page that past publications saw: the dates before the first and after the last, their number."""

    first: float
    last: float
    changes: int


def changefreq(lastmod: float | None, history: History | None, *, now: float) -> str | None:
    """The word for the interval at which a page changes; times in seconds since 1970.

    The observed interval, or the time since the last change where that is longer already; without a history the age.
    None when nothing is known.
    """
    if lastmod is None:
        return None
    interval = now - lastmod
    if history is not None and history.changes:
        interval = max(interval, SLACK * (history.last - history.first) / history.changes)
    return _FREQUENCIES[bisect_right(_INTERVALS, interval / DAY)]


def priority(depth: int, linking: int) -> str:
    """From 0.3 to 1.0: fewer clicks from the start page and more pages of the site that link to it are worth more.

    Only numbers of the page itself count, no share of the site's: so a new page changes no other page's priority.
    """
    tenths = _BY_DEPTH[min(depth, len(_BY_DEPTH) - 1)] + bisect_right(_LINKING, linking)
    return f"{min(tenths, _HIGHEST) / 10:.1f}"
