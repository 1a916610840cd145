"""Scrapy's scheduler on the inventory: what is queued survives the process, memory stays flat."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler

from sitemap_crawler.crawl.download.conditional import conditions
from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta
from sitemap_crawler.items import QueuedUrl
from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler


_Asked = TypeVar("_Asked", Request, QueuedUrl)
_Waiting = tuple[float, int, Request]
"""When it may be asked for, by time.monotonic(), and a number that no other has."""
LEASE_URLS = 256
MAX_HELD = 4_096
"""Leased URLs of hosts that have to wait, beyond which no more are leased for others."""
SHARE = 4
"""Of the pages that are being read, one in so many has to be in the buffer before it is written for want of URLs."""
MAX_LAST = 5_000
"""Requests that are kept in memory until all else is fetched."""


class Frontier(BaseScheduler):
    """Hands out what the queue has, fewest clicks first, and not before its host's turn; remembers only what is leased
    or to be tried again."""

    def __init__(self, crawler: Crawler) -> None:
        self._engine = EngineControl(crawler)
        self._job = job_of(crawler)
        self._paces = self._job.paces
        self._tries = crawler.settings.getint("RETRY_TIMES")
        self._ready: deque[QueuedUrl] = deque()
        self._again: deque[Request] = deque()
        self._later: list[_Waiting] = []
        """A heap, by when they may be asked for."""
        self._last: list[_Waiting] = []
        """For when all else is fetched."""
        self._order = count()
        self._alarm: asyncio.TimerHandle | None = None
        self._settled_at = -1

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Frontier:
        return cls(crawler)

    def open(self, spider: Spider) -> None:
        self._spider = spider

    def close(self, reason: str) -> None:
        if self._alarm is not None:
            self._alarm.cancel()

    def has_pending_requests(self) -> bool:
        """The engine asks this last, when nothing is under way any more."""
        if self._again or self._later or self._may_refill():
            return True
        if self._last:
            self._later, self._last = self._last, []
            heapify(self._later)
            self._wake_at(self._later[0][0])
            return True
        job = self._job
        ended = job.budget == 0 or job.failure is not None
        if not ended and job.options.max_depth is not None and self._settled_at != job.fetched:
            self._guarded(job.queue.update_depths)
            self._settled_at = job.fetched
        return self._may_refill()

    def _may_refill(self) -> bool:
        job = self._job
        if job.budget == 0 or job.failure is not None:
            return False
        return bool(self._ready or job.queue.queued or job.queue.pending)

    def enqueue_request(self, request: Request) -> bool:
        """Only requests that are tried again come this way; new URLs come through the queue.

        What met back-pressure waits by itself, and for its last try until all else is fetched.
        """
        not_before = request.meta.get(Meta.NOT_BEFORE)
        if not_before is None:
            self._again.append(request)
            return True
        waiting = (not_before, next(self._order), request)
        tries = request.meta.get(Meta.RETRIES, 0)
        if 0 < tries >= request.meta.get(Meta.MAX_RETRIES, self._tries) and len(self._last) < MAX_LAST:
            self._last.append(waiting)
        else:
            heappush(self._later, waiting)
        return True

    def next_request(self) -> Request | None:
        while self._later and self._later[0][0] <= time.monotonic():
            self._again.append(heappop(self._later)[2])
        if self._again:
            again = self._take(self._again)
            if again is not None or not self._job.options.subdomains:
                return again
        if self._job.traps.learnt:
            self._guarded(self._leave_traps)
        if not self._ready:
            self._refill()
        if not self._ready or self._job.budget == 0:
            if self._later:
                self._wake_at(self._later[0][0])
            return None
        queued = self._take(self._ready)
        if queued is None and self._job.options.subdomains and len(self._ready) < MAX_HELD and self._job.queue.queued:
            # What is leased may all be of hosts that have to wait.
            self._refill()
            queued = self._take(self._ready)
        if queued is None:
            return None
        self._job.fetched += 1
        return self._request(queued)

    def _take(self, waiting: deque[_Asked]) -> _Asked | None:
        """The first of them whose host may be asked now."""
        if self._is_turn_of(waiting[0].url):
            return waiting.popleft()
        hosts = {host_of(waiting[0].url)}
        for place, asked in enumerate(waiting if self._job.options.subdomains else ()):
            host = host_of(asked.url)
            if host not in hosts and self._is_turn_of(asked.url):
                del waiting[place]
                return asked
            hosts.add(host)
        return None

    def _is_turn_of(self, url: str) -> bool:
        """Whether `url` may be asked for now; if not, the engine will ask again in time."""
        pace = self._paces.of(url)
        if pace.free or pace.closed:
            # The middleware refuses what a closed host is asked for.
            return True
        active = self._active_at(url)
        if active + 1 > pace.allowed:
            # The answer to one of them wakes the engine.
            return False
        now = time.monotonic()
        at = pace.next_at(now)
        if pace.delay and active > pace.under_way:
            # One is on its way: it will have left soon.
            at = max(at, now + pace.delay)
        if at <= now:
            return True
        self._wake_at(at)
        return False

    def _active_at(self, url: str) -> int:
        """Requests to the host that are on their way or under way."""
        return self._engine.requests_in_flight(host_of(url) if self._job.options.subdomains else None)

    def _wake_at(self, moment: float) -> None:
        """Have the engine ask for a request then, at the latest."""
        loop = asyncio.get_running_loop()
        at = loop.time() + max(0.0, moment - time.monotonic())
        if self._alarm is not None and not self._alarm.cancelled() and loop.time() < self._alarm.when() <= at:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = loop.call_at(at, self._engine.wake)

    def _refill(self) -> None:
        queue, budget = self._job.queue, self._job.budget
        if not queue.queued and queue.pending * SHARE >= self._engine.responses_in_processing():
            # What the pages in the buffer link to may be all that is left. While many more are being read, a page at a
            # time would be a transaction for each.
            self._guarded(queue.flush)
        limit = LEASE_URLS if budget is None else min(budget, LEASE_URLS)
        self._guarded(lambda: self._ready.extend(queue.lease(limit)))

    def _leave_traps(self) -> None:
        held, self._ready = self._ready, deque()
        self._job.queue.refuse_trapped(held)

    def _guarded(self, work: Callable[[], None]) -> None:
        """End the crawl when the inventory can't do its part."""
        if self._job.failure is not None:
            return
        try:
            work()
        except Exception as error:
            self._job.inventory_failed(error)
            self._engine.close(CloseReason.INVENTORY_FAILED)

    def _request(self, queued: QueuedUrl) -> Request:
        return Request(
            queued.url,
            headers=conditions(queued),
            callback=self._spider.parse,
            errback=self._spider.failed,  # type: ignore[attr-defined]
            # Our URLs are in their final form: Scrapy and the HTTP client must not quote them again.
            meta={Meta.VERBATIM_URL: True, Meta.QUEUED: queued},
        )
