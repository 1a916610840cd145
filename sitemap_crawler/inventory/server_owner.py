"""The row that lets one process at a time use an inventory on a server.

An advisory lock of PostgreSQL belongs to a session, which ends with a lost connection and which a pooler shares. The
row belongs to a process: its owner renews it every BEAT_SECONDS, and a row that is LEASE_SECONDS old is free. Each
transaction of the owner begins with a lock of the row. A process that was suspended can therefore write nothing once
another one has taken the row, and the row cannot be taken during a transaction of its owner.

The token of a row says where its process runs. On the same machine the row of a process that has ended is free at once.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sqlalchemy import text
from sqlalchemy.exc import InvalidRequestError, SQLAlchemyError

from sitemap_crawler.exceptions import InventoryBusyError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from sitemap_crawler.config.state_location import ServerLocation

BEAT_SECONDS = 2.0
"""Time between two renewals of the row."""
LEASE_SECONDS = 10.0
"""Age from which on the row of another process is free."""
OWNED_BY = "owned_by"
"""Execution option of a connection whose transactions are an owner's: its ServerLock."""
IDLE_SECONDS = "idle_seconds"
"""Execution option: time without a statement after which the server ends a transaction, and its session.

A process that is suspended or cut off in a transaction would keep its locks for ever.
"""
POLL_SECONDS = 0.5
"""Time between two looks at the row of another process."""
# The key is part of the statement that takes the row: the lock for it waits for FOR KEY SHARE, that of a renewal does
# not. https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS
OWNER_TABLE = (
    "CREATE TABLE owner (one boolean PRIMARY KEY, token text NOT NULL UNIQUE, name text NOT NULL, "
    "seen timestamptz NOT NULL DEFAULT clock_timestamp())"
)
_LOOK = text("SELECT name, token, seen, seen < clock_timestamp() - make_interval(secs => :lease) AS is_free FROM owner")
_TAKE = text(
    "INSERT INTO owner (one, token, name) VALUES (true, :token, :name) ON CONFLICT (one) DO UPDATE SET "
    "token = excluded.token, name = excluded.name, seen = clock_timestamp() "
    "WHERE owner.seen < clock_timestamp() - make_interval(secs => :lease) OR owner.token = :ended RETURNING token"
)
_RENEW = text("UPDATE owner SET seen = clock_timestamp() WHERE token = :token")
_RELEASE = text("DELETE FROM owner WHERE token = :token")


class ServerLock:
    """Ownership of an inventory on a server, renewed by a thread until it is released."""

    def __init__(self, engine: Engine, location: ServerLocation) -> None:
        """Prepare the lock of a location. It has an engine of its own."""
        self._engine = engine
        self._location = location
        self._token = f"{uuid4().hex} {_place()}"
        # The schema is named, as the statement that locks the row sets the search path.
        self._row = f'SELECT FROM "{location.schema}".owner WHERE token = %(token)s FOR KEY SHARE'
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="inventory-owner", daemon=True)

    def acquire(self) -> None:
        """Take the row and begin to renew it. Raises InventoryBusyError if a living process has it."""
        first = None
        while not self._take():
            with self._engine.begin() as connection:
                row = connection.execute(_LOOK, {"lease": LEASE_SECONDS}).first()
            if row is not None and first is not None and row.seen != first:
                raise InventoryBusyError(
                    f"another run ({row.name}) is using the inventory {self._location}; wait for it to end or choose "
                    "another --state"
                )
            # The process may have been killed: a living one renews the row soon.
            first = row.seen if row is not None else None
            time.sleep(POLL_SECONDS)
        self._thread.start()

    def begin(self, connection: Connection, query: str, parameters: dict[str, str | None]) -> None:
        """Begin a transaction by a SELECT without FROM. Raises SQLAlchemyError if another process is now the owner."""
        fence = f"{query}, (SELECT count(*) FROM ({self._row}) AS mine)"  # noqa: S608
        row = connection.exec_driver_sql(fence, {**parameters, "token": self._token}).one()
        if not row[-1]:
            raise InvalidRequestError("another process has taken it over, as this one was suspended")

    def release(self) -> None:
        """Free the row, and close the connections of the lock."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()
        with suppress(SQLAlchemyError), self._engine.begin() as connection:
            connection.execute(_RELEASE, {"token": self._token})
        self._engine.dispose()

    def _take(self) -> bool:
        with self._engine.begin() as connection:
            row = connection.execute(_LOOK, {"lease": LEASE_SECONDS}).first()
            ended = row.token if row is not None and _has_ended(row.token) else None
            if row is not None and not row.is_free and ended is None:
                return False
            given: dict[str, Any] = {"token": self._token, "name": process_name(), "lease": LEASE_SECONDS}
            given["ended"] = ended
            return connection.execute(_TAKE, given).first() is not None

    def _renew(self) -> None:
        while not self._stopped.wait(BEAT_SECONDS):
            # Without the server nothing can be written either: the crawl reports that.
            with suppress(SQLAlchemyError), self._engine.begin() as connection:
                connection.execute(_RENEW, {"token": self._token})


def was_killed(connection: Connection) -> bool:
    """Return whether the owner of an inventory has ended, or has not renewed its row, and has not freed it."""
    row = connection.execute(_LOOK, {"lease": LEASE_SECONDS}).first()
    return row is not None and (row.is_free or _has_ended(row.token))


def process_name() -> str:
    """Return the number and the machine of this process."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def _place() -> str:
    """Return the start of this machine, the namespace of processes, this process and its start; empty without /proc."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = Path("/proc/self/ns/pid").readlink()
    except OSError:
        return ""
    return f"{boot} {namespace} {os.getpid()} {_start_of(os.getpid())}"


def _has_ended(token: str) -> bool:
    """Return whether the process with this token was one of this machine, and has ended."""
    here = _place().split()[:2]
    there = token.split()[1:]
    if len(there) != 4 or not here or there[:2] != here or not there[2].isdecimal():
        return False
    return _start_of(int(there[2])) != there[3]


def _start_of(process: int) -> str | None:
    """Return when a process was started, in ticks since the start of the machine; None if it has ended.

    https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    # A killed process is there until its parent has taken note.
    return None if fields[0] in ("Z", "X") else fields[19]
