"""The last published set: its pages, how decisions differ from it, its files, and the pages that changed last."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sqlalchemy import and_, delete, func, literal, null, select, true, update

from sitemap_crawler.inventory.dialects import insert
from sitemap_crawler.inventory.schema import changes, decisions, listings, meta, observations, published, runs, urls
from sitemap_crawler.inventory.sql import chunks, has_prefix, url_key
from sitemap_crawler.sitemap.names import PAGE_LIST_SECTION
from sitemap_crawler.sitemap.records import PublishedFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import ColumnElement, Connection, Select

_LISTED = decisions.c.decision == "listed"
FORGOTTEN_PUBLICATION = "forgotten_publication"
"""Name of the row of `meta` with the newest publication whose changes are no longer stored."""
_UNPUBLISHED = "unpublished"
"""Row of `meta` that is there while decisions, or observations of `update`, may differ from the published set."""
_CHANGE_COLUMNS = ["url_id", "before", "after", "publication", "run", "kind"]


class Change(StrEnum):
    """The way in which a publication changes a page of the set."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class Changes(NamedTuple):
    """Numbers of pages that are added to, changed in (another lastmod) and removed from the published set."""

    added: int = 0
    changed: int = 0
    removed: int = 0


def published_count(connection: Connection) -> int:
    """Return the number of pages in the last published set."""
    with connection.begin():
        return connection.scalar(select(func.count()).select_from(listings)) or 0


def changes_since_published(connection: Connection) -> Changes:
    """Return the number of differences between the decisions and the last published set."""
    with connection.begin():
        counts = {
            str(kind): connection.scalar(select(func.count()).select_from(query.subquery())) or 0
            for kind, query in _differences()
        }
    return Changes(**counts)


def differences_since_published(
    connection: Connection, *, limit: int
) -> dict[Change, list[tuple[str, float | None, float | None]]]:
    """Return the first `limit` pages of each change by URL: the URL, the lastmod before, and the lastmod after."""
    differences = {}
    with connection.begin():
        for kind, query in _differences():
            rows = query.subquery()
            url_id, before, after = rows.c
            named = select(urls.c.url, before, after).join(urls, urls.c.id == url_id).order_by(urls.c.url).limit(limit)
            differences[kind] = [(row[0], row[1], row[2]) for row in connection.execute(named)]
    return differences


def first_and_last_listed(connection: Connection, *, prefix: str | None = None) -> list[str]:
    """Return the first and the last of the listed pages by URL, as crawled; with `prefix` of those below it."""
    query = select(func.min(urls.c.url), func.max(urls.c.url)).join(decisions, decisions.c.url_id == urls.c.id)
    query = query.where(_LISTED) if prefix is None else query.where(_LISTED, has_prefix(prefix))
    with connection.begin():
        return [url for url in connection.execute(query).one() if url is not None]


def next_publication(connection: Connection) -> int:
    """Return the number that follows that of the last publication with changes."""
    with connection.begin():
        return latest_publication(connection) + 1


def latest_publication(connection: Connection) -> int:
    """Return the number of the last publication with changes, also if they are no longer stored; 0 without one."""
    newest: int = connection.scalar(select(func.max(changes.c.publication))) or 0
    return max(newest, forgotten_publication(connection))


def forgotten_publication(connection: Connection) -> int:
    """Return the newest publication whose changes are no longer stored; 0 without one."""
    return int(connection.scalar(select(meta.c.value).where(meta.c.name == FORGOTTEN_PUBLICATION)) or 0)


def store_published_pages(connection: Connection, run: int, *, publication: int, prefix: str | None = None) -> None:
    """Make the listed pages the published set, and store the differences between both as changes of the run.

    With `prefix` only pages below it are replaced.
    """
    chosen = None if prefix is None else select(urls.c.id).where(has_prefix(prefix))
    with connection.begin():
        for kind, difference in _differences():
            query = difference if chosen is None else difference.where(difference.selected_columns[0].in_(chosen))
            rows = query.add_columns(literal(publication), literal(run), literal(str(kind)))
            connection.execute(insert(changes).from_select(_CHANGE_COLUMNS, rows))
        unlisted = listings.c.url_id.not_in(select(decisions.c.url_id).where(_LISTED))
        now = select(decisions.c.url_id, decisions.c.lastmod).where(_LISTED)
        if chosen is not None:
            now = now.where(decisions.c.url_id.in_(chosen))
        replaced = true() if chosen is None else listings.c.url_id.in_(chosen)
        connection.execute(delete(listings).where(unlisted, replaced))
        statement = insert(listings).from_select(["url_id", "lastmod"], now)
        new = statement.excluded
        redated = listings.c.lastmod.is_distinct_from(new.lastmod)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=[listings.c.url_id], set_={"lastmod": new.lastmod}, where=redated
            )
        )


def store_published_changes(connection: Connection, run: int, ids: Sequence[int], *, publication: int) -> None:
    """Make the decisions on these URLs those of the published set, and store the differences as changes of the run.

    The decisions on all other URLs are published.
    """
    with connection.begin():
        for chunk in chunks(ids):
            for kind, difference in _differences():
                query = difference.where(difference.selected_columns[0].in_(chunk))
                rows = query.add_columns(literal(publication), literal(run), literal(str(kind)))
                connection.execute(insert(changes).from_select(_CHANGE_COLUMNS, rows))
            connection.execute(delete(listings).where(listings.c.url_id.in_(chunk)))
            now = select(decisions.c.url_id, decisions.c.lastmod).where(_LISTED, decisions.c.url_id.in_(chunk))
            connection.execute(insert(listings).from_select(["url_id", "lastmod"], now))
        connection.execute(delete(meta).where(meta.c.name == _UNPUBLISHED))


def published_dates(connection: Connection, ids: Sequence[int]) -> dict[int, float | None]:
    """Return the lastmods of those of the URLs that the published set has, by id."""
    query = select(listings.c.url_id, listings.c.lastmod)
    with connection.begin():
        return {
            row.url_id: row.lastmod
            for chunk in chunks(ids)
            for row in connection.execute(query.where(listings.c.url_id.in_(chunk)))
        }


def mark_unpublished(connection: Connection) -> None:
    """Record that decisions are about to differ from the published set."""
    statement = insert(meta).values(name=_UNPUBLISHED, value="1")
    with connection.begin():
        connection.execute(statement.on_conflict_do_nothing())


def mark_published(connection: Connection) -> None:
    """Record that the published set is that of the decisions."""
    with connection.begin():
        connection.execute(delete(meta).where(meta.c.name == _UNPUBLISHED))


def is_unpublished(connection: Connection) -> bool:
    """Return whether decisions may differ from the published set."""
    with connection.begin():
        return connection.scalar(select(meta.c.name).where(meta.c.name == _UNPUBLISHED)) is not None


def _differences() -> Iterator[tuple[Change, Select[Any]]]:
    """Yield for each change a query of its pages: the URL id, the lastmod before, and the lastmod after."""
    both = listings.c.url_id == decisions.c.url_id
    decided = decisions.outerjoin(listings, both)
    now = select(decisions.c.url_id, listings.c.lastmod, decisions.c.lastmod).select_from(decided).where(_LISTED)
    yield Change.ADDED, now.where(listings.c.url_id.is_(None))
    redated = listings.c.lastmod.is_distinct_from(decisions.c.lastmod)
    yield Change.CHANGED, now.where(listings.c.url_id.is_not(None), redated)
    before = listings.outerjoin(decisions, and_(both, _LISTED))
    removed = select(listings.c.url_id, listings.c.lastmod, null()).select_from(before)
    yield Change.REMOVED, removed.where(decisions.c.url_id.is_(None))


class Publications:
    """The published files of one set: those that belong to the entry file `entry` in `directory`.

    The next publication of the set may replace and remove them.
    """

    def __init__(self, connection: Connection, directory: Path, entry: str) -> None:
        self._connection = connection
        self._where = {"directory": str(directory.absolute()), "entry": entry}

    def files(self) -> list[PublishedFile]:
        """Return the files of the set by name."""
        with self._connection.begin():
            rows = self._connection.execute(select(published).where(*self._conditions()).order_by(published.c.name))
            return [
                PublishedFile(
                    row.name,
                    row.url,
                    row.urls,
                    row.bytes,
                    row.sha256,
                    datetime.fromtimestamp(row.modified, UTC),
                    row.first,
                    row.section,
                    row.rules,
                )
                for row in rows
            ]

    def announce(self, files: Iterable[PublishedFile]) -> None:
        """Add files that are about to be published. If the process is killed, the next one knows that they are ours."""
        rows = self._rows(files)
        if rows:
            with self._connection.begin():
                self._connection.execute(insert(published), rows)

    def replace(self, files: Iterable[PublishedFile]) -> None:
        """Make these the files of the set."""
        rows = self._rows(files)
        with self._connection.begin():
            self._connection.execute(delete(published).where(*self._conditions()))
            if rows:
                self._connection.execute(insert(published), rows)

    def _conditions(self) -> list[ColumnElement[bool]]:
        return [published.c[name] == value for name, value in self._where.items()]

    def _rows(self, files: Iterable[PublishedFile]) -> list[dict[str, Any]]:
        return [
            {
                **self._where,
                "name": file.name,
                "url": file.url,
                "urls": file.urls,
                "bytes": file.bytes,
                "sha256": file.sha256,
                "modified": file.modified.timestamp(),
                "first": file.first,
                "section": file.section,
                "rules": file.rules,
            }
            for file in files
        ]


def publications_in(connection: Connection, directory: Path) -> list[Publications]:
    """Return the sets of all entry files in the directory."""
    query = select(published.c.entry).where(published.c.directory == str(directory.absolute())).distinct()
    with connection.begin():
        return [Publications(connection, directory, entry) for entry in connection.scalars(query)]


def published_urls(connection: Connection) -> set[str]:
    """Return the public URLs of all published files, of every set."""
    with connection.begin():
        return set(connection.scalars(select(published.c.url)))


def page_list_urls(connection: Connection) -> set[str]:
    """Return the public URLs of the files of all published page lists."""
    with connection.begin():
        return set(connection.scalars(select(published.c.url).where(published.c.section == PAGE_LIST_SECTION)))


def forget_links_of(connection: Connection, pages: Iterable[str]) -> None:
    """Delete the stored links of the pages with these URLs, as crawled. A page that answers 304 keeps its links."""
    keys = [url_key(url) for url in pages]
    with connection.begin():
        for chunk in chunks(keys):
            ids = select(urls.c.id).where(urls.c.key.in_(chunk))
            linked = observations.c.url_id.in_(ids) & observations.c.links.is_not(None)
            connection.execute(update(observations).where(linked).values(links=None))


class RecentPage(NamedTuple):
    """A page that changed recently, for a feed."""

    url: str
    title: str | None
    changed: float
    """In seconds since 1970."""
    kind: Literal["added", "changed"]


def recent_pages(connection: Connection, *, limit: int, prefix: str | None = None) -> Iterator[RecentPage]:
    """Yield the `limit` listed pages with the newest dates, newest first. With `prefix` only pages below it.

    A page without a date has that of the run that added it. Undated pages of the first publication are left out, as it
    is unknown when they appeared.
    """
    seen = (changes.c.publication > 1) & changes.c.kind.in_((str(Change.ADDED), str(Change.CHANGED)))
    last = select(changes.c.url_id, func.max(changes.c.publication).label("publication")).where(seen)
    latest = last.group_by(changes.c.url_id).subquery()
    moment = func.coalesce(decisions.c.lastmod, runs.c.started)
    kind = func.coalesce(changes.c.kind, str(Change.CHANGED))
    query = (
        select(urls.c.url, observations.c.title, moment, kind)
        .select_from(decisions)
        .join(urls, urls.c.id == decisions.c.url_id)
        .join(observations, observations.c.url_id == decisions.c.url_id)
        .outerjoin(latest, latest.c.url_id == decisions.c.url_id)
        .outerjoin(changes, and_(changes.c.url_id == latest.c.url_id, changes.c.publication == latest.c.publication))
        .outerjoin(runs, runs.c.id == changes.c.run)
        .where(decisions.c.decision == "listed", moment.is_not(None), has_prefix(prefix))
        .order_by(moment.desc(), urls.c.url)
        .limit(limit)
    )
    for row in connection.execute(query):
        yield RecentPage(*row)
