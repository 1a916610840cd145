"""Dates as servers and pages write them, and whether to believe a `Last-Modified`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

MAX_DATE_LENGTH = 100
_SKEW = timedelta(minutes=1)
_GENERATED = timedelta(seconds=2)
_WRONG_CLOCK = timedelta(days=1)
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)


# The pages of a site answer at the same seconds, and were often made at the same time.
@lru_cache(maxsize=256)
def parse_http_date(text: str | None) -> datetime | None:
    """Return the UTC time of any of the three forms of RFC 9110, section 5.6.7, and of RFC 822."""
    if not text or len(text) > MAX_DATE_LENGTH:
        return None
    try:
        return _utc(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):  # the last three by malformed parts
        return None


def parse_date(text: str | None) -> datetime | None:
    """Return the UTC time of an ISO 8601 or HTTP date; a zone that is not stated is UTC."""
    if not text or len(text) > MAX_DATE_LENGTH:
        return None
    try:
        return _utc(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        return parse_http_date(text)


def last_modified(header: str | None, date_header: str | None, *, fetched: datetime) -> datetime | None:
    """Return a `Last-Modified` (UTC) that can be believed.

    Not believed: unreadable, in the future, before the web, or the time of the response itself, which is what
    generated pages send. The server's own clock (`Date`) decides, unless it is more than a day off.
    """
    modified = parse_http_date(header)
    if modified is None or modified < _EARLIEST:
        return None
    answered = parse_http_date(date_header)
    if answered is None or abs(answered - fetched) > _WRONG_CLOCK:
        answered = fetched
    if modified > answered + _SKEW or min(abs(modified - answered), abs(modified - fetched)) <= _GENERATED:
        return None
    return modified


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
