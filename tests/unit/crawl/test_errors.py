"""Descriptions of failed requests: no object of a library stands in them."""

from __future__ import annotations

import aiohttp
import pytest
from aiohttp.http import HttpVersion11, RawResponseMessage
from multidict import CIMultiDict, CIMultiDictProxy

from sitemap_crawler.crawl.download.errors import describe_failure
from sitemap_crawler.crawl.download.handler import _error_message

HEAD = RawResponseMessage(HttpVersion11, 200, "OK", CIMultiDictProxy(CIMultiDict()), (), False, None, False, False)


@pytest.mark.parametrize(
    ("message", "text"),
    [(None, "the server closed the connection without an answer"), (HEAD, "the answer broke off in its headers")],
)
def test_a_server_that_disconnects(message: RawResponseMessage | None, text: str) -> None:
    assert _error_message(None, aiohttp.ServerDisconnectedError(message)) == text


def test_a_host_that_is_no_name() -> None:
    error = UnicodeError("encoding with 'idna' codec failed (UnicodeError: label too long)")
    text = "its host is no valid name: a part of it is empty, or has more than 63 characters"
    assert describe_failure(error) == text
