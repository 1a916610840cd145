"""The queue of one of several processes that crawl a run on a server.

Each operation is repeated while the server cannot be reached, or after a deadlock. A process that was taken for dead
drops what it has begun and goes on under a new number. Others request those URLs, so nothing is stored twice.
"""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.inventory.processes import MAX_DEATHS, TakenForDeadError
from sitemap_crawler.inventory.queue import SEEN_GENERATION, Queue, leased_url
from sitemap_crawler.inventory.retries import repeated
from sitemap_crawler.inventory.schema import frontier, runs
from sitemap_crawler.inventory.shared_frontier import SharedFrontier
from sitemap_crawler.items import Observation, QueuedUrl
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from sqlalchemy import Connection

    from sitemap_crawler.inventory.processes import Membership

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
RETRY_LEASES = 2
"""Times of a lease for which an operation is repeated before the crawl ends."""
POISONED = (
    f"{MAX_DEATHS} processes of the crawl ended while they had it in work, or stored no item of it; it is not "
    "requested any more"
)
MAX_NAMED = 10_000
"""Maximum number of URLs without an item that the run names. More of them count as suspects."""


class SharedQueue(Queue):
    """The queue of one of several processes. `held` URLs are leased by this one."""

    def __init__(
        self, connection: Connection, run: int, *, membership: Membership, max_pages: int | None, **arguments: Any
    ) -> None:
        """`max_pages` is the limit of the run. `arguments` are those of `Queue`."""
        self._membership = membership
        self._shared = SharedFrontier(connection, membership, run=run, max_pages=max_pages)
        self._is_unsure = False
        self._held: set[int] = set()
        self._lost: set[int] = set()
        """URLs that were leased, and not stored when nothing was left to do here."""
        self._lost_again: set[int] = set()
        """Those that were lost once more: a component of the user stores no item of them."""
        self._counted_at = 0.0
        self._count = 0
        membership.limit_idle_time(connection)
        super().__init__(connection, run, frontier=self._shared, **arguments)
        self.has_waiting = True
        """Whether a lease may find a URL."""
        self.generation = 0
        """How often this process was taken for dead. What was leased in an earlier generation is not its own."""
        self.stores_trap_counts = membership.is_main

    @property
    def may_lease(self) -> bool:
        return self.has_waiting

    @property
    def is_exhausted(self) -> bool:
        """Whether the run had leased its maximum number of pages when this process looked last."""
        return self._shared.is_exhausted

    @property
    def waiting(self) -> int:
        """Number of URLs of the run without an observation, as of the last heartbeat or of a look that found none."""
        now = time.monotonic()
        if now - self._counted_at > self._membership.beat_seconds:
            self._counted_at = now
            try:
                with self._connection.begin():
                    self._count = self._connection.scalar(select(func.count()).select_from(frontier)) or 0
            except SQLAlchemyError:
                logger.debug("cannot count the frontier", exc_info=True)
        return self._count

    def look(self) -> tuple[bool, bool, str | None]:
        """Return whether any URL waits, whether other processes have leased any, and the phase of the run."""
        return self._repeated(self._look)

    def lease(self, limit: int, *, elsewhere: Collection[str] = ()) -> list[QueuedUrl]:
        rows = self._repeated(lambda: self._lease(limit, elsewhere))
        self._held.update(row.id for row in rows)
        self.has_waiting = bool(rows)
        return rows

    def record(
        self, observation: Observation, *, depth: int, links: tuple[str, ...], nofollow_links: tuple[str, ...] = ()
    ) -> None:
        # Others request what was leased before this process was taken for dead.
        if observation.url_id not in self._held:
            return
        waits_again = observation.url_id in self._doubted
        super().record(observation, depth=depth, links=links, nofollow_links=nofollow_links)
        if waits_again:
            self._shared.expect()
            self.has_waiting = True

    def doubt(self, pages: Collection[QueuedUrl]) -> int:
        again = self._repeated(lambda: super(SharedQueue, self).doubt(pages))
        self._shared.expect()
        self.has_waiting = True
        return again

    def flush(self) -> None:
        if not self._buffer:
            super().flush()
            return
        pages = [observation.url_id for observation, _, _ in self._buffer]
        self._repeated(super().flush)
        self._held.difference_update(pages)
        self._shared.expect()
        self.has_waiting = True

    def add_start_page(self, url: str) -> None:
        self._repeated(lambda: super(SharedQueue, self).add_start_page(url))
        self.has_waiting = True

    def add_from_sitemap(self, named: Iterable[str], *, is_list: bool = False) -> dict[str, int]:
        some = list(named)
        self._shared.expect()
        self.has_waiting = True
        return self._repeated(lambda: super(SharedQueue, self).add_from_sitemap(some, is_list=is_list))

    def update_depths(self) -> None:
        self._repeated(super().update_depths)
        self.has_waiting = self.queued > 0

    def refuse_trapped(self, held: Collection[QueuedUrl]) -> None:
        self._repeated(lambda: super(SharedQueue, self).refuse_trapped(held))
        self._held.difference_update(queued.id for queued in held)
        self.has_waiting = True

    def sample_refused(self) -> None:
        self._repeated(super().sample_refused)
        self._shared.expect()
        self.has_waiting = self.queued > 0

    def settle_repeats(self) -> bool:
        return self._repeated(super().settle_repeats)

    def load_traps(self, held: Collection[QueuedUrl], *, version: int) -> None:
        self._repeated(lambda: super(SharedQueue, self).load_traps(held, version=version))
        self._held.difference_update(queued.id for queued in held)
        self.has_waiting = True

    def give_back(self, held: Collection[QueuedUrl]) -> None:
        self._repeated(lambda: super(SharedQueue, self).give_back(held))
        self._held.difference_update(queued.id for queued in held)

    def add_links(self, page: int, links: Iterable[str], *, depth: int) -> None:
        some = list(links)
        self._repeated(lambda: super(SharedQueue, self).add_links(page, some, depth=depth))

    @property
    def holds_any(self) -> bool:
        return bool(self._held)

    def holds(self, queued: QueuedUrl) -> bool:
        return queued.id in self._held

    def give_back_lost(self) -> None:
        """Let URLs wait again that this process has leased and does not request, and look whether any URL waits.

        Called when nothing is left to do here. To end the run with such URLs would leave pages out. The main process
        keeps what it has lost twice, so that the run can end and names it. A helper passes it on as if it had died.
        """
        if self._buffer:
            self.flush()
        self._lost_again |= self._held & self._lost
        self._lost |= self._held
        self._held.clear()
        self._is_unsure = True
        self.look()

    def _lease(self, limit: int, elsewhere: Collection[str]) -> list[QueuedUrl]:
        leased = self._lease_rows(limit, elsewhere)
        if leased or self._held:
            return leased
        with self._connection.begin():
            suspect = self._shared.lease_suspect(self._due)
        if suspect is None:
            return []
        row, deaths = suspect
        self._leased += 1
        queued = leased_url(row)
        if deaths < MAX_DEATHS:
            return [queued]
        self._held.add(queued.id)
        super().record(Observation(queued.id, datetime.now(UTC), error=POISONED), depth=queued.depth, links=())
        return []

    def _look(self) -> tuple[bool, bool, str | None]:
        with self._connection.begin():
            waits, others = self._shared.is_left()
            phase = self._connection.scalar(select(runs.c.phase).where(runs.c.id == self._run))
        self.has_waiting = waits
        if not (waits or others or self._held):
            self._count, self._counted_at = 0, time.monotonic()
        return waits, others, phase

    def _repeated(self, work: Callable[[], _T]) -> _T:
        """Return the result of an operation, which is repeated after a failure that passes."""
        seconds = RETRY_LEASES * self._membership.lease_seconds
        return repeated(lambda: self._as_living(work), seconds=seconds, failed=self._doubt)

    def _as_living(self, work: Callable[[], _T]) -> _T:
        """Return the result of an operation. It is done under a new number if this process was taken for dead."""
        while True:
            try:
                if self._membership.is_dead:
                    self._start_anew()
                if self._is_unsure:
                    with self._connection.begin():
                        self._give_back_all_but_held()
                    self._is_unsure = False
                return work()
            except TakenForDeadError:
                self._membership.is_dead = True

    def _give_back_all_but_held(self) -> None:
        lost = sorted(self._lost_again)
        named = lost[:MAX_NAMED] if self._membership.is_main else []
        self._shared.suspect(lost[len(named) :])
        self._shared.give_back_all_but(self._held.union(named))
        self._lost_again = set(named)

    def _doubt(self) -> None:
        # What was rolled back may be in the cache of ids.
        self._seen = Recent(SEEN_GENERATION)
        self._is_unsure = True

    def _start_anew(self) -> None:
        self._buffer, self._buffered_links, self._leased = [], 0, 0
        self._held.clear()
        self._membership.rejoin()
        self._shared.restart(self._membership.id)
        self.generation += 1
        self.has_waiting = True
