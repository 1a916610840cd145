"""The hosts of a run on a server, and the slots of its processes: which process may ask a host, and how much at once.

A host that asks for nothing and fails at nothing is clear: all processes ask it, within their slots. A host with a
delay, a backoff or a pause belongs to one process at a time, and so does a host whose robots.txt is not known yet. All
times are those of the server, so that the clocks of the machines do not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sqlalchemy import Connection

HOST_TABLES = """
CREATE TABLE hosts (host text COLLATE "C" PRIMARY KEY, run bigint NOT NULL, owner bigint, delay double precision,
    backoff double precision NOT NULL DEFAULT 0, paused_until timestamptz, last_left timestamptz);
CREATE TABLE grants (process bigint PRIMARY KEY, slots integer NOT NULL)
"""
"""`delay`: NULL while the robots.txt of the host is not known. `last_left`: time of the last request of a process that
has given the host back; the one of an owner that was killed is not known."""
MAX_ARRIVAL_DOUBT = 1.0
"""Maximum number of seconds that a host rests longer after the death of its owner: its last requests may be on the way
to the host."""
_OWNER_LIVES = "EXISTS (SELECT FROM processes p WHERE p.id = owner AND NOT p.ended)"
_ADD = text("INSERT INTO hosts (host, run) VALUES (:host, :run) ON CONFLICT DO NOTHING")
_LOCK = text("SELECT 1 FROM hosts WHERE host = :host FOR UPDATE")
_COLUMNS = (
    "host, run, owner, delay, backoff, "
    "coalesce(extract(epoch FROM paused_until - clock_timestamp()), 0)::double precision AS pause_seconds, "
    "coalesce(extract(epoch FROM clock_timestamp() - last_left), 1e9)::double precision AS rested_seconds, "
    f"{_OWNER_LIVES} AS owner_lives"
)
_ONE = text(f"SELECT {_COLUMNS} FROM hosts WHERE host = :host")  # noqa: S608
_ALL = text(f"SELECT {_COLUMNS} FROM hosts WHERE run = :run")  # noqa: S608
_TAKE = text(
    "UPDATE hosts SET owner = :process, run = :run, delay = :delay, backoff = :backoff, "
    "last_left = CASE WHEN owner IS NULL OR owner = :process THEN last_left ELSE clock_timestamp() END "
    "WHERE host = :host"
)
_TELL = text(
    "UPDATE hosts SET owner = :owner, delay = :delay, backoff = :backoff, "
    "paused_until = greatest(paused_until, clock_timestamp() + make_interval(secs => :pause)), "
    "last_left = coalesce(clock_timestamp() - make_interval(secs => :rested), last_left) WHERE host = :host"
)
_RELEASE = text(
    "UPDATE hosts SET owner = NULL, "
    "last_left = coalesce(clock_timestamp() - make_interval(secs => :rested), last_left) "
    "WHERE host = :host AND owner = :process"
)
_LOCK_RUN = text("SELECT 1 FROM runs WHERE id = :run FOR UPDATE")
_LIVE = text("SELECT id FROM processes WHERE run = :run AND NOT ended ORDER BY id")
_HELD = text("SELECT process, slots FROM grants")
_DROP_GRANTS = text(
    "DELETE FROM grants g WHERE NOT EXISTS (SELECT FROM processes p WHERE p.id = g.process AND NOT p.ended)"
)
_GRANT = text(
    "INSERT INTO grants (process, slots) VALUES (:process, :slots) "
    "ON CONFLICT (process) DO UPDATE SET slots = excluded.slots"
)


class HostState(NamedTuple):
    """What the database knows of a host."""

    host: str
    run: int
    owner: int | None
    delay: float | None
    """Seconds between two requests without a backoff. None while the robots.txt is not known."""
    backoff: float
    pause_seconds: float
    """Seconds that are left of the pause that the host asks for; not above 0 without one."""
    rested_seconds: float
    """Seconds since the last request of the last owner, if that has given the host back."""
    owner_lives: bool

    @property
    def is_clear(self) -> bool:
        """Whether all processes may ask the host."""
        return self.delay == 0 and self.backoff == 0 and self.pause_seconds <= 0

    @property
    def is_free(self) -> bool:
        """Whether a process may take the host."""
        return not self.owner_lives


class Granted(NamedTuple):
    """What a process may do with a host that it has entered."""

    state: HostState
    is_taken: bool
    """Whether the host has become its own by this."""
    wait_seconds: float = 0.0
    """Seconds before the first request of its new owner."""


class Condition(NamedTuple):
    """What a process knows of a host by its own requests."""

    delay: float | None
    backoff: float
    pause_seconds: float
    rested_seconds: float | None
    """Seconds since its last request; None without one."""

    @property
    def is_clear(self) -> bool:
        return self.delay == 0 and self.backoff == 0 and self.pause_seconds <= 0


class HostTable:
    """The hosts of a run as one process uses them. Each method is one transaction. Raises SQLAlchemyError."""

    def __init__(self, connection: Connection, run: int) -> None:
        self._connection = connection
        self._run = run

    def enter(self, host: str, process: int, *, base_delay: float, takes: Callable[[], bool]) -> Granted:
        """Take a host that is not clear and belongs to no living process, and return what may be done with it.

        `base_delay` is the delay of the options, in seconds. `takes` returns whether the process wants the host.
        """
        with self._connection.begin():
            given = {"host": host, "run": self._run}
            self._connection.execute(_ADD, given)
            self._connection.execute(_LOCK, {"host": host})
            # A statement of its own: it sees who has taken the host while this process waited for the lock.
            state = self._state(host)
            is_known = state.run == self._run
            if (is_known and state.is_clear) or not state.is_free or not takes():
                return Granted(state, is_taken=False)
            # Another run may have met another robots.txt.
            delay, backoff = (state.delay, state.backoff) if is_known else (None, 0.0)
            values = {"process": process, "delay": delay, "backoff": backoff}
            self._connection.execute(_TAKE, {**given, **values})
            wait = _seconds_to_rest(state, max(base_delay, delay or 0.0, backoff), process)
            return Granted(self._state(host), is_taken=True, wait_seconds=wait)

    def tell(self, host: str, process: int, condition: Condition) -> HostState:
        """Store what a process has learnt of a host. A host that is no longer clear becomes its own if it is free."""
        with self._connection.begin():
            self._connection.execute(_ADD, {"host": host, "run": self._run})
            self._connection.execute(_LOCK, {"host": host})
            state = self._state(host)
            is_mine = state.owner == process or state.is_free
            owner = state.owner if not is_mine else None if condition.is_clear else process
            # Only the owner knows when a backoff is over. Another process may have met one by its last requests.
            backoff = condition.backoff if is_mine else max(state.backoff, condition.backoff)
            delay = condition.delay if state.delay is None or is_mine else max(state.delay, condition.delay or 0.0)
            if owner is None and state.pause_seconds > 0:
                owner = process
            values = {"owner": owner, "delay": delay, "backoff": backoff, "pause": condition.pause_seconds}
            rested = condition.rested_seconds if is_mine else None
            self._connection.execute(_TELL, {"host": host, "rested": rested, **values})
            return self._state(host)

    def release(self, host: str, process: int, *, rested_seconds: float | None) -> None:
        """Give a host back. `rested_seconds` are those since the last request to it; None without one."""
        with self._connection.begin():
            self._connection.execute(_RELEASE, {"host": host, "process": process, "rested": rested_seconds})

    def states(self) -> list[HostState]:
        """Return the hosts of this run."""
        with self._connection.begin():
            return [HostState(*row) for row in self._connection.execute(_ALL, {"run": self._run})]

    def hold_slots(self, process: int, decide: Callable[[Collection[int], dict[int, int]], int]) -> int:
        """Store how many slots a process holds, and return them.

        `decide(live, held)` returns their number from the living processes and from the slots that each process holds.
        """
        with self._connection.begin():
            # One process at a time.
            self._connection.execute(_LOCK_RUN, {"run": self._run})
            self._connection.execute(_DROP_GRANTS)
            live = list(self._connection.scalars(_LIVE, {"run": self._run}))
            held = {row.process: row.slots for row in self._connection.execute(_HELD)}
            if process not in live:
                # It was taken for dead.
                return 0
            slots = decide(live, held)
            if held.get(process) != slots:
                self._connection.execute(_GRANT, {"process": process, "slots": slots})
            return slots

    def _state(self, host: str) -> HostState:
        return HostState(*self._connection.execute(_ONE, {"host": host}).one())


def seconds_after_kill(state: HostState, delay: float) -> float:
    """Return the seconds before the first request to a host whose last request is not known."""
    return max(state.pause_seconds, delay + min(delay, MAX_ARRIVAL_DOUBT))


def _seconds_to_rest(state: HostState, delay: float, process: int) -> float:
    """Return the seconds before the first request of a new owner."""
    if state.owner in (None, process):
        return max(state.pause_seconds, delay - state.rested_seconds, 0.0)
    # When the killed owner has sent its last request is not known.
    return seconds_after_kill(state, delay)
