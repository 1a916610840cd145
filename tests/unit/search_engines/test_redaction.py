"""Secrets in texts: every spelling in which a service or proxy can repeat one."""

from __future__ import annotations

import base64
import json
import logging
from html import escape
from urllib.parse import quote, quote_plus

import pytest

from sitemap_crawler.search_engines.redaction import Redactor, redact, redact_record
from tests.support.growth import Amount, assert_linear

SECRET = 'p@ss/"w0rd"&<é>+='
TOKEN = "ya29.a0AfH6SMC-x_y.z"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhQGIifQ.c2lnbmF0dXJl-_"
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "spelling", [SECRET, quote(SECRET, safe=""), quote_plus(SECRET), escape(SECRET), json.dumps(SECRET)[1:-1]]
)
def test_given_secrets(spelling: str) -> None:
    assert redact(f"a {spelling} b{spelling}", [SECRET]) == "a *** b***"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (f"Authorization: Bearer {TOKEN}", "Authorization: Bearer ***"),
        ("authorization: bearer   opaque-token-1, next", "authorization: bearer   ***, next"),
        ("Proxy-Authorization: Basic dXNlcjpwYXNz", "Proxy-Authorization: Basic ***"),
        ('{"Proxy-Authorization": "Basic dXNlcjpwYXNz"}', '{"Proxy-Authorization": "Basic ***"}'),
        (f"the token {TOKEN} is old", "the token *** is old"),
        (f"the assertion={JWT}&x=1", "the assertion=***&x=1"),
        (f"jwt {JWT}.", "jwt ***."),
        ("https://x/GetFeeds?apikey=abc123&siteUrl=y", "https://x/GetFeeds?apikey=***&siteUrl=y"),
        ("https%3A%2F%2Fx%2F%3Fapikey%3Dabc123%26siteUrl", "https%3A%2F%2Fx%2F%3Fapikey%3D***%26siteUrl"),
        ("api_key: abc123", "api_key: ***"),
        ('{"refresh_token": "1//abc", "x": 1}', '{"refresh_token": "***", "x": 1}'),
        (r'{"m": "{\"access_token\": \"abc\"}"}', r'{"m": "{\"access_token\": \"***"}"}'),
        ("refresh_token=1%2F%2Fabc&client_secret=GOCSPX-1", "refresh_token=***&client_secret=***"),
        (f"key {KEY} end", "key ***\n end"),
        (json.dumps({"private_key": KEY}), '{"private_key": "***"}'),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE", "***"),
        ("Basic information about tokens", "Basic information about tokens"),
        ("nothing secret", "nothing secret"),
    ],
)
def test_tokens_and_keys(text: str, redacted: str) -> None:
    assert redact(text) == redacted


def test_a_short_secret_hides_no_other_text() -> None:
    assert redact("abc of a", ["a", "", "abc"]) == "abc of a"


def test_a_secret_within_another_one() -> None:
    assert redact("abcdefgh abcd", ["abcd", "abcdefgh"]) == "*** ***"


def test_a_secret_at_the_cut_of_a_message() -> None:
    redactor = Redactor([SECRET])
    for length in range(280, 305):
        assert "p@ss" not in redactor.clean("x" * length + SECRET)
    redactor.hide("another-secret")
    assert redactor.clean(" \n\t" * 5_000 + f"another-secret\x1b {SECRET}") in ("***\\x1b ***", "*** ***", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["eyJ-", "eyJa.", "Bearer ", "apikey", "apikey ", "-----BEGIN PRIVATE KEY-----", "x" * 9]
)
def test_the_time_is_linear(part: str) -> None:
    def make(n: Amount) -> str:
        return part * n(1_000_000 // len(part))

    assert_linear(make, redact)


def test_log_records_lose_their_secrets() -> None:
    arguments = ("GET", f"/GetFeeds?apikey={'k' * 32}&siteUrl=x")
    record = logging.LogRecord("urllib3.connectionpool", logging.DEBUG, "", 0, '"%s %s"', arguments, None)
    assert redact_record(record)
    assert record.getMessage() == '"GET /GetFeeds?apikey=***&siteUrl=x"'


def test_a_login_in_base64_is_found_by_its_header() -> None:
    login = base64.b64encode(b"user:password").decode()
    assert login not in redact(f'headers: {{"Authorization": "Basic {login}"}}')
