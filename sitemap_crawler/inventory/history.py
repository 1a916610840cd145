"""Past runs: the changes of each in the published set, and the differences between the sets after two runs."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import islice
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, case, delete, func, or_, select

from sitemap_crawler.exceptions import UnknownRunError
from sitemap_crawler.inventory.dialects import insert
from sitemap_crawler.inventory.publications import FORGOTTEN_PUBLICATION, Change, Changes
from sitemap_crawler.inventory.runs import PUBLISHED
from sitemap_crawler.inventory.schema import changes, meta, runs, urls
from sitemap_crawler.inventory.sql import IN_CHUNK, STREAM_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Select


_FORGOTTEN = "forgotten_runs"
"""Name of the row of `meta` with the newest run whose changes are no longer stored."""
_KINDS = tuple(Change)
_INVERSE = {Change.ADDED: Change.REMOVED, Change.CHANGED: Change.CHANGED, Change.REMOVED: Change.ADDED}


class PastRun(NamedTuple):
    """A run with the number of its changes. Times are in seconds since 1970."""

    id: int
    started: float
    finished: float | None
    outcome: str | None
    """None while the run is open."""
    ended_by: str | None
    sitemap_url: str
    seconds: float | None
    """Time for which its processes have worked; None before the first of them has ended, and of earlier releases."""
    changes: Changes | None
    """None if they are no longer stored."""


class Difference(NamedTuple):
    """A page that differs between two sets, with its lastmods in seconds since 1970, if it has any."""

    kind: Change
    url: str
    before: float | None
    after: float | None


class _Publication(NamedTuple):
    """A publication with changes."""

    number: int
    run: int


class _Span(NamedTuple):
    """The publications between the sets after two runs. `start` is None for the empty set before the first run."""

    start: int | None
    end: int
    publications: list[_Publication]


@dataclass(slots=True)
class Differences:
    """The pages that differ between the sets after two runs, in the order of their URLs.

    They are kept in memory, 25 bytes a page. So no query stays open while they are used, which would let the
    write-ahead log of a crawl grow.
    """

    connection: Connection
    start: int | None
    """Number of the earlier run; None if there is none."""
    end: int
    """Number of the later run."""
    _ids: array[int] = field(default_factory=lambda: array("q"))
    _kinds: bytearray = field(default_factory=bytearray)
    _dates: array[float] = field(default_factory=lambda: array("d"))

    def of_kinds(self, *kinds: Change) -> Iterator[Difference]:
        """Yield the differences of these kinds, in the order of their URLs."""
        numbers = {_KINDS.index(kind) for kind in kinds}
        indices = (index for index, kind in enumerate(self._kinds) if kind in numbers)
        while batch := list(islice(indices, IN_CHUNK)):
            query = select(urls.c.id, urls.c.url).where(urls.c.id.in_([self._ids[index] for index in batch]))
            url_of = {row.id: row.url for row in self.connection.execute(query)}
            for index in batch:
                before, after = (None if isnan(date) else date for date in self._dates[2 * index : 2 * index + 2])
                yield Difference(_KINDS[self._kinds[index]], url_of[self._ids[index]], before, after)

    def counts(self) -> Changes:
        """Return the number of differences of each kind."""
        return Changes(**{str(kind): self._kinds.count(number) for number, kind in enumerate(_KINDS)})

    def add(self, url_id: int, kind: Change, before: float | None, after: float | None) -> None:
        self._ids.append(url_id)
        self._kinds.append(_KINDS.index(kind))
        self._dates.extend(nan if date is None else date for date in (before, after))


def past_runs(connection: Connection) -> list[PastRun]:
    """Return all runs, the newest first."""
    forgotten = forgotten_run(connection)
    counts = _counts(connection)
    columns = (
        runs.c.id, runs.c.started, runs.c.finished, runs.c.outcome, runs.c.ended_by, runs.c.sitemap_url, runs.c.totals
    )  # fmt: skip
    rows = connection.execute(select(*columns).order_by(runs.c.id.desc()))
    return [
        PastRun(*row[:-1], _seconds_of(row.totals), None if row.id <= forgotten else counts.get(row.id, Changes()))
        for row in rows
    ]


def _seconds_of(totals: dict[str, Any] | None) -> float | None:
    milliseconds = (totals or {}).get("milliseconds")
    return None if milliseconds is None else milliseconds / 1_000


def find_differences(connection: Connection, *numbers: int) -> Differences:
    """Return the differences of the last publication, of one run, or between the sets after two runs.

    Raises UnknownRunError if a run is unknown or its changes are no longer stored.
    """
    span = _span_between(connection, *numbers) if numbers else _last_publication(connection)
    differences = Differences(connection, span.start, span.end)
    if not span.publications:
        return differences
    backwards = span.start is not None and span.start > span.end
    net_changes = _net_changes(span.publications[0].number, span.publications[-1].number).subquery()
    query = select(net_changes).join(urls, urls.c.id == net_changes.c.url_id).order_by(urls.c.url)
    with connection.execute(query, execution_options={"yield_per": STREAM_ROWS}) as rows:
        for url_id, kind, before, after in rows:
            if backwards:
                differences.add(url_id, _INVERSE[Change(kind)], after, before)
            else:
                differences.add(url_id, Change(kind), before, after)
    return differences


def delete_old_changes(connection: Connection, keep: int) -> None:
    """Delete the changes of all runs but the newest `keep`.

    The rows of the runs stay: they are few, and `first_seen` of URLs refers to them.
    """
    with connection.begin():
        oldest = connection.scalar(select(runs.c.id).order_by(runs.c.id.desc()).offset(keep - 1).limit(1))
        last = connection.scalar(select(func.max(runs.c.id)).where(runs.c.id < oldest)) if oldest else None
        if last is None or last <= forgotten_run(connection):
            return
        old = [publication.number for publication in _publications(connection) if publication.run <= last]
        if old:
            connection.execute(delete(changes).where(changes.c.publication <= old[-1]))
            _store_number(connection, FORGOTTEN_PUBLICATION, old[-1])
        _store_number(connection, _FORGOTTEN, last)


def _store_number(connection: Connection, name: str, value: int) -> None:
    statement = insert(meta).values(name=name, value=str(value))
    new = {"value": statement.excluded.value}
    connection.execute(statement.on_conflict_do_update(index_elements=[meta.c.name], set_=new))


def forgotten_run(connection: Connection) -> int:
    """Return the number of the newest run whose changes are no longer stored; 0 if there is none."""
    return int(connection.scalar(select(meta.c.value).where(meta.c.name == _FORGOTTEN)) or 0)


def _publications(connection: Connection) -> Iterator[_Publication]:
    """Yield the publications with changes, the oldest first.

    Each is looked up in the index, as together they may have millions of rows. A later publication belongs to the same
    run or to a later one.
    """
    number = 0
    query = select(changes.c.publication, changes.c.run).order_by(changes.c.publication).limit(1)
    while row := connection.execute(query.where(changes.c.publication > number)).first():
        yield _Publication(*row)
        number = row.publication


def _net_changes(first: int, last: int) -> Select[Any]:
    """Return a query of the net changes of some publications: URL id, kind, lastmod before, lastmod after."""
    return net_changes(touched_urls().where(changes.c.publication.between(first, last)))


def touched_urls() -> Select[Any]:
    """Return a query of all changed URLs, for `net_changes`. Conditions on `changes` choose the publications."""
    span = func.min(changes.c.publication).label("first"), func.max(changes.c.publication).label("last")
    return select(changes.c.url_id, *span).group_by(changes.c.url_id)


def net_changes(touched_query: Select[Any]) -> Select[Any]:
    """Return a query of the net changes of URLs: URL id, kind, lastmod before, lastmod after.

    `touched_query` is one of `touched_urls`: each URL with the first and the last publication that counts for it.
    """
    touched = touched_query.subquery()
    _, first_column, last_column = touched.c
    opening, closing = changes.alias("opening"), changes.alias("closing")
    was_listed, is_listed = opening.c.kind != str(Change.ADDED), closing.c.kind != str(Change.REMOVED)
    kind = case(
        (and_(was_listed, is_listed), str(Change.CHANGED)), (is_listed, str(Change.ADDED)), else_=str(Change.REMOVED)
    )
    return (
        select(touched.c.url_id, kind.label("kind"), opening.c.before, closing.c.after)
        .join(opening, and_(opening.c.publication == first_column, opening.c.url_id == touched.c.url_id))
        .join(closing, and_(closing.c.publication == last_column, closing.c.url_id == touched.c.url_id))
        .where(
            or_(
                was_listed != is_listed, and_(was_listed, is_listed, opening.c.before.is_distinct_from(closing.c.after))
            )
        )
    )


def _counts(connection: Connection) -> dict[int, Changes]:
    """Return the number of changes of each run, by its number."""
    of_run: dict[int, list[int]] = {}
    for publication in _publications(connection):
        of_run.setdefault(publication.run, []).append(publication.number)
    counts = {}
    for run, numbers in of_run.items():
        # A single publication is its own net change. It may have a million rows.
        single = select(changes.c.kind).where(changes.c.publication == numbers[0])
        rows = (single if len(numbers) == 1 else _net_changes(numbers[0], numbers[-1])).subquery()
        query = select(rows.c.kind, func.count()).group_by(rows.c.kind)
        counts[run] = Changes(**{row[0]: row[1] for row in connection.execute(query)})
    return counts


def _last_publication(connection: Connection) -> _Span:
    """Return the span of the last publication, which has no changes if the last run found none."""
    published = runs.c.outcome.in_(PUBLISHED)
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
    forgotten = forgotten_run(connection)
    if low < forgotten and low != high:
        what, usable = f"run {first} changed", forgotten + 1
        if second is not None:
            what, usable = f"changed after run {low}", forgotten
        raise UnknownRunError(f"what {what} is no longer stored (keep_runs): give a run from {usable} to {newest}")
    between = [publication for publication in _publications(connection) if low < publication.run <= high]
    return _Span(start, end, between)


def _run_before(connection: Connection, run: int) -> int | None:
    before: int | None = connection.scalar(select(func.max(runs.c.id)).where(runs.c.id < run))
    return before
