"""Dates in the forms that servers and pages write, and the credibility of a `Last-Modified` header."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

MAX_DATE_LENGTH = 100
"""Maximum number of characters of a date."""
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
"""Earliest credible date of a page: the web is not older."""
GENERATION_TIME = timedelta(seconds=2)
"""A page whose date is at most this far from the response was generated for the response."""

# The year of an HTTP date stands after the month, in the form of asctime after the month, the day and the time.
_YEAR = re.compile(
    r"(?<![a-z])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*+[\s,-]++"
    r"(?:\d\d?\s++\d\d?:\d\d?(?::\d\d?)?\s++)?(\d++)",
    re.IGNORECASE,
)
_WRITTEN_YEAR = re.compile(r"[1-9]\d{3}|\d\d")

# A date may be later than the response by this difference between clocks.
_MAX_SKEW = timedelta(minutes=1)
# A server whose clock is off by more than this is not believed.
_WRONG_CLOCK = timedelta(days=1)


# Many pages of a site have the same `Date` and often the same `Last-Modified`.
@lru_cache(maxsize=256)
def parse_http_date(text: str | None) -> datetime | None:
    """Return the UTC time of a date in one of the three forms of RFC 9110, section 5.6.7, or in the form of RFC 822.

    Return `None` for any other text.
    """
    if not text or len(text) > MAX_DATE_LENGTH:
        return None
    year = _YEAR.search(text)
    # The standard library reads the years 1 and 0001 as 2001. Servers send 0001 for a date that they do not know.
    if year is not None and _WRITTEN_YEAR.fullmatch(year[1]) is None:
        return None
    try:
        return _in_utc(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):  # malformed parts raise the last three
        return None


def parse_date(text: str | None) -> datetime | None:
    """Return the UTC time of an ISO 8601 or HTTP date, or `None`. A date without a zone is in UTC."""
    if not text or len(text) > MAX_DATE_LENGTH:
        return None
    try:
        return _in_utc(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        return parse_http_date(text)


def states_time_of_cache(generator: str | None, drupal_cache: str | None) -> bool:
    """Return whether the program behind a site sends the time at which it made or cached a page as `Last-Modified`.

    Takes the headers `X-Generator` and `X-Drupal-Cache`. Drupal is such a program.
    """
    return drupal_cache is not None or (generator or "").startswith("Drupal")


def last_modified(header: str | None, date_header: str | None, *, fetched: datetime) -> datetime | None:
    """Return the UTC time of a `Last-Modified` header if it is credible, else `None`.

    An unreadable date, a date in the future and a date before the web are not credible. The time of the response is not
    credible either, because servers send it for generated pages. The clock of the server (`Date`) decides, unless it is
    more than a day off.
    """
    modified = parse_http_date(header)
    if modified is None or modified < EARLIEST:
        return None
    answered = parse_http_date(date_header)
    if answered is None or abs(answered - fetched) > _WRONG_CLOCK:
        answered = fetched
    if modified > answered + _MAX_SKEW or min(abs(modified - answered), abs(modified - fetched)) <= GENERATION_TIME:
        return None
    return modified


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
