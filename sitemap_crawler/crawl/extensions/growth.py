"""The extension that notices a crawl whose queue grows, and says which URLs wait.

Sites that link their pages under ever new parameters have no end. Only a person knows whether these are pages.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.inventory.frontier import waiting_urls
from sitemap_crawler.inventory.runs import has_grown, mark_grown
from sitemap_crawler.report.waiting import WaitingCount, growth_lines
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
"""Time between two looks at the queue."""


class QueueGrowth:
    """Lengths of the queue over the last requests."""

    def __init__(self, window: int) -> None:
        """`window` is the number of requests over which growth is measured."""
        self._window = window
        self._samples: deque[tuple[int, int]] = deque()

    def sample(self, done: int, waiting: int) -> bool:
        """Take the number of requested URLs and that of waiting URLs.

        Return whether more URLs were added than requested over the window, and more wait than these requests. Before as
        many requests it is False.
        """
        samples = self._samples
        if samples and samples[-1][0] == done:
            samples.pop()
        samples.append((done, waiting))
        while len(samples) > 1 and samples[1][0] <= done - self._window:
            samples.popleft()
        before, waited = samples[0]
        return before <= done - self._window and waiting > max(waited, self._window)


class Growth:
    """Extension that tells once in a run that the queue grows, with the shapes that have the most waiting URLs."""

    def __init__(self, crawler: Crawler, *, after_requests: int, after_seconds: float, window: int) -> None:
        """The queue is judged after so many requests or seconds of the run."""
        self._job = job_of(crawler)
        self._after_requests, self._after_seconds, self._window = after_requests, after_seconds, window
        self._growth = QueueGrowth(window)
        self._loop = create_looping_call(self._look)
        self._task: asyncio.Future[None] | None = None
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Growth:
        settings = crawler.settings
        return cls(
            crawler,
            after_requests=settings.getint("GROWTH_AFTER_REQUESTS"),
            after_seconds=settings.getfloat("GROWTH_AFTER_SECONDS"),
            window=settings.getint("GROWTH_WINDOW"),
        )

    def _spider_opened(self) -> None:
        if not self._job.is_helper:
            self._loop.start(CHECK_SECONDS, now=True)

    def _spider_closed(self) -> None:
        if self._loop.running:
            self._loop.stop()
        if self._task is not None:
            self._task.cancel()

    def _look(self) -> None:
        job = self._job
        is_growing = self._growth.sample(job.total_done, job.queue.waiting)
        seconds = job.run.working_seconds(time.time())
        is_due = job.total_done >= self._after_requests or seconds >= self._after_seconds
        if is_growing and is_due and self._task is None:
            self._task = asyncio.ensure_future(self._tell())

    async def _tell(self) -> None:
        """Count the waiting URLs in slices, so that the crawl goes on meanwhile, and name their shapes."""
        job, connection = self._job, self._job.store.connection
        waiting = job.queue.waiting
        count = WaitingCount(job.rules.scope.prefix, waiting=waiting)
        try:
            was_told = has_grown(connection, job.run.id)
            for urls in waiting_urls(connection, every=count.every):
                count.add(urls)
                await asyncio.sleep(0)
            mark_grown(connection, job.run.id)
        except SQLAlchemyError:
            # The next batch that is written meets the same failure.
            logger.debug("cannot count the waiting URLs", exc_info=True)
            return
        job.growing = count.shapes()
        if not was_told:
            for line in growth_lines(job.growing, waiting=waiting, window=self._window):
                self._say(printable(line))

    def _say(self, line: str) -> None:
        if self._job.show_line is None:
            logger.warning("%s", line)
        else:
            self._job.show_line(line)
            logger.info("%s", line)
