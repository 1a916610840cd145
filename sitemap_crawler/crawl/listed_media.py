"""The check of listed images and videos: each is requested once, and judged by its status and its type."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from sitemap_crawler.crawl.download.errors import describe_failure
from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import Meta
from sitemap_crawler.crawl.middlewares.robots import BlockedByRobotsError, RobotsUnavailableError
from sitemap_crawler.crawl.middlewares.shortage import RequestAbandonedError
from sitemap_crawler.extract.media_type import media_type
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

MEDIA_AT_ONCE = 8
"""Maximum number of requests for media that are in flight. The throttles of the hosts allow fewer."""
MAX_BROKEN_MEDIA = 10_000
"""Number of media that are not there from which on no further medium is requested."""
_RECENT_MEDIA = 50_000
"""Size of a generation of media that are not requested again. Sites list the same logo on each page."""
_HEAD_REFUSED = frozenset((400, 403, 404, 405, 406, 500, 501, 503))
"""Statuses of a HEAD request after which a GET request is sent: some servers answer HEAD with an error."""


_PAGES = frozenset({"text/html", "application/xhtml+xml"})
"""Media types of pages, with which servers answer for files that they do not have, or ask for a login."""


class MediaCheck:
    """One check of listed images and videos. They may be on any host that the gate lets pass."""

    def __init__(self, crawler: Crawler, listed: Iterable[str]) -> None:
        self._crawler = crawler
        self._gate = job_of(crawler).gate
        self._engine = EngineControl(crawler)
        self._listed = iter(listed)
        self._requested: Recent[bool] = Recent(_RECENT_MEDIA)
        self._task: asyncio.Task[None] | None = None
        self.broken: dict[str, str] = {}
        """The problem of each image or video that is not there, by its URL as listed."""

    @property
    def problem(self) -> str | None:
        """Why some media were not requested; None if all were."""
        if len(self.broken) < MAX_BROKEN_MEDIA:
            return None
        return f"{MAX_BROKEN_MEDIA:,} images and videos are not there, and the check of the others was given up"

    def is_done(self) -> bool:
        """Start the check with the first call. Return whether it has ended; its end wakes the engine."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        return self._task.done()

    async def _run(self) -> None:
        await asyncio.gather(*(self._check_some() for _ in range(MEDIA_AT_ONCE)))
        self._engine.wake()

    async def _check_some(self) -> None:
        spider: Any = self._crawler.spider
        for text in self._unchecked():
            url = spider.resolver.normalise(text)
            if url is None:
                continue
            self._gate.name(origin_of(url))
            problem = await self._problem_of(url)
            if problem is not None and not self._engine.is_closing:
                self.broken[text] = problem

    def _unchecked(self) -> Iterator[str]:
        for text in self._listed:
            if self._engine.is_closing or self.problem is not None:
                return
            if text not in self.broken and self._requested.get(text) is None:
                self._requested.put(text, True)
                yield text

    async def _problem_of(self, url: str) -> str | None:
        """Return why an image or video is not there; None if it is, or if it may not or cannot be requested."""
        try:
            for method in ("HEAD", "GET"):
                meta = {Meta.VERBATIM_URL: True, Meta.MAX_BODY_BYTES: 1}
                request = Request(url, method=method, callback=NO_CALLBACK, meta=meta)
                response = await self._crawler.engine.download_async(request)
                is_page = _type_of(response) in _PAGES
                # Some servers state the type of their error pages for any HEAD request.
                if method == "GET" or (response.status not in _HEAD_REFUSED and not is_page):
                    break
        except (BlockedByRobotsError, RobotsUnavailableError, RequestAbandonedError):
            return None
        except Exception as error:
            return describe_failure(error)
        if response.status >= 400:
            return f"status {response.status}"
        return "a page of HTML is sent in its place" if is_page else None


def _type_of(response: Response) -> str:
    header = response.headers.get("Content-Type")
    return media_type(header.decode("latin-1") if header else None, b"")
