"""Traps in the inventory: learnt traps and counts in `meta`, refused URLs, and session ids that last for a run."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, insert, or_, select

from sitemap_crawler.inventory.frontier import remove_waiting
from sitemap_crawler.inventory.schema import TRAPPED, MetaObject, UrlState, meta, observations, urls
from sitemap_crawler.inventory.sql import SET_STATE, batches_of_urls
from sitemap_crawler.traps.detector import Trap, TrapDetector
from sitemap_crawler.traps.learner import MAX_DIFFERENT, MIN_REPEATS
from sitemap_crawler.traps.patterns import sessions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator

    from sqlalchemy import ColumnElement, Connection, Select

    from sitemap_crawler.items import QueuedUrl

MAX_PAGES = 20_000
"""Maximum number of pages of each of the two runs that are compared for session ids that last for a run."""
MIN_PAGES_PER_TOKEN = 10
"""Minimum number of pages of such a session id, on average. A token of a single page identifies the page."""
_NOT_FAILED = or_(observations.c.status.is_(None), observations.c.status < 400)
"""Condition for the admitted URL of a page with session ids: not an error."""
_ADMITTED = urls.c.state.not_in((int(UrlState.KNOWN), *TRAPPED))

_PlacePages = dict[str, tuple[str, Any]]
"""The token and the features of a page, by its URL without the token."""


def load_traps(connection: Connection, traps: TrapDetector, *, run: int) -> None:
    """Load the learnt traps, the admitted URLs, and the counts of this run."""
    load_learnt_traps(connection, traps)
    counts = connection.scalar(select(meta.c.value).where(meta.c.name == MetaObject.TRAP_COUNTS))
    if counts is not None and (counted := json.loads(counts))["run"] == run:
        traps.restore_counts(counted)
    count_admitted(connection, traps)
    before = connection.scalar(select(meta.c.value).where(meta.c.name == MetaObject.TRAPS_BEFORE))
    if before is not None and (known := json.loads(before))["run"] == run:
        traps.yields.left_out.restore(known)
    load_admitted_sessions(connection, traps)


def count_admitted(connection: Connection, traps: TrapDetector) -> None:
    """Count the admitted URLs with several parameters of each place."""
    for row in _all_rows(connection, select(urls.c.id, urls.c.url).where(_ADMITTED, urls.c.url.contains("&"))):
        traps.count_admitted(row.url)


def begin_with_traps(connection: Connection, traps: TrapDetector, *, run: int) -> None:
    """Have a new run know what earlier runs have refused and left out, after `load_traps`. A resumed run keeps it."""
    left_out = select(urls.c.id, urls.c.url).where(urls.c.state == int(UrlState.EXHAUSTED))
    traps.yields.begin(row.url for row in _all_rows(connection, left_out))
    store_left_out(connection, traps, run=run)


def store_left_out(
    connection: Connection, traps: TrapDetector, *, run: int, sampled: Collection[str] | None = None
) -> None:
    """Store what the runs before this one have refused, the shapes that were left out, and samples, for a resumed run.

    `sampled` are the groups of which there are samples from now on, if these are others than before.
    """
    if traps.yields.leaves_out:
        left_out = traps.yields.left_out
        groups = left_out.sampled if sampled is None else sampled
        _store(connection, MetaObject.TRAPS_BEFORE, {"run": run, **left_out.before, "sampled": sorted(groups)})


def store_learnt_traps(connection: Connection, traps: TrapDetector) -> None:
    _store(connection, MetaObject.TRAPS, traps.known)


def store_trap_counts(connection: Connection, traps: TrapDetector, *, run: int) -> None:
    _store(connection, MetaObject.TRAP_COUNTS, {"run": run, **traps.counts})


def _store(connection: Connection, name: str, value: dict[str, Any]) -> None:
    connection.execute(delete(meta).where(meta.c.name == name))
    connection.execute(insert(meta).values(name=name, value=json.dumps(value, default=sorted)))


def refuse_learnt_traps(connection: Connection, traps: TrapDetector) -> None:
    """Refuse the URLs in learnt traps that were never fetched. Of the fetched sessions of a page one is kept."""
    if traps.knows_sessions:
        _refuse(connection, _observed().where(observations.c.status < 400), lambda url: _other_session(traps, url))
    _refuse(connection, _observed().where(observations.c.url_id.is_(None)), traps.learnt_refusal)


def session_aliases(connection: Connection) -> dict[int, int]:
    """Return the id of the admitted URL of the same page, by the id of each URL that was refused for its session id."""
    traps = TrapDetector(0, applies=lambda _: True)
    load_learnt_traps(connection, traps)
    if not traps.knows_sessions:
        return {}
    admitted: dict[int, int] = {}
    for row in _all_rows(connection, _observed().where(_ADMITTED, _NOT_FAILED)):
        if (bare := traps.without_session(row.url)) is not None:
            admitted.setdefault(hash(bare), row.id)
    refused = select(urls.c.id, urls.c.url).where(urls.c.state == int(UrlState.SESSION))
    aliases = ((row.id, admitted.get(hash(traps.without_session(row.url)))) for row in _all_rows(connection, refused))
    return {row_id: to for row_id, to in aliases if to is not None}


def load_learnt_traps(connection: Connection, traps: TrapDetector) -> None:
    """Load the traps that earlier runs have learnt."""
    known = connection.scalar(select(meta.c.value).where(meta.c.name == MetaObject.TRAPS))
    if known is not None:
        traps.add_known(json.loads(known))


def compared_pages(connection: Connection) -> dict[str, tuple[int, int]]:
    """Return the numbers of pages that were compared and of those that were new, by refused group of URLs."""
    traps = TrapDetector(0, applies=lambda _: True)
    load_learnt_traps(connection, traps)
    return traps.yields.compared


def _observed() -> Select[Any]:
    return select(urls.c.id, urls.c.url).outerjoin(observations, observations.c.url_id == urls.c.id)


def _other_session(traps: TrapDetector, url: str) -> Trap | None:
    """Return the reason against a fetched URL if another session of its page is the admitted one."""
    traps.admit_session(url)
    return Trap.SESSION if traps.admitted_session(url) != url else None


def _refuse(connection: Connection, query: Select[Any], trap_of: Callable[[str], Trap | None]) -> None:
    """Refuse the admitted URLs of a query that are traps. Start pages and URLs that sitemaps name stay admitted."""
    exempt = or_(urls.c.depth == 0, urls.c.named.is_not(None))
    for row in _all_rows(connection, query.where(_ADMITTED, exempt)):
        trap_of(row.url)
    for rows in batches_of_urls(connection, query.where(_ADMITTED, ~exempt)):
        states = [(row.id, trap_of(row.url)) for row in rows]
        refused = [{"b_id": row_id, "b_state": int(trap)} for row_id, trap in states if trap is not None]
        SET_STATE.execute(connection, refused)
        # A URL stays refused if it is in flight. Its observation is stored.
        remove_waiting(connection, [row["b_id"] for row in refused])


def refuse_leased(
    connection: Connection, traps: TrapDetector, leased: Iterable[QueuedUrl], *, exempt: Container[int] = ()
) -> set[int]:
    """Refuse those of the leased URLs that are in traps learnt since they began to wait. Return their ids.

    Start pages and URLs that sitemaps name are fetched all the same, and so are those with the `exempt` ids.
    """
    by_trap: dict[Trap, list[int]] = defaultdict(list)
    for queued in leased:
        if queued.id not in exempt and (trap := traps.learnt_refusal(queued.url)) is not None:
            by_trap[trap].append(queued.id)
    refused: set[int] = set()
    for trap, ids in by_trap.items():
        refusable = urls.c.id.in_(ids) & (urls.c.depth > 0) & urls.c.named.is_(None)
        mine = set(connection.scalars(select(urls.c.id).where(refusable)))
        SET_STATE.execute(connection, [{"b_id": url_id, "b_state": int(trap)} for url_id in sorted(mine)])
        refused |= mine
    return refused


def load_admitted_sessions(connection: Connection, traps: TrapDetector) -> None:
    """Load the admitted URL of each page with known session ids."""
    if traps.knows_sessions:
        for row in _all_rows(connection, _observed().where(_ADMITTED, _NOT_FAILED)):
            traps.admit_session(row.url)


def _all_rows(connection: Connection, query: Select[Any]) -> Iterator[Any]:
    for rows in batches_of_urls(connection, query):
        yield from rows


def learn_lasting_sessions(connection: Connection, *, run: int, applies: Callable[[str], bool]) -> bool:
    """Learn session ids that last for a run, within the caller's transaction. Return whether there are any.

    With such ids each run sees every page under a new URL, and nothing leads to the pages of the run before. The older
    URLs stay, the newer ones are refused. Only parameters are considered: in a path a token may be the version of a
    document.
    """
    old = _places(connection, run, (urls.c.first_seen < run) & (urls.c.unlinked_since == run), applies)
    if not old:
        return False
    new = _places(connection, run, (urls.c.first_seen == run) & urls.c.unlinked_since.is_(None), applies)
    traps = TrapDetector(0, applies=applies)
    load_learnt_traps(connection, traps)
    traps.learnt = [(Trap.SESSION, place) for place in old if _is_renewed(old[place], new.get(place, {}))]
    if not traps.learnt:
        return False
    traps.apply_learnt()
    store_learnt_traps(connection, traps)
    refuse_learnt_traps(connection, traps)
    return True


def _places(
    connection: Connection, run: int, condition: ColumnElement[bool], applies: Callable[[str], bool]
) -> dict[str, _PlacePages]:
    """Return the pages of this run with tokens in parameters, by the parameter."""
    seen = observations.c
    query = select(urls.c.url, seen.title, seen.body_bytes, seen.fingerprint).join(
        observations, seen.url_id == urls.c.id
    )
    fetched = and_(seen.run == run, seen.status == 200, urls.c.state == int(UrlState.ADMITTED))
    places: dict[str, _PlacePages] = defaultdict(dict)
    pages = 0
    for row in connection.execute(query.where(fetched, condition).order_by(urls.c.id)):
        sessions = [session for session in sessions_of(row.url) if session.place[0] in "?;"]
        if sessions and applies(row.url):
            for session in sessions:
                places[session.place][session.bare] = (session.token, (row.title, row.body_bytes, row.fingerprint))
            pages += 1
            if pages == MAX_PAGES:
                break
    return places


def _is_renewed(old: _PlacePages, new: _PlacePages) -> bool:
    """Return whether enough different pages are the same under a few other tokens."""
    both = [(old[bare], new[bare]) for bare in old if bare in new]
    same = [(was[0], now[0], now[1]) for was, now in both if was[0] != now[0] and _is_same(was[1], now[1])]
    return (
        len(both) - len(same) <= MAX_DIFFERENT * len(same)
        and min(len(same), _number_of_different(content for _, _, content in same)) >= MIN_REPEATS
        and all(
            MIN_PAGES_PER_TOKEN * _number_of_different(tokens) <= len(same)
            for tokens in list(zip(*same, strict=True))[:2]
        )
    )


def _is_same(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    """Return whether fingerprints agree, or titles and lengths. A fingerprint includes links, which hold the token."""
    return bool(old[2] == new[2] or old[:2] == new[:2])


def _number_of_different(values: Iterable[Any]) -> int:
    return len(set(values))
