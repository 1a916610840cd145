"""Short transactions of the commands that talk to search engines, without the lock of a run.

A crawl may hold that lock for days. What these commands write stands in tables of their own, which a crawl does not
touch.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from sitemap_crawler.exceptions import DamagedInventoryError, InventoryBusyError, InventoryError
from sitemap_crawler.inventory.damage import damage_message
from sitemap_crawler.inventory.store import inventory_failure
from sitemap_crawler.utils.directories import check_database
from sitemap_crawler.utils.shortage import advice_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from sqlalchemy import Connection, Engine

    from sitemap_crawler.config.state_location import ServerLocation, StateLocation

BUSY_SECONDS = 60.0
"""Maximum number of seconds that a transaction waits for those of a crawl. The end of a large crawl has long ones."""


class UnlockedInventory:
    """An inventory that is open for short transactions, also while a crawl writes it.

    The process must not open the file in another way meanwhile: closing a second descriptor would free SQLite's locks,
    https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_.
    """

    def __init__(self, location: StateLocation, *, busy_seconds: float = BUSY_SECONDS) -> None:
        """Open an existing inventory of the current schema: see `lookup.py:open_inventory`."""
        self._location = location
        self._busy_seconds = busy_seconds
        self._engine = self._file_engine(location) if isinstance(location, Path) else _server_engine(location)
        with self._failures():
            self._connection = self._engine.connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._connection.close()
        self._engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Begin a transaction that may write at once, and commit it. Raises InventoryError."""
        with self._failures(), self._connection.begin():
            if isinstance(self._location, Path):
                # A transaction that began with a read could not write after a commit of the crawl.
                self._connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                _exclude_others(self._connection, self._location)
            yield self._connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Begin a transaction that only reads: all its queries see one state, and a crawl may write. Raises
        InventoryError."""
        if isinstance(self._location, Path):
            with self._failures(), self._connection.begin():
                self._connection.exec_driver_sql("BEGIN")
                yield self._connection
            return
        from sitemap_crawler.inventory.postgresql import read_only

        with self._failures(), read_only(self._engine) as connection:
            yield connection

    def _file_engine(self, path: Path) -> Engine:
        path = self._location = path.absolute()
        check_database(path)
        return create_engine("sqlite://", creator=lambda: self._connect(path), poolclass=NullPool)

    def _connect(self, path: Path) -> sqlite3.Connection:
        # Mode rw creates no file in the place of one that has been moved away.
        connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=self._busy_seconds)
        # A power cut must not lose what was sent, or how much of a quota is used.
        connection.execute("PRAGMA synchronous=FULL")
        return connection

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Turn the errors of the database into those with a message for the user."""
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            reason = getattr(error, "orig", None) or error
            if (getattr(reason, "sqlite_errorcode", None) or 0) & 0xFF == sqlite3.SQLITE_BUSY:
                raise InventoryBusyError(
                    f"a crawl has been writing the inventory {self._location} for {self._busy_seconds:g} s: "
                    "run the same command again"
                ) from error
            if message := damage_message(self._location, error):
                raise DamagedInventoryError(message) from error
            if not isinstance(self._location, Path):
                raise InventoryError(inventory_failure(self._location, error)) from error
            code = (getattr(reason, "sqlite_errorcode", None) or 0) & 0xFF
            remedy = "free disk space or repair the file"
            if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                remedy = "let this user write the file and its directory"
            advice = advice_for(error, otherwise=f"{remedy}, then run the same command")
            raise InventoryError(f"cannot write the inventory {self._location}: {reason}; {advice}") from error


def _server_engine(location: ServerLocation) -> Engine:
    from sitemap_crawler.inventory.postgresql import server_engine

    return server_engine(location)


def _exclude_others(connection: Connection, location: ServerLocation) -> None:
    """Let one of these commands write at a time, as the lock of a file does."""
    from sitemap_crawler.inventory.postgresql import lock_writers

    lock_writers(connection, location)
