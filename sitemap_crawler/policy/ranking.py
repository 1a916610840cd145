"""What the optional elements `changefreq` and `priority` say of a page. Pure.

No search engine of today is known to use them, so they are off by default: they are for the tools that still do.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

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
