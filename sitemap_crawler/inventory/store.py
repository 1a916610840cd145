"""Opens the inventory's database: location, version, lock."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from sqlalchemy import URL, create_engine, event, func, insert, inspect, select
from sqlalchemy.exc import DatabaseError, OperationalError, SQLAlchemyError

from sitemap_crawler.exceptions import InventoryBusyError, InventoryError
from sitemap_crawler.inventory.schema import SCHEMA_VERSION, meta, metadata, urls

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from sqlalchemy import Connection, Engine

CACHE_KIB = 16_384
# https://www.sqlite.org/fileformat.html#magic_header_string
SQLITE_MAGIC = b"SQLite format 3\0"
APPLICATION_ID = 0x53_4D_43_52
"""Of our files, in their header: so others are known, and left alone, before anything is written to them."""
_APPLICATION_ID_AT = 68
MAX_OWNER = 400
"""Characters read of what the file beside the lock says."""
PROGRAM_ERROR = "an error in the program (its details are in the log); run the same command to go on"


class RunLock:
    """One process at a time on one inventory.

    The kernel frees the lock when its owner dies. Who that is stands in a file beside it, for the others to name: not
    in the lock's own file, whose content is filelock's, nor in the database, which shares no memory between hosts.
    """

    def __init__(self, path: Path) -> None:
        """`path` is the inventory's."""
        self.file = path.with_name(path.name + ".lock")
        self._owner_file = path.with_name(path.name + ".owner")
        self._lock = FileLock(self.file)

    def acquire(self) -> None:
        """Raises Timeout at once when it is held, OSError when it can't be."""
        self._lock.acquire(timeout=0)
        since = datetime.now(UTC).isoformat(timespec="seconds")
        # The words of an earlier owner that was killed go in any case; ours are only a courtesy.
        with suppress(OSError):
            self._owner_file.write_text(
                f"process {os.getpid()} on {socket.gethostname()}, since {since}\n", encoding="utf-8"
            )

    def owner(self) -> str | None:
        """Process, host and time of the acquisition of whoever holds it, in words; None when they are not known."""
        try:
            with self._owner_file.open(encoding="utf-8", errors="replace") as file:
                words = file.read(MAX_OWNER).strip()
        except OSError:
            return None
        return words if words.startswith("process ") and words.isprintable() else None

    def release(self) -> None:
        with suppress(OSError):
            self._owner_file.unlink()
        self._lock.release()


class Store:
    """An open database; `connection` is the one of the process that crawls, `reader()` gives others beside it."""

    def __init__(self, path: Path, engine: Engine, lock: RunLock) -> None:
        self.path = path
        self.engine = engine
        self.connection: Connection = engine.connect()
        self._lock = lock

    def reader(self) -> Connection:
        """A connection for streaming reads while `connection` writes; the caller closes it."""
        return self.engine.connect()

    def size(self) -> tuple[int, int]:
        """The number of URLs, and the bytes on the disk."""
        with self.connection.begin():
            count = self.connection.scalar(select(func.count()).select_from(urls)) or 0
        parts = (self.path.with_name(self.path.name + ending) for ending in ("", "-wal"))
        return count, sum(part.stat().st_size for part in parts if part.exists())

    def close(self) -> None:
        self.connection.close()
        self.engine.dispose()
        self._lock.release()


def inventory_failure(path: Path, error: Exception) -> str:
    """Why the database can't be used any more, and what to do."""
    if not isinstance(error, SQLAlchemyError):
        return f"cannot use the inventory {path}: {PROGRAM_ERROR}"
    reason = getattr(error, "orig", None) or error
    return f"cannot use the inventory {path}: {reason}; make room or mend it and run the same command"


def open_store(path: Path) -> Store:
    """Open the SQLite inventory at `path`, or make it.

    Raises InventoryBusyError when another process has it open, InventoryError when it can't be used.
    """
    path = path.absolute()
    _check_file(path)
    lock = _acquire(path)
    try:
        engine = create_engine(URL.create("sqlite", database=str(path)))
        event.listen(engine, "connect", _configure)
        with engine.begin() as connection:
            _check_version(connection, path)
        return Store(path, engine, lock)
    except OperationalError as error:
        lock.release()
        raise InventoryError(
            f"cannot use the inventory {path}: {error.orig}; free space or choose another --state"
        ) from error
    except DatabaseError as error:
        lock.release()
        remedy = "put a copy back, remove the file to start anew, or choose another --state"
        message = f"the inventory {path} is damaged: {error.orig}; {remedy}"
        raise InventoryError(message) from error
    except BaseException:
        lock.release()
        raise


def _check_file(path: Path) -> None:
    """Leave alone, without so much as a lock beside it, what is no database."""
    try:
        if not path.exists():
            return
        if not path.is_file():
            raise InventoryError(f"cannot use {path} as the inventory: it is not a file; choose another --state")
        with path.open("rb") as file:
            start = file.read(_APPLICATION_ID_AT + 4)
    except OSError as error:
        reason = error.strerror or error
        raise InventoryError(f"cannot read the inventory {path}: {reason}; choose another --state") from error
    if start and not start.startswith(SQLITE_MAGIC):
        raise InventoryError(f"{path} is not an inventory but a file of something else; choose another --state")
    if start and start[_APPLICATION_ID_AT:] != APPLICATION_ID.to_bytes(4):
        raise InventoryError(f"{path} is a database of something else; choose another --state")


def _acquire(path: Path) -> RunLock:
    lock = RunLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        if not lock.file.exists():
            # A file system that lets nobody create files there looks like a lock that is held.
            raise InventoryError(f"cannot write the inventory {path}: choose another --state") from error
        owner = lock.owner()
        run = f"another run ({owner})" if owner else "another run"
        message = f"{run} is using the inventory {path}; wait for it to end or choose another --state"
        raise InventoryBusyError(message) from error
    except OSError as error:
        reason = error.strerror or error
        raise InventoryError(f"cannot write the inventory {path}: {reason}; choose another --state") from error
    if path.exists() and not os.access(path, os.W_OK):
        lock.release()
        raise InventoryError(f"cannot write the inventory {path}: permission denied; choose another --state")
    return lock


def _configure(connection: sqlite3.Connection, _record: Any) -> None:
    # WAL lets a reader stream while the crawl writes. FULL: a power cut takes no commit back, so that the files on the
    # disk never are of a publication that the inventory does not know.
    if not connection.execute("PRAGMA page_count").fetchone()[0]:
        # Before WAL, as what is written then is in the file itself.
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    for pragma in ("journal_mode=WAL", "synchronous=FULL", f"cache_size=-{CACHE_KIB}", "busy_timeout=10000"):
        connection.execute(f"PRAGMA {pragma}")


def _check_version(connection: Connection, path: Path) -> None:
    tables = set(inspect(connection).get_table_names())
    if not tables:
        # Python's sqlite3 begins no transaction for DDL by itself; a kill must not leave tables without a version.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(meta).values(name="schema_version", value=str(SCHEMA_VERSION)))
        return
    found = None
    if meta.name in tables:
        found = connection.scalar(select(meta.c.value).where(meta.c.name == "schema_version"))
    if found is None:
        raise InventoryError(f"{path} is a database of something else; choose another --state")
    if found != str(SCHEMA_VERSION):
        raise InventoryError(
            f"the inventory {path} has schema version {found}, this release reads {SCHEMA_VERSION}: "
            "use the release that wrote it, or remove the file to start anew"
        )
