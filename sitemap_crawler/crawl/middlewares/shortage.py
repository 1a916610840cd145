"""The middleware that ends the crawl when a request fails for something that this machine lacks.

Such a request becomes no observation: its URL stays queued, and the next run requests it. All requests pass here: for
pages, redirects, robots.txt, sitemaps and probes. What fails between two requests, in a task or callback that no code
awaits, comes here from the event loop.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import IgnoreRequest

from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason
from sitemap_crawler.exceptions import SitemapCrawlerError
from sitemap_crawler.utils.shortage import shortage_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


class RequestAbandonedError(SitemapCrawlerError, IgnoreRequest):
    """This machine lacked something for the request. It says nothing about the site; the next run makes the request."""


class ShortageMiddleware:
    """Downloader middleware that sees the exception of a request before all others, so that nothing retries it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ShortageMiddleware:
        middleware = cls(crawler)
        crawler.signals.connect(middleware._watch_event_loop, signals.spider_opened)
        return middleware

    def process_exception(self, request: Request, exception: Exception) -> None:
        if isinstance(exception, RequestAbandonedError) or ends_crawl(self._crawler, exception, f"at {request.url}"):
            raise RequestAbandonedError(str(exception)) from exception

    def _watch_event_loop(self) -> None:
        asyncio.get_running_loop().set_exception_handler(self._handle)

    def _handle(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        # A crawl that is ending loses nothing by connections that fail.
        if EngineControl(self._crawler).is_closing and shortage_of(error) is not None:
            return
        if isinstance(error, Exception) and ends_crawl(self._crawler, error, "between requests"):
            return
        loop.default_exception_handler(context)


def ends_crawl(crawler: Crawler, error: Exception, place: str) -> bool:
    """End the crawl with exit code 1 if the exception shows a shortage. Return whether it does.

    `place` says where it occurred. The caller must store no observation then.
    """
    shortage = shortage_of(error)
    if shortage is None:
        return False
    job = job_of(crawler)
    if job.ending.shortage is None:
        job.lack(shortage, place)
        EngineControl(crawler).close(CloseReason.SHORTAGE)
    return True
