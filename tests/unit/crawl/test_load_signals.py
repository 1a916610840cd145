"""Statuses, Retry-After headers and errors, and the load of a host that they indicate."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)

from sitemap_crawler.crawl.load_signals import ResponseKind, classify_status, is_back_pressure, retry_seconds

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("120", None, 120),
        (" 2 ", None, 2),
        ("2.5", None, 2.5),
        ("31536000", None, 31_536_000),
        ("Wed, 04 Mar 2026 05:08:07 GMT", None, 120),
        ("Wednesday, 04-Mar-26 05:08:07 GMT", None, 120),
        ("Wed Mar  4 05:08:07 2026", None, 120),
        # The clock of the server is an hour slow, or fast.
        ("Wed, 04 Mar 2026 04:08:07 GMT", "Wed, 04 Mar 2026 04:06:07 GMT", 120),
        ("Wed, 04 Mar 2026 06:08:07 GMT", "Wed, 04 Mar 2026 06:06:07 GMT", 120),
        ("Wed, 04 Mar 2026 05:08:07 GMT", "yesterday", 120),
        (None, None, None),
        ("", None, None),
        ("0", None, None),
        ("-5", None, None),
        ("+5", None, None),
        ("1e3", None, None),
        ("0x10", None, None),
        ("inf", None, None),
        ("nan", None, None),
        ("٣", None, None),
        ("soon", None, None),
        # More than a year counts as a year.
        ("31536001", None, 31_536_000),
        ("9" * 90, None, 31_536_000),
        ("9" * 100_000, None, None),
        ("Wed, 04 Mar 2026 05:06:07 GMT", None, None),
        ("Tue, 03 Mar 2026 05:06:07 GMT", None, None),
        ("Wed, 04 Mar 2099 05:06:07 GMT", None, 31_536_000),
        ("Wed, 99 Mar 2026 05:06:07 GMT", None, None),
        ("Wed, 04 Mar 2026 05:06:07 GMT" + " " * 100, None, None),
    ],
)
def test_retry_after(value: str | None, date: str | None, seconds: float | None) -> None:
    assert retry_seconds(value, date, now=NOW) == seconds


@given(st.text(), st.text())
def test_a_retry_after_never_raises(value: str, date: str) -> None:
    seconds = retry_seconds(value, date, now=NOW)
    assert seconds is None or 0 < seconds <= 31_536_000


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, ResponseKind.GOOD) for status in (200, 204, 301, 304, 403, 404, 410)),
        *((status, ResponseKind.BACK_PRESSURE) for status in (429, 502, 503, 504)),
        *((status, ResponseKind.OTHER) for status in (500, 501, 505, 520)),
    ],
)
def test_statuses_are_classified(status: int, kind: ResponseKind) -> None:
    assert classify_status(status) is kind


def connect_error(os_error: OSError) -> Exception:
    error = DownloadConnectionRefusedError("no connection")
    error.__cause__ = aiohttp.ClientConnectorError(Any, os_error)  # type: ignore[arg-type]
    return error


@pytest.mark.parametrize(
    ("error", "pressure"),
    [
        (DownloadTimeoutError(), True),
        (DownloadFailedError(), True),
        (ResponseDataLossError(), True),
        (ConnectionResetError(), True),
        (connect_error(ConnectionRefusedError()), True),
        (connect_error(ConnectionResetError()), True),
        (connect_error(OSError(113, "No route to host")), False),
        (DownloadConnectionRefusedError(), False),
        (CannotResolveHostError(), False),
        (UnsupportedURLSchemeError(), False),
        (ValueError(), False),
    ],
)
def test_errors_are_classified(error: Exception, pressure: bool) -> None:
    assert is_back_pressure(error) is pressure
