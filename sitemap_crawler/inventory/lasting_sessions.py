"""Session ids that last for a run: each run sees every page anew, and nothing leads to the pages of the run before."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, select

from sitemap_crawler.inventory.schema import UrlState, observations, urls
from sitemap_crawler.inventory.traps import load_learnt, refuse_learnt, remember_learnt
from sitemap_crawler.traps.detector import Trap, Traps
from sitemap_crawler.traps.learner import ALIKE, REPEATS
from sitemap_crawler.traps.patterns import sessions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlalchemy import ColumnElement, Connection

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
    traps = Traps(0, applies=applies)
    load_learnt(connection, traps)
    traps.learnt = [(Trap.SESSION, place) for place in left if _is_renewed(left[place], found.get(place, {}))]
    if not traps.learnt:
        return False
    traps.obey()
    remember_learnt(connection, traps)
    refuse_learnt(connection, traps)
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
