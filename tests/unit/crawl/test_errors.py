"""Descriptions of failed requests: no object of a library stands in them."""

from __future__ import annotations

import aiohttp
import pytest
from aiohttp.http import HttpVersion11, RawResponseMessage
from multidict import CIMultiDict, CIMultiDictProxy
from scrapy.exceptions import DownloadFailedError

from sitemap_crawler.crawl.download.errors import describe_failure

HEAD = RawResponseMessage(HttpVersion11, 200, "OK", CIMultiDictProxy(CIMultiDict()), (), False, None, False, False)


def failure(cause: Exception) -> DownloadFailedError:
    error = DownloadFailedError(str(cause))
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (failure(aiohttp.ServerDisconnectedError()), "the server closed the connection without an answer"),
        (failure(aiohttp.ServerDisconnectedError(HEAD)), "the answer broke off in its headers"),
        (
            UnicodeError("encoding with 'idna' codec failed (UnicodeError: label too long)"),
            "its host is no valid name: a part of it is empty, or has more than 63 characters",
        ),
    ],
)
def test_descriptions(error: Exception, text: str) -> None:
    assert describe_failure(error) == text
