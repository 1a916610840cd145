"""The frontier of a run: a narrow row for each URL that waits to be requested, or that a process has leased.

The rows of `urls` are hardly changed while a crawl works: a queue in them would rewrite each of them three times. A row
leaves the frontier in the transaction that stores the observation of its URL, so the frontier is empty only when
nothing is left to fetch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, exists, func, select, true, update

from sitemap_crawler.inventory.dialects import insert
from sitemap_crawler.inventory.schema import TRAPPED, frontier, urls
from sitemap_crawler.inventory.sql import BATCH_ROWS, RowStatement, chunks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

ONLY_PROCESS = 1
"""The owner of leased URLs in an SQLite file, which one process uses at a time."""
_WAITS = frontier.c.owner.is_(None)
URL_HOST = func.split_part(func.split_part(urls.c.url, "/", 3), ":", 1)
"""The host of a URL, for PostgreSQL. The hosts of one registrable domain are names."""
_ADD = RowStatement(
    insert(frontier).on_conflict_do_nothing(index_elements=[frontier.c.url_id]), ("url_id", "depth", "turn"), joins=True
)
_MOVE = RowStatement(
    update(frontier)
    .where(frontier.c.url_id == bindparam("b_id"), frontier.c.depth > bindparam("b_depth"))
    .values(depth=bindparam("b_depth")),
    ("b_id", "b_depth"),
    joins=True,
)


def add_waiting(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Let URLs wait, each given with `url_id`, `depth`, and `turn` unless it is the first one.

    Those in the frontier stay as they are.
    """
    _ADD.execute(connection, [{"turn": 0, **row} for row in rows])


def remove_waiting(connection: Connection, ids: Sequence[int]) -> None:
    """Let URLs no longer wait. Leased ones stay: their observations are still stored."""
    for chunk in chunks(ids):
        connection.execute(delete(frontier).where(frontier.c.url_id.in_(chunk), _WAITS))


def move_waiting(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Give URLs a smaller depth, each given with `b_id` and `b_depth`."""
    _MOVE.execute(connection, rows)


def clear_frontier(connection: Connection) -> None:
    connection.execute(delete(frontier))


def give_back_all(connection: Connection) -> None:
    """Let all leased URLs wait again. Those that were refused for a trap meanwhile leave the frontier."""
    refused = select(urls.c.id).where(urls.c.id == frontier.c.url_id, urls.c.state.in_(TRAPPED))
    connection.execute(delete(frontier).where(~_WAITS, exists(refused)))
    connection.execute(update(frontier).where(~_WAITS).values(owner=None))


def count_frontier(connection: Connection, *, leased: bool) -> int:
    """Return the number of URLs that wait, with `leased` also of those that a process has leased."""
    query = select(func.count()).select_from(frontier)
    with connection.begin():
        return connection.scalar(query if leased else query.where(_WAITS)) or 0


def one_in(every: int, url_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that chooses one of `every` ids, as if by chance.

    The links of pages of one kind have ids in a regular order.
    """
    return url_id * 40_503 % 65_536 < max(1, 65_536 // every) if every > 1 else true()


def waiting_urls(connection: Connection, *, every: int = 1) -> Iterator[list[str]]:
    """Yield one of `every` URLs that wait or are leased, in slices. The crawl may go on between two slices."""
    last = 0
    query = select(frontier.c.url_id, urls.c.url).join(urls, urls.c.id == frontier.c.url_id)
    query = query.where(one_in(every, frontier.c.url_id)).order_by(frontier.c.url_id).limit(BATCH_ROWS)
    while True:
        with connection.begin():
            rows = connection.execute(query.where(frontier.c.url_id > last)).all()
        if not rows:
            return
        last = rows[-1].url_id
        yield [row.url for row in rows]


class Frontier:
    """The frontier as one process sees it. Its methods work within the caller's transaction."""

    def __init__(self, connection: Connection, *, process: int = ONLY_PROCESS) -> None:
        """`process` is the number with which this process leases URLs."""
        self._connection = connection
        self._process = process

    def count_waiting(self) -> int:
        return self._connection.scalar(select(func.count()).select_from(frontier).where(_WAITS)) or 0

    def lease(self, query: Select[Any], limit: int, *, elsewhere: Collection[str] = ()) -> Sequence[Any]:
        """Lease up to `limit` URLs, those of the first turn with the smallest depth first, and return their rows.

        The query selects from a join with the frontier and with `urls`; its first column is the id. URLs of the hosts
        `elsewhere` are left to other processes.
        """
        if elsewhere:
            query = query.where(URL_HOST.not_in(sorted(elsewhere)))
        query = query.where(_WAITS).order_by(frontier.c.turn, frontier.c.depth, frontier.c.url_id).limit(limit)
        rows = self._connection.execute(query.with_for_update(of=frontier, skip_locked=True)).all()
        self._set_owner([row[0] for row in rows], self._process)
        return rows

    def complete(self, ids: Sequence[int]) -> set[int]:
        """Remove leased URLs and return them. Those that are not leased by this process are left out."""
        mine: set[int] = set()
        for chunk in chunks(ids):
            leased = frontier.c.url_id.in_(chunk) & (frontier.c.owner == self._process)
            found = self._connection.scalars(select(frontier.c.url_id).where(leased)).all()
            mine.update(found)
            if found:
                self._connection.execute(delete(frontier).where(leased))
        return mine

    def find(self, ids: Collection[int]) -> set[int]:
        """Return those of the URLs that wait or are leased."""
        return {
            url_id
            for chunk in chunks(sorted(ids))
            for url_id in self._connection.scalars(select(frontier.c.url_id).where(frontier.c.url_id.in_(chunk)))
        }

    def held(self, ids: Collection[int]) -> set[int]:
        """Return those of the URLs that this process has leased."""
        mine = select(frontier.c.url_id).where(frontier.c.owner == self._process)
        found: set[int] = set()
        for chunk in chunks(sorted(ids)):
            found.update(self._connection.scalars(mine.where(frontier.c.url_id.in_(chunk))))
        return found

    def uncount(self, pages: int) -> None:
        """Take URLs that were not requested out of the number of leased ones, where that is counted."""

    def give_back(self, ids: Iterable[int]) -> None:
        """Let leased URLs wait again."""
        self._set_owner(list(ids), None)

    def postpone(self, ids: Collection[int], turn: int) -> None:
        """Let leased URLs wait again, until all URLs of earlier turns have been leased."""
        for chunk in chunks(sorted(ids)):
            self._connection.execute(update(frontier).where(frontier.c.url_id.in_(chunk)).values(turn=turn))
        self.give_back(ids)

    def drop(self, ids: Iterable[int]) -> None:
        """Remove leased URLs that are not to be fetched."""
        for chunk in chunks(list(ids)):
            self._connection.execute(delete(frontier).where(frontier.c.url_id.in_(chunk)))

    def _set_owner(self, ids: Sequence[int], owner: int | None) -> None:
        for chunk in chunks(ids):
            self._connection.execute(update(frontier).where(frontier.c.url_id.in_(chunk)).values(owner=owner))
