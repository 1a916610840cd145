"""The URLs that the owner names: in lists, with values for their entries, by access logs, and with `update add`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import (
    case,
    delete,
    exists,
    false,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
    true,
    update,
)

from sitemap_crawler.inventory.dialects import insert, json_text
from sitemap_crawler.inventory.named_dates import CredibleDates
from sitemap_crawler.inventory.schema import (
    added_urls,
    decisions,
    listings,
    meta,
    named_dates,
    observations,
    supplied,
    urls,
)
from sitemap_crawler.inventory.sql import STREAM_ROWS, RowStatement, chunks
from sitemap_crawler.policy.lastmod import UNDATED, Dated
from sitemap_crawler.sitemap.video import Video

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import Connection, Select

    from sitemap_crawler.inventory.store import Store


NOT_REQUESTED = "not requested: a list supplies it"
"""Error in the observation of a URL that was written from a list and never requested."""
_MOVED = "supplied_moved"
"""Row of `meta` with the latest run in which a published page got another section by a list."""


class Supplied(NamedTuple):
    """The values of one entry."""

    section: str | None = None
    extras: dict[str, Any] | None = None
    """`images` and `videos`, as in an observation."""

    @property
    def videos(self) -> tuple[Video, ...]:
        return tuple(map(Video.from_fields, (self.extras or {}).get("videos", ())))


class SuppliedUrl(NamedTuple):
    """A known URL, for a set that is written from lists only."""

    id: int
    url: str
    named: bool
    """Whether a list of the run names it."""
    dated: Dated


class Visited(NamedTuple):
    """A URL that visitors ask for and that is not listed."""

    url: str
    visits: int
    reason: str
    evidence: str | None

    @property
    def message(self) -> str:
        times = "once" if self.visits == 1 else f"{self.visits:,} times"
        why = f"{self.reason}: {self.evidence}" if self.evidence else self.reason
        return f"visited {times} by the access logs, and not listed ({why})"


def _list_statement() -> RowStatement:
    """Return the statement that stores an entry of a list. In one run the first value of each kind counts."""
    statement = insert(supplied)
    new, old = statement.excluded, supplied.c
    is_new_run = old.run < new.run
    upsert = statement.on_conflict_do_update(
        index_elements=[old.url_id],
        set_={
            "run": new.run,
            "listed": true(),
            "visits": case((is_new_run, null()), else_=old.visits),
            "section": case((is_new_run, new.section), else_=func.coalesce(old.section, new.section)),
            "extras": case((is_new_run, new.extras), else_=func.coalesce(old.extras, new.extras)),
        },
    )
    return RowStatement(upsert, ("url_id", "run", "listed", "section", "extras"))


def _visit_statement() -> RowStatement:
    """Return the statement that adds visits of a URL."""
    statement = insert(supplied)
    new, old = statement.excluded, supplied.c
    is_new_run = old.run < new.run
    upsert = statement.on_conflict_do_update(
        index_elements=[old.url_id],
        set_={
            "run": new.run,
            "listed": case((is_new_run, false()), else_=old.listed),
            "visits": case((is_new_run, new.visits), else_=func.coalesce(old.visits, literal_column("0")) + new.visits),
            "section": case((is_new_run, null()), else_=old.section),
            "extras": case((is_new_run, null()), else_=old.extras),
        },
    )
    return RowStatement(upsert, ("url_id", "run", "listed", "visits"))


_STORE = _list_statement()
_ADD_VISITS = _visit_statement()


def store_supplied(connection: Connection, run: int, entries: Mapping[int, Supplied]) -> None:
    """Store entries of a list by the ids of their URLs."""
    rows = [
        {
            "url_id": url_id,
            "run": run,
            "listed": True,
            "section": entry.section,
            "extras": json.dumps(entry.extras) if entry.extras else None,
        }
        for url_id, entry in entries.items()
    ]
    with connection.begin():
        _note_moves(connection, run, {url_id: entry.section for url_id, entry in entries.items()})
        _STORE.execute(connection, rows)


def _note_moves(connection: Connection, run: int, sections: Mapping[int, str | None]) -> None:
    """Note that a published page gets another section than it had: its files must not be replaced one by one."""
    query = select(listings.c.url_id, supplied.c.section, supplied.c.run)
    query = query.outerjoin(supplied, supplied.c.url_id == listings.c.url_id)
    for chunk in chunks(list(sections)):
        for url_id, before, stored in connection.execute(query.where(listings.c.url_id.in_(list(chunk)))):
            # In one run the first list with a section counts.
            now = before if before is not None and stored == run else sections[url_id]
            if before != now:
                _store_move(connection, run)
                return


def _store_move(connection: Connection, run: int) -> None:
    connection.execute(delete(meta).where(meta.c.name == _MOVED))
    connection.execute(meta.insert().values(name=_MOVED, value=str(run)))


def add_visits(connection: Connection, run: int, visits: Mapping[int, int]) -> None:
    """Add numbers of visits by the ids of the URLs."""
    rows = [{"url_id": url_id, "run": run, "listed": False, "visits": count} for url_id, count in visits.items()]
    with connection.begin():
        _ADD_VISITS.execute(connection, rows)


def reset_visits(connection: Connection, run: int) -> None:
    """Forget the visits of this run: its access logs are read anew."""
    with connection.begin():
        connection.execute(delete(supplied).where(supplied.c.run == run, ~supplied.c.listed))
        connection.execute(update(supplied).where(supplied.c.run == run).values(visits=None))


def observe_supplied(connection: Connection, run: int, *, now: float) -> None:
    """Store an observation for each URL of the run's lists that has none: each listed page has one."""
    seen = observations.c
    columns = (seen.url_id, seen.run, seen.fetched, seen.error, seen.body_bytes, seen.noindex, seen.nofollow)
    values = (literal(run), literal(now), literal(NOT_REQUESTED), literal(0), false(), false())
    new = select(supplied.c.url_id, *values).where(
        supplied.c.run == run, supplied.c.listed, supplied.c.url_id.not_in(select(seen.url_id))
    )
    with connection.begin():
        connection.execute(insert(observations).from_select(columns, new, include_defaults=False))


def forget_unnamed(connection: Connection, run: int) -> None:
    """Delete the URLs that no list and no log of this run names. All of them have been read to their end."""
    unnamed = supplied.c.run < run
    published = supplied.c.url_id.in_(select(listings.c.url_id))
    with connection.begin():
        if connection.scalar(select(exists().where(unnamed, published, supplied.c.section.is_not(None)))):
            _store_move(connection, run)
        connection.execute(delete(supplied).where(unnamed))


def has_supplied_values(connection: Connection) -> bool:
    """Return whether a list supplies a section, an image or a video."""
    return bool(
        connection.scalar(select(exists().where(or_(supplied.c.section.is_not(None), supplied.c.extras.is_not(None)))))
    )


def supplied_sections(connection: Connection) -> tuple[list[str], int]:
    """Return the sections that the lists name, and the number for `Sections.supplied`: 0 without any."""
    query = select(supplied.c.section).distinct().where(supplied.c.section.is_not(None))
    with connection.begin():
        names = list(connection.scalars(query.order_by(supplied.c.section)))
        moved = connection.scalar(select(meta.c.value).where(meta.c.name == _MOVED))
    return names, 1 + int(moved or 0) if names else 0


def supplied_of(connection: Connection, ids: Sequence[int]) -> dict[int, Supplied]:
    """Return the entries with values by the ids of their URLs."""
    query = select(supplied.c.url_id, supplied.c.section, json_text(supplied.c.extras))
    query = query.where(or_(supplied.c.section.is_not(None), supplied.c.extras.is_not(None)))
    return {
        url_id: Supplied(section, json.loads(extras) if extras else None)
        for chunk in chunks(ids)
        for url_id, section, extras in connection.execute(query.where(supplied.c.url_id.in_(list(chunk))))
    }


def supplied_urls(store: Store, run: int) -> Iterator[SuppliedUrl]:
    """Yield every known URL with its credible date in the lists of the run."""
    named, dates = func.coalesce(supplied.c.listed, false()), named_dates.c
    in_run = (dates.url_id == urls.c.id) & (dates.run == run)
    query = select(urls.c.id, urls.c.url, named, dates.sitemap, dates.lastmod, dates.source, dates.lastmod_day)
    query = query.outerjoin(supplied, (supplied.c.url_id == urls.c.id) & (supplied.c.run == run))
    query = query.outerjoin(named_dates, in_run)
    with store.reader() as connection:
        credible = CredibleDates(connection)
        for url_id, url, is_named, sitemap, lastmod, source, day in connection.execution_options(
            yield_per=STREAM_ROWS
        ).execute(query):
            believed = lastmod is not None and credible.believes(sitemap, lastmod)
            dated = Dated(lastmod, source, bool(day)) if believed else UNDATED
            yield SuppliedUrl(url_id, url, bool(is_named), dated)


def store_added(connection: Connection, ids: Sequence[int], *, now: float) -> list[int]:
    """Store that the owner has added these URLs, so that they are no orphans. Return those that were not added yet."""
    with connection.begin():
        known = {url_id for chunk in chunks(ids) for url_id in connection.scalars(_added(chunk))}
        new = [url_id for url_id in ids if url_id not in known]
        if new:
            connection.execute(insert(added_urls), [{"url_id": url_id, "added": now} for url_id in new])
        for chunk in chunks(ids):
            connection.execute(update(urls).where(urls.c.id.in_(chunk)).values(unlinked_since=None))
    return new


def forget_added(connection: Connection, ids: Sequence[int]) -> None:
    """Delete what `store_added` has stored of these URLs."""
    with connection.begin():
        for chunk in chunks(ids):
            connection.execute(delete(added_urls).where(added_urls.c.url_id.in_(chunk)))


def _added(ids: Sequence[int]) -> Select[Any]:
    return select(added_urls.c.url_id).where(added_urls.c.url_id.in_(ids))


def visited_and_unlisted(store: Store) -> Iterator[Visited]:
    """Yield the URLs that visitors ask for and that are not listed, the most visited first."""
    query = (
        select(urls.c.url, supplied.c.visits, decisions.c.reason, decisions.c.evidence)
        .join(urls, urls.c.id == supplied.c.url_id)
        .join(decisions, decisions.c.url_id == supplied.c.url_id)
        .where(supplied.c.visits.is_not(None), decisions.c.decision != "listed")
        .order_by(supplied.c.visits.desc(), urls.c.url)
    )
    with store.reader() as connection:
        yield from map(Visited._make, connection.execution_options(yield_per=STREAM_ROWS).execute(query))
