"""The shortest click path to every URL of a run, from the links that its pages have.

A crawl finds URLs in the order of arrival: a slow page may link to what a fast one deeper down has found before.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, select, update

from sitemap_crawler.inventory.links import decode_links
from sitemap_crawler.inventory.schema import UrlState, observations, urls
from sitemap_crawler.rules import UNREACHED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy import Connection

CHUNK = 500
WRITE_ROWS = 2_000


def settle_depths(
    connection: Connection, run: int, *, starts: Iterable[int], admits: Callable[[str, int], bool]
) -> None:
    """Give the URLs of the run their shortest depths, and queue those that were refused only for their depth.

    A redirect takes no click. Memory is two bytes a URL, and one level of the site; the caller has begun a transaction.
    """
    depths = array("H", [UNREACHED]) * ((connection.scalar(select(func.max(urls.c.id))) or 0) + 1)
    level = set(starts)
    for depth in range(UNREACHED):
        if not level:
            break
        below: set[int] = set()
        while level:
            for url_id in level:
                depths[url_id] = depth
            redirected: set[int] = set()
            for links, canonical, *redirects in _targets(connection, run, sorted(level)):
                below.update(decode_links(links or b""), [canonical] if canonical else ())
                redirected.update(target for target in redirects if target and depths[target] > depth)
            level = redirected
        level = {url_id for url_id in below if depths[url_id] == UNREACHED}
    _write(connection, list(_closer(connection, run, depths, admits)))


def _targets(connection: Connection, run: int, ids: Sequence[int]) -> Iterator[Any]:
    seen = observations.c
    query = select(seen.links, seen.canonical, seen.location, seen.refresh).where(seen.run == run)
    for start in range(0, len(ids), CHUNK):
        yield from connection.execute(query.where(seen.url_id.in_(ids[start : start + CHUNK])))


def _closer(
    connection: Connection, run: int, depths: array[int], admits: Callable[[str, int], bool]
) -> Iterator[dict[str, Any]]:
    query = select(urls.c.id, urls.c.url, urls.c.state, urls.c.depth).where(urls.c.seen == run)
    for row in connection.execute(query.execution_options(yield_per=CHUNK)):
        depth = depths[row.id]
        if depth < min(row.depth, UNREACHED):
            wanted = row.state == UrlState.KNOWN and admits(row.url, depth)
            state = UrlState.QUEUED if wanted else row.state
            yield {"b_id": row.id, "b_depth": depth, "b_state": int(state)}


def _write(connection: Connection, rows: list[dict[str, Any]]) -> None:
    statement = update(urls).where(urls.c.id == bindparam("b_id"))
    statement = statement.values({"depth": bindparam("b_depth"), "state": bindparam("b_state")})
    for start in range(0, len(rows), WRITE_ROWS):
        connection.execute(statement, rows[start : start + WRITE_ROWS])
