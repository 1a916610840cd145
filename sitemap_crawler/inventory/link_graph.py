"""What can be reached from the start pages, and from what foreign sitemaps name, over the links that pages have.

A crawl meets URLs in the order of arrival, and not at all those behind a page that answered 304: how far a URL is from
the start, and whether anything leads to it any more, is settled here, when nothing is left to fetch.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, or_, select

from sitemap_crawler.inventory.schema import UrlState, decisions, observations, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS, batches_of_urls, chunks, decode_links, update_urls, url_key
from sitemap_crawler.inventory.traps import session_aliases
from sitemap_crawler.policy.rules import BELOW_UNREACHED, UNREACHED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy import Column, Connection

MANY = 10_000
"""Ids from which on a list of them would show in the memory of the process."""
_SETTLE = update_urls("depth", "referrer", "unlinked_since")
_ADMIT = update_urls("depth", "state")


class Reach(NamedTuple):
    """By URL id. Memory is seven bytes a URL; a walk takes at most nine more."""

    reached: bytearray
    depths: array[int]
    """Clicks from the nearest start page, a redirect takes none."""
    referrers: array[int]
    """The page that leads there, one of those with the fewest clicks; 0 for what a sitemap names or is a start page."""
    aliases: dict[int, int]
    """What a link to a URL counts for: the admitted session of the same page."""


def walk(connection: Connection, run: int, *, starts: Iterable[int]) -> Reach:
    """Breadth-first from the ids `starts`, and then from what sitemaps name; the caller has begun a transaction.

    Besides what they name in this run that is what they named once and nothing ever linked to: when our sitemap takes
    the place of theirs, it must not be lost.
    """
    size = (connection.scalar(select(func.max(urls.c.id))) or 0) + 1
    depths, referrers = array("H", [UNREACHED]) * size, array("I", bytes(4 * size))
    reach = Reach(bytearray(size), depths, referrers, session_aliases(connection))
    _spread(connection, reach, array("I", sorted(set(starts))), range(BELOW_UNREACHED))
    only_named = urls.c.named.is_not(None) & (urls.c.depth == UNREACHED)
    named = select(urls.c.id).where(or_(urls.c.named == run, only_named)).order_by(urls.c.id)
    lonely = array("I", [url_id for url_id in connection.scalars(named) if not reach.reached[url_id]])
    _spread(connection, reach, lonely, [UNREACHED, BELOW_UNREACHED])
    return reach


def walk_from(connection: Connection, run: int, *, starts: Iterable[str]) -> Reach:
    """From the start pages and what foreign sitemaps named in this run; the caller has begun a transaction."""
    start_ids = select(urls.c.id).where(urls.c.key.in_([url_key(url) for url in starts]))
    return walk(connection, run, starts=connection.scalars(start_ids).all())


def _spread(connection: Connection, reach: Reach, level: array[int], depths: Sequence[int]) -> None:
    """Reach level after level; `depths` gives each its depth, the last for all that are left."""
    number = 0
    for url_id in level:
        reach.reached[url_id] = 1
    while level:
        # First all redirects: a page of this level may also link to what another one redirects to, which is nearer.
        level = _with_redirects(connection, reach, level)
        depth = depths[min(number, len(depths) - 1)]
        for url_id in level:
            reach.depths[url_id] = depth
        below = array("I")
        canonicals: list[tuple[int, int]] = []
        for url_id, links, canonical in _seen(connection, level, observations.c.links, observations.c.canonical):
            _meet(reach, url_id, decode_links(links or b""), below)
            # Most pages name themselves.
            if canonical and not reach.reached[canonical]:
                canonicals.append((url_id, canonical))
        for url_id, canonical in canonicals:
            _meet(reach, url_id, (canonical,), below)
        level, number = _in_order(below, len(reach.reached)), number + 1


def _with_redirects(connection: Connection, reach: Reach, level: array[int]) -> array[int]:
    """The ids of `level` and those where they redirect, in one step or many."""
    everything, size = level, len(reach.reached)
    while level:
        redirected = array("I")
        for url_id, *targets in _seen(connection, level, observations.c.location, observations.c.refresh):
            _meet(reach, url_id, filter(None, targets), redirected)
        level = _in_order(redirected, size)
        everything = _in_order(everything + level, size) if level else everything
    return everything


def _in_order(ids: array[int], size: int) -> array[int]:
    """The ids, which differ and are below `size`, sorted; many of them without an object for each."""
    if len(ids) < MANY:
        return array("I", sorted(ids))
    marks = bytearray(size)
    for url_id in ids:
        marks[url_id] = 1
    ordered = array("I")
    at = marks.find(1)
    while at >= 0:
        ordered.append(at)
        at = marks.find(1, at + 1)
    return ordered


def _meet(reach: Reach, page: int, targets: Iterable[int], found: array[int]) -> None:
    reached, aliases = reach.reached, reach.aliases
    for target in (aliases.get(target, target) for target in targets) if aliases else targets:
        if not reached[target]:
            reached[target] = 1
            reach.referrers[target] = page
            found.append(target)


def _seen(connection: Connection, ids: array[int], *columns: Column[Any]) -> Iterator[Any]:
    """These columns of the observations that have any of them, after the id."""
    query = select(observations.c.url_id, *columns).order_by(observations.c.url_id)
    query = query.where(or_(*(column.is_not(None) for column in columns)))
    for chunk in chunks(ids):
        yield from connection.execute(query.where(observations.c.url_id.in_(list(chunk))))


def store_reach(connection: Connection, reach: Reach, *, run: int, proved: bool) -> None:
    """Write what differs from what the crawl believed. `proved`: the run saw the whole site, so absence counts."""
    columns = (urls.c.id, urls.c.depth, urls.c.referrer, urls.c.unlinked_since)
    # Links to another session are links to the one that was admitted.
    for rows in batches_of_urls(connection, select(*columns).where(urls.c.state != int(UrlState.SESSION))):
        changed = []
        for url_id, *before in rows:
            depth, referrer, unlinked_since = before
            if reach.reached[url_id]:
                now = [reach.depths[url_id], reach.referrers[url_id] or None, None]
            else:
                now = [depth, referrer, unlinked_since or (run if proved else None)]
            if now != before:
                changed.append({"b_id": url_id, "b_depth": now[0], "b_referrer": now[1], "b_unlinked_since": now[2]})
        _SETTLE.execute(connection, changed)


def queue_reachable(connection: Connection, reach: Reach, *, state_of: Callable[[str, int], UrlState]) -> None:
    """Queue what was refused only for its depth and is nearer than it seemed."""
    query = select(urls.c.id, urls.c.url).where(urls.c.state == int(UrlState.KNOWN))
    for rows in batches_of_urls(connection, query):
        reached = [row for row in rows if reach.reached[row.id]]
        states = [(row, reach.depths[row.id], state_of(row.url, reach.depths[row.id])) for row in reached]
        wanted = [
            {"b_id": row.id, "b_depth": depth, "b_state": int(state)}
            for row, depth, state in states
            if state is not UrlState.KNOWN
        ]
        _ADMIT.execute(connection, wanted)


def count_inlinks(connection: Connection) -> array[int]:
    """By URL id, the number of other listed pages that link to it. Memory is four bytes a URL."""
    counts = array("I", bytes(4 * ((connection.scalar(select(func.max(urls.c.id))) or 0) + 1)))
    query = (
        select(observations.c.url_id, observations.c.links)
        .join(decisions, decisions.c.url_id == observations.c.url_id)
        .where(decisions.c.decision == "listed", observations.c.links.is_not(None))
    )
    for url_id, links in connection.execution_options(yield_per=STREAM_ROWS).execute(query):
        for target in decode_links(links):
            counts[target] += target != url_id
    return counts
