"""Scrapy's scheduler, backed by the inventory: the queue survives the process, and memory stays flat."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler

from sitemap_crawler.crawl.download.conditional import condition_headers
from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import FailingPages, job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta
from sitemap_crawler.items import QueuedUrl
from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler


_Target = TypeVar("_Target", Request, QueuedUrl)
_WaitingRetry = tuple[float, int, Request]
"""Earliest time of the retry, on the clock of time.monotonic(); a number that orders equal times; the request."""
LEASE_URLS = 256
"""Maximum number of URLs that are leased from the queue at a time."""
MAX_LEASED_URLS = 4_096
"""Number of leased URLs from which no more are leased. With --subdomains all of them may be of hosts that must wait."""
MIN_BUFFERED_SHARE = 1 / 4
"""Share of the pages in processing that must be in the queue's buffer before it is written because no URL is queued."""
MAX_LAST_RETRIES = 5_000
"""Maximum number of last retries that wait in memory until all other URLs are fetched."""


class FrontierScheduler(BaseScheduler):
    """Scheduler that returns queued URLs by crawl depth once their host's throttle allows it.

    Only leased URLs and retries are in memory; all other URLs wait in the inventory.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._engine = EngineControl(crawler)
        self._job = job_of(crawler)
        self._throttles = self._job.throttles
        self._max_retries = crawler.settings.getint("RETRY_TIMES")
        self._leased: deque[QueuedUrl] = deque()
        self._due_retries: deque[Request] = deque()
        self._later_retries: list[_WaitingRetry] = []
        """Heap of retries after back-pressure, by their earliest time."""
        self._last_retries: list[_WaitingRetry] = []
        """Retries that wait until all else is fetched."""
        self._order = count()
        self._alarm: asyncio.TimerHandle | None = None
        self._fetched_at_depth_update = -1

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FrontierScheduler:
        return cls(crawler)

    def open(self, spider: Spider) -> None:
        self._spider = spider
        self._job.find_failing = self._find_failing

    def close(self, reason: str) -> None:
        if self._alarm is not None:
            self._alarm.cancel()

    def has_pending_requests(self) -> bool:
        """Return whether anything is left to fetch. The engine asks this when no request is in flight any more."""
        if self._due_retries or self._later_retries or self._may_lease():
            return True
        if self._last_retries:
            self._later_retries, self._last_retries = self._last_retries, []
            heapify(self._later_retries)
            self._wake_engine_at(self._later_retries[0][0])
            return True
        job = self._job
        is_over = job.budget == 0 or job.ending.failure is not None
        if not is_over and job.options.max_depth is not None and self._fetched_at_depth_update != job.fetched:
            self._guarded(job.queue.update_depths)
            self._fetched_at_depth_update = job.fetched
        return self._may_lease()

    def _may_lease(self) -> bool:
        job = self._job
        if job.budget == 0 or job.ending.failure is not None:
            return False
        return bool(self._leased or job.queue.queued or job.queue.pending)

    def enqueue_request(self, request: Request) -> bool:
        """Keep a retry. New URLs come from the queue and do not pass this method.

        A page that met back-pressure waits for its own time. Its last retry waits until all else is fetched.
        """
        not_before = request.meta.get(Meta.NOT_BEFORE)
        if not_before is None:
            self._due_retries.append(request)
            return True
        waiting = (not_before, next(self._order), request)
        retries = request.meta.get(Meta.RETRIES, 0)
        is_last = 0 < retries >= request.meta.get(Meta.MAX_RETRIES, self._max_retries)
        if is_last and len(self._last_retries) < MAX_LAST_RETRIES:
            self._last_retries.append(waiting)
        else:
            heappush(self._later_retries, waiting)
        return True

    def next_request(self) -> Request | None:
        """Return the next request that may be sent now.

        After None, an alarm or the next response makes the engine ask again.
        """
        while self._later_retries and self._later_retries[0][0] <= time.monotonic():
            self._due_retries.append(heappop(self._later_retries)[2])
        if self._due_retries:
            retry = self._take(self._due_retries)
            if retry is not None or not self._job.options.subdomains:
                return retry
        if self._job.traps.learnt:
            self._guarded(self._refuse_trapped)
        if not self._leased:
            self._lease()
        if not self._leased or self._job.budget == 0:
            if self._later_retries:
                self._wake_engine_at(self._later_retries[0][0])
            return None
        queued = self._take(self._leased)
        if (
            queued is None
            and self._job.options.subdomains
            and len(self._leased) < MAX_LEASED_URLS
            and self._job.queue.queued
        ):
            # All leased URLs may be of hosts that have to wait.
            self._lease()
            queued = self._take(self._leased)
        if queued is None:
            return None
        self._job.fetched += 1
        return self._request_for(queued)

    def _take(self, waiting: deque[_Target]) -> _Target | None:
        """Remove and return the first element whose host may be requested now."""
        if self._may_send_to(waiting[0].url):
            return waiting.popleft()
        waiting_hosts = {host_of(waiting[0].url)}
        for index, target in enumerate(waiting if self._job.options.subdomains else ()):
            host = host_of(target.url)
            if host not in waiting_hosts and self._may_send_to(target.url):
                del waiting[index]
                return target
            waiting_hosts.add(host)
        return None

    def _may_send_to(self, url: str) -> bool:
        """Return whether `url` may be requested now. If not, the engine is woken when it may."""
        throttle = self._throttles.for_url(url)
        if throttle.is_free or throttle.is_closed:
            # The politeness middleware refuses the requests to a closed host.
            return True
        active = self._engine.requests_in_flight(host_of(url) if self._job.options.subdomains else None)
        if active + 1 > throttle.max_in_flight:
            # The response to one of the requests wakes the engine.
            return False
        now = time.monotonic()
        earliest = throttle.next_request_time(now)
        if throttle.delay and active > throttle.in_flight:
            # A request has left the scheduler and not this machine: the delay begins when it does.
            earliest = max(earliest, now + throttle.delay)
        if earliest <= now:
            return True
        self._wake_engine_at(earliest)
        return False

    def _wake_engine_at(self, moment: float) -> None:
        """Have the engine ask for a request at `moment`, on the clock of time.monotonic(), or earlier."""
        loop = asyncio.get_running_loop()
        alarm_time = loop.time() + max(0.0, moment - time.monotonic())
        if self._alarm is not None and not self._alarm.cancelled() and loop.time() < self._alarm.when() <= alarm_time:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = loop.call_at(alarm_time, self._engine.wake)

    def _lease(self) -> None:
        queue, budget = self._job.queue, self._job.budget
        if not queue.queued and queue.pending >= self._engine.responses_in_processing() * MIN_BUFFERED_SHARE:
            # The only URLs left may be links of the pages in the buffer. While many more pages are being read, to write
            # the buffer now would cost a transaction for each page.
            self._guarded(queue.flush)
        limit = LEASE_URLS if budget is None else min(budget, LEASE_URLS)
        self._guarded(lambda: self._leased.extend(queue.lease(limit)))

    def _refuse_trapped(self) -> None:
        """Give all leased URLs back: some may be in the traps that were learnt."""
        leased, self._leased = self._leased, deque()
        self._job.queue.refuse_trapped(leased)

    def _find_failing(self, now: float) -> FailingPages | None:
        """Return the pages that are left if all of them have failed and wait for a retry, else None."""
        if self._may_lease() or self._engine.responses_in_processing():
            return None
        in_flight = [request for request in self._engine.active_requests() if Meta.QUEUED in request.meta]
        waiting = [*self._later_retries, *self._last_retries]
        urls = len(self._due_retries) + len(waiting) + len(in_flight)
        if not urls or not all(request.meta.get(Meta.RETRIES) for request in in_flight):
            return None
        times = [moment for moment, _, _ in waiting]
        times += [self._throttles.for_url(request.url).next_request_time(now) for request in self._due_retries]
        return FailingPages(urls, now if in_flight else max(now, min(times)))

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do work on the inventory; end the crawl if it fails."""
        if self._job.ending.failure is not None:
            return
        try:
            work()
        except Exception as error:
            self._job.inventory_failed(error)
            self._engine.close(CloseReason.INVENTORY_FAILED)

    def _request_for(self, queued: QueuedUrl) -> Request:
        return Request(
            queued.url,
            headers=condition_headers(queued),
            callback=self._spider.parse,
            errback=self._spider.failed,  # type: ignore[attr-defined]
            meta={Meta.VERBATIM_URL: True, Meta.QUEUED: queued},
        )
