"""What the inventory knows of traps: what was admitted, what was learnt, and which rows are refused for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, insert, or_, select, update

from sitemap_crawler.inventory.schema import TRAPPED, UrlState, meta, observations, urls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Select

    from sitemap_crawler.traps.book import Traps

NAME = "traps"
"""Of the row of `meta` that has what was learnt, as JSON."""
ROWS = 2_000
_ADMITTED = urls.c.state.not_in((int(UrlState.KNOWN), *TRAPPED))


def load_traps(connection: Connection, traps: Traps) -> None:
    """What was learnt, and what was admitted so far."""
    known = connection.scalar(select(meta.c.value).where(meta.c.name == NAME))
    if known is not None:
        traps.know(json.loads(known))
    for rows in _batches(connection, select(urls.c.id, urls.c.url).where(_ADMITTED, urls.c.url.contains("&"))):
        for row in rows:
            traps.count(row.url)
    if traps.knows_sessions:
        _meet(connection, traps)


def remember_learnt(connection: Connection, traps: Traps) -> None:
    connection.execute(delete(meta).where(meta.c.name == NAME))
    connection.execute(insert(meta).values(name=NAME, value=json.dumps(traps.known)))


def refuse_learnt(connection: Connection, traps: Traps) -> None:
    """Refuse of what waits, and was never fetched, what is in a trap that was learnt."""
    waits = urls.c.state == int(UrlState.QUEUED)
    fetched = observations.c.url_id.is_not(None)
    if traps.knows_sessions:
        _meet(connection, traps, waiting=False)
    query = select(urls.c.id, urls.c.url).outerjoin(observations, observations.c.url_id == urls.c.id)
    for rows in _batches(connection, query.where(waits, ~fetched, urls.c.depth > 0)):
        states = [(row.id, traps.is_learnt(row.url)) for row in rows]
        refused = [{"b_id": row_id, "b_state": int(trap)} for row_id, trap in states if trap is not None]
        if refused:
            statement = update(urls).where(urls.c.id == bindparam("b_id")).values(state=bindparam("b_state"))
            connection.execute(statement, refused)


def _meet(connection: Connection, traps: Traps, *, waiting: bool = True) -> None:
    query = select(urls.c.id, urls.c.url).where(_ADMITTED)
    if not waiting:
        query = query.outerjoin(observations, observations.c.url_id == urls.c.id)
        query = query.where(or_(urls.c.state != int(UrlState.QUEUED), observations.c.url_id.is_not(None)))
    for rows in _batches(connection, query):
        for row in rows:
            traps.meet(row.url)


def _batches(connection: Connection, query: Select[Any]) -> Iterator[Sequence[Any]]:
    """All rows by id; rows may be changed between two batches."""
    last = 0
    while rows := connection.execute(query.where(urls.c.id > last).order_by(urls.c.id).limit(ROWS)).all():
        yield rows
        last = rows[-1].id
