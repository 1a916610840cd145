"""The processes that crawl one run together, on a server: who is alive, and what they have done.

A process has a row with a number that no other process ever gets, and renews it with a heartbeat. A lease of a URL
belongs to the process, so a crawl renews one row and not each lease. Any process gives back what a dead one had leased.
The clock is the server's: those of the machines do not matter.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import column, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.exceptions import InventoryError
from sitemap_crawler.inventory.retries import repeated
from sitemap_crawler.inventory.server_owner import IDLE_SECONDS, process_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, Connection, Engine, TextClause

logger = logging.getLogger(__name__)

BEATS_PER_LEASE = 12
"""Number of heartbeats in the time after which a silent process counts as dead."""
SILENT_SHARE = 0.8
"""Share of that time after which a process that reaches no server sends no more requests: others may soon send them."""
LOOP_SHARE = 0.25
"""Share of that time for which the heart of a process goes on to beat while its event loop does not turn."""
MAX_DEATHS = 3
"""Number of processes that may end while they have leased a URL. Then it is not requested any more."""
# FOR KEY SHARE waits for the lock of the reaper, and not for that of a heartbeat.
# https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS
_FENCE = text("SELECT id FROM processes WHERE id = :process AND NOT ended FOR KEY SHARE")
_JOIN = text("INSERT INTO processes (run, is_main, name) VALUES (:run, :is_main, :name) RETURNING id")
_BEAT = text(
    "UPDATE processes SET seen = clock_timestamp(), fetched = :fetched, requests = :requests, listable = :listable, "
    "further = :further, overloads = :overloads, pauses = :pauses WHERE id = :process AND NOT ended RETURNING id"
)
_BEAT_OF_NONE = text(
    "UPDATE processes SET fetched = 0, requests = 0, listable = 0, further = 0, overloads = 0, pauses = 0 "
    "WHERE id = :process"
)
_REAP = text(
    "WITH dead AS (UPDATE processes SET ended = true WHERE id IN (SELECT id FROM processes WHERE NOT ended "
    "AND seen < clock_timestamp() - make_interval(secs => :lease) ORDER BY id FOR UPDATE SKIP LOCKED) RETURNING id), "
    "back AS (UPDATE frontier SET owner = NULL, deaths = deaths + 1 WHERE owner IS NOT NULL AND (owner IN "
    "(SELECT id FROM dead) OR NOT EXISTS (SELECT FROM processes p WHERE p.id = owner AND NOT p.ended)) "
    "RETURNING url_id) SELECT count(*) FROM back"
)
_GIVE_BACK = text("UPDATE frontier SET owner = NULL WHERE owner = :process")
_UNCOUNT = text("UPDATE runs SET leased = greatest(0, leased - :count) WHERE id = :run AND leased IS NOT NULL")
_SET_PHASE = text("UPDATE runs SET phase = :phase WHERE id = :run")
_END = text("UPDATE processes SET ended = true WHERE id = :process")
_LOOK = text(
    "SELECT r.phase, r.finished IS NOT NULL AS finished, coalesce(r.version = :version, false) AS same_version, "
    "(SELECT count(*) FROM processes WHERE run = :run AND NOT ended) AS processes, "
    "(SELECT count(*) FROM processes WHERE run = :run AND NOT ended AND id < :process) AS rank, "
    "EXISTS (SELECT FROM processes WHERE run = :run AND NOT ended AND is_main) AS has_main, "
    "o.* FROM runs r, (SELECT coalesce(sum(fetched), 0)::bigint AS fetched, "
    "coalesce(sum(requests), 0)::bigint AS requests, coalesce(sum(listable), 0)::bigint AS listable, "
    "coalesce(sum(further), 0)::bigint AS further, coalesce(sum(overloads), 0)::bigint AS overloads, "
    "coalesce(sum(pauses), 0)::bigint AS pauses FROM processes WHERE run = :run AND id <> :process) o "
    "WHERE r.id = :run"
)


class RunPhase(StrEnum):
    """What the main process of a run does."""

    PLANNING = "planning"
    """It plans the run, or settles the start page: no process may join yet."""
    CRAWLING = "crawling"
    STOPPING = "stopping"
    """It was interrupted or has failed: all processes end."""
    CONCLUDING = "concluding"
    """It decides and publishes: nothing is left to fetch."""


class TakenForDeadError(InventoryError, SQLAlchemyError):
    """The process was silent for so long that others have what it had leased."""


@dataclass(frozen=True, slots=True)
class Work:
    """What processes have done."""

    fetched: int = 0
    requests: int = 0
    listable: int = 0
    further: int = 0
    """Number of requests without an observation."""
    overloads: int = 0
    """Number of answers and failures that showed an overloaded server."""
    pauses: int = 0
    """Number of pauses for which a server has asked."""


@dataclass(frozen=True, slots=True)
class Beat:
    """The server's answer to a heartbeat: the state of the run, and its other processes."""

    phase: str | None
    finished: bool
    """Whether the run has ended."""
    same_version: bool
    """Whether program and options of the run are still those of this process."""
    processes: int
    """Number of living processes, this one included."""
    rank: int
    """Number of living processes that joined before this one."""
    has_main: bool
    """Whether the main process lives."""
    others: Work
    """What the other processes have done, ended ones included."""


def give_back_of_earlier(connection: Connection, run: int, *, resumed: bool) -> None:
    """End the processes of other runs, and the main process before this one. What nobody living has leased waits again.

    Within the caller's transaction. The helpers of a resumed run keep what they have leased.
    """
    if not resumed:
        connection.execute(text("DELETE FROM processes"))
    connection.execute(text("UPDATE processes SET ended = true WHERE is_main OR run <> :run"), {"run": run})
    connection.execute(
        text(
            "UPDATE frontier SET owner = NULL WHERE owner IS NOT NULL AND NOT EXISTS "
            "(SELECT FROM processes p WHERE p.id = owner AND NOT p.ended)"
        )
    )


class Membership:
    """This process as one of those that crawl a run. Its heart beats in a thread with a connection of its own."""

    def __init__(self, engine: Engine, run: int, *, is_main: bool, version: str, lease_seconds: float) -> None:
        """Join the run, and begin to beat. The engine is that of this object alone."""
        self._engine = engine.execution_options(**{IDLE_SECONDS: lease_seconds})
        self._run = run
        self._version = version
        self.work: Callable[[], Work] = Work
        """Returns what this process has done. The thread calls it."""
        self.is_main = is_main
        self.lease_seconds = lease_seconds
        self.beat: Beat | None = None
        """The last answer of the server."""
        self.on_beat: Callable[[Beat], None] | None = None
        """Called by the thread after each answer."""
        self.watches_loop = False
        """Whether the heart stops when the event loop does not turn."""
        self._loop_turned = self._answered = time.monotonic()
        self.id = self._join()
        self.is_dead = False
        """Whether the last answer was that others have taken this process for dead."""
        self.beat_once()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._keep_beating, name="heartbeat", daemon=True)
        self._thread.start()

    @property
    def is_silent(self) -> bool:
        """Whether the server has not been reached for so long that no request may be sent any more."""
        return time.monotonic() - self._answered > SILENT_SHARE * self.lease_seconds

    @property
    def beat_seconds(self) -> float:
        return self.lease_seconds / BEATS_PER_LEASE

    def loop_turned(self) -> None:
        """Say that the event loop turns. Called by it more often than LOOP_SHARE demands."""
        self._loop_turned = time.monotonic()

    def limit_idle_time(self, connection: Connection) -> None:
        """Let the server end the next transactions of a connection in which this process is silent for a lease."""
        connection.execution_options(**{IDLE_SECONDS: self.lease_seconds})

    def allow_idle_time(self, connection: Connection) -> None:
        """Let the next transactions take their time: nobody waits for their locks any more."""
        connection.execution_options(**{IDLE_SECONDS: None})

    def fence(self, connection: Connection) -> None:
        """Let this process not be declared dead until the transaction ends. Raises TakenForDeadError if it was."""
        if connection.execute(self._fence()).first() is None:
            raise TakenForDeadError("this process was silent for so long that others have taken over its URLs")

    def is_fenced(self) -> ColumnElement[bool]:
        """Return a condition that does what `fence` does. It is false if this process was declared dead."""
        living = self._fence().columns(column("id")).cte("living")
        return select(func.count()).select_from(living).scalar_subquery() == 1

    def _fence(self) -> TextClause:
        return _FENCE.bindparams(process=self.id)

    def rejoin(self) -> None:
        """Join under a new number, after others have taken this process for dead. What it had leased is theirs."""
        logger.warning("this process was silent for too long: others take over what it had begun")
        # The work that was counted under the earlier number counts under the new one.
        with self._engine.begin() as connection:
            connection.execute(_BEAT_OF_NONE, {"process": self.id})
        self.id = self._join()
        self.is_dead = False
        self._answered = time.monotonic()

    def set_phase(self, phase: RunPhase) -> None:
        """Set the phase of the run, which all processes see with their next beats, and beat. Raises SQLAlchemyError."""
        repeated(lambda: self._set_phase(phase), seconds=self.lease_seconds)

    def _set_phase(self, phase: RunPhase) -> None:
        with self._engine.begin() as connection:
            connection.execute(_SET_PHASE, {"phase": str(phase), "run": self._run})
        self.beat_once()

    def leave(self) -> None:
        """Give back what this process has leased, and end its row. Its work stays counted."""
        self._stopped.set()
        self._thread.join()
        # One repeat is enough for a connection that a restart of the server has closed.
        with suppress(SQLAlchemyError):
            repeated(self._end, seconds=0.0)
        self._engine.dispose()

    def _end(self) -> None:
        with self._engine.begin() as connection:
            connection.execute(_BEAT, {**asdict(self.work()), "process": self.id})
            count = connection.execute(_GIVE_BACK, {"process": self.id}).rowcount
            connection.execute(_UNCOUNT, {"count": count, "run": self._run})
            connection.execute(_END, {"process": self.id})

    def _join(self) -> int:
        with self._engine.begin() as connection:
            values = {"run": self._run, "is_main": self.is_main, "name": process_name()}
            number: int = connection.execute(_JOIN, values).scalar_one()
        return number

    def _keep_beating(self) -> None:
        while not self._stopped.wait(self.beat_seconds):
            pause = time.monotonic() - self._loop_turned
            if self.watches_loop and pause > LOOP_SHARE * self.lease_seconds:
                continue
            # Without the server no process can go on. The crawl reports that.
            with suppress(SQLAlchemyError):
                self.beat_once()

    def beat_once(self) -> None:
        """Beat, and take the answer. Raises SQLAlchemyError if the server cannot be reached."""
        began, process = time.monotonic(), self.id
        with self._engine.begin() as connection:
            alive = connection.execute(_BEAT, {**asdict(self.work()), "process": process}).first() is not None
            given: dict[str, Any] = {"run": self._run, "process": process, "version": self._version}
            row = connection.execute(_LOOK, given).one()
        self.beat = Beat(
            row.phase, row.finished, row.same_version, row.processes, row.rank, row.has_main,
            Work(row.fetched, row.requests, row.listable, row.further, row.overloads, row.pauses),
        )  # fmt: skip
        if alive:
            self._answered = began
        elif process == self.id:
            # Otherwise this process has rejoined since then.
            self.is_dead = True
        if self.on_beat is not None:
            self.on_beat(self.beat)
        self._reap()

    def _reap(self) -> None:
        with self._engine.begin() as connection:
            back: int = connection.execute(_REAP, {"lease": self.lease_seconds}).scalar_one()
            if back:
                connection.execute(_UNCOUNT, {"count": back, "run": self._run})
        if back:
            urls = "1 URL" if back == 1 else f"{back} URLs"
            logger.warning("others request %s that silent processes of this crawl had begun", urls)
