"""The extension that tells how far the crawl is: a line on a terminal, or a log line now and then."""

from __future__ import annotations

import logging
import time
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from sitemap_crawler.crawl.extensions.status import rate_of
from sitemap_crawler.crawl.job import job_of

if TYPE_CHECKING:
    from rich.live import Live
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

TERMINAL_INTERVAL = 0.5
LOG_INTERVAL = 30.0
WINDOW = 20
"""Samples over which the rate and the estimate are taken."""


class _Sample(NamedTuple):
    time: float
    done: int
    queued: int
    requests: int


class Progress:
    """Shows URLs that are done and requests, which are more: robots.txt, sitemaps, second tries."""

    def __init__(self, crawler: Crawler) -> None:
        self._job = job_of(crawler)
        self._samples: deque[_Sample] = deque(maxlen=WINDOW)
        self._live: Live | None = None
        self._loop = create_looping_call(self._tick)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Progress:
        return cls(crawler)

    def _opened(self) -> None:
        if self._job.options.progress:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True, highlight=False), auto_refresh=False, transient=True)
            self._live.start()
        self._loop.start(TERMINAL_INTERVAL if self._live else LOG_INTERVAL, now=True)
        throttle, now = self._job.throttles.for_url(self._job.start_url), time.monotonic()
        if throttle.is_paused(now):
            why = " (random delay)" if self._job.options.random_delay else ""
            logger.info("the crawl begins in %s%s", _duration(throttle.next_request_time(now) - now), why)

    def _closed(self) -> None:
        if self._loop.running:
            self._loop.stop()
        if self._live is not None:
            self._live.stop()

    def _tick(self) -> None:
        job = self._job
        self._samples.append(_Sample(time.monotonic(), job.done, job.queue.waiting, job.throttles.requests_sent))
        line = self._line()
        if self._live is not None:
            self._live.update(line, refresh=True)
        elif len(self._samples) > 1:
            logger.info(line)

    def _line(self) -> str:
        job = self._job
        first, last = self._samples[0], self._samples[-1]
        rate = rate_of(last.done - first.done, last.time - first.time)
        requests = rate_of(last.requests - first.requests, last.time - first.time)
        parts = [
            f"{job.done:,} done",
            f"{job.queue.waiting:,} queued",
            f"{job.listable:,} to list",
            f"{rate:.1f} pages/s",
            f"{requests:.1f} requests/s",
        ]
        throttle, now = job.throttles.for_url(job.start_url), last.time
        if throttle.is_paused(now):
            parts.append(f"paused for {_duration(throttle.next_request_time(now) - now)}")
        elif throttle.delay:
            parts.append(f"delay {throttle.delay:.1f} s")
        estimate = self._estimate(rate)
        if estimate is not None:
            parts.append(f"about {_duration(estimate)} left")
        return ", ".join(parts)

    def _estimate(self, rate: float) -> float | None:
        """Seconds left, once the queue has only shrunk over the window: before, it says nothing."""
        queued = [sample.queued for sample in self._samples]
        shrinking = len(queued) == WINDOW and all(late <= early for early, late in pairwise(queued))
        if not shrinking or rate <= 0 or queued[-1] == 0:
            return None
        return queued[-1] / rate


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
