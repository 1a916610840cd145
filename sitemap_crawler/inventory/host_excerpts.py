"""The inventory of a domain, host by host: the rows of each host's URLs in a small database.

A reader of inventories reads it as that of a site. So no query of the reader has a condition for the host.
"""

from __future__ import annotations

import sqlite3
from array import array
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import create_engine, delete, func, insert, or_, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import CreateTable

from sitemap_crawler.exceptions import InventoryError
from sitemap_crawler.inventory.dialects import json_text
from sitemap_crawler.inventory.lookup import Inventory
from sitemap_crawler.inventory.schema import (
    changes,
    decisions,
    engine_sitemaps,
    inspections,
    listings,
    meta,
    observations,
    published,
    runs,
    urls,
    warnings,
)
from sitemap_crawler.inventory.sitemap_answers import newest_ids
from sitemap_crawler.inventory.sql import BATCH_ROWS, STREAM_ROWS, RowStatement, chunks
from sitemap_crawler.inventory.store import CACHE_KIB
from sitemap_crawler.policy.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import Column, Table

    from sitemap_crawler.inventory.results import StoredWarning

OUT_OF_SCOPE = str(Reason.OUT_OF_SCOPE)
MAX_EXCERPTS = 1_000
"""Maximum number of hosts that one pass divides an inventory into."""
_OBSERVED = (
    "url_id", "run", "fetched", "status", "error", "blocked_by", "body_bytes", "elapsed", "noindex", "nofollow",
    "title", "not_modified", "failed_status", "failed_error", "failed_since",
)  # fmt: skip
_KNOWN = ("id", "key", "url", "state", "depth", "referrer", "first_seen", "inlinks")
_RUN = ("id", "requested_url", "start_url", "sitemap_url", "started", "finished", "outcome", "ended_by")
_TABLES = (
    meta, runs, urls, observations, decisions, listings, inspections, changes, warnings, published, engine_sitemaps,
)  # fmt: skip
_CHANGED = ("publication", "url_id", "run", "kind", "before", "after")
_CREATE_CHANGES_BY_HOST = (
    "CREATE TABLE changes_by_host (host INTEGER, publication INTEGER, url_id INTEGER, run INTEGER, kind TEXT, "
    "before REAL, after REAL, PRIMARY KEY (host, publication, url_id)) WITHOUT ROWID"
)
_ADD_CHANGE = "INSERT INTO changes_by_host VALUES (?, ?, ?, ?, ?, ?, ?)"
_COPY_CHANGES = (
    f"INSERT INTO changes ({', '.join(_CHANGED)}) SELECT {', '.join(_CHANGED)} FROM changes_by_host WHERE host = ?"  # noqa: S608
)


@dataclass(slots=True)
class HostUrls:
    """The URLs of one host that a reader may ask for: those in scope, live or changed by a publication."""

    prefix: str
    """`scheme://host[:port]/`"""
    ids: array[int] = field(default_factory=lambda: array("I"))
    """Four bytes a URL, in ascending order."""
    in_scope: int = 0
    listed: int = 0
    """Number of URLs that are decided to be listed."""
    live: int = 0
    """Number of pages of the live sitemap."""
    redirects: int = 0
    """Number of URLs in scope that redirect."""

    @property
    def only_redirects(self) -> bool:
        """Whether the host has no page of its own, such as `example.com` beside `www.example.com`."""
        return not self.live and self.redirects == self.in_scope


class HostRun(NamedTuple):
    """What a run was for one host."""

    outcome: str | None
    totals: dict[str, Any] | None


def urls_by_host(inventory: Inventory) -> list[HostUrls]:
    """Return the hosts that have URLs in scope or live pages, by one pass over all URLs."""
    in_scope = or_(decisions.c.reason.is_(None), decisions.c.reason != OUT_OF_SCOPE)
    live = listings.c.url_id.is_not(None)
    # A join, as PostgreSQL would read a large list of IN anew for each row.
    changed = select(changes.c.url_id).distinct().subquery()
    query = (
        select(urls.c.id, urls.c.url, in_scope, decisions.c.reason, decisions.c.decision == "listed", live)
        .outerjoin(decisions, decisions.c.url_id == urls.c.id)
        .outerjoin(listings, listings.c.url_id == urls.c.id)
        .outerjoin(changed, changed.c.url_id == urls.c.id)
        .where(or_(in_scope, live, changed.c.url_id.is_not(None)))
        .order_by(urls.c.id)
    )
    found: dict[str, HostUrls] = {}
    for rows in inventory.connection.execute(query, execution_options={"yield_per": STREAM_ROWS}).partitions():
        for url_id, url, is_in_scope, reason, is_listed, is_live in rows:
            prefix = prefix_of(url)
            host = found.get(prefix)
            if host is None:
                host = found[prefix] = HostUrls(prefix)
            host.ids.append(url_id)
            host.in_scope += bool(is_in_scope)
            host.listed += bool(is_listed)
            host.live += bool(is_live)
            host.redirects += reason == Reason.REDIRECT
    return [host for host in found.values() if host.in_scope or host.live]


def prefix_of(url: str) -> str:
    """Return `scheme://host[:port]/` of a normalised URL."""
    # The first / after those of the scheme is the ninth character or a later one.
    return url[: url.find("/", 8) + 1]


class HostExcerpts:
    """Context manager of a temporary database that holds the excerpt of one host after the other.

    An excerpt numbers its URLs from 1, so that reading it costs what the host has, not what the domain has. A page of
    another host that led to a URL first is there as well, out of the scope. Links, notes and other large values of
    observations are left out.
    """

    def __init__(self, inventory: Inventory, hosts: Sequence[HostUrls]) -> None:
        """Take an inventory that is open for reading, and at most MAX_EXCERPTS hosts, in any order."""
        if len(hosts) > MAX_EXCERPTS:
            raise ValueError(f"{len(hosts)} hosts are more than {MAX_EXCERPTS}")
        self._inventory = inventory
        self._position = {host.prefix: number for number, host in enumerate(hosts, 1)}
        size = (inventory.connection.scalar(select(func.max(urls.c.id))) or 0) + 1
        # By id of a URL: its host, 0 for none of them, and its number in the excerpt. Six bytes a URL.
        self._hosts, self._numbers = array("H", bytes(2 * size)), array("I", bytes(4 * size))
        for host in hosts:
            position = self._position[host.prefix]
            for number, url_id in enumerate(host.ids, 1):
                self._hosts[url_id], self._numbers[url_id] = position, number
        # An empty name is that of a temporary file, which SQLite removes by itself.
        self._engine = create_engine("sqlite://", creator=partial(sqlite3.connect, ""), poolclass=NullPool)

    def __enter__(self) -> HostExcerpts:
        self._scratch = self._engine.connect()
        try:
            with _full_disk_reported():
                for pragma in ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{CACHE_KIB}"):
                    self._scratch.exec_driver_sql(f"PRAGMA {pragma}")
                for table in _TABLES:
                    self._scratch.execute(CreateTable(table))
                self._scratch.exec_driver_sql(_CREATE_CHANGES_BY_HOST)
                self._divide_changes()
                self._scratch.commit()
        except BaseException:
            self._scratch.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.close()

    def open(
        self, host: HostUrls, *, start_url: str, run_of: Mapping[int, HostRun], found: Iterable[StoredWarning]
    ) -> Inventory:
        """Return the inventory of a host. It is valid until the next one is opened.

        `start_url` is the start page of the host. `run_of` says what the runs were for the host, by their numbers, and
        `found` has its warnings.
        """
        scratch = self._scratch
        with _full_disk_reported():
            # Whatever reads begins a transaction.
            scratch.rollback()
            for table in _TABLES:
                scratch.execute(delete(table))
            sitemap_url = host.prefix + self._inventory.run.sitemap_url.rpartition("/")[2]
            run = replace(self._inventory.run, start_url=start_url, sitemap_url=sitemap_url)
            self._copy_runs(run_of)
            self._copy_urls(host)
            scratch.exec_driver_sql(_COPY_CHANGES, (self._position[host.prefix],))
            self._copy_files(host)
            names = ("id", "run", "kind", "url", "message")
            rows = [{"id": number, "run": run.id, **warning._asdict()} for number, warning in enumerate(found, 1)]
            RowStatement(insert(warnings), names).execute(scratch, rows)
            scratch.commit()
        return Inventory(scratch, run)

    def _divide_changes(self) -> None:
        """Copy the changes of all hosts, each with its host."""
        # By one pass, as the table has no index by URL. It may be larger than the memory.
        query = select(*(changes.c[name] for name in _CHANGED))
        hosts, numbers, size = self._hosts, self._numbers, len(self._hosts)
        batch: list[tuple[Any, ...]] = []
        for row in self._stream(query):
            publication, url_id, *values = row
            if url_id < size and hosts[url_id]:
                batch.append((hosts[url_id], publication, numbers[url_id], *values))
                if len(batch) == BATCH_ROWS:
                    self._scratch.exec_driver_sql(_ADD_CHANGE, batch)
                    batch = []
        if batch:
            self._scratch.exec_driver_sql(_ADD_CHANGE, batch)

    def _stream(self, query: Any) -> Iterator[Any]:
        yield from self._inventory.connection.execute(query, execution_options={"yield_per": STREAM_ROWS})

    def _copy_runs(self, run_of: Mapping[int, HostRun]) -> None:
        read, scratch = self._inventory.connection, self._scratch
        rows = [dict(row) for row in read.execute(select(meta)).mappings()]
        if rows:
            scratch.execute(insert(meta), rows)
        for row in read.execute(select(*(runs.c[name] for name in _RUN)).order_by(runs.c.id)).mappings():
            values = dict(row)
            if (known := run_of.get(row["id"])) is not None:
                values |= known._asdict()
            scratch.execute(insert(runs).values(values))

    def _copy_urls(self, host: HostUrls) -> None:
        position, numbers = self._position[host.prefix], self._numbers
        elsewhere: dict[int, int] = {}

        def referrer_of(url_id: int | None) -> int | None:
            """Return the number of a page that leads to a URL, if it is known."""
            if not url_id or url_id >= len(numbers):
                return None
            if self._hosts[url_id] == position:
                return numbers[url_id]
            return elsewhere.setdefault(url_id, len(host.ids) + 1 + len(elsewhere))

        def with_referrer(row: dict[str, Any]) -> None:
            row["id"] = numbers[row["id"]]
            row["referrer"] = referrer_of(row["referrer"])

        def numbered(row: dict[str, Any]) -> None:
            row["url_id"] = numbers[row["url_id"]]

        self._copy(urls, _KNOWN, urls.c.id, host.ids, with_referrer)
        self._copy(observations, _OBSERVED, observations.c.url_id, host.ids, numbered)
        for table in (decisions, listings, inspections):
            self._copy(table, table.columns.keys(), table.c.url_id, host.ids, numbered)

        def elsewhere_numbered(row: dict[str, Any]) -> None:
            row["id"], row["referrer"] = elsewhere[row["id"]], None

        self._copy(urls, _KNOWN, urls.c.id, sorted(elsewhere), elsewhere_numbered)
        decided = {"decision": "excluded", "reason": OUT_OF_SCOPE, "since": 0}
        rows = [{"url_id": number, **decided} for number in elsewhere.values()]
        RowStatement(insert(decisions), ("url_id", *decided)).execute(self._scratch, rows)

    def _copy(
        self,
        table: Table,
        names: Sequence[str],
        key: Column[Any],
        ids: Sequence[int],
        change: Callable[[dict[str, Any]], None],
    ) -> None:
        """Copy the rows whose `key` is one of `ids`, changed by `change`."""
        statement = RowStatement(insert(table), names)
        query = select(*(table.c[name] for name in names))
        for chunk in chunks(ids):
            rows = [dict(row) for row in self._inventory.connection.execute(query.where(key.in_(chunk))).mappings()]
            for row in rows:
                change(row)
            statement.execute(self._scratch, rows)

    def _copy_files(self, host: HostUrls) -> None:
        """Copy the published files of a host, and what search engines say of them."""
        answers = select(
            *(column for column in engine_sitemaps.columns if column.name != "answer"),
            json_text(engine_sitemaps.c.answer).label("answer"),
        ).where(engine_sitemaps.c.id.in_(newest_ids(engine_sitemaps.c.service, engine_sitemaps.c.url)))
        for table, query in ((published, select(published)), (engine_sitemaps, answers)):
            mine = query.where(table.c.url >= host.prefix, table.c.url < host.prefix[:-1] + "0")
            rows = [dict(row) for row in self._inventory.connection.execute(mine).mappings()]
            RowStatement(insert(table), table.columns.keys()).execute(self._scratch, rows)


@contextmanager
def _full_disk_reported() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        if not isinstance(error.orig, sqlite3.OperationalError) or "disk" not in str(error.orig):
            raise
        remedy = "free disk space in the directory for temporary files, or set SQLITE_TMPDIR to another one"
        raise InventoryError(f"cannot divide the inventory by host: {error.orig}; {remedy}") from error
