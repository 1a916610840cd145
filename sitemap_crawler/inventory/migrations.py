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
from sitemap_crawler.inventory.hosts import HOST_TABLES
from sitemap_crawler.inventory.schema import SCHEMA_VERSION, meta
from sitemap_crawler.inventory.shared_run import RUN_TABLES
from sitemap_crawler.inventory.url_spellings import write_urls_one_way
from sitemap_crawler.utils.directories import open_directory
from sitemap_crawler.utils.replace import replacing
from sitemap_crawler.utils.shortage import advice_for

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

    from sitemap_crawler.config.state_location import StateLocation


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


_SEARCH_ENGINE_TABLES = """
CREATE TABLE IF NOT EXISTS submissions (id INTEGER NOT NULL, at FLOAT NOT NULL, service VARCHAR(16) NOT NULL,
    endpoint TEXT NOT NULL, host TEXT NOT NULL, target TEXT NOT NULL, kind VARCHAR(16) NOT NULL,
    publication INTEGER NOT NULL, sha256 VARCHAR(64), urls INTEGER NOT NULL, http_status SMALLINT, reason TEXT,
    message TEXT, outcome VARCHAR(16) NOT NULL, request_id TEXT, PRIMARY KEY (id));
CREATE TABLE IF NOT EXISTS submitted_urls (url_id INTEGER NOT NULL, submission INTEGER NOT NULL,
    kind VARCHAR(16) NOT NULL, PRIMARY KEY (url_id, submission));
CREATE TABLE IF NOT EXISTS submission_marks (service VARCHAR(16) NOT NULL, endpoint TEXT NOT NULL, host TEXT NOT NULL,
    publication INTEGER NOT NULL, PRIMARY KEY (service, endpoint, host));
CREATE TABLE IF NOT EXISTS engine_sitemaps (id INTEGER NOT NULL, service VARCHAR(16) NOT NULL, property TEXT NOT NULL,
    url TEXT NOT NULL, since FLOAT NOT NULL, asked FLOAT NOT NULL, answer JSON NOT NULL, PRIMARY KEY (id));
CREATE TABLE IF NOT EXISTS inspections (url_id INTEGER NOT NULL, property TEXT NOT NULL, at FLOAT NOT NULL,
    verdict TEXT, coverage_state TEXT, robots TEXT, indexing TEXT, fetch TEXT, last_crawl FLOAT, google_canonical TEXT,
    user_canonical TEXT, PRIMARY KEY (url_id));
CREATE TABLE IF NOT EXISTS engine_quota (service VARCHAR(16) NOT NULL, property TEXT NOT NULL, day VARCHAR(10) NOT NULL,
    used INTEGER NOT NULL, PRIMARY KEY (service, property, day))
"""


def _add_search_engines(connection: Connection) -> None:
    """Add the tables of what was sent to search engines and of what they answer."""
    for statement in _SEARCH_ENGINE_TABLES.split(";"):
        connection.execute(text(statement))


_OBSERVATIONS_8 = """
ALTER TABLE observations RENAME TO earlier_observations;
CREATE TABLE observations (url_id INTEGER NOT NULL, run INTEGER NOT NULL, fetched FLOAT NOT NULL, status SMALLINT,
    error TEXT, blocked_by TEXT, content_type TEXT, body_bytes BIGINT NOT NULL, elapsed INTEGER, body_hash BLOB,
    location INTEGER, refresh INTEGER, canonical INTEGER, noindex BOOLEAN NOT NULL, nofollow BOOLEAN NOT NULL,
    unavailable_after FLOAT, directives TEXT, lastmod FLOAT, lastmod_source VARCHAR(32),
    lastmod_day BOOLEAN DEFAULT 0 NOT NULL, fingerprint BLOB, title TEXT, etag TEXT, modified_header TEXT,
    header_mark BLOB, readers TEXT, not_modified BOOLEAN DEFAULT 0 NOT NULL, failed_status SMALLINT, failed_error TEXT,
    failed_since INTEGER, alternates JSON, links BLOB, extras JSON, notes JSON, PRIMARY KEY (url_id));
INSERT INTO observations SELECT url_id, run, fetched, status, error, blocked_by, content_type, body_bytes, NULL,
    body_hash, location, refresh, canonical, noindex, nofollow, unavailable_after, directives, lastmod, lastmod_source,
    lastmod_day, fingerprint, title, etag, modified_header, header_mark, readers, not_modified, failed_status,
    failed_error, failed_since, alternates, links, extras, notes FROM earlier_observations ORDER BY url_id;
DROP TABLE earlier_observations
"""
_RESULTS = """
ALTER TABLE runs ADD COLUMN totals JSON;
ALTER TABLE urls ADD COLUMN inlinks INTEGER;
ALTER TABLE decisions ADD COLUMN "before" VARCHAR(32);
CREATE TABLE warnings (id INTEGER NOT NULL, run INTEGER NOT NULL, kind VARCHAR(32) NOT NULL, url TEXT NOT NULL,
    message TEXT NOT NULL, PRIMARY KEY (id))
"""


def _add_results(connection: Connection) -> None:
    """Add the results of runs: their numbers and warnings, the times of answers, inlinks, and former reasons.

    The table of observations is made anew, as SQLite can add a column only behind the long ones.
    """
    for statement in (*_OBSERVATIONS_8.split(";"), *_RESULTS.split(";")):
        connection.execute(text(statement))


_UPDATES = """
CREATE TABLE added_urls (url_id INTEGER NOT NULL, added FLOAT NOT NULL, PRIMARY KEY (url_id));
CREATE INDEX observations_canonical ON observations (canonical) WHERE canonical != url_id
"""


def _add_updates(connection: Connection) -> None:
    """Add the table of the URLs that `update` has added, and the index of the pages whose canonical is another URL."""
    for statement in _UPDATES.split(";"):
        connection.execute(text(statement))


PROCESSES = """
CREATE SEQUENCE url_ids;
CREATE TABLE processes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run bigint NOT NULL,
    is_main boolean NOT NULL, name text NOT NULL, began timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen timestamptz NOT NULL DEFAULT clock_timestamp(), fetched bigint NOT NULL DEFAULT 0,
    requests bigint NOT NULL DEFAULT 0, listable bigint NOT NULL DEFAULT 0, further bigint NOT NULL DEFAULT 0,
    ended boolean NOT NULL DEFAULT false);
CREATE INDEX frontier_owner ON frontier (owner) WHERE owner IS NOT NULL;
ALTER TABLE frontier SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0)
"""
"""What only PostgreSQL has: the processes of a run, and the numbers of URLs that several of them discover."""
PROCESS_COUNTS = """
ALTER TABLE processes ADD COLUMN overloads bigint NOT NULL DEFAULT 0, ADD COLUMN pauses bigint NOT NULL DEFAULT 0
"""
"""The numbers of overloads and pauses of each process."""
_SERVER_TABLES_10 = ";".join((PROCESSES, HOST_TABLES, RUN_TABLES))
SERVER_TABLES = f"{_SERVER_TABLES_10};{PROCESS_COUNTS}"
"""All of what only PostgreSQL has."""
_FRONTIER = """
CREATE TABLE frontier (url_id {id} NOT NULL, depth INTEGER NOT NULL, owner BIGINT, deaths SMALLINT DEFAULT '0' NOT NULL,
    PRIMARY KEY (url_id));
INSERT INTO frontier (url_id, depth) SELECT id, depth FROM urls WHERE state IN (1, 2) ORDER BY id;
UPDATE urls SET state = 3 WHERE state IN (1, 2);
DROP INDEX urls_queue;
CREATE INDEX frontier_due ON frontier (depth, url_id) WHERE owner IS NULL;
ALTER TABLE runs ADD COLUMN phase VARCHAR(16);
ALTER TABLE runs ADD COLUMN version TEXT;
ALTER TABLE runs ADD COLUMN leased {id}
"""


def _add_frontier(connection: Connection) -> None:
    """Move the queue from the states of URLs to a table of its own, and add what several processes share."""
    on_server = connection.dialect.name == "postgresql"
    statements = f"{_FRONTIER};{_SERVER_TABLES_10}" if on_server else _FRONTIER
    for statement in statements.format(id="BIGINT" if on_server else "INTEGER").split(";"):
        connection.execute(text(statement))
    if on_server:
        connection.execute(text("SELECT setval('url_ids', (SELECT coalesce(max(id), 0) + 1 FROM urls), false)"))


_RENDERINGS = """
ALTER TABLE observations ADD COLUMN rendered SMALLINT;
ALTER TABLE observations ADD COLUMN rendering JSON;
CREATE TABLE page_templates ("key" BIGINT NOT NULL, run {id} NOT NULL, shape BIGINT NOT NULL,
    rendered INTEGER NOT NULL, useful INTEGER NOT NULL, idle INTEGER NOT NULL, failed INTEGER NOT NULL,
    passed INTEGER NOT NULL, PRIMARY KEY ("key"));
CREATE TABLE rendering_counts (run {id} NOT NULL, name TEXT{collation} NOT NULL, count BIGINT NOT NULL,
    PRIMARY KEY (run, name))
"""


def _add_renderings(connection: Connection) -> None:
    """Add what became of the rendering of each page, the results of templates, and the numbers of renderings.

    The columns stand behind the long ones. Only crawls that render read them.
    """
    on_server = connection.dialect.name == "postgresql"
    types = {"id": "BIGINT", "collation": ' COLLATE "C"'} if on_server else {"id": "INTEGER", "collation": ""}
    for statement in _RENDERINGS.format(**types).split(";"):
        connection.execute(text(statement))


_TURNS = """
ALTER TABLE frontier ADD COLUMN turn SMALLINT DEFAULT '0' NOT NULL;
DROP INDEX frontier_due;
CREATE INDEX frontier_due ON frontier (turn, depth, url_id) WHERE owner IS NULL;
CREATE TABLE shown_texts (hash BIGINT NOT NULL, run {id} NOT NULL, pages INTEGER NOT NULL, url_id {id} NOT NULL,
    PRIMARY KEY (hash));
CREATE TABLE page_texts (url_id {id} NOT NULL, run {id} NOT NULL, blocks {blob} NOT NULL, PRIMARY KEY (url_id))
"""


def _add_turns(connection: Connection) -> None:
    """Let the shapes of URLs take turns, and add the table of the texts that pages have shown."""
    on_server = connection.dialect.name == "postgresql"
    types = {"id": "BIGINT", "blob": "BYTEA"} if on_server else {"id": "INTEGER", "blob": "BLOB"}
    for statement in _TURNS.format(**types).split(";"):
        connection.execute(text(statement))


_PAGE_TEXTS = """
DROP TABLE shown_texts;
ALTER TABLE page_texts RENAME COLUMN blocks TO texts;
ALTER TABLE page_texts ADD COLUMN fingerprint {blob};
UPDATE page_texts SET fingerprint = (SELECT fingerprint FROM observations WHERE observations.url_id = page_texts.url_id)
"""


def _keep_page_texts(connection: Connection) -> None:
    """Keep the texts of each page for later runs, in the place of a table of the texts of all pages."""
    blob = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    for statement in _PAGE_TEXTS.format(blob=blob).split(";"):
        connection.execute(text(statement))


def _add_process_counts(connection: Connection) -> None:
    """Add the numbers of overloads and pauses of each process, which only PostgreSQL has."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(PROCESS_COUNTS))


STEPS: dict[int, Callable[[Connection], None]] = {
    4: _add_named_dates,
    5: _add_supplied,
    6: _add_search_engines,
    7: _add_results,
    8: _add_updates,
    9: _add_frontier,
    10: _add_renderings,
    11: _add_turns,
    12: _keep_page_texts,
    13: write_urls_one_way,
    14: _add_process_counts,
}
"""By schema version, the function that makes the next version of it. The caller has begun the transaction."""
OLDEST_VERSION = 4
"""Schema version of the first release. Earlier ones were never released."""
_VERSION = meta.c.name == "schema_version"


def stored_version(connection: Connection) -> str | None:
    """Return the schema version of a database, or None if it is no inventory."""
    inspector = inspect(connection)
    if not inspector.has_table(meta.name):
        return None
    if not {"name", "value"} <= {column["name"] for column in inspector.get_columns(meta.name)}:
        return None
    version: str | None = connection.scalar(select(meta.c.value).where(_VERSION))
    return version


def version_problem(path: StateLocation, version: str) -> str | None:
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
        advice = advice_for(error, otherwise="free disk space, then run the same command")
        raise InventoryError(
            f"cannot copy the inventory {path} before its migration from schema version {version}: {reason}; {advice}"
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
        advice = advice_for(error, otherwise="free disk space or repair the file, then run the same command")
        raise InventoryError(
            f"cannot migrate the inventory {path} from schema version {version}: {reason}; it is unchanged: {advice}"
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
            with unfinished.open("rb") as file, replacing(target, private=True, replaces_database=True) as finished:
                copyfileobj(file, finished)
            return
        unfinished.chmod(stat.S_IMODE(path.stat().st_mode))
        unfinished.replace(target)
    descriptor = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
