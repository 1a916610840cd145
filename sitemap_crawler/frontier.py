"""Scrapy's scheduler on the inventory: what is queued survives the process, memory stays flat."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.conditional import conditions
from sitemap_crawler.job import end_crawl, job_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from sitemap_crawler.items import QueuedUrl

LEASE_URLS = 256


class Frontier(BaseScheduler):
    """Hands out what the queue has, fewest clicks first; remembers only what is leased or to be tried again."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._ready: deque[QueuedUrl] = deque()
        self._again: deque[Request] = deque()
        self._settled_at = -1

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Frontier:
        return cls(crawler)

    def open(self, spider: Spider) -> None:
        self._spider = spider

    def has_pending_requests(self) -> bool:
        if self._again:
            return True
        job = self._job
        if job.budget == 0 or job.failure is not None:
            return False
        empty = not (self._ready or job.queue.queued or job.queue.pending)
        if empty and job.options.max_depth is not None and self._settled_at != job.fetched:
            # The engine asks this last, when nothing is under way any more.
            self._guarded(job.queue.settle_depths)
            self._settled_at = job.fetched
        return bool(self._ready or job.queue.queued or job.queue.pending)

    def enqueue_request(self, request: Request) -> bool:
        """Only requests that are tried again come this way; new URLs come through the queue."""
        self._again.append(request)
        return True

    def next_request(self) -> Request | None:
        if self._again:
            return self._again.popleft()
        if not self._ready:
            self._refill()
        if not self._ready or self._job.budget == 0:
            return None
        self._job.fetched += 1
        return self._request(self._ready.popleft())

    def _refill(self) -> None:
        queue, budget = self._job.queue, self._job.budget
        if not queue.queued:
            # What the pages in the buffer link to may be all that is left.
            self._guarded(queue.flush)
        limit = LEASE_URLS if budget is None else min(budget, LEASE_URLS)
        self._guarded(lambda: self._ready.extend(queue.lease(limit)))

    def _guarded(self, work: Callable[[], None]) -> None:
        """End the crawl when the inventory can't do its part."""
        if self._job.failure is not None:
            return
        try:
            work()
        except SQLAlchemyError as error:
            self._job.inventory_failed(error)
            end_crawl(self._crawler, "inventory-failed")

    def _request(self, queued: QueuedUrl) -> Request:
        return Request(
            queued.url,
            headers=conditions(queued),
            callback=self._spider.parse,
            errback=self._spider.failed,  # type: ignore[attr-defined]
            # Our URLs are in their final form: Scrapy and the HTTP client must not quote them again.
            meta={"verbatim_url": True, "queued": queued},
        )
