"""Signals of the load of a host: the status and the Retry-After of a response, or the error in place of a response.

`middlewares/politeness.py` passes them to the `HostThrottle` of `throttle.py`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import Enum, auto
from typing import TYPE_CHECKING

from scrapy.exceptions import (
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from sitemap_crawler.extract.dates import parse_http_date

if TYPE_CHECKING:
    from scrapy.http import Response

BACK_PRESSURE_STATUSES = frozenset((429, 502, 503, 504))
"""Statuses that ask a client to slow down. Small PHP servers send 502 or 504 where others send 503."""
MAX_RETRY_AFTER_LENGTH = 100
"""Maximum number of characters of a Retry-After header that is read."""
MAX_RETRY_AFTER_SECONDS = 365 * 86_400
"""One year: no host means more."""
_SECONDS = re.compile(r"[0-9]{1,90}(?:\.[0-9]{0,9})?")


class ResponseKind(Enum):
    """Classes of responses, by what they say about the load of a host."""

    GOOD = auto()
    OTHER = auto()
    """Says nothing about the load: an internal error, no connection."""
    BACK_PRESSURE = auto()


def classify_status(status: int) -> ResponseKind:
    if status in BACK_PRESSURE_STATUSES:
        return ResponseKind.BACK_PRESSURE
    return ResponseKind.GOOD if status < 500 else ResponseKind.OTHER


def retry_seconds(value: str | None, date: str | None, *, now: datetime) -> float | None:
    """Return the seconds that a `Retry-After` header asks to wait, one year at most; None if it asks for no wait.

    A date in `value` is compared with `date`, the `Date` header of the same response, so that wrong clocks do not
    matter. https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
    """
    text = "" if value is None or len(value) > MAX_RETRY_AFTER_LENGTH else value.strip()
    if _SECONDS.fullmatch(text):
        seconds = float(text)
    else:
        moment = parse_http_date(text)
        if moment is None:
            return None
        seconds = (moment - (parse_http_date(date) or now)).total_seconds()
    return min(seconds, MAX_RETRY_AFTER_SECONDS) if seconds > 0 else None


def retry_after_seconds(response: Response) -> float | None:
    """Return the seconds that the `Retry-After` of a response asks to wait; None if it asks for no wait."""
    value, date = (response.headers.get(name) for name in ("Retry-After", "Date"))
    if value is None:
        return None
    return retry_seconds(value.decode("latin-1"), date.decode("latin-1") if date else None, now=datetime.now(UTC))


def is_back_pressure(exception: Exception) -> bool:
    """Return whether a request without a response means an overloaded server: a timeout, a reset, a refused connection.

    An unknown host name or an invalid certificate does not.
    """
    if isinstance(exception, DownloadConnectionRefusedError):
        return isinstance(getattr(exception.__cause__, "os_error", None), ConnectionError)
    return isinstance(exception, (DownloadTimeoutError, DownloadFailedError, ResponseDataLossError, ConnectionError))
