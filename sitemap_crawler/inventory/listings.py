"""The last published set of pages, and how the decisions of a run differ from it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, delete, func, literal, null, select, true
from sqlalchemy.dialects.sqlite import insert

from sitemap_crawler.inventory.schema import changes, decisions, listings, urls
from sitemap_crawler.inventory.sql import below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Select

_LISTED = decisions.c.decision == "listed"
_CHANGE_COLUMNS = ["url_id", "before", "after", "publication", "run", "kind"]


class Change(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class Changes(NamedTuple):
    """Pages added to, changed in (another lastmod) and removed from the sitemap since it was last published."""

    added: int = 0
    changed: int = 0
    removed: int = 0


def published_count(connection: Connection) -> int:
    """Pages in the last published set."""
    with connection.begin():
        return connection.scalar(select(func.count()).select_from(listings)) or 0


def changes_since_published(connection: Connection) -> Changes:
    with connection.begin():
        counts = {
            str(kind): connection.scalar(select(func.count()).select_from(query.subquery())) or 0
            for kind, query in _differences()
        }
    return Changes(**counts)


def differences_since_published(
    connection: Connection, *, limit: int
) -> dict[Change, list[tuple[str, float | None, float | None]]]:
    """URL, lastmod before and after, of the first `limit` pages of each change in the order of their URLs."""
    found = {}
    with connection.begin():
        for kind, query in _differences():
            rows = query.subquery()
            url_id, before, after = rows.c
            named = select(urls.c.url, before, after).join(urls, urls.c.id == url_id).order_by(urls.c.url).limit(limit)
            found[kind] = [(row[0], row[1], row[2]) for row in connection.execute(named)]
    return found


def next_publication(connection: Connection) -> int:
    """The number of the publication that follows the last one that changed anything."""
    with connection.begin():
        return (connection.scalar(select(func.max(changes.c.publication))) or 0) + 1


def remember_listed(connection: Connection, run: int, *, publication: int, prefix: str | None = None) -> None:
    """What is decided now is the published set, below `prefix` only if there is one; how it differs from the one before
    is kept with the run."""
    ours = None if prefix is None else select(urls.c.id).where(below(prefix))
    with connection.begin():
        for kind, difference in _differences():
            query = difference if ours is None else difference.where(difference.selected_columns[0].in_(ours))
            rows = query.add_columns(literal(publication), literal(run), literal(str(kind)))
            connection.execute(insert(changes).from_select(_CHANGE_COLUMNS, rows))
        gone = listings.c.url_id.not_in(select(decisions.c.url_id).where(_LISTED))
        now = select(decisions.c.url_id, decisions.c.lastmod).where(_LISTED)
        if ours is not None:
            now = now.where(decisions.c.url_id.in_(ours))
        theirs = true() if ours is None else listings.c.url_id.in_(ours)
        connection.execute(delete(listings).where(gone, theirs))
        statement = insert(listings).from_select(["url_id", "lastmod"], now)
        new = statement.excluded
        moved = listings.c.lastmod.is_distinct_from(new.lastmod)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=[listings.c.url_id], set_={"lastmod": new.lastmod}, where=moved
            )
        )


def _differences() -> Iterator[tuple[Change, Select[Any]]]:
    """URL, date before and date after, of the pages that the decisions add to, change in and remove from the set."""
    both = listings.c.url_id == decisions.c.url_id
    decided = decisions.outerjoin(listings, both)
    now = select(decisions.c.url_id, listings.c.lastmod, decisions.c.lastmod).select_from(decided).where(_LISTED)
    yield Change.ADDED, now.where(listings.c.url_id.is_(None))
    moved = listings.c.lastmod.is_distinct_from(decisions.c.lastmod)
    yield Change.CHANGED, now.where(listings.c.url_id.is_not(None), moved)
    kept = listings.outerjoin(decisions, and_(both, _LISTED))
    gone = select(listings.c.url_id, listings.c.lastmod, null()).select_from(kept)
    yield Change.REMOVED, gone.where(decisions.c.url_id.is_(None))
