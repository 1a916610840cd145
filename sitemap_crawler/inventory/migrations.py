"""Migrations: an inventory of an earlier schema becomes one of today's, after a copy of its file.

Each step is a function that changes the tables with SQLAlchemy's statements. A step of a past version never changes,
and uses no table of `schema.py`, which describes today's version only.
"""

from __future__ import annotations

import os
import stat
from glob import escape
from pathlib import Path
from shutil import copyfileobj, rmtree
from sqlite3 import Error as SQLiteError
from sqlite3 import connect
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sqlalchemy import inspect, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.exceptions import InventoryError
from sitemap_crawler.inventory.schema import SCHEMA_VERSION, meta
from sitemap_crawler.utils.directories import open_directory
from sitemap_crawler.utils.replace import replacing

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine


def _add_named_dates(connection: Connection) -> None:
    """Add the table of the dates that foreign sitemaps and feeds state."""
    connection.execute(
        text(
            "CREATE TABLE IF NOT EXISTS named_dates (url_id INTEGER NOT NULL, run INTEGER NOT NULL, "
            "sitemap BIGINT NOT NULL, source VARCHAR(32) NOT NULL, lastmod FLOAT NOT NULL, "
            "lastmod_day BOOLEAN NOT NULL, PRIMARY KEY (url_id))"
        )
    )


def _add_supplied(connection: Connection) -> None:
    """Add the table of the URLs that lists and access logs of the owner name."""
    connection.execute(
        text(
            "CREATE TABLE IF NOT EXISTS supplied (url_id INTEGER NOT NULL, run INTEGER NOT NULL, "
            "listed BOOLEAN NOT NULL, visits BIGINT, section VARCHAR(40), extras JSON, PRIMARY KEY (url_id))"
        )
    )


STEPS: dict[int, Callable[[Connection], None]] = {4: _add_named_dates, 5: _add_supplied}
"""By schema version, the function that makes the next version of it. The caller has begun the transaction."""
OLDEST_VERSION = 4
"""Schema version of the first release. Earlier ones were never released."""
_VERSION = meta.c.name == "schema_version"


def stored_version(connection: Connection) -> str | None:
    """Return the schema version of a database, or None if it is no inventory."""
    if not inspect(connection).has_table(meta.name):
        return None
    version: str | None = connection.scalar(select(meta.c.value).where(_VERSION))
    return version


def version_problem(path: Path, version: str) -> str | None:
    """Return why this release can neither read nor migrate a schema version, or None."""
    number = str(version)
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        remedy = "restore a copy, or move it away and crawl again"
        return f"the inventory {path} is damaged (table meta, row schema_version): {remedy}"
    has = f"the inventory {path} has schema version {number}"
    if int(number) > SCHEMA_VERSION:
        return f"{has}, newer than {SCHEMA_VERSION} of this release: install the release that wrote it, or a later one"
    if int(number) < OLDEST_VERSION:
        return f"{has}, older than any release can read: move it away and crawl again"
    return None


def is_old(version: str) -> bool:
    return int(version) < SCHEMA_VERSION


def copy_path(path: Path, version: str) -> Path:
    """Return the path of the copy that a migration from `version` makes."""
    return path.with_name(f"{path.name}.schema-{version}")


def migrate(engine: Engine, path: Path, version: str) -> None:
    """Copy the file of an old inventory, then migrate it in one transaction. The caller holds the lock.

    Raises InventoryError. The inventory is unchanged then.
    """
    for leftover in path.parent.glob(f"{escape(path.name)}.copy-*"):
        rmtree(leftover, ignore_errors=True)
    try:
        _copy(engine, path, copy_path(path, version))
    except (OSError, SQLAlchemyError, SQLiteError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InventoryError(
            f"cannot copy the inventory {path} before its migration from schema version {version}: {reason}; "
            "free disk space, then run the same command"
        ) from error
    try:
        with engine.begin() as connection:
            # Python's sqlite3 begins no transaction for DDL by itself.
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            for number in range(int(version), SCHEMA_VERSION):
                STEPS[number](connection)
            connection.execute(update(meta).where(_VERSION).values(value=str(SCHEMA_VERSION)))
    except SQLAlchemyError as error:
        reason = getattr(error, "orig", None) or error
        raise InventoryError(
            f"cannot migrate the inventory {path} from schema version {version}: {reason}; it is unchanged: "
            "free disk space or repair the file, then run the same command"
        ) from error


def _copy(engine: Engine, path: Path, target: Path) -> None:
    """Copy the database with the content of its write-ahead log. The copy gets its name when it is complete.

    The unfinished copy is where only this user can reach it: SQLite opens it by its path, and follows links.
    """
    with open_directory(path.parent) as parent:
        nearby = path.parent if parent.is_private else None
    with TemporaryDirectory(dir=nearby, prefix=f"{path.name}.copy-") as directory:
        unfinished = Path(directory, "inventory")
        raw = engine.raw_connection()
        try:
            copy = connect(unfinished)
            try:
                source: sqlite3.Connection = raw.driver_connection  # type: ignore[assignment]
                source.backup(copy)
                # The copy is one file, and whole after a power cut.
                copy.execute("PRAGMA journal_mode=DELETE")
            finally:
                copy.close()
        finally:
            raw.close()
        if nearby is None:
            with unfinished.open("rb") as file, replacing(target, private=True) as finished:
                copyfileobj(file, finished)
            return
        unfinished.chmod(stat.S_IMODE(path.stat().st_mode))
        unfinished.replace(target)
    descriptor = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
