"""Dates of pages (`lastmod`), and the elements `changefreq` and `priority`. Pure.

The date of a page is the first of these that is known: the date that the page states about itself; a credible date in a
list of the owner, in a foreign sitemap or feed, or in the list of entries of WordPress; a `Last-Modified` header that
changes exactly when the content changes; the time of the first fetch with changed content. The date of a page changes
only when its content has changed.

`changefreq` and `priority` are off by default: no search engine is known to use them. They are for older tools.
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
"""Source of a date: the header `Last-Modified`."""
OBSERVED_CHANGE = "observed-change"
"""Source of a date: the fetch that first saw changed content."""
SITEMAP = "sitemap"
"""Source of a date: the `lastmod` of a foreign sitemap."""
FEED = "feed"
"""Source of a date: the `updated` of a foreign feed."""
WORDPRESS = "wordpress"
"""Source of a date: the list of entries that a WordPress site gives programs."""
SUPPLIED = "supplied"
"""Source of a date: a list of the owner (`--urls`)."""
DAY_SECONDS = 86_400.0
MINUTE_SECONDS = 60
MAX_SHARE = 0.5
"""Share of the dates in a sitemap above which a minute that they share is that of their generation."""
MAX_SKEW_SECONDS = 300.0
"""Seconds that a date in a sitemap may be later than the fetch of its page, by the difference between clocks."""
INTERVAL_TOLERANCE = 1.1
"""Factor for observed intervals: two nightly runs may be a little less than a day apart."""

# Lower bounds in days of the interval between two changes, for all values of _FREQUENCIES after the first.
_INTERVALS = (1, 7, 30, 365)
_FREQUENCIES = ("hourly", "daily", "weekly", "monthly", "yearly")

# Priority in tenths by clicks from the start page. The last value is for all greater distances.
_TENTHS_BY_DEPTH = (10, 8, 6, 5, 4, 3)
# Numbers of linking pages, each of which adds one tenth.
_INLINK_STEPS = (10, 100, 1_000)
_MAX_TENTHS = 10

_EPOCH = date(1970, 1, 1)
_MINUTES = [f"T{hour:02}:{minute:02}:" for hour in range(24) for minute in range(60)]
_SECONDS = [f"{second:02}+00:00" for second in range(60)]


class Dated(NamedTuple):
    """The date of a page, if it is known."""

    lastmod: float | None = None
    """Seconds since 1970; None without a date."""
    source: str | None = None
    day: bool = False
    """Whether the source states a day without a time."""


class PreviousFetch(NamedTuple):
    """The result of an earlier fetch of a page."""

    fetched: float
    """Seconds since 1970."""
    fingerprint: bytes | None
    comparable: bool
    """Whether the fingerprint was made by the same readers as the new one."""
    dated: Dated


class SeenContent(NamedTuple):
    """The content that a run has seen on a page, for the date of a sitemap. Times are in seconds since 1970."""

    fetched: float
    is_new: bool
    """Whether the run has discovered the page."""
    known_since: float
    """Start of the run that discovered the page."""
    earlier_end: float | None
    """End of the last run before this one."""


UNDATED = Dated()


def w3c_datetime(seconds: float | None, *, day: bool = False) -> str | None:
    """Return seconds since 1970 as a W3C datetime in UTC; with `day` as a date only."""
    if seconds is None:
        return None
    days, rest = divmod(math.floor(seconds), 86_400)
    if day:
        return _date_of(days)
    minute, second = divmod(rest, 60)
    return f"{_date_of(days)}{_MINUTES[minute]}{_SECONDS[second]}"


@lru_cache(maxsize=4_096)
def _date_of(days: int) -> str:
    """Return the ISO date of a day, counted from 1970. Cached, because the pages of a site share few days."""
    return (_EPOCH + timedelta(days)).isoformat()


def decide_date(before: PreviousFetch | None, observed: Observation) -> Dated:
    """Return the date of the observed content."""
    if observed.fingerprint is None:
        return UNDATED
    claims = _claims(observed)
    if before is not None and before.dated.source == LAST_MODIFIED and observed.made_by_scripts:
        before = before._replace(dated=UNDATED)
    if before is None or before.fingerprint is None:
        return claims[0] if claims else UNDATED
    if not before.comparable or before.fingerprint == observed.fingerprint:
        return _unchanged(before, claims)
    return _changed(before, claims, observed)


def settle_named_date(known: Dated, named: Dated, content: SeenContent) -> Dated:
    """Return the date of a page after a credible date in a foreign sitemap or feed.

    `known` is the date that the fetches have settled. A date that the page states itself wins. A new page is dated
    before `Last-Modified`. A known page without a date gets one only from the time before its first fetch, because its
    content has not changed since. The fetch that saw a change gives way to a date after the last run.
    """
    if named.lastmod is None or named.lastmod > content.fetched + MAX_SKEW_SECONDS:
        return known
    if known.source is None:
        return named if content.is_new or named.lastmod <= content.known_since else known
    if known.source == LAST_MODIFIED:
        return named if content.is_new else known
    if known.source == OBSERVED_CHANGE and known.lastmod == content.fetched and content.earlier_end is not None:
        earliest = content.earlier_end - content.earlier_end % DAY_SECONDS if named.day else content.earlier_end
        return named if named.lastmod >= earliest else known
    return known


def _claims(observed: Observation) -> list[Dated]:
    """Return the dates that the page and the server state, the date of the page first."""
    claims = []
    if observed.page_date is not None:
        claims.append(
            Dated(observed.page_date.moment.timestamp(), observed.page_date.source, not observed.page_date.has_time)
        )
    if observed.last_modified is not None and not observed.made_by_scripts:
        claims.append(Dated(observed.last_modified.timestamp(), LAST_MODIFIED))
    return claims


def _unchanged(before: PreviousFetch, claims: list[Dated]) -> Dated:
    if before.dated.lastmod is not None:
        return before.dated
    # The content existed at the earlier fetch, so a newly stated date is accepted only if it is not after that fetch.
    return next((claim for claim in claims if _is_earlier(claim, before.fetched)), UNDATED)


def _is_earlier(claim: Dated, fetched: float) -> bool:
    """Return whether a date is before a fetch. A Last-Modified of that minute says when a cache took the page in."""
    margin = MINUTE_SECONDS if claim.source == LAST_MODIFIED else 0
    return claim.lastmod is not None and claim.lastmod + margin <= fetched


def _changed(before: PreviousFetch, claims: list[Dated], observed: Observation) -> Dated:
    for claim in claims:
        # A page may keep its date on purpose after a correction. A Last-Modified that has not moved missed the change.
        if claim.source != LAST_MODIFIED or _is_later(claim, before):
            return claim
    return Dated(observed.fetched.timestamp(), OBSERVED_CHANGE)


def _is_later(claim: Dated, before: PreviousFetch) -> bool:
    known = before.dated.lastmod
    return claim.lastmod is not None and (known is None or claim.lastmod > known)


class History(NamedTuple):
    """Changes of a page in past publications. Times in seconds since 1970."""

    first: float
    """`lastmod` before the first change."""
    last: float
    """`lastmod` after the last change."""
    changes: int


def changefreq(lastmod: float | None, history: History | None, *, now: float) -> str | None:
    """Return the `changefreq` of a page; None without a date. Times are in seconds since 1970.

    It depends on the mean interval between the observed changes or on the time since the last change, whichever is
    longer. Without a history it depends on the time since `lastmod`.
    """
    if lastmod is None:
        return None
    interval = now - lastmod
    if history is not None and history.changes:
        interval = max(interval, INTERVAL_TOLERANCE * (history.last - history.first) / history.changes)
    return _FREQUENCIES[bisect_right(_INTERVALS, interval / DAY_SECONDS)]


def priority(depth: int, inlinks: int) -> str:
    """Return the `priority` of a page, from 0.3 to 1.0.

    Fewer clicks from the start page and more pages that link to the page increase it. It does not depend on the other
    pages of the site, so that a new page never changes the priority of others.
    """
    tenths = _TENTHS_BY_DEPTH[min(depth, len(_TENTHS_BY_DEPTH) - 1)] + bisect_right(_INLINK_STEPS, inlinks)
    return f"{min(tenths, _MAX_TENTHS) / 10:.1f}"
