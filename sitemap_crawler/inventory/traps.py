"""What the inventory knows of traps: what was admitted, what was learnt, and which rows are refused for it."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, bindparam, delete, insert, or_, select, update

from sitemap_crawler.inventory.schema import TRAPPED, UrlState, meta, observations, urls
from sitemap_crawler.inventory.sql import batches_of_urls
from sitemap_crawler.traps.detector import Trap, TrapDetector
from sitemap_crawler.traps.learner import ALIKE, REPEATS
from sitemap_crawler.traps.patterns import sessions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlalchemy import ColumnElement, Connection, Select

NAME = "traps"
"""Of the row of `meta` that has what was learnt, as JSON,"""
COUNTS = "trap-counts"
"""and of that which has what the pages of a run tell so far: one that is killed again and again must end, too."""
_ALIVE = or_(observations.c.status.is_(None), observations.c.status < 400)
"""Of two sessions of a page one that is an error is none that counts."""
_ADMITTED = urls.c.state.not_in((int(UrlState.KNOWN), *TRAPPED))


def load_traps(connection: Connection, traps: TrapDetector, *, run: int) -> None:
    """What was learnt, what was admitted so far, and what this run has counted."""
    load_learnt_traps(connection, traps)
    counts = connection.scalar(select(meta.c.value).where(meta.c.name == COUNTS))
    if counts is not None and (counted := json.loads(counts))["run"] == run:
        traps.restore(counted)
    for row in _rows(connection, select(urls.c.id, urls.c.url).where(_ADMITTED, urls.c.url.contains("&"))):
        traps.count(row.url)
    if traps.knows_sessions:
        for row in _rows(connection, _observed().where(_ADMITTED, _ALIVE)):
            traps.admit_session(row.url)


def store_learnt_traps(connection: Connection, traps: TrapDetector) -> None:
    _remember(connection, NAME, traps.known)


def store_trap_counts(connection: Connection, traps: TrapDetector, *, run: int) -> None:
    _remember(connection, COUNTS, {"run": run, **traps.counts})


def _remember(connection: Connection, name: str, value: dict[str, Any]) -> None:
    connection.execute(delete(meta).where(meta.c.name == name))
    connection.execute(insert(meta).values(name=name, value=json.dumps(value, default=sorted)))


def refuse_learnt_traps(connection: Connection, traps: TrapDetector) -> None:
    """Refuse what is in a trap that was learnt and was never fetched, and of what was all but one session of a page."""
    if traps.knows_sessions:
        _refuse(connection, _observed().where(observations.c.status < 400), lambda url: _other_session(traps, url))
    _refuse(connection, _observed().where(observations.c.url_id.is_(None)), traps.learnt_refusal)


def session_aliases(connection: Connection) -> dict[int, int]:
    """By the id of each URL that was refused as another session of a page, the one that was admitted for the page."""
    traps = TrapDetector(0, applies=lambda _: True)
    load_learnt_traps(connection, traps)
    if not traps.knows_sessions:
        return {}
    kept: dict[int, int] = {}
    for row in _rows(connection, _observed().where(_ADMITTED, _ALIVE)):
        if (bare := traps.bare(row.url)) is not None:
            kept.setdefault(hash(bare), row.id)
    refused = select(urls.c.id, urls.c.url).where(urls.c.state == int(UrlState.SESSION))
    found = ((row.id, kept.get(hash(traps.bare(row.url)))) for row in _rows(connection, refused))
    return {row_id: to for row_id, to in found if to is not None}


def load_learnt_traps(connection: Connection, traps: TrapDetector) -> None:
    known = connection.scalar(select(meta.c.value).where(meta.c.name == NAME))
    if known is not None:
        traps.add_known(json.loads(known))


def _observed() -> Select[Any]:
    return select(urls.c.id, urls.c.url).outerjoin(observations, observations.c.url_id == urls.c.id)


def _other_session(traps: TrapDetector, url: str) -> Trap | None:
    traps.admit_session(url)
    return Trap.SESSION if traps.admitted(url) != url else None


def _refuse(connection: Connection, query: Select[Any], trap_of: Callable[[str], Trap | None]) -> None:
    """But not the start pages and what a sitemap names: these are admitted first."""
    wanted = or_(urls.c.depth == 0, urls.c.named.is_not(None))
    for row in _rows(connection, query.where(_ADMITTED, wanted)):
        trap_of(row.url)
    for rows in batches_of_urls(connection, query.where(_ADMITTED, ~wanted)):
        states = [(row.id, trap_of(row.url)) for row in rows]
        refused = [{"b_id": row_id, "b_state": int(trap)} for row_id, trap in states if trap is not None]
        if refused:
            statement = update(urls).where(urls.c.id == bindparam("b_id")).values(state=bindparam("b_state"))
            connection.execute(statement, refused)


def _rows(connection: Connection, query: Select[Any]) -> Iterator[Any]:
    for rows in batches_of_urls(connection, query):
        yield from rows


MAX_PAGES = 20_000
"""Of each of the two runs that are compared."""
PAGES_OF_A_TOKEN = 10
"""At least, on the average: an id of one page names it."""

_Place = dict[str, tuple[str, Any]]
"""By the address without its token: the token, and what the page is."""


def learn_lasting_sessions(connection: Connection, *, run: int, applies: Callable[[str], bool]) -> bool:
    """Whether there were such ids, which are left then, all but the older ones; the caller has begun a transaction.

    Only in parameters: in a path it may be the version of what the pages are about.
    """
    left = _places(connection, run, (urls.c.first_seen < run) & (urls.c.unlinked_since == run), applies)
    if not left:
        return False
    found = _places(connection, run, (urls.c.first_seen == run) & urls.c.unlinked_since.is_(None), applies)
    traps = TrapDetector(0, applies=applies)
    load_learnt_traps(connection, traps)
    traps.learnt = [(Trap.SESSION, place) for place in left if _is_renewed(left[place], found.get(place, {}))]
    if not traps.learnt:
        return False
    traps.apply_learnt()
    store_learnt_traps(connection, traps)
    refuse_learnt_traps(connection, traps)
    return True


def _places(
    connection: Connection, run: int, which: ColumnElement[bool], applies: Callable[[str], bool]
) -> dict[str, _Place]:
    """The pages of this run that have tokens in parameters, by the parameter."""
    seen = observations.c
    query = select(urls.c.url, seen.title, seen.body_bytes, seen.fingerprint).join(
        observations, seen.url_id == urls.c.id
    )
    fetched = and_(seen.run == run, seen.status == 200, urls.c.state == int(UrlState.FETCHED))
    places: dict[str, _Place] = defaultdict(dict)
    pages = 0
    for row in connection.execute(query.where(fetched, which).order_by(urls.c.id)):
        sessions = [session for session in sessions_of(row.url) if session.place[0] in "?;"]
        if sessions and applies(row.url):
            for session in sessions:
                places[session.place][session.bare] = (session.token, (row.title, row.body_bytes, row.fingerprint))
            pages += 1
            if pages == MAX_PAGES:
                break
    return places


def _is_renewed(left: _Place, found: _Place) -> bool:
    """Whether enough pages are the same under few new tokens, and differ from each other."""
    both = [(left[bare], found[bare]) for bare in left if bare in found]
    same = [(old[0], new[0], new[1]) for old, new in both if old[0] != new[0] and _is_same(old[1], new[1])]
    return (
        len(both) - len(same) <= ALIKE * len(same)
        and min(len(same), _different(content for _, _, content in same)) >= REPEATS
        and all(PAGES_OF_A_TOKEN * _different(tokens) <= len(same) for tokens in list(zip(*same, strict=True))[:2])
    )


def _is_same(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    """The fingerprint, or the title and the length: links with the token in them count in a fingerprint."""
    return bool(old[2] == new[2] or old[:2] == new[:2])


def _different(values: Iterable[Any]) -> int:
    return len(set(values))
