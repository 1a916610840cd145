"""The check of listed media stops when too many of them have problems."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy.http import Response

from sitemap_crawler.crawl import listed_media
from sitemap_crawler.crawl.listed_media import MediaCheck
from sitemap_crawler.urls.normalise import Resolver

if TYPE_CHECKING:
    import pytest
    from scrapy import Request


def checked(monkeypatch: pytest.MonkeyPatch, urls: list[str], *, status: int, limit: int) -> tuple[MediaCheck, int]:
    """Return the finished check, with a server that answers `status`, and the number of GET requests."""
    requests: list[str] = []

    async def download(request: Request) -> Response:
        await asyncio.sleep(0)
        requests.append(request.method)
        return Response(request.url, status=status)

    async def run() -> MediaCheck:
        check = MediaCheck(crawler, urls)
        while not check.is_done():
            await asyncio.sleep(0)
        return check

    monkeypatch.setattr(listed_media, "MAX_PROBLEMS", limit)
    control = SimpleNamespace(is_closing=False, wake=lambda: None)
    monkeypatch.setattr(listed_media, "EngineControl", lambda _crawler: control)
    job = SimpleNamespace(gate=SimpleNamespace(name=lambda _origin: None))
    spider = SimpleNamespace(job=job, resolver=Resolver())
    crawler: Any = SimpleNamespace(spider=spider, engine=SimpleNamespace(download_async=download))
    return asyncio.run(run()), requests.count("GET")


def test_media_with_problems_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = [f"https://example.com/{number}.png" for number in range(1_000)]
    check, requests = checked(monkeypatch, urls, status=404, limit=20)
    in_flight = listed_media.MEDIA_AT_ONCE
    assert 20 <= len(check.problems) < 20 + in_flight
    assert requests == len(check.problems)
    assert check.problem == "20 images and videos have problems, and the check of the others was given up"


def test_media_that_are_there_count_for_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = [f"https://example.com/{number % 100}.png" for number in range(1_000)]
    check, requests = checked(monkeypatch, urls, status=200, limit=20)
    assert (check.problems, check.problem, requests) == ({}, None, 0)
