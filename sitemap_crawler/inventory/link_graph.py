"""The graph of stored links: crawl depth, referrer and reachability of each URL, and the number of its inlinks.

A crawl discovers URLs in the order of the answers, and discovers none behind a page that answered 304. So depth,
referrer and reachability are computed from the stored links, when nothing is left to fetch.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import exists, func, or_, select, union_all

from sitemap_crawler.inventory.frontier import add_waiting
from sitemap_crawler.inventory.schema import UrlState, added_urls, observations, supplied, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS, batches_of_urls, chunks, decode_links, update_urls, url_key
from sitemap_crawler.inventory.traps import session_aliases
from sitemap_crawler.items import NoteKind
from sitemap_crawler.policy.rules import LINKED_FROM_UNREACHED, UNREACHED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy import Column, Connection

MAX_SORTED_IDS = 10_000
"""Number of ids from which on a list of them would take too much memory."""
_SET_REACH = update_urls("depth", "referrer", "unlinked_since", "inlinks")
_REACH_PARAMETERS = ("b_id", "b_depth", "b_referrer", "b_unlinked_since", "b_inlinks")
_ADMIT = update_urls("depth", "state")


class Reach(NamedTuple):
    """The result of a walk over the links, by URL id. It takes eleven bytes a URL; the walk takes at most nine more."""

    reached: bytearray
    """1 for a URL to which something leads."""
    depths: array[int]
    """Clicks from the nearest start page. A redirect takes none."""
    referrers: array[int]
    """A page that leads to the URL with the fewest clicks; 0 for start pages and URLs that only sitemaps name."""
    inlinks: array[int]
    """Number of other pages that link to the URL. Only the links of pages to which something leads count."""
    aliases: dict[int, int]
    """By URL refused for its session id, the admitted URL of the same page. Links to the first count for the second."""


def walk(connection: Connection, run: int, *, starts: Iterable[int]) -> Reach:
    """Walk breadth-first from the ids `starts`, then from the URLs that sitemaps name, within the caller's transaction.

    These are the URLs named in this run, and those that were named in any run and never linked to. The latter must not
    be lost when our sitemap replaces the foreign one. The lists and access logs of the owner count as sitemaps of this
    run: `supplied` has what they name now. So do the URLs that the owner has added.
    """
    size = (connection.scalar(select(func.max(urls.c.id))) or 0) + 1
    depths, referrers, inlinks = (
        array("H", [UNREACHED]) * size,
        array("I", bytes(4 * size)),
        array("I", bytes(4 * size)),
    )
    reach = Reach(bytearray(size), depths, referrers, inlinks, session_aliases(connection))
    _spread(connection, reach, array("I", sorted(set(starts))), range(LINKED_FROM_UNREACHED))
    only_named = urls.c.named.is_not(None) & (urls.c.depth == UNREACHED)
    in_list = urls.c.id.in_(union_all(select(supplied.c.url_id), select(added_urls.c.url_id)))
    named = select(urls.c.id).where(or_(urls.c.named == run, only_named, in_list)).order_by(urls.c.id)
    unlinked = array("I", [url_id for url_id in connection.scalars(named) if not reach.reached[url_id]])
    _spread(connection, reach, unlinked, [UNREACHED, LINKED_FROM_UNREACHED])
    return reach


def walk_from(connection: Connection, run: int, *, starts: Iterable[str]) -> Reach:
    """Walk from the start pages with these URLs. See `walk`."""
    start_ids = select(urls.c.id).where(urls.c.key.in_([url_key(url) for url in starts]))
    return walk(connection, run, starts=connection.scalars(start_ids).all())


def _spread(connection: Connection, reach: Reach, level: array[int], depths: Sequence[int]) -> None:
    """Reach URLs level after level. `depths` are those of the levels; the last one holds for all further levels."""
    number = 0
    for url_id in level:
        reach.reached[url_id] = 1
    while level:
        # Redirects come first: their targets are on this level, even if other pages of the level link to them.
        level = _with_redirects(connection, reach, level)
        depth = depths[min(number, len(depths) - 1)]
        for url_id in level:
            reach.depths[url_id] = depth
        below = array("I")
        canonicals: list[tuple[int, int]] = []
        for url_id, links, canonical in _observed(connection, level, observations.c.links, observations.c.canonical):
            if links:
                _follow_links(reach, url_id, decode_links(links), below)
            # Most pages name themselves as canonical.
            if canonical and not reach.reached[canonical]:
                canonicals.append((url_id, canonical))
        for url_id, canonical in canonicals:
            _reach_targets(reach, url_id, (canonical,), below)
        level, number = _sorted_ids(below, len(reach.reached)), number + 1


def _with_redirects(connection: Connection, reach: Reach, level: array[int]) -> array[int]:
    """Return the ids of `level` and of all URLs to which they redirect."""
    everything, size = level, len(reach.reached)
    while level:
        redirected = array("I")
        for url_id, *targets in _observed(connection, level, observations.c.location, observations.c.refresh):
            _reach_targets(reach, url_id, filter(None, targets), redirected)
        level = _sorted_ids(redirected, size)
        everything = _sorted_ids(everything + level, size) if level else everything
    return everything


def _sorted_ids(ids: array[int], size: int) -> array[int]:
    """Sort different ids below `size`. Many ids are sorted without an object for each."""
    if len(ids) < MAX_SORTED_IDS:
        return array("I", sorted(ids))
    marks = bytearray(size)
    for url_id in ids:
        marks[url_id] = 1
    ordered = array("I")
    url_id = marks.find(1)
    while url_id >= 0:
        ordered.append(url_id)
        url_id = marks.find(1, url_id + 1)
    return ordered


def _follow_links(reach: Reach, page: int, targets: Iterable[int], new: array[int]) -> None:
    """Reach and count the targets of the links of a page. Those that were not reached before are added to `new`."""
    reached, inlinks, aliases = reach.reached, reach.inlinks, reach.aliases
    if aliases:
        targets = dict.fromkeys(aliases.get(target, target) for target in targets)
    without_own = inlinks[page]
    for target in targets:
        inlinks[target] += 1
        if not reached[target]:
            reached[target] = 1
            reach.referrers[target] = page
            new.append(target)
    inlinks[page] = without_own


def _reach_targets(reach: Reach, page: int, targets: Iterable[int], new: array[int]) -> None:
    """Reach the redirects or canonical of a page. Those that were not reached before are added to `new`."""
    reached, aliases = reach.reached, reach.aliases
    for target in (aliases.get(target, target) for target in targets) if aliases else targets:
        if not reached[target]:
            reached[target] = 1
            reach.referrers[target] = page
            new.append(target)


def _observed(connection: Connection, ids: array[int], *columns: Column[Any]) -> Iterator[Any]:
    """Yield the id and these columns of the observations that have any of them."""
    query = select(observations.c.url_id, *columns).order_by(observations.c.url_id)
    query = query.where(or_(*(column.is_not(None) for column in columns)))
    for chunk in chunks(ids):
        yield from connection.execute(query.where(observations.c.url_id.in_(list(chunk))))


def store_reach(connection: Connection, reach: Reach, *, run: int, proved: bool) -> None:
    """Store depth, referrer, reachability and inlinks where they differ from the stored ones.

    `proved` says that the run saw the whole site, so that a URL without links to it counts as unlinked.
    """
    columns = (urls.c.id, urls.c.depth, urls.c.referrer, urls.c.unlinked_since, urls.c.inlinks)
    # URLs refused for their session id are left out: links to them count for the admitted URL.
    for rows in batches_of_urls(connection, select(*columns).where(urls.c.state != int(UrlState.SESSION))):
        changed = []
        for url_id, *before in rows:
            depth, referrer, unlinked_since, _ = before
            if reach.reached[url_id]:
                now = [reach.depths[url_id], reach.referrers[url_id] or None, None, reach.inlinks[url_id]]
            else:
                now = [depth, referrer, unlinked_since or (run if proved else None), None]
            if now != before:
                changed.append(dict(zip(_REACH_PARAMETERS, (url_id, *now), strict=True)))
        _SET_REACH.execute(connection, changed)


def queue_reachable(connection: Connection, reach: Reach, *, state_of: Callable[[str, int], UrlState]) -> None:
    """Queue URLs that were refused for their depth and are admitted at the depth of the walk."""
    query = select(urls.c.id, urls.c.url).where(urls.c.state == int(UrlState.KNOWN))
    for rows in batches_of_urls(connection, query):
        reached = [row for row in rows if reach.reached[row.id]]
        states = [(row, reach.depths[row.id], state_of(row.url, reach.depths[row.id])) for row in reached]
        admitted = [
            {"b_id": row.id, "b_depth": depth, "b_state": int(state)}
            for row, depth, state in states
            if state is not UrlState.KNOWN
        ]
        _ADMIT.execute(connection, admitted)
        waiting = [(row.id, depth) for row, depth, state in states if state is UrlState.ADMITTED]
        add_waiting(connection, [{"url_id": url_id, "depth": depth} for url_id, depth in waiting])


def has_inlinks(connection: Connection) -> bool:
    """Return whether the links to URLs have been counted. Inventories that an earlier release filled have no counts."""
    with connection.begin():
        return bool(connection.scalar(select(exists().where(urls.c.inlinks.is_not(None)))))


def stored_inlinks(connection: Connection) -> array[int]:
    """Return the number of other pages that link to each URL, by id. It takes four bytes a URL."""
    counts = array("I", bytes(4 * ((connection.scalar(select(func.max(urls.c.id))) or 0) + 1)))
    query = select(urls.c.id, urls.c.inlinks).where(urls.c.inlinks > 0)
    for url_id, count in connection.execution_options(yield_per=STREAM_ROWS).execute(query):
        counts[url_id] = count
    return counts


def has_all_links(connection: Connection) -> bool:
    """Return whether no page had more links than are kept. A URL beyond the cut may still be linked."""
    is_cut = observations.c.notes[NoteKind.MANY_LINKS].as_integer().is_not(None)
    reached = urls.c.unlinked_since.is_(None)
    cut = exists().where(observations.c.notes.is_not(None), is_cut, urls.c.id == observations.c.url_id, reached)
    with connection.begin():
        return not connection.scalar(select(cut))
