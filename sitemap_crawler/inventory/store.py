"""The database file of an inventory: its lock, its version, and the connections of the process that crawls."""

from __future__ import annotations

import os
import re
import socket
import sys
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, create_engine, event, func, insert, inspect, select
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.exceptions import (
    DamagedInventoryError,
    InventoryBusyError,
    InventoryError,
    PatternTimeoutError,
    UntrustedLinkError,
)
from sitemap_crawler.inventory.damage import damage_message
from sitemap_crawler.inventory.migrations import is_old, migrate, stored_version, version_problem
from sitemap_crawler.inventory.opened import add_opened
from sitemap_crawler.inventory.schema import SCHEMA_VERSION, meta, metadata, urls
from sitemap_crawler.utils.directories import check_database, open_regular
from sitemap_crawler.utils.replace import SQLITE_MAGIC, lock_file, real_path, remove_file, replacing
from sitemap_crawler.utils.shortage import advice_for

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import Connection, Engine

    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.inventory.server_owner import ServerLock

CACHE_KIB = 16_384
"""Size of the page cache of a connection."""
APPLICATION_ID = 0x53_4D_43_52
"""Number in the header of our files. With it other databases are recognised before anything is written to them."""
_APPLICATION_ID_OFFSET = 68
MAX_OWNER_BYTES = 400
"""Maximum number of bytes that are read of the owner file."""
PROGRAM_ERROR = "an error in the program (see the log for details); run the same command to resume"
"""Message for an exception that the program does not expect."""

_OWNER = re.compile(r"process (?P<process>[1-9][0-9]*) on (?P<host>\S+), since ")


class RunLock:
    """Lock that lets one process at a time use an inventory.

    The kernel frees the lock when its owner dies. Two files are locked: one next to the inventory, which stays when
    the inventory is restored from a copy, and the inventory itself, which may have a second name by a hard link. An
    owner file next to them holds the text with which others name the owner. The database cannot hold the text, as its
    write-ahead log works on one host only.
    """

    def __init__(self, path: Path, *, private: bool) -> None:
        """Prepare the lock of the inventory at `path`, which has no links. A private one has mode 0600."""
        self._path = path
        self._private = private
        self._owner_file = path.with_name(path.name + ".owner")
        self._descriptors: list[int] = []

    def acquire(self) -> None:
        """Take the lock. Raises BlockingIOError if another process holds it, OSError if a file cannot be created."""
        try:
            self._descriptors.append(lock_file(self._path.with_name(self._path.name + ".lock"), private=self._private))
            if sys.platform == "linux":
                # Elsewhere this lock would exclude the locks that SQLite takes on the same file.
                self._descriptors.append(lock_file(self._path, private=self._private))
        except BaseException:
            self._close()
            raise
        since = datetime.now(UTC).isoformat(timespec="seconds")
        # This also replaces the text of an earlier owner that was killed. Without the text the lock works as well.
        with suppress(OSError), replacing(self._owner_file, private=self._private, durable=False) as file:
            file.write(f"process {os.getpid()} on {socket.gethostname()}, since {since}\n".encode())

    def owner(self) -> str | None:
        """Return a text with process, host and start time of the lock's owner, or None if they are unknown."""
        try:
            with open_regular(self._owner_file) as file:
                text = file.read(MAX_OWNER_BYTES).decode(errors="replace").strip()
        except OSError:
            return None
        return text if text.startswith("process ") and text.isprintable() else None

    def was_killed(self) -> bool:
        """Return whether the last owner was a process of this host that has ended and has not freed the lock."""
        found = _OWNER.match(self.owner() or "")
        if found is None or found["host"] != socket.gethostname():
            return False
        try:
            os.kill(int(found["process"]), 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            # It is a process of another user, or none that there can be.
            return False
        return False

    def release(self) -> None:
        """Free the lock and delete the owner file."""
        with suppress(OSError):
            remove_file(self._owner_file)
        self._close()

    def _close(self) -> None:
        while self._descriptors:
            os.close(self._descriptors.pop())


class Store:
    """An open inventory. `connection` is the one that writes; `reader()` opens others for reading."""

    def __init__(self, location: StateLocation, engine: Engine, lock: RunLock | ServerLock | None) -> None:
        """`lock` is None for a process that helps its owner."""
        self.location = location
        self.engine = engine
        self.connection: Connection = engine.connect()
        self._lock = lock

    def reader(self) -> Connection:
        """Open a connection for streaming reads during writes. The caller closes it."""
        return self.engine.connect()

    def size(self) -> tuple[int, int]:
        """Return the number of URLs, and the bytes that they take."""
        with self.connection.begin():
            count = self.connection.scalar(select(func.count()).select_from(urls)) or 0
            return count, self._bytes()

    def _bytes(self) -> int:
        """Return the size of the database and its write-ahead log, or that of the tables on a server."""
        if not isinstance(self.location, Path):
            from sitemap_crawler.inventory.postgresql import schema_bytes

            return schema_bytes(self.connection, self.location)
        parts = (beside(self.location, ending) for ending in ("", "-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    def close(self) -> None:
        """Close all connections and free the lock."""
        self.connection.close()
        self.engine.dispose()
        if self._lock is not None:
            self._lock.release()


def beside(location: StateLocation, ending: str) -> Path:
    """Return the path of a file that belongs to an inventory: next to its file, or in the user's state directory."""
    if isinstance(location, Path):
        return location.with_name(location.name + ending)
    from platformdirs import user_state_path

    digest = blake2b(str(location).encode(), digest_size=4).hexdigest()
    return user_state_path("sitemap-crawler") / f"{location.schema}-{digest}{ending}"


def inventory_failure(path: StateLocation, error: Exception) -> str:
    """Return the message for an exception that ends the use of an open inventory. Damage of the file explains most."""
    if isinstance(error, PatternTimeoutError):
        return str(error)
    advice = advice_for(error, otherwise="")
    if not advice and (message := damage_message(path, error)):
        return message
    if not isinstance(error, SQLAlchemyError):
        return f"cannot use the inventory {path}: {advice or PROGRAM_ERROR}"
    reason = getattr(error, "orig", None) or error
    if isinstance(path, Path):
        advice = advice or "free disk space or repair the file, then run the same command"
    else:
        from sitemap_crawler.inventory.server_errors import server_message, server_remedy

        reason, advice = server_message(error), advice or server_remedy(error)
    return f"cannot use the inventory {path}: {reason}; {advice}"


def was_killed(location: StateLocation) -> bool:
    """Return whether the last owner of an inventory has ended and has not freed it. Raises InventoryError."""
    if isinstance(location, Path):
        return RunLock(location, private=False).was_killed()
    from sitemap_crawler.inventory import server_owner
    from sitemap_crawler.inventory.postgresql import reading

    with reading(location) as connection:
        return server_owner.was_killed(connection)


def open_store(location: StateLocation, *, private: bool = False, joins: bool = False) -> Store:
    """Open an inventory, or create it. With `private` only this user can read its files.

    With `joins` another process owns the inventory on a server, and has created it.

    Raises InventoryBusyError if another process has it open, InventoryError if it cannot be used.
    """
    add_opened(location)
    if isinstance(location, Path):
        return _open_file(location, private=private)
    from sitemap_crawler.inventory.postgresql import open_server, server_engine
    from sitemap_crawler.inventory.server_owner import OWNED_BY

    if joins:
        return Store(location, server_engine(location), None)
    engine, lock = open_server(location)
    store = Store(location, engine, lock)
    store.connection.execution_options(**{OWNED_BY: lock})
    return store


def _open_file(path: Path, *, private: bool) -> Store:
    path = path.absolute()
    _check_file(path)
    try:
        path = real_path(path, create=True)
    except OSError as error:
        raise InventoryError(
            f"cannot write the inventory {path}: {error.strerror or error}; choose another --state"
        ) from error
    lock = _acquire(path, private=private)
    engine = create_engine(URL.create("sqlite", database=str(path)))
    try:
        check_database(path)
        event.listen(engine, "connect", _configure)
        with engine.begin() as connection:
            version = _check_version(connection, path)
        if is_old(version):
            migrate(engine, path, version)
        return Store(path, engine, lock)
    except Exception as error:
        engine.dispose()
        lock.release()
        if isinstance(error, InventoryError):
            raise
        if message := damage_message(path, error):
            raise DamagedInventoryError(message) from error
        if not isinstance(error, SQLAlchemyError):
            raise
        reason = getattr(error, "orig", None) or error
        advice = advice_for(error, otherwise="free disk space or choose another --state")
        raise InventoryError(f"cannot use the inventory {path}: {reason}; {advice}") from error
    except BaseException:
        engine.dispose()
        lock.release()
        raise


def _check_file(path: Path) -> None:
    """Raise InventoryError for a file that is no inventory, before a lock is created next to it."""
    try:
        with open_regular(path) as file:
            start = file.read(_APPLICATION_ID_OFFSET + 4)
    except (FileNotFoundError, UntrustedLinkError):
        # A link is judged when the path is resolved.
        return
    except FileExistsError as error:
        problem = f"cannot use {path} as the inventory: it is not a file; choose another --state"
        raise InventoryError(problem) from error
    except OSError as error:
        reason = error.strerror or error
        raise InventoryError(f"cannot read the inventory {path}: {reason}; choose another --state") from error
    if start and not start.startswith(SQLITE_MAGIC):
        raise InventoryError(f"{path} is not an inventory but another kind of file; choose another --state")
    if start and start[_APPLICATION_ID_OFFSET:] != APPLICATION_ID.to_bytes(4):
        raise InventoryError(f"{path} is a database of another program; choose another --state")


def _acquire(path: Path, *, private: bool) -> RunLock:
    lock = RunLock(path, private=private)
    try:
        lock.acquire()
    except BlockingIOError as error:
        owner = lock.owner()
        run = f"another run ({owner})" if owner else "another run"
        message = f"{run} is using the inventory {path}; wait for it to end or choose another --state"
        raise InventoryBusyError(message) from error
    except OSError as error:
        reason = error.strerror or error
        raise InventoryError(f"cannot write the inventory {path}: {reason}; choose another --state") from error
    return lock


def _configure(connection: sqlite3.Connection, _record: Any) -> None:
    # WAL: readers may stream while the crawl writes. FULL: a power cut loses no commit, so the inventory always knows
    # the publication whose files are on the disk.
    if not connection.execute("PRAGMA page_count").fetchone()[0]:
        # Before WAL, so that the id is written to the file itself.
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    for pragma in ("journal_mode=WAL", "synchronous=FULL", f"cache_size=-{CACHE_KIB}", "busy_timeout=10000"):
        connection.execute(f"PRAGMA {pragma}")


def _check_version(connection: Connection, path: Path) -> str:
    """Return the schema version, after creating the tables in an empty file. Raises InventoryError."""
    if not inspect(connection).get_table_names():
        # Python's sqlite3 begins no transaction for DDL by itself. A kill must not leave tables without a version.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(meta).values(name="schema_version", value=str(SCHEMA_VERSION)))
        return str(SCHEMA_VERSION)
    version = stored_version(connection)
    if version is None:
        raise InventoryError(f"{path} is a database of another program; choose another --state")
    if problem := version_problem(path, version):
        raise InventoryError(problem)
    return version
