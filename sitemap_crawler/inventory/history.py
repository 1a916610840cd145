"""Past runs: what each of them changed in the published set, how the sets after two of them differ, what is kept."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import islice
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, case, delete, func, or_, select
from sqlalchemy.dialects.sqlite import insert

from sitemap_crawler.exceptions import UnknownRunError
from sitemap_crawler.inventory.publications import Change, Changes
from sitemap_crawler.inventory.schema import changes, meta, runs, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Select

    from sitemap_crawler.inventory.lookup import Inventory

BATCH_URLS = 500
_FORGOTTEN = "forgotten_runs"
"""The row of `meta` with the newest run whose changes are not kept any more."""
_KINDS = tuple(Change)
_INVERSE = {Change.ADDED: Change.REMOVED, Change.CHANGED: Change.CHANGED, Change.REMOVED: Change.ADDED}


class PastRun(NamedTuple):
    """Times in seconds since 1970."""

    id: int
    started: float
    finished: float | None
    outcome: str | None
    """None while it is open."""
    ended_by: str | None
    sitemap_url: str
    changes: Changes | None
    """None when they are not kept any more."""


class Difference(NamedTuple):
    """The lastmods in seconds since 1970, None where there is none."""

    kind: Change
    url: str
    before: float | None
    after: float | None


class _Publication(NamedTuple):
    number: int
    run: int


class _Span(NamedTuple):
    start: int | None
    end: int
    publications: list[_Publication]


@dataclass(slots=True)
class Differences:
    """Between the set after the run `start` and the one after `end`, in the order of their URLs. A URL takes 25 bytes,
    so that nothing is held open while they are used, which would keep a crawl's write-ahead log growing."""

    connection: Connection
    start: int | None
    """None when nothing came before."""
    end: int
    _ids: array[int] = field(default_factory=lambda: array("q"))
    _kinds: bytearray = field(default_factory=bytearray)
    _dates: array[float] = field(default_factory=lambda: array("d"))

    def of_kinds(self, *kinds: Change) -> Iterator[Difference]:
        numbers = {_KINDS.index(kind) for kind in kinds}
        wanted = (at for at, kind in enumerate(self._kinds) if kind in numbers)
        while batch := list(islice(wanted, BATCH_URLS)):
            query = select(urls.c.id, urls.c.url).where(urls.c.id.in_([self._ids[at] for at in batch]))
            names = {row.id: row.url for row in self.connection.execute(query)}
            for at in batch:
                before, after = (None if isnan(date) else date for date in self._dates[2 * at : 2 * at + 2])
                yield Difference(_KINDS[self._kinds[at]], names[self._ids[at]], before, after)

    def counts(self) -> Changes:
        return Changes(**{str(kind): self._kinds.count(number) for number, kind in enumerate(_KINDS)})

    def add(self, url_id: int, kind: Change, before: float | None, after: float | None) -> None:
        self._ids.append(url_id)
        self._kinds.append(_KINDS.index(kind))
        self._dates.extend(nan if date is None else date for date in (before, after))


def reading(inventory: Inventory) -> Connection:
    """The connection over which an open inventory is read."""
    return inventory._connection


def past_runs(connection: Connection) -> list[PastRun]:
    """The newest first."""
    forgotten = _forgotten(connection)
    counts = _counts(connection)
    columns = (runs.c.id, runs.c.started, runs.c.finished, runs.c.outcome, runs.c.ended_by, runs.c.sitemap_url)
    return [
        PastRun(*row, None if row.id <= forgotten else counts.get(row.id, Changes()))
        for row in connection.execute(select(*columns).order_by(runs.c.id.desc()))
    ]


def find_differences(connection: Connection, *numbers: int) -> Differences:
    """Of the last publication, of one run, or from the set after one run to the set after another.

    Raises UnknownRunError.
    """
    span = _span_between(connection, *numbers) if numbers else _last_publication(connection)
    found = Differences(connection, span.start, span.end)
    if not span.publications:
        return found
    backwards = span.start is not None and span.start > span.end
    composed = _composed(span.publications[0].number, span.publications[-1].number).subquery()
    query = select(composed).join(urls, urls.c.id == composed.c.url_id).order_by(urls.c.url)
    with connection.execute(query, execution_options={"yield_per": STREAM_ROWS}) as rows:
        for url_id, kind, before, after in rows:
            if backwards:
                found.add(url_id, _INVERSE[Change(kind)], after, before)
            else:
                found.add(url_id, Change(kind), before, after)
    return found


def delete_old_changes(connection: Connection, keep: int) -> None:
    """Let go of what runs before the newest `keep` changed. The rows of the runs stay: they are few, and others tell
    their times by them."""
    with connection.begin():
        oldest = connection.scalar(select(runs.c.id).order_by(runs.c.id.desc()).offset(keep - 1).limit(1))
        last = connection.scalar(select(func.max(runs.c.id)).where(runs.c.id < oldest)) if oldest else None
        if last is None or last <= _forgotten(connection):
            return
        gone = [publication.number for publication in _publications(connection) if publication.run <= last]
        if gone:
            connection.execute(delete(changes).where(changes.c.publication <= gone[-1]))
        statement = insert(meta).values(name=_FORGOTTEN, value=str(last))
        new = {"value": statement.excluded.value}
        connection.execute(statement.on_conflict_do_update(index_elements=[meta.c.name], set_=new))


def _forgotten(connection: Connection) -> int:
    """0 when all is kept."""
    return int(connection.scalar(select(meta.c.value).where(meta.c.name == _FORGOTTEN)) or 0)


def _publications(connection: Connection) -> Iterator[_Publication]:
    """Those that changed something, the oldest first. Each is looked up in the index: together they may have millions
    of rows. A later one belongs to the same run or to a later one."""
    number = 0
    query = select(changes.c.publication, changes.c.run).order_by(changes.c.publication).limit(1)
    while row := connection.execute(query.where(changes.c.publication > number)).first():
        yield _Publication(*row)
        number = row.publication


def _composed(first: int, last: int) -> Select[Any]:
    """URL, kind, date before and date after of what the publications from `first` to `last` come to."""
    touched = (
        select(changes.c.url_id, func.min(changes.c.publication).label("first"), func.max(changes.c.publication))
        .where(changes.c.publication.between(first, last))
        .group_by(changes.c.url_id)
        .subquery()
    )
    _, first_column, last_column = touched.c
    opening, closing = changes.alias("opening"), changes.alias("closing")
    was, stays = opening.c.kind != str(Change.ADDED), closing.c.kind != str(Change.REMOVED)
    kind = case((and_(was, stays), str(Change.CHANGED)), (stays, str(Change.ADDED)), else_=str(Change.REMOVED))
    return (
        select(touched.c.url_id, kind.label("kind"), opening.c.before, closing.c.after)
        .join(opening, and_(opening.c.publication == first_column, opening.c.url_id == touched.c.url_id))
        .join(closing, and_(closing.c.publication == last_column, closing.c.url_id == touched.c.url_id))
        .where(or_(was != stays, and_(was, stays, opening.c.before.is_distinct_from(closing.c.after))))
    )


def _counts(connection: Connection) -> dict[int, Changes]:
    """By run."""
    of_run: dict[int, list[int]] = {}
    for publication in _publications(connection):
        of_run.setdefault(publication.run, []).append(publication.number)
    counts = {}
    for run, numbers in of_run.items():
        # What one publication changed needs no composing, and may be a million rows.
        once = select(changes.c.kind).where(changes.c.publication == numbers[0])
        rows = (once if len(numbers) == 1 else _composed(numbers[0], numbers[-1])).subquery()
        query = select(rows.c.kind, func.count()).group_by(rows.c.kind)
        counts[run] = Changes(**{row[0]: row[1] for row in connection.execute(query)})
    return counts


def _last_publication(connection: Connection) -> _Span:
    """A run that changed nothing has published, too."""
    published = runs.c.outcome.in_(("published", "unchanged"))
    run = connection.scalar(select(func.max(runs.c.id)).where(published)) or 0
    *earlier, last = [_Publication(0, 0), *_publications(connection)]
    if last.run < run:
        return _Span(_run_before(connection, run), run, [])
    if not last.run:
        raise UnknownRunError("nothing has been published yet: finish a run with crawl first")
    again = any(publication.run == last.run for publication in earlier)
    return _Span(last.run if again else _run_before(connection, last.run), last.run, [last])


def _span_between(connection: Connection, first: int, second: int | None = None) -> _Span:
    oldest, newest = connection.execute(select(func.min(runs.c.id), func.max(runs.c.id))).one()
    for number in (first, second):
        if number is not None and not oldest <= number <= newest:
            raise UnknownRunError(f"there is no run {number}: those known are {oldest} to {newest}")
    start, end = (_run_before(connection, first), first) if second is None else (first, second)
    low, high = sorted((start or 0, end))
    forgotten = _forgotten(connection)
    if low < forgotten and low != high:
        what, usable = f"run {first} changed", forgotten + 1
        if second is not None:
            what, usable = f"changed after run {low}", forgotten
        raise UnknownRunError(f"what {what} is not kept any more (keep_runs): give a run from {usable} to {newest}")
    between = [publication for publication in _publications(connection) if low < publication.run <= high]
    return _Span(start, end, between)


def _run_before(connection: Connection, run: int) -> int | None:
    before: int | None = connection.scalar(select(func.max(runs.c.id)).where(runs.c.id < run))
    return before
