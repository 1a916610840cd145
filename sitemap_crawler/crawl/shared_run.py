"""The state of a run that several processes crawl, through an inventory on a server."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.run_state import RobotsResult, RunState
from sitemap_crawler.inventory.retries import repeated
from sitemap_crawler.inventory.shared_queue import RETRY_LEASES
from sitemap_crawler.inventory.shared_run import INTERRUPTED, REFUSED, SharedRunTable, Stop, StoredRobots
from sitemap_crawler.inventory.shared_traps import SharedTraps
from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sitemap_crawler.crawl.host_book import HostBook
    from sitemap_crawler.crawl.throttle import HostThrottles
    from sitemap_crawler.publish.context import RunContext
    from sitemap_crawler.traps.detector import TrapDetector

logger = logging.getLogger(__name__)

MAX_AGE_SECONDS = 24 * 3600
"""Age from which on a robots.txt is requested again, https://www.rfc-editor.org/rfc/rfc9309#section-2.4"""
ROBOTS_CHECK_SECONDS = 0.1
"""Time between two looks for the robots.txt that another process requests."""


class SharedRun(RunState):
    """State of a run that other processes crawl, too: what this one learns, it tells them."""

    def __init__(
        self,
        context: RunContext,
        *,
        traps: TrapDetector,
        fetched: int,
        book: HostBook,
        throttles: HostThrottles,
        process: Callable[[], int],
        is_main: bool,
    ) -> None:
        """`process` returns the number of this process. The main one makes the report of the run."""
        super().__init__(context, traps=traps, fetched=fetched)
        self.book = book
        self.table = SharedRunTable(context.store.connection, context.run.id)
        self.process = process
        self._throttles = throttles
        self._is_main = is_main
        self._warnings_told = 0
        self.shared_traps = SharedTraps(context.store.connection, context.run.id, traps)
        """To be used by the queue of this process."""

    def refuse(self, message: str, *, ends_run: bool) -> None:
        self._tell_stop(Stop(REFUSED, message, ends_run))

    def interrupt(self, message: str) -> None:
        self._tell_stop(Stop(INTERRUPTED, message, ends_run=False))

    def _tell_stop(self, stop: Stop) -> None:
        try:
            self.table.stop(stop)
        except SQLAlchemyError as error:
            logger.warning("cannot tell other processes that the run ends: %s", error)

    def tell_warnings(self) -> None:
        """Tell the main process of new warnings, for its report. Raises SQLAlchemyError."""
        if not self._is_main:
            warnings = self.context.recorded_warnings(self._warnings_told)
            self.table.add_warnings(warnings)
            self._warnings_told += len(warnings)

    def gather_warnings(self) -> None:
        """Add the warnings of the other processes to those of the report."""
        # Without the server the run is not concluded, and the next process adds them.
        with suppress(SQLAlchemyError):
            for warning in self.table.warnings():
                self.context.warn(*warning)

    def leave(self) -> None:
        """Give the hosts back, and tell the last warnings. No request may be in flight. Raises SQLAlchemyError."""
        self.book.leave()
        self.tell_warnings()

    async def read_robots(self, origin: str, request: Callable[[], Awaitable[RobotsResult]]) -> RobotsResult:
        """Return the robots.txt of an origin. One process requests it; the others wait for its result.

        The error of a result is that of an inventory that could not be read for too long.
        """
        self._throttles.for_url(origin)
        seconds = RETRY_LEASES * self.context.options.lease
        while True:
            try:
                is_claimed, stored = repeated(lambda: self._claim_or_read(origin), seconds=seconds)
            except SQLAlchemyError as error:
                return RobotsResult(reason=f"{origin}/robots.txt: the inventory cannot be read", error=error)
            if is_claimed:
                break
            if stored is not None:
                return RobotsResult(*stored)
            await asyncio.sleep(ROBOTS_CHECK_SECONDS)
        try:
            result = await request()
        except BaseException:
            with suppress(SQLAlchemyError):
                self.table.abandon_robots(origin, self.process())
            raise
        with suppress(SQLAlchemyError):
            # Without the result another process requests the file once more.
            self.table.complete_robots(
                origin, self.process(), body=result.body, reason=result.reason, refused=result.refused
            )
        return result

    def _claim_or_read(self, origin: str) -> tuple[bool, StoredRobots | None]:
        """Return whether this process has to request a robots.txt, and if not, its content once that is known."""
        # The process that may ask the host requests the file. Another one would wait for its turn for long.
        may_ask = self.book.may_ask(host_of(origin))
        if may_ask and self.table.claim_robots(origin, self.process(), max_age_seconds=MAX_AGE_SECONDS):
            return True, None
        return False, self.table.robots(origin)
