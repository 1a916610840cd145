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
    from collections.abc import Callable, Collection

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from sitemap_crawler.crawl.host_book import HostBook
    from sitemap_crawler.crawl.run_watch import RunWatch
    from sitemap_crawler.crawl.sharing import Sharing
    from sitemap_crawler.crawl.throttle import HostThrottle


_Target = TypeVar("_Target", Request, QueuedUrl)
_WaitingRetry = tuple[float, int, Request]
"""Earliest time of the retry, on the clock of time.monotonic(); a number that orders equal times; the request."""
LEASE_URLS = 256
"""Maximum number of URLs that are leased from the queue at a time."""
MAX_LEASED_URLS = 4_096
"""Number of leased URLs from which no more are leased. With --subdomains all of them may be of hosts that must wait."""
MIN_BUFFERED_SHARE = 1 / 4
"""Share of the pages in processing that must be in the queue's buffer before it is written because no URL is queued."""
MAX_ALARM_SECONDS = 0.5
"""Time after which the engine asks again while no request may be sent because the server cannot be reached."""
MAX_LAST_RETRIES = 5_000
"""Maximum number of last retries that wait in memory until all other URLs are fetched."""


class FrontierScheduler(BaseScheduler):
    """Scheduler that returns queued URLs by crawl depth once their host's throttle allows it.

    Only leased URLs and retries are in memory; all other URLs wait in the inventory.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
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
        self._book = self._job.together.book if self._job.together is not None else None
        self._sharing: Sharing | None = None
        self._fetched_at_depth_update = -1
        self._fetched_at_sampling = -1
        self._watch: RunWatch | None = None
        self._generation = self._job.queue.generation

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FrontierScheduler:
        return cls(crawler)

    def open(self, spider: Spider) -> None:
        self._spider = spider
        self._job.find_failing = self._find_failing
        self._job.doubt = self._doubt
        self._job.queue.on_added = self._engine.wake
        if self._job.membership is not None:
            from sitemap_crawler.crawl.run_watch import RunWatch

            self._watch = RunWatch(self._job, self._engine, guarded=self._guarded, wake_at=self._wake_engine_at)
            self._watch.begin()
        if self._job.together is not None:
            from sitemap_crawler.crawl.sharing import Sharing

            self._job.together.book.used_hosts = self._used_hosts
            self._sharing = Sharing(self._crawler, self._job, self._job.together, load_traps=self._load_traps)
            self._sharing.start()

    def close(self, reason: str) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        if self._sharing is not None:
            self._sharing.stop()
        if self._watch is not None:
            self._watch.end()

    def has_pending_requests(self) -> bool:
        """Return whether anything is left to fetch. The engine asks this when no request is in flight any more."""
        return self._is_anything_left() or self._may_be_answered()

    def _may_be_answered(self) -> bool:
        """Return whether an answer out of turn may come, for which pages have to be requested again."""
        quiet_time = max((time_of() for time_of in self._job.quiet_times), default=0.0)
        if self._job.ending.failure is not None or quiet_time <= time.monotonic():
            return False
        self._wake_engine_at(quiet_time)
        return True

    def _is_anything_left(self) -> bool:
        if self._due_retries or self._later_retries or self._may_lease():
            return True
        if self._last_retries:
            self._later_retries, self._last_retries = self._last_retries, []
            heapify(self._later_retries)
            self._wake_engine_at(self._later_retries[0][0])
            return True
        if self._watch is not None:
            return self._watch.is_anything_left() or self._may_lease_now()
        job = self._job
        is_over = job.shared.budget == 0 or job.ending.failure is not None
        if not is_over and job.options.max_depth is not None and self._fetched_at_depth_update != job.shared.fetched:
            self._guarded(job.queue.update_depths)
            self._fetched_at_depth_update = job.shared.fetched
        if not is_over and job.shared.traps.yields.leaves_out and self._fetched_at_sampling != job.shared.fetched:
            self._fetched_at_sampling = job.shared.fetched
            self._guarded(job.queue.sample_refused)
        return self._may_lease_now()

    def _may_lease_now(self) -> bool:
        """Return whether URLs wait that were not there at the last request. The engine asks for them."""
        may_lease = self._may_lease()
        if may_lease:
            self._engine.wake()
        return may_lease

    def _may_lease(self) -> bool:
        job = self._job
        if job.shared.budget == 0 or job.ending.failure is not None:
            return False
        return bool(self._leased or job.queue.may_lease or job.queue.pending)

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
        if self._watch is not None and not self._may_send(self._watch):
            return None
        while self._later_retries and self._later_retries[0][0] <= time.monotonic():
            self._due_retries.append(heappop(self._later_retries)[2])
        if self._due_retries:
            retry = self._take(self._due_retries)
            if retry is not None or not self._job.options.subdomains:
                return retry
        if self._job.shared.traps.learnt:
            self._guarded(self._refuse_trapped)
        if not self._leased:
            self._lease()
        if not self._leased or self._job.shared.budget == 0:
            if self._later_retries:
                self._wake_engine_at(self._later_retries[0][0])
            return None
        queued = self._take(self._leased)
        if (
            queued is None
            and self._job.options.subdomains
            and len(self._leased) < MAX_LEASED_URLS
            and self._job.queue.may_lease
        ):
            # All leased URLs may be of hosts that have to wait.
            self._lease()
            queued = self._take(self._leased)
        if queued is None:
            if self._book is not None:
                self._give_back_elsewhere(self._book)
            return None
        self._job.shared.fetched += 1
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
        if self._book is not None and not self._is_granted(self._book, url, throttle, now):
            # A look of `Sharing` or the response to one of the requests wakes the engine.
            return False
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
        self._flush_if_exhausted()
        self._lease_some()
        # Only the lease may show that nothing waits: one of several processes does not know that before.
        if not self._leased and self._flush_if_exhausted():
            self._lease_some()

    def _flush_if_exhausted(self) -> bool:
        """Write the buffer if the only URLs left may be links of its pages. Return whether it was written.

        While many more pages are being read, to write the buffer now would cost a transaction for each page.
        """
        queue = self._job.queue
        least = self._engine.responses_in_processing() * MIN_BUFFERED_SHARE
        if queue.may_lease or not queue.pending or queue.pending < least:
            return False
        self._guarded(queue.flush)
        return True

    def _lease_some(self) -> None:
        queue, budget = self._job.queue, self._job.shared.budget
        size = LEASE_URLS if self._watch is None else self._watch.lease_urls(LEASE_URLS)
        limit = size if budget is None else min(budget, size)
        elsewhere = self._hosts_elsewhere()
        if elsewhere is None:
            return
        self._guarded(lambda: self._leased.extend(queue.lease(limit, elsewhere=elsewhere)))

    def _hosts_elsewhere(self) -> set[str] | None:
        """Return the hosts whose URLs are left to other processes, or None if no URL may be leased."""
        book = self._book
        if book is None:
            return set()
        if not book.slots:
            return None
        if self._job.options.subdomains:
            return book.elsewhere
        url = self._job.start_url
        # The host is not taken from others for nothing.
        is_granted = self._throttles.for_url(url).is_granted
        return set() if is_granted or (self._job.queue.may_lease and book.may_ask(host_of(url))) else None

    def _is_granted(self, book: HostBook, url: str, throttle: HostThrottle, now: float) -> bool:
        """Return whether the other processes leave the host and a slot to this one."""
        if not self._job.options.subdomains and self._engine.requests_in_flight() >= book.slots:
            return False
        return self._throttles.seconds_to_grant(url, throttle, now) == 0

    def _give_back_elsewhere(self, book: HostBook) -> None:
        """Give the leased URLs back that only another process may request."""
        may_ask = {host: book.may_ask(host) for host in {host_of(queued.url) for queued in self._leased}}
        if not all(may_ask.values()):
            others = [queued for queued in self._leased if not may_ask[host_of(queued.url)]]
            self._leased = deque(queued for queued in self._leased if may_ask[host_of(queued.url)])
            self._guarded(lambda: self._job.queue.give_back(others))

    def _used_hosts(self) -> set[str]:
        """Return the hosts to which a request is in flight, waits for a retry, or is about to be made."""
        requests = [*self._due_retries, *self._engine.active_requests()]
        requests += [request for _, _, request in (*self._later_retries, *self._last_retries)]
        return {host_of(url) for url in (*[request.url for request in requests], *[held.url for held in self._leased])}

    def _load_traps(self, version: int) -> None:
        """Put traps into effect that another process has learnt: give all leased URLs back."""
        leased, self._leased = self._leased, deque()
        self._guarded(lambda: self._job.queue.load_traps(leased, version=version))

    def _may_send(self, watch: RunWatch) -> bool:
        """Return whether this process may send requests. Drop what others have taken over."""
        may_send = watch.may_send()
        if self._job.queue.generation != self._generation:
            self._generation = self._job.queue.generation
            self._drop_lost()
        if not may_send:
            self._wake_engine_at(time.monotonic() + MAX_ALARM_SECONDS)
        return may_send

    def _drop_lost(self) -> None:
        """Drop what this process had leased when it was taken for dead, and keep what it has leased since then."""
        holds = self._job.queue.holds
        self._leased = deque(queued for queued in self._leased if holds(queued))
        self._due_retries = deque(request for request in self._due_retries if holds(request.meta[Meta.QUEUED]))
        self._later_retries, self._last_retries = (
            [waiting for waiting in retries if holds(waiting[2].meta[Meta.QUEUED])]
            for retries in (self._later_retries, self._last_retries)
        )
        heapify(self._later_retries)
        if self._book is not None:
            self._book.forget_process()

    def _refuse_trapped(self) -> None:
        """Give all leased URLs back: some may be in the traps that were learnt."""
        leased, self._leased = self._leased, deque()
        self._job.queue.refuse_trapped(leased)

    def _doubt(self, pages: Collection[QueuedUrl]) -> None:
        """Have pages requested again whose answers may be those of others."""
        again = 0

        def doubt() -> None:
            nonlocal again
            again = self._job.queue.doubt(pages)

        if pages:
            self._guarded(doubt)
            self._job.shared.fetched -= again
            self._job.done -= again
            self._engine.wake()

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
        return FailingPages(urls, len(in_flight), now if in_flight else max(now, min(times)))

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do work on the inventory; end the crawl if it fails."""
        if self._job.ending.failure is not None:
            return
        try:
            work()
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._job.inventory_failed(error)
        self._engine.close(CloseReason.INVENTORY_FAILED)

    def _request_for(self, queued: QueuedUrl) -> Request | None:
        """Return the request of a leased URL. A URL that is damaged in the inventory ends the crawl."""
        try:
            return Request(
                queued.url,
                headers=condition_headers(queued),
                callback=self._spider.parse,
                errback=self._spider.failed,  # type: ignore[attr-defined]
                meta={Meta.VERBATIM_URL: True, Meta.QUEUED: queued},
            )
        except (TypeError, ValueError) as error:
            self._fail(error)
            return None
