"""Read-only access to an inventory, also while a crawl writes it. It takes no lock and leaves no file behind."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_right
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import case, create_engine, func, null, or_, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from sitemap_crawler.exceptions import (
    DamagedInventoryError,
    InventoryError,
    NotAnInventoryError,
    OldVersionError,
    OtherVersionError,
    SitemapCrawlerError,
)
from sitemap_crawler.inventory.damage import damage_message
from sitemap_crawler.inventory.migrations import is_old, stored_version, version_problem
from sitemap_crawler.inventory.opened import add_opened
from sitemap_crawler.inventory.runs import DECIDED, PUBLISHED
from sitemap_crawler.inventory.schema import (
    added_urls,
    decisions,
    frontier,
    listings,
    nofollowed,
    observations,
    published,
    runs,
    supplied,
    urls,
)
from sitemap_crawler.inventory.sql import STREAM_ROWS, chunks, decode_links, url_key
from sitemap_crawler.inventory.store import CACHE_KIB
from sitemap_crawler.inventory.supplied import NOT_REQUESTED
from sitemap_crawler.items import NoteKind, PageRendering
from sitemap_crawler.sitemap.names import PAGE_LIST_SECTION, RESERVED_SECTIONS, TEXT_SECTION
from sitemap_crawler.sitemap.sections import Sections
from sitemap_crawler.urls.normalise import host_of
from sitemap_crawler.utils.directories import check_database, open_regular
from sitemap_crawler.utils.replace import SQLITE_MAGIC

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from sqlalchemy import Connection, Select

    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.utils.patterns import UserPattern

MAX_REFERRERS = 20
"""Maximum number of linking pages that are shown for one URL. The others are only counted."""


@dataclass(frozen=True, slots=True)
class LatestRun:
    """The latest run of an inventory."""

    id: int
    requested_url: str
    start_url: str
    sitemap_url: str
    started: float
    """In seconds since 1970."""
    ended_by: str | None
    """`finished` if the run saw the whole site, `limit`, `repeats` or `refused`; None while open or if dropped."""
    options: dict[str, Any]


class UrlRecord(NamedTuple):
    """The facts that the inventory holds of one URL. Times are in seconds since 1970."""

    id: int
    url: str
    state: int
    depth: int
    named: int | None
    """Number of the latest run in which a foreign sitemap named the URL."""
    unlinked: bool
    """Whether nothing led to the URL in the last finished run. Referrer and depth are older then."""
    reached: bool
    """Whether something led to the URL in the last run that ended, finished or not."""
    status: int | None
    """Status of the last request; None if it had no answer."""
    error: str | None
    blocked_by: str | None
    last_fetched: float | None
    """Time of the observation, or of the last request if the URL never answered."""
    decision: str | None
    reason: str | None
    evidence: str | None
    lastmod: float | None
    lastmod_source: str | None
    lastmod_day: bool
    """Whether the lastmod has no time of day."""
    referrer: str | None
    canonical: str | None
    redirects_to: str | None
    title: str | None
    first_seen: float | None
    published: bool
    in_list: bool | None
    """Whether a list of the owner names the URL; False if only an access log does, None if neither."""
    visits: int | None
    """Number of visits in the access logs."""
    section: str | None
    """The section that a list supplies."""
    added: bool
    """Whether the owner has added the URL with `update add`."""
    waits: bool
    """Whether the run has still to request the URL, or has no observation of it yet."""


class Selection(NamedTuple):
    """The result of a search for URLs."""

    ids: array[int]
    """In the order of their URLs, eight bytes each, up to the limit."""
    matching: int
    """Number of matching URLs without the limit."""


class Referrers(NamedTuple):
    """The pages that link to a URL."""

    total: int
    ids: array[int]
    """Ids of the first MAX_REFERRERS pages."""


class _PublishedSet(NamedTuple):
    """The entry file of a published set, and the signature of its section rules."""

    directory: str
    entry: str
    section: str
    rules: str


class Inventory:
    """An inventory that is open for reading."""

    def __init__(self, connection: Connection, run: LatestRun) -> None:
        self.connection = connection
        self.run = run
        """The latest run, open or ended."""

    def find(self, wanted: Collection[str]) -> dict[str, UrlRecord]:
        """Return the records of the known ones among these URLs."""
        keys = [url_key(url) for url in wanted]
        records = (record for chunk in chunks(keys) for record in self._records(_RECORD.where(urls.c.key.in_(chunk))))
        return {record.url: record for record in records if record.url in wanted}

    def records(self, ids: Sequence[int]) -> list[UrlRecord]:
        """Return the records of known URLs in the order of `ids`."""
        by_id = {record.id: record for record in self._records(_RECORD.where(urls.c.id.in_(ids)))}
        return [by_id[url_id] for url_id in ids if url_id in by_id]

    def _records(self, query: Select[Any]) -> Iterator[UrlRecord]:
        yield from map(UrlRecord._make, self.connection.execute(query))

    def notes_of(self, url_id: int) -> dict[str, Any]:
        """Return the notes of the observation of a URL, by kind."""
        notes = self.connection.scalar(select(observations.c.notes).where(observations.c.url_id == url_id))
        return notes or {}

    def rendering_of(self, url_id: int) -> PageRendering | None:
        """Return what became of the rendering of a page; None if the page was read without `--render`."""
        query = select(observations.c.rendered, observations.c.rendering).where(observations.c.url_id == url_id)
        row = self.connection.execute(query).first()
        return None if row is None else PageRendering.from_stored(*row)

    def ids_noted(self, kinds: Iterable[str]) -> set[int]:
        """Return the ids of listed pages whose observation has a note of one of these kinds."""
        has_note = or_(*(observations.c.notes[kind].as_string().is_not(None) for kind in kinds))
        query = select(decisions.c.url_id).join(observations, observations.c.url_id == decisions.c.url_id)
        query = query.where(decisions.c.decision == "listed", observations.c.notes.is_not(None), has_note)
        return set(self.connection.scalars(query))

    def urls_of(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the URLs by their ids."""
        query = select(urls.c.id, urls.c.url)
        return {
            row.id: row.url
            for chunk in chunks(list(ids))
            for row in self.connection.execute(query.where(urls.c.id.in_(chunk)))
        }

    def count(self) -> int:
        """Return the number of known URLs."""
        return self.connection.scalar(select(func.count()).select_from(urls)) or 0

    def select(
        self,
        *,
        decision: str | None = None,
        reasons: Collection[str] = (),
        pattern: UserPattern | None = None,
        admits: Callable[[str], bool] | None = None,
        limit: int | None = None,
    ) -> Selection:
        """Return the URLs with this decision, these reasons and this pattern that `admits` admits, each if given.

        `decision` may be `unknown`. No query stays open while the result is used, which would let the write-ahead log
        of a crawl grow.
        """
        query = select(urls.c.id, urls.c.url).outerjoin(decisions, decisions.c.url_id == urls.c.id)
        if decision is not None:
            query = query.where(decisions.c.decision.is_not_distinct_from(None if decision == "unknown" else decision))
        if reasons:
            query = query.where(decisions.c.reason.in_(reasons))
        ids = array("q")
        matching = 0
        for url_id, url in self._stream(query.order_by(urls.c.url)):
            if (pattern is None or pattern.found_in(url)) and (admits is None or admits(url)):
                matching += 1
                if limit is None or matching <= limit:
                    ids.append(url_id)
        return Selection(ids, matching)

    def links_of(self, url: str, limit: int) -> list[str]:
        """Return at most `limit` URLs that a page links to."""
        query = select(observations.c.links).join(urls, urls.c.id == observations.c.url_id)
        blob = self.connection.scalar(query.where(urls.c.key == url_key(url)))
        ids = [url_id for url_id, _ in zip(decode_links(blob or b""), range(limit), strict=False)]
        return list(self.urls_of(ids).values())

    def leads_to(self, page: str, url_id: int) -> bool:
        """Return whether a page links, redirects or points as canonical to a URL."""
        seen = observations.c
        query = select(seen.location, seen.refresh, seen.canonical, seen.links)
        query = query.join(urls, urls.c.id == seen.url_id).where(urls.c.key == url_key(page))
        found = self.connection.execute(query).first()
        return found is not None and (url_id in found[:3] or url_id in decode_links(found.links or b""))

    def kept_links(self, wanted: Sequence[str]) -> dict[str, int]:
        """Return those of the pages whose links were cut, each with the number of links that were kept."""
        kept = observations.c.notes[NoteKind.MANY_LINKS].as_integer()
        query = select(urls.c.url, kept).join(observations, observations.c.url_id == urls.c.id)
        keys = [url_key(url) for url in wanted]
        return {
            url: number
            for chunk in chunks(keys)
            for url, number in self.connection.execute(query.where(urls.c.key.in_(chunk), kept.is_not(None)))
        }

    def nofollow_page(self, url: str) -> str | None:
        """Return the first page with a nofollow link to a URL that nothing else names, or None."""
        query = select(urls.c.url).join(nofollowed, nofollowed.c.referrer == urls.c.id)
        return self.connection.scalar(query.where(nofollowed.c.key == url_key(url)))

    def referrers(self, wanted: Iterable[int]) -> dict[int, Referrers]:
        """Return the pages that link to each of the URLs, by one scan over all links.

        A URL takes up to a kilobyte of memory.
        """
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

    def file_of(self, record: UrlRecord, url: str) -> str | None:
        """Return the published file that holds a page, or None. `url` is the public URL of the page."""
        host = host_of(url) if self._subdomains else None
        published_set = self._published_set(host)
        if not record.published or published_set is None:
            return None
        files = self._files(published_set)
        # Pages of a directory without a section of its own are in the default section.
        sections = self._sections(published_set)
        section = record.section if record.section and sections.supplied else sections.section_of(url)
        rows = files.get(section) or files.get(published_set.section, [])
        index = bisect_right(rows, (url, "\U0010ffff")) - 1
        if index < 0:
            return None
        return f"{host}/{rows[index][1]}" if host else rows[index][1]

    def _stream(self, query: Select[Any]) -> Iterator[Any]:
        with closing(self.connection.execution_options(yield_per=STREAM_ROWS).execute(query)) as rows:
            yield from rows

    @cache  # noqa: B019 - an inventory is open for one command
    def _files(self, published_set: _PublishedSet) -> dict[str, list[tuple[str, str]]]:
        """Return the first URL and the name of each file with pages, in their order, by section."""
        files: dict[str, list[tuple[str, str]]] = {}
        query = select(published.c.section, published.c.first, published.c.name).where(
            published.c.directory == published_set.directory,
            published.c.entry == published_set.entry,
            published.c.rules == published_set.rules,
            published.c.urls > 0,
            published.c.section.not_in(RESERVED_SECTIONS),
        )
        for row in self.connection.execute(query.order_by(published.c.first, published.c.name)):
            files.setdefault(row.section, []).append((row.first, row.name))
        return files

    @cache  # noqa: B019
    def _sections(self, published_set: _PublishedSet) -> Sections:
        """Return the rules by which the files were made. The options may have changed since."""
        return Sections.from_signature(published_set.rules)

    @cached_property
    def _published_by(self) -> tuple[str | None, dict[str, Any]]:
        """The sitemap URL and the options of the last run that has published."""
        good = runs.c.ended_by.in_(DECIDED) & runs.c.outcome.in_(PUBLISHED)
        decided = select(runs.c.sitemap_url, runs.c.options).where(good).order_by(runs.c.id.desc()).limit(1)
        entry_url, options = self.connection.execute(decided).first() or (None, None)
        return entry_url, options or {}

    @property
    def _subdomains(self) -> bool:
        return bool(self._published_by[1].get("subdomains"))

    @cache  # noqa: B019
    def _published_set(self, host: str | None) -> _PublishedSet | None:
        """Return the set at the sitemap URL, or that of the host. Without XML it is that of another format."""
        entry_url, options = self._published_by
        columns = published.c.directory, published.c.entry, published.c.section, published.c.rules
        entries = select(*columns).where(
            published.c.name == published.c.entry, published.c.section.in_(("", TEXT_SECTION, PAGE_LIST_SECTION))
        )
        output = options.get("output", "")
        if host:
            output = f"{output}/{host}"
            entries = entries.where(published.c.directory == output)
        order = (
            # Copies in other directories and at other URLs come last.
            (published.c.directory == output).desc(),
            (published.c.url == entry_url).desc(),
            (published.c.section == "").desc(),
            (published.c.section == TEXT_SECTION).desc(),
            published.c.modified.desc(),
        )
        row = self.connection.execute(entries.order_by(*order).limit(1)).first()
        return _PublishedSet(*row) if row is not None else None


@contextmanager
def open_inventory(location: StateLocation) -> Iterator[Inventory]:
    """Open an inventory for reading.

    Raises NotAnInventoryError if this release cannot read it, InventoryError if it is damaged.
    """
    add_opened(location)
    if isinstance(location, Path):
        with _open_file(location) as inventory:
            yield inventory
        return
    from sitemap_crawler.inventory.postgresql import reading

    with reading(location) as connection:
        try:
            yield Inventory(connection, _latest_run(connection, location))
        except (SitemapCrawlerError, OSError, SQLAlchemyError):
            raise
        except Exception as error:
            if message := damage_message(location, error):
                raise DamagedInventoryError(message) from error
            raise


@contextmanager
def _open_file(path: Path) -> Iterator[Inventory]:
    path = path.absolute()
    check_file(path)
    check_database(path)
    # Without a write-ahead log no process writes. SQLite then opens the file as immutable and creates no other files.
    immutable = not path.with_name(path.name + "-wal").exists()
    before = _stamp(path)
    engine = create_engine("sqlite://", creator=lambda: _connect(path, immutable=immutable), poolclass=NullPool)
    try:
        with engine.connect() as connection:
            yield Inventory(connection, _latest_run(connection, path))
    except (SitemapCrawlerError, OSError):
        raise
    except Exception as error:
        if immutable and _stamp(path) != before:
            raise InventoryError(_changed(path)) from error
        if message := damage_message(path, error):
            raise DamagedInventoryError(message) from error
        if not isinstance(error, SQLAlchemyError):
            raise
        reason = getattr(error, "orig", None) or error
        remedy = "free disk space, restore a copy, or remove the file and crawl again"
        raise InventoryError(f"cannot read the inventory {path}: {reason}; {remedy}") from error
    if immutable and _stamp(path) != before:
        raise InventoryError(_changed(path))


def _connect(path: Path, *, immutable: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro{'&immutable=1' if immutable else ''}", uri=True, timeout=10)
    for pragma in ("query_only=ON", f"cache_size=-{CACHE_KIB}"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return modification time and size, which change with every write; None if the file is gone."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _changed(path: Path) -> str:
    return f"another command began to write the inventory {path} while it was read: run the same command again"


def check_file(path: Path) -> None:
    """Raise NotAnInventoryError for a file that is no database, or cannot be read."""
    try:
        with open_regular(path) as file:
            start = file.read(len(SQLITE_MAGIC))
    except OSError as error:
        raise NotAnInventoryError(f"cannot read the inventory {path}: {error.strerror or error}") from error
    if start != SQLITE_MAGIC:
        raise NotAnInventoryError(f"{path} is not an inventory but another kind of file: give the right --state")


def _latest_run(connection: Connection, path: StateLocation) -> LatestRun:
    version = stored_version(connection)
    if version is None:
        raise NotAnInventoryError(f"{path} is a database of another program: give the right --state")
    if problem := version_problem(path, version):
        raise OtherVersionError(problem)
    if is_old(version):
        raise OldVersionError(
            f"the inventory {path} has schema version {version} of an earlier release: the next crawl or write "
            f"migrates it, and so does sitemap-crawler check-inventory --migrate --state {path}",
            location=path,
        )
    row = connection.execute(select(runs).order_by(runs.c.id.desc()).limit(1)).first()
    if row is None:
        raise NotAnInventoryError(f"the inventory {path} holds no crawl yet: crawl first")
    return LatestRun(
        row.id, row.requested_url, row.start_url, row.sitemap_url, row.started, row.ended_by, row.options or {}
    )


def _record_query() -> Select[Any]:
    """Return a query whose columns are the fields of UrlRecord, in their order."""
    referrer, canonical, target = (urls.alias(name) for name in ("referrers", "canonicals", "targets"))
    seen, decided = observations.c, decisions.c
    failing = seen.failed_since.is_not(None)
    never_asked = (seen.blocked_by.is_not(None) & seen.status.is_(None)) | (seen.error == NOT_REQUESTED)
    columns = (
        urls.c.id, urls.c.url, urls.c.state, urls.c.depth, urls.c.named, urls.c.unlinked_since.is_not(None),
        urls.c.inlinks.is_not(None),
        case((failing, seen.failed_status), else_=seen.status), case((failing, seen.failed_error), else_=seen.error),
        seen.blocked_by, case((never_asked, null()), else_=seen.fetched),
        decided.decision, decided.reason, decided.evidence,
        decided.lastmod, decided.lastmod_source, decided.lastmod_day,
        referrer.c.url.label("referrer_url"), canonical.c.url.label("canonical_url"), target.c.url.label("target_url"),
        seen.title, runs.c.started, listings.c.url_id.is_not(None),
        supplied.c.listed, supplied.c.visits, supplied.c.section, added_urls.c.url_id.is_not(None),
        frontier.c.url_id.is_not(None),
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
        .outerjoin(supplied, supplied.c.url_id == urls.c.id)
        .outerjoin(added_urls, added_urls.c.url_id == urls.c.id)
        .outerjoin(frontier, frontier.c.url_id == urls.c.id)
    )


_RECORD = _record_query()
