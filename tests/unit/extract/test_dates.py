from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.dates import last_modified, parse_date, parse_http_date

FETCHED = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
DATE = "Mon, 01 Jun 2026 12:00:00 GMT"
MAY = datetime(2026, 5, 1, 8, 30, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fri, 01 May 2026 08:30:15 GMT", MAY),
        ("Friday, 01-May-26 08:30:15 GMT", MAY),
        ("Fri May  1 08:30:15 2026", MAY),
        ("  Fri, 01 May 2026 08:30:15 GMT ", MAY),
        ("fri, 01 may 2026 08:30:15 gmt", MAY),
        ("Fri, 01 May 2026 10:30:15 +0200", MAY),
        ("Fri, 01 May 2026 08:30:15", MAY),
        ("01 May 2026 01:30:15 PDT", MAY),
        (None, None),
        ("", None),
        ("0", None),
        ("-1", None),
        ("now", None),
        ("1777624215", None),
        ("Fri, 31 Feb 2026 08:30:15 GMT", None),
        ("Fri, 01 May 2026 25:30:15 GMT", None),
        ("Fri, 01 May 99999 08:30:15 GMT", None),
        ("Fri, 01 May 2026 08:30:15 +99999999999", None),
        ("Fri, 31 Dec 9999 23:59:59 -1400", None),
        ("Fri, 01 May 2026 08:30:15 GMT" + " " * 100, None),
        # Two digits are a year of this century; four digits are that year, and 0001 is not 2001.
        ("Mon, 01 Jan 0001 00:00:00 GMT", None),
        ("Sun, 06 Nov 0094 08:49:37 GMT", None),
        ("Sun, 06 Nov 094 08:49:37 GMT", None),
        ("Sun Nov  6 08:49:37 0094", None),
        ("Sunday, 06-Nov-0094 08:49:37 GMT", None),
        ("Fri, 01 May 1 08:30:15 GMT", None),
        ("Sunday, 06-Nov-94 08:49:37 GMT", datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)),
    ],
)
def test_parse_http_date(text, expected):
    assert parse_http_date(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-01T08:30:15Z", MAY),
        ("2026-05-01T10:30:15+02:00", MAY),
        (" 2026-05-01 08:30:15 ", MAY),
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
        ("Fri, 01 May 2026 08:30:15 GMT", MAY),
        ("0001-01-01T00:00:00+14:00", None),
        ("2026-13-01", None),
        ("", None),
        (None, None),
    ],
)
def test_parse_date(text, expected):
    assert parse_date(text) == expected


@pytest.mark.parametrize(
    ("header", "date", "expected"),
    [
        ("Fri, 01 May 2026 08:30:15 GMT", DATE, MAY),
        ("Fri, 01 May 2026 08:30:15 GMT", None, MAY),
        ("Fri, 01 May 2026 08:30:15 GMT", "rubbish", MAY),
        ("Friday, 01-May-26 08:30:15 GMT", DATE, MAY),
        ("Fri May  1 08:30:15 2026", DATE, MAY),
        ("Mon, 01 Jan 1990 00:00:00 GMT", DATE, datetime(1990, 1, 1, tzinfo=UTC)),
        ("Mon, 01 Jun 2026 11:59:57 GMT", DATE, datetime(2026, 6, 1, 11, 59, 57, tzinfo=UTC)),
        # clock skew of a minute
        ("Mon, 01 Jun 2026 12:01:00 GMT", DATE, datetime(2026, 6, 1, 12, 1, tzinfo=UTC)),
        ("Mon, 01 Jun 2026 12:01:01 GMT", DATE, None),
        ("Mon, 01 Jun 2026 12:01:01 GMT", None, None),
        # the server's clock decides: one that is ten minutes fast, one that is ten minutes slow
        ("Mon, 01 Jun 2026 12:08:00 GMT", "Mon, 01 Jun 2026 12:10:00 GMT", datetime(2026, 6, 1, 12, 8, tzinfo=UTC)),
        ("Mon, 01 Jun 2026 11:55:00 GMT", "Mon, 01 Jun 2026 11:50:00 GMT", None),
        # but not one that is years off
        ("Wed, 01 Jan 2098 00:00:00 GMT", "Thu, 01 Jan 2099 00:00:00 GMT", None),
        ("Fri, 01 May 2026 08:30:15 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", MAY),
        # the time of the response is that of a generated page
        ("Mon, 01 Jun 2026 12:00:00 GMT", DATE, None),
        ("Mon, 01 Jun 2026 11:59:58 GMT", DATE, None),
        ("Mon, 01 Jun 2026 12:00:02 GMT", DATE, None),
        ("Mon, 01 Jun 2026 12:00:01 GMT", None, None),
        ("Mon, 01 Jun 2026 11:50:00 GMT", "Mon, 01 Jun 2026 11:50:01 GMT", None),
        ("Mon, 01 Jun 2026 12:00:00 GMT", "Mon, 01 Jun 2026 12:10:00 GMT", None),
        # before the web, and no dates
        ("Sun, 31 Dec 1989 23:59:59 GMT", DATE, None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", DATE, None),
        ("Mon, 01 Jan 0001 00:00:00 GMT", DATE, None),
        ("Mon, 01 Jan 0099 00:00:00 GMT", DATE, None),
        ("Fri, 01 May 2026 08:30:15 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", MAY),
        ("yesterday", DATE, None),
        ("", DATE, None),
        (None, DATE, None),
    ],
)
def test_last_modified(header, date, expected):
    modified = last_modified(header, date, fetched=FETCHED)
    assert modified == expected
    assert modified is None or modified.utcoffset() == timedelta(0)


@given(st.text(max_size=60) | st.text("0123456789-:+TZ GMTJanFeb,.", max_size=40))
def test_never_raises(text):
    last_modified(text, text, fetched=FETCHED)
    parse_date(text)
