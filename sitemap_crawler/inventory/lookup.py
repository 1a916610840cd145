"""Answers from an inventory while a crawl may be writing it: reads only, takes no lock, leaves no file behind."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_right
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import case, create_engine, func, inspect, null, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from sitemap_crawler.exceptions import InventoryError, NotAnInventoryError
from sitemap_crawler.inventory.runs import PUBLISHED
from sitemap_crawler.inventory.schema import (
    SCHEMA_VERSION,
    decisions,
    listings,
    meta,
    nofollowed,
    observations,
    published,
    runs,
    urls,
)
from sitemap_crawler.inventory.sql import STREAM_ROWS, chunks, decode_links, url_key
from sitemap_crawler.inventory.store import CACHE_KIB, SQLITE_MAGIC
from sitemap_crawler.sitemap.names import RESERVED_SECTIONS, TEXT_SECTION
from sitemap_crawler.sitemap.sections import Sections
from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Connection, Select

MAX_REFERRERS = 20
"""Linking pages shown for one URL; the others are only counted."""


@dataclass(frozen=True, slots=True)
class LatestRun:
    id: int
    requested_url: str
    start_url: str
    sitemap_url: str
    started: float
    ended_by: str | None
    """`finished` when it saw the whole site, `limit`, `refused`; None while it is open or when it was dropped."""
    options: dict[str, Any]


class UrlRecord(NamedTuple):
    """What the inventory holds of one URL; times in seconds since 1970."""

    id: int
    url: str
    state: int
    depth: int
    named: int | None
    unlinked: bool
    """In the last finished run nothing led to it: referrer and depth are of old."""
    status: int | None
    """Of the last try; None when that had no answer."""
    error: str | None
    blocked_by: str | None
    last_fetched: float | None
    """When what is known of it was last seen, or the last try of what never answered."""
    decision: str | None
    reason: str | None
    evidence: str | None
    lastmod: float | None
    lastmod_source: str | None
    lastmod_day: bool
    """The date has no time of day."""
    referrer: str | None
    canonical: str | None
    redirects_to: str | None
    title: str | None
    first_seen: float | None
    published: bool


class Selection(NamedTuple):
    ids: array[int]
    """In the order of their URLs, eight bytes each; at most as many as the limit allows."""
    matching: int


class Referrers(NamedTuple):
    total: int
    ids: array[int]
    """Of the first `MAX_REFERRERS` of them."""


class _Place(NamedTuple):
    """Where a published set is, by its entry file."""

    directory: str
    entry: str
    section: str
    rules: str


class Inventory:
    """`run` is the latest one, under way or not."""

    def __init__(self, connection: Connection, run: LatestRun) -> None:
        self._connection = connection
        self.run = run

    def find(self, wanted: Sequence[str]) -> dict[str, UrlRecord]:
        """Those of the URLs that are known."""
        keys = [url_key(url) for url in wanted]
        found = (entry for chunk in chunks(keys) for entry in self._entries(_ENTRY.where(urls.c.key.in_(chunk))))
        return {entry.url: entry for entry in found if entry.url in wanted}

    def records(self, ids: Sequence[int]) -> list[UrlRecord]:
        """In the order of `ids`."""
        found = {entry.id: entry for entry in self._entries(_ENTRY.where(urls.c.id.in_(ids)))}
        return [found[url_id] for url_id in ids if url_id in found]

    def _entries(self, query: Select[Any]) -> Iterator[UrlRecord]:
        yield from map(UrlRecord._make, self._connection.execute(query))

    def urls_of(self, ids: Iterable[int]) -> dict[int, str]:
        query = select(urls.c.id, urls.c.url)
        return {
            row.id: row.url
            for chunk in chunks(list(ids))
            for row in self._connection.execute(query.where(urls.c.id.in_(chunk)))
        }

    def count(self) -> int:
        return self._connection.scalar(select(func.count()).select_from(urls)) or 0

    def select(
        self,
        *,
        decision: str | None = None,
        reasons: Collection[str] = (),
        pattern: re.Pattern[str] | None = None,
        limit: int | None = None,
    ) -> Selection:
        """The URLs wanted. Nothing is held open while they are used, which would keep a crawl's write-ahead log
        growing."""
        query = select(urls.c.id, urls.c.url).outerjoin(decisions, decisions.c.url_id == urls.c.id)
        if decision is not None:
            query = query.where(decisions.c.decision.is_not_distinct_from(None if decision == "unknown" else decision))
        if reasons:
            query = query.where(decisions.c.reason.in_(reasons))
        ids = array("q")
        matching = 0
        for url_id, url in self._stream(query.order_by(urls.c.url)):
            if pattern is None or pattern.search(url):
                matching += 1
                if limit is None or matching <= limit:
                    ids.append(url_id)
        return Selection(ids, matching)

    def links_of(self, url: str, limit: int) -> list[str]:
        """URLs that the page `url` links to, at most `limit` of them."""
        query = select(observations.c.links).join(urls, urls.c.id == observations.c.url_id)
        blob = self._connection.scalar(query.where(urls.c.key == url_key(url)))
        ids = [url_id for url_id, _ in zip(decode_links(blob or b""), range(limit), strict=False)]
        return list(self.urls_of(ids).values())

    def nofollow_page(self, url: str) -> str | None:
        """The first page with a nofollow link to `url`, which nothing else names."""
        query = select(urls.c.url).join(nofollowed, nofollowed.c.referrer == urls.c.id)
        return self._connection.scalar(query.where(nofollowed.c.key == url_key(url)))

    def referrers(self, wanted: Iterable[int]) -> dict[int, Referrers]:
        """The pages of the site that link to each of the URLs: one scan over all links. A URL takes up to a kilobyte
        of memory."""
        ids = frozenset(wanted)
        counts = dict.fromkeys(ids, 0)
        first: dict[int, array[int]] = {}
        query = select(observations.c.url_id, observations.c.links).join(urls, urls.c.id == observations.c.url_id)
        query = query.where(observations.c.links.is_not(None), urls.c.unlinked_since.is_(None))
        for page, blob in self._stream(query.order_by(observations.c.url_id)):
            for target in ids.intersection(decode_links(blob)):
                counts[target] += 1
                if counts[target] <= MAX_REFERRERS:
                    first.setdefault(target, array("q")).append(page)
        return {target: Referrers(count, first.get(target, array("q"))) for target, count in counts.items()}

    def file_of(self, entry: UrlRecord, url: str) -> str | None:
        """The published file that holds the page, whose public address is `url`."""
        host = host_of(url) if self._subdomains else None
        place = self._place(host)
        if not entry.published or place is None:
            return None
        files = self._files(place)
        # The pages of a directory that has no section are in the default one.
        rows = files.get(self._sections(place).section_of(url)) or files.get(place.section, [])
        at = bisect_right(rows, (url, "\U0010ffff"))
        if not at:
            return None
        return f"{host}/{rows[at - 1][1]}" if host else rows[at - 1][1]

    def _stream(self, query: Select[Any]) -> Iterator[Any]:
        with closing(self._connection.execution_options(yield_per=STREAM_ROWS).execute(query)) as rows:
            yield from rows

    @cache  # noqa: B019 - an inventory is open for one command
    def _files(self, place: _Place) -> dict[str, list[tuple[str, str]]]:
        """By section: first URL and name of each file with pages, in order."""
        files: dict[str, list[tuple[str, str]]] = {}
        query = select(published.c.section, published.c.first, published.c.name).where(
            published.c.directory == place.directory,
            published.c.entry == place.entry,
            published.c.rules == place.rules,
            published.c.urls > 0,
            published.c.section.not_in(RESERVED_SECTIONS),
        )
        for row in self._connection.execute(query.order_by(published.c.first, published.c.name)):
            files.setdefault(row.section, []).append((row.first, row.name))
        return files

    @cache  # noqa: B019
    def _sections(self, place: _Place) -> Sections:
        """Those by which the files were made, whatever the options are now."""
        return Sections.from_signature(place.rules)

    @cached_property
    def _published_by(self) -> tuple[str | None, dict[str, Any]]:
        """The sitemap's URL and the options of the last run that has published."""
        good = runs.c.ended_by.in_(("finished", "limit")) & runs.c.outcome.in_(PUBLISHED)
        decided = select(runs.c.sitemap_url, runs.c.options).where(good).order_by(runs.c.id.desc()).limit(1)
        entry_url, options = self._connection.execute(decided).first() or (None, None)
        return entry_url, options or {}

    @property
    def _subdomains(self) -> bool:
        return bool(self._published_by[1].get("subdomains"))

    @cache  # noqa: B019
    def _place(self, host: str | None) -> _Place | None:
        """That of the set at the sitemap's own URL, or of the host's; without XML, the first text file."""
        entry_url, options = self._published_by
        columns = published.c.directory, published.c.entry, published.c.section, published.c.rules
        entries = select(*columns).where(
            published.c.name == published.c.entry, published.c.section.in_(("", TEXT_SECTION))
        )
        output = options.get("output", "")
        if host:
            output = f"{output}/{host}"
            entries = entries.where(published.c.directory == output)
        ours = (
            # Not a copy that was written elsewhere, when it can be told.
            (published.c.directory == output).desc(),
            (published.c.url == entry_url).desc(),
            (published.c.section == "").desc(),
            published.c.modified.desc(),
        )
        row = self._connection.execute(entries.order_by(*ours).limit(1)).first()
        return _Place(*row) if row is not None else None


@contextmanager
def open_inventory(path: Path) -> Iterator[Inventory]:
    """Raises NotAnInventoryError when the file is none that can be read, InventoryError when it is damaged."""
    path = path.absolute()
    _check_file(path)
    # Without a write-ahead log nobody writes, and SQLite, which would leave two files behind, is told so.
    still = not path.with_name(path.name + "-wal").exists()
    before = _stamp(path)
    engine = create_engine("sqlite://", creator=lambda: _connect(path, still=still), poolclass=NullPool)
    try:
        with engine.connect() as connection:
            yield Inventory(connection, _latest_run(connection, path))
    except SQLAlchemyError as error:
        if still and _stamp(path) != before:
            raise InventoryError(_changed(path)) from error
        reason = getattr(error, "orig", None) or error
        remedy = "make room on the disk, put a copy back, or remove the file and crawl anew"
        raise InventoryError(f"cannot read the inventory {path}: {reason}; {remedy}") from error
    if still and _stamp(path) != before:
        raise InventoryError(_changed(path))


def _connect(path: Path, *, still: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro{'&immutable=1' if still else ''}", uri=True, timeout=10)
    for pragma in ("query_only=ON", f"cache_size=-{CACHE_KIB}"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes with every write; None when the file is gone."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _changed(path: Path) -> str:
    return f"a crawl began to write the inventory {path} while it was read: run the same command again"


def _check_file(path: Path) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(len(SQLITE_MAGIC))
    except OSError as error:
        raise NotAnInventoryError(f"cannot read the inventory {path}: {error.strerror or error}") from error
    if start != SQLITE_MAGIC:
        raise NotAnInventoryError(f"{path} is not an inventory but a file of something else: give the right --state")


def _latest_run(connection: Connection, path: Path) -> LatestRun:
    version = None
    if inspect(connection).has_table(meta.name):
        version = connection.scalar(select(meta.c.value).where(meta.c.name == "schema_version"))
    if version is None:
        raise NotAnInventoryError(f"{path} is a database of something else: give the right --state")
    if version != str(SCHEMA_VERSION):
        raise NotAnInventoryError(
            f"the inventory {path} has schema version {version}, this release reads {SCHEMA_VERSION}: "
            "use the release that wrote it, or remove the file and crawl anew"
        )
    row = connection.execute(select(runs).order_by(runs.c.id.desc()).limit(1)).first()
    if row is None:
        raise NotAnInventoryError(f"the inventory {path} holds no crawl yet: crawl first")
    return LatestRun(
        row.id, row.requested_url, row.start_url, row.sitemap_url, row.started, row.ended_by, row.options or {}
    )


def _entry_query() -> Select[Any]:
    """Rows whose columns are the fields of UrlRecord, in their order."""
    referrer, canonical, target = (urls.alias(name) for name in ("referrers", "canonicals", "targets"))
    seen, decided = observations.c, decisions.c
    failing = seen.failed_since.is_not(None)
    never_asked = seen.blocked_by.is_not(None) & seen.status.is_(None)
    columns = (
        urls.c.id, urls.c.url, urls.c.state, urls.c.depth, urls.c.named, urls.c.unlinked_since.is_not(None),
        case((failing, seen.failed_status), else_=seen.status), case((failing, seen.failed_error), else_=seen.error),
        seen.blocked_by, case((never_asked, null()), else_=seen.fetched),
        decided.decision, decided.reason, decided.evidence,
        decided.lastmod, decided.lastmod_source, decided.lastmod_day,
        referrer.c.url.label("referrer_url"), canonical.c.url.label("canonical_url"), target.c.url.label("target_url"),
        seen.title, runs.c.started, listings.c.url_id.is_not(None),
    )  # fmt: skip
    return (
        select(*columns)
        .outerjoin(observations, seen.url_id == urls.c.id)
        .outerjoin(decisions, decided.url_id == urls.c.id)
        .outerjoin(referrer, referrer.c.id == urls.c.referrer)
        .outerjoin(canonical, canonical.c.id == seen.canonical)
        .outerjoin(target, target.c.id == func.coalesce(seen.location, seen.refresh))
        .outerjoin(runs, runs.c.id == urls.c.first_seen)
        .outerjoin(listings, listings.c.url_id == urls.c.id)
    )


_ENTRY = _entry_query()
