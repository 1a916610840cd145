"""The extension that shows the progress of a crawl: a live line on a terminal, or a log line every half minute."""

from __future__ import annotations

import logging
import time
from itertools import pairwise
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from sitemap_crawler.crawl.extensions.status import RateMeter
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.utils.runtime import console, plain

if TYPE_CHECKING:
    from rich.live import Live
    from scrapy.crawler import Crawler

    from sitemap_crawler.crawl.job import FailingPages

logger = logging.getLogger(__name__)

TERMINAL_INTERVAL_SECONDS = 0.5
LOG_INTERVAL_SECONDS = 30.0
RATE_SAMPLES = 20
"""Samples over which the rates and the estimate are taken, one for each line."""


class Progress:
    """Extension that shows how many URLs are done and how many requests were sent.

    Requests are more: they include robots.txt, sitemaps and retries.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._job = job_of(crawler)
        self._rates = RateMeter(RATE_SAMPLES)
        self._live: Live | None = None
        self._loop = create_looping_call(self._show)
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Progress:
        return cls(crawler)

    def _spider_opened(self) -> None:
        if self._job.options.progress:
            from rich.live import Live

            self._live = Live(console=console(stderr=True), auto_refresh=False, transient=True)
            self._live.start()
            self._job.show_line = self._show_line
        self._loop.start(TERMINAL_INTERVAL_SECONDS if self._live else LOG_INTERVAL_SECONDS, now=True)
        throttle, now = self._job.throttles.for_url(self._job.start_url), time.monotonic()
        if throttle.is_paused(now):
            reason = " (random delay)" if self._job.options.random_delay else ""
            logger.info("the crawl begins in %s%s", _duration(throttle.next_request_time(now) - now), reason)

    def _spider_closed(self) -> None:
        if self._loop.running:
            self._loop.stop()
        if self._live is not None:
            self._job.show_line = None
            self._live.stop()

    def _show(self) -> None:
        self._rates.sample(self._job, time.monotonic())
        line = self._line()
        if self._live is not None:
            self._live.update(plain(line), refresh=True)
        elif len(self._rates.samples) > 1:
            logger.info(line)

    def _show_line(self, line: str) -> None:
        """Print a line that stays, above the progress line."""
        if self._live is not None:
            self._live.console.print(plain(line), soft_wrap=True)

    def _line(self) -> str:
        job, rates = self._job, self._rates
        parts = [
            f"{job.total_done:,} done",
            f"{job.queue.waiting:,} queued",
            f"{job.listable + job.others.listable:,} to list",
            f"{rates.pages_per_second:.1f} pages/s",
            f"{rates.requests_per_second:.1f} requests/s",
        ]
        throttle, now = job.throttles.for_url(job.start_url), rates.samples[-1].time
        failing = job.find_failing(now)
        if failing is not None:
            parts.append(what_is_left(failing, now))
        if throttle.is_paused(now):
            parts.append(f"paused for {_duration(throttle.next_request_time(now) - now)}")
        elif throttle.delay:
            parts.append(f"delay {throttle.delay:.1f} s{' (robots.txt)' if throttle.is_asked_by_robots else ''}")
        seconds_left = self._estimate()
        if seconds_left is not None:
            parts.append(f"about {_duration(seconds_left)} left")
        return ", ".join(parts)

    def _estimate(self) -> float | None:
        """Return the seconds left; None unless the queue has shrunk over all samples, as new links may still come."""
        queued, rate = [sample.queued for sample in self._rates.samples], self._rates.pages_per_second
        is_shrinking = len(queued) == RATE_SAMPLES and all(later <= earlier for earlier, later in pairwise(queued))
        if not is_shrinking or rate <= 0 or queued[-1] == 0:
            return None
        return queued[-1] / rate


def what_is_left(failing: FailingPages, now: float) -> str:
    """Return the part of the line about pages that keep failing, at a time on the clock of time.monotonic()."""
    pages = "1 page that keeps failing is" if failing.urls == 1 else f"{failing.urls:,} pages that keep failing are"
    if failing.in_flight:
        return f"only {pages} left, {failing.in_flight:,} requested now"
    seconds = _duration(failing.seconds_left(now))
    return f"only {pages} left, next request in {seconds}, at {failing.next_request_time(now):%H:%M:%S} UTC"


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
