"""What a process does at intervals to learn what the other processes of its run have told."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import create_looping_call
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.keys import CloseReason
from sitemap_crawler.inventory.shared_run import REFUSED, Stop
from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.crawl.shared_run import SharedRun

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""Time between two looks. A process obeys the pause that another one was asked for after this time at the latest."""


class Sharing:
    """The regular looks of one process, while its spider is open."""

    def __init__(self, crawler: Crawler, job: Job, shared: SharedRun, *, load_traps: Callable[[int], None]) -> None:
        """`load_traps` puts the traps of a version into effect, which other processes have learnt."""
        self._engine = EngineControl(crawler)
        self._job = job
        self._shared = shared
        self._load_traps = load_traps
        self._loop = create_looping_call(self._look)
        self._has_warned = False

    def start(self) -> None:
        self._loop.start(LOOK_SECONDS, now=True)

    def stop(self) -> None:
        """Give the hosts back, and tell the last warnings."""
        if self._loop.running:
            self._loop.stop()
        try:
            self._shared.leave()
        except SQLAlchemyError as error:
            # The others notice that this process has ended.
            logger.debug("cannot give the hosts back: %s", error)

    def _look(self) -> None:
        shared = self._shared
        try:
            may_ask_more = shared.book.look()
            shared.tell_warnings()
            version, stop = shared.table.look()
        except SQLAlchemyError as error:
            # Without the server nothing can be stored either: the queue reports that.
            logger.debug("cannot learn from other processes: %s", error)
            return
        if version > shared.shared_traps.version:
            self._load_traps(version)
        if stop is not None:
            self._end(stop)
        if may_ask_more:
            self._engine.wake()
        self._warn_of_delay()

    def _warn_of_delay(self) -> None:
        """Log once that further processes do not make this crawl faster."""
        job = self._job
        if self._has_warned or self._shared.book.live < 2 or job.options.subdomains:
            return
        delay = job.throttles.for_url(job.start_url).asked_delay
        if delay:
            self._has_warned = True
            host = host_of(job.start_url)
            message = "%s is requested once every %g s, by one process at a time: further processes make it no faster"
            logger.warning(message, host, delay)

    def _end(self, stop: Stop) -> None:
        ending = self._job.ending
        if self._engine.is_closing or ending.refusal is not None or ending.interruption is not None:
            return
        logger.info("another process has ended the run: %s", stop.message)
        if stop.kind == REFUSED:
            self._job.ending = ending._replace(refusal=stop.message, refusal_ends_run=stop.ends_run)
            self._engine.close(CloseReason.ROBOTS_UNAVAILABLE)
        else:
            self._job.ending = ending._replace(interruption=stop.message)
            self._engine.close(CloseReason.OUTAGE)
