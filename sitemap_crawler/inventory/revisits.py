"""The URLs that a new run requests: all that are known and allowed, except orphans and most settled exclusions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import exists, or_, select

from sitemap_crawler.inventory.frontier import add_waiting, clear_frontier, remove_waiting
from sitemap_crawler.inventory.schema import TRAPPED, UrlState, decisions, frontier, listings, observations, urls
from sitemap_crawler.inventory.sql import SET_STATE, batches_of_urls, chunks
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.rules import UNREACHED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection

SETTLED_RUNS = 3
"""Number of finished runs with the same reason for exclusion, after which only some runs revisit a URL."""
_SETTLING_REASONS = frozenset(reason for reason in Reason if reason.traits.rarely_changes)
"""Reasons for exclusion that rarely change."""


def no_trap(_url: str) -> None:
    """Refuse no URL."""


def reapply_rules(
    connection: Connection, *, admits: Callable[[str, int], bool], trap: Callable[[str], int | None] = no_trap
) -> None:
    """Apply changed rules to the URLs that an unfinished run has not requested, within the caller's transaction.

    `trap` returns the trap for which a new URL is refused.
    """
    columns = (urls.c.id, urls.c.url, urls.c.depth, urls.c.state, decisions.c.reason)
    joined = urls.outerjoin(decisions, decisions.c.url_id == urls.c.id)
    joined = joined.outerjoin(frontier, frontier.c.url_id == urls.c.id)
    unrequested = or_(urls.c.state.in_((int(UrlState.KNOWN), *TRAPPED)), frontier.c.url_id.is_not(None))
    for rows in batches_of_urls(connection, select(*columns).select_from(joined).where(unrequested)):
        states = [(row, _planned_state(row, admits, trap)) for row in rows]
        changed = [(row, state) for row, state in states if state != row.state]
        SET_STATE.execute(connection, [{"b_id": row.id, "b_state": int(state)} for row, state in changed])
        remove_waiting(connection, [row.id for row, state in changed if state is not UrlState.ADMITTED])
        add_waiting(connection, [_waiting(row) for row, state in changed if state is UrlState.ADMITTED])


def first_turn(_url: str) -> int:
    """Return the first turn, for all URLs."""
    return 0


def _waiting(row: Any, turn: Callable[[str], int] = first_turn) -> dict[str, int]:
    return {"url_id": row.id, "depth": row.depth, "turn": 0 if row.depth == UNREACHED else turn(row.url)}


def _planned_state(row: Any, admits: Callable[[str, int], bool], trap: Callable[[str], int | None]) -> UrlState:
    """Return the state of a URL in a run, which is ADMITTED also for URLs that are not due."""
    if row.reason == Reason.ORPHAN or not admits(row.url, row.depth):
        return UrlState.KNOWN
    # A URL that was admitted once stays admitted.
    if row.state != UrlState.KNOWN and row.state not in TRAPPED:
        return UrlState.ADMITTED
    refused = trap(row.url)
    if refused is None and row.state == UrlState.EXHAUSTED:
        # Samples tell whether its shape is worth more requests.
        return UrlState.EXHAUSTED
    return UrlState.ADMITTED if refused is None else UrlState(refused)


def requeue_other_readers(connection: Connection, run: int, *, readers: str) -> None:
    """Queue the pages that other readers have read in this run, within the caller's transaction.

    The links that these readers found may differ.
    """
    read_by_others = select(observations.c.url_id).where(observations.c.run == run, observations.c.readers != readers)
    waits = exists().where(frontier.c.url_id == urls.c.id)
    fetched = (urls.c.state == int(UrlState.ADMITTED)) & urls.c.id.in_(read_by_others) & ~waits
    for rows in batches_of_urls(connection, select(urls.c.id, urls.c.url, urls.c.depth).where(fetched)):
        add_waiting(connection, [_waiting(row) for row in rows])


def plan_revisits(
    connection: Connection,
    run: int,
    *,
    admits: Callable[[str, int], bool],
    readers: str,
    settled_since: int,
    every: int,
    trap: Callable[[str], int | None] = no_trap,
    turn: Callable[[str], int] = first_turn,
) -> None:
    """Give every known URL its state in the run that begins, within the caller's transaction.

    The rules of this run apply, which may differ from those of the last one. A URL that has been excluded for the same
    reason since the run `settled_since` or longer is requested in each `every`th run only, unless the published sitemap
    still has it, or other readers than these have read its page. `trap` returns the trap for which a new URL is
    refused, `turn` the turn of a URL that waits.
    """
    published = listings.c.url_id.is_not(None).label("published")
    columns = (urls.c.id, urls.c.url, urls.c.depth, urls.c.state, decisions.c.reason, decisions.c.since, published)
    joined = urls.outerjoin(decisions, decisions.c.url_id == urls.c.id)
    joined = joined.outerjoin(listings, listings.c.url_id == urls.c.id)
    clear_frontier(connection)
    for rows in batches_of_urls(connection, select(*columns).select_from(joined)):
        changed: list[dict[str, Any]] = []
        waiting: list[dict[str, int]] = []
        settled = [
            row.id
            for row in rows
            if row.reason in _SETTLING_REASONS and row.since <= settled_since and not row.published
        ]
        rests = {url_id for url_id in _read_by(connection, settled, readers) if (url_id + run) % every}
        for row in rows:
            state = _planned_state(row, admits, trap)
            if state is UrlState.ADMITTED:
                if row.id in rests:
                    state = UrlState.NOT_DUE
                else:
                    waiting.append(_waiting(row, turn))
            if state != row.state:
                changed.append({"b_id": row.id, "b_state": int(state)})
        SET_STATE.execute(connection, changed)
        add_waiting(connection, waiting)


def _read_by(connection: Connection, ids: list[int], readers: str) -> Iterator[int]:
    """Yield the URLs whose last observation these readers have made."""
    seen = observations.c
    for chunk in chunks(ids):
        query = select(seen.url_id).where(seen.url_id.in_(chunk), seen.readers == readers)
        yield from connection.scalars(query)
