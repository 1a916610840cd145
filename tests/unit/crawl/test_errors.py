"""Descriptions of failed requests: no object of a library stands in them."""

from __future__ import annotations

import aiohttp
import pytest
from aiohttp.http import HttpVersion11, RawResponseMessage
from multidict import CIMultiDict, CIMultiDictProxy
from scrapy.exceptions import ResponseDataLossError
from yarl import URL

from sitemap_crawler.crawl.download.errors import describe_failure
from sitemap_crawler.crawl.download.handler import _error_message
from sitemap_crawler.exceptions import CodingError

HEAD = RawResponseMessage(HttpVersion11, 200, "OK", CIMultiDictProxy(CIMultiDict()), (), False, None, False, False)


@pytest.mark.parametrize(
    ("message", "text"),
    [(None, "the server closed the connection without an answer"), (HEAD, "the answer broke off in its headers")],
)
def test_a_server_that_disconnects(message: RawResponseMessage | None, text: str) -> None:
    assert _error_message(None, aiohttp.ServerDisconnectedError(message)) == text


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("Bad status line:\n  Expected HTTP/, RTSP/ or ICE/:\n\n  b'<html>'\n    ^", "bad status line"),
        ("Got more than 65536 bytes when reading: b'yyy...'.", "got more than 65536 bytes when reading"),
        ("Invalid HTTP header: b'a\\x00b'", "invalid HTTP header"),
        ("Too many headers received", "too many headers received"),
    ],
)
def test_an_answer_that_is_no_http(message: str, fault: str) -> None:
    request = aiohttp.RequestInfo(URL("http://a.example/"), "GET", CIMultiDictProxy(CIMultiDict()), URL())
    error = aiohttp.ClientResponseError(request, (), status=400, message=message)
    assert _error_message(None, error) == f"the answer is no valid HTTP: {fault}"


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (CodingError("it is cut off"), "the compressed answer is damaged: it is cut off"),
        (None, "the answer broke off"),
    ],
)
def test_an_answer_that_is_not_whole(fault: Exception | None, text: str) -> None:
    error = ResponseDataLossError(str(fault))
    error.__cause__ = fault
    assert describe_failure(error) == text


def test_a_host_that_is_no_name() -> None:
    error = UnicodeError("encoding with 'idna' codec failed (UnicodeError: label too long)")
    text = "its host is no valid name: a part of it is empty, or has more than 63 characters"
    assert describe_failure(error) == text
