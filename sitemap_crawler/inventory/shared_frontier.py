"""The frontier of a run on a server, where several processes lease URLs. Only a process of a crawl there imports this.

Each lease and each batch is fenced: it fails if the process was taken for dead meanwhile.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, delete, exists, literal, select, text, tuple_, update

from sitemap_crawler.inventory.frontier import URL_HOST, Frontier
from sitemap_crawler.inventory.processes import MAX_DEATHS
from sitemap_crawler.inventory.schema import frontier, runs, urls

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import Connection, Select

    from sitemap_crawler.inventory.processes import Membership

FLOOR_SECONDS = 60.0
"""Time after which the least leased URL is forgotten, as a shorter path to a waiting URL may have been found."""
EMPTY_PAUSE_SECONDS = 0.2
"""Time for which nothing is leased after a lease found nothing."""
_SUSPECT = MAX_DEATHS - 1
"""Number of deaths from which on a URL is leased alone."""
MAX_IDS = 10_000
"""Maximum number of URLs that one statement names."""
_WAITS = frontier.c.owner.is_(None)
_ORDER = (frontier.c.turn, frontier.c.depth, frontier.c.url_id)


class SharedFrontier(Frontier):
    """The frontier as one of several processes sees it."""

    def __init__(self, connection: Connection, membership: Membership, *, run: int, max_pages: int | None) -> None:
        super().__init__(connection, process=membership.id)
        self._membership = membership
        self._run = run
        self._max_pages = max_pages
        self._floor: tuple[int, int, int] | None = None
        self._floor_until = 0.0
        self._not_before = 0.0
        self.is_exhausted = False
        """Whether the run had leased its maximum number of pages when this process looked last."""

    def lease(self, query: Select[Any], limit: int, *, elsewhere: Collection[str] = ()) -> Sequence[Any]:
        if time.monotonic() < self._not_before:
            return []
        if self._max_pages is not None:
            # Who takes over the URLs of dead processes locks their rows first, then that of the limit.
            self._membership.fence(self._connection)
        allowed = self._take_from_budget(limit)
        self.is_exhausted = allowed == 0
        rows = self._lease(query, allowed, elsewhere) if allowed else []
        self._give_to_budget(allowed - len(rows))
        if rows and len(rows) == limit and not elsewhere:
            self._keep_floor(rows)
        else:
            self._floor = None
        if not rows:
            self._membership.fence(self._connection)
            self._not_before = time.monotonic() + EMPTY_PAUSE_SECONDS
        return rows

    def lease_suspect(self, query: Select[Any]) -> tuple[Any, int] | None:
        """Lease one of the URLs during whose requests processes ended. Return its row, and the number of processes."""
        self._membership.fence(self._connection)
        if not self._take_from_budget(1):
            return None
        row = self._connection.execute(
            select(frontier.c.url_id, frontier.c.deaths)
            .where(_WAITS, frontier.c.deaths >= _SUSPECT)
            .order_by(frontier.c.deaths.desc(), frontier.c.url_id)
            .limit(1)
            .with_for_update(skip_locked=True)
        ).first()
        if row is None:
            self._give_to_budget(1)
            return None
        self._set_owner([row.url_id], self._process)
        return self._connection.execute(query.where(frontier.c.url_id == row.url_id)).one(), row.deaths

    def complete(self, ids: Sequence[int]) -> set[int]:
        mine = frontier.c.url_id.in_(ids) & (frontier.c.owner == self._process) & self._membership.is_fenced()
        completed = set(self._connection.scalars(delete(frontier).where(mine).returning(frontier.c.url_id)))
        if not completed:
            self._membership.fence(self._connection)
        return completed

    def give_back(self, ids: Iterable[int]) -> None:
        given = list(ids)
        mine = frontier.c.url_id.in_(given) & (frontier.c.owner == self._process)
        self._give_to_budget(self._connection.execute(update(frontier).where(mine).values(owner=None)).rowcount)
        self._floor = None
        self._not_before = 0.0

    def suspect(self, ids: Sequence[int]) -> None:
        """Count URLs that this process has leased as if it had died while it had them in work."""
        for start in range(0, len(ids), MAX_IDS):
            some = (frontier.c.owner == self._process) & frontier.c.url_id.in_(ids[start : start + MAX_IDS])
            self._connection.execute(update(frontier).where(some).values(deaths=frontier.c.deaths + 1))

    def give_back_all_but(self, held: Collection[int]) -> None:
        """Give back what this process has leased by the server, and does not know: an answer was lost."""
        lost = (frontier.c.owner == self._process) & frontier.c.url_id.not_in(sorted(held))
        self._give_to_budget(self._connection.execute(update(frontier).where(lost).values(owner=None)).rowcount)

    def restart(self, process: int) -> None:
        """Lease under another number from now on."""
        self._process = process
        self._floor, self._not_before = None, 0.0

    def expect(self) -> None:
        """Let the next lease ask the server: this process has added URLs."""
        self._not_before = 0.0

    def is_left(self) -> tuple[bool, bool]:
        """Return whether any URL waits, and whether other processes have leased any."""
        others = ~_WAITS & (frontier.c.owner != self._process)
        row = self._connection.execute(select(exists().where(_WAITS), exists().where(others))).one()
        if self._max_pages is not None:
            # Others may have given URLs back meanwhile.
            leased = self._connection.scalar(select(runs.c.leased).where(runs.c.id == self._run)) or 0
            self.is_exhausted = leased >= self._max_pages
        return row[0], row[1]

    def uncount(self, pages: int) -> None:
        self._give_to_budget(pages)

    def drop(self, ids: Iterable[int]) -> None:
        dropped = list(ids)
        super().drop(dropped)
        self._give_to_budget(len(dropped))

    def _lease(self, query: Select[Any], limit: int, elsewhere: Collection[str]) -> Sequence[Any]:
        due = select(frontier.c.url_id).where(_WAITS, frontier.c.deaths < _SUSPECT, self._membership.is_fenced())
        if elsewhere:
            due = due.join(urls, urls.c.id == frontier.c.url_id).where(URL_HOST.not_in(sorted(elsewhere)))
        elif self._floor is not None and time.monotonic() < self._floor_until:
            # Below it are the dead entries of the index, which each lease would read again.
            due = due.where(tuple_(*_ORDER) > tuple_(*map(literal, self._floor)))
        due = due.order_by(*_ORDER).limit(limit).with_for_update(of=frontier, skip_locked=True)
        chosen = due.cte("due")
        taken = (
            update(frontier)
            .where(frontier.c.url_id == chosen.c.url_id)
            .values(owner=self._process)
            .returning(frontier.c.url_id)
            .cte("taken")
        )
        query = query.where(frontier.c.url_id.in_(select(taken.c.url_id)))
        return sorted(self._connection.execute(query).all(), key=_place)

    def _keep_floor(self, rows: Sequence[Any]) -> None:
        if self._floor is None:
            self._floor_until = time.monotonic() + FLOOR_SECONDS
        self._floor = _place(rows[0])

    def _take_from_budget(self, wanted: int) -> int:
        """Count up to `wanted` pages as leased, and return how many the limit of the run allows."""
        if self._max_pages is None:
            return wanted
        before = select(runs.c.leased).where(runs.c.id == self._run).with_for_update()
        leased = self._connection.scalar(before) or 0
        allowed = max(0, min(wanted, self._max_pages - leased))
        if allowed:
            self._connection.execute(update(runs).where(runs.c.id == self._run).values(leased=leased + allowed))
        return allowed

    def _give_to_budget(self, pages: int) -> None:
        if self._max_pages is not None and pages:
            self.is_exhausted = False
            left = case((runs.c.leased > pages, runs.c.leased - pages), else_=0)
            self._connection.execute(update(runs).where(runs.c.id == self._run).values(leased=left))


def _place(row: Any) -> tuple[int, int, int]:
    """Return the place of a leased row in the order of the frontier."""
    return row.turn, row.depth, row.id


def count_leased(connection: Connection, run: int, *, fetched: int) -> None:
    """Set the number of URLs that the processes of a run have leased, within the caller's transaction."""
    leased = "(SELECT count(*) FROM frontier WHERE owner IS NOT NULL)"
    query = text(f"UPDATE runs SET leased = :fetched + {leased} WHERE id = :run")  # noqa: S608
    connection.execute(query, {"fetched": fetched, "run": run})
