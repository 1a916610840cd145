"""The URLs on which the answers of some others may decide, found by indexes and not by a scan.

A decision depends on other rows in two ways: a page whose canonical is another URL is left out if that one can be
listed, and an index file is left out if it has the bytes of the directory above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import null, select

from sitemap_crawler.inventory.schema import decisions, named_alternates, observations, urls
from sitemap_crawler.inventory.sql import chunks, url_key
from sitemap_crawler.urls.spelling import INDEX_FILES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import Connection

MAX_CHOSEN = 5_000
"""Maximum number of URLs that are decided and published without all others."""
_SEEN = observations.c
_OTHER_CANONICAL = _SEEN.canonical != _SEEN.url_id
"""The condition of the index `observations_canonical`."""
_SPELLINGS = (str.lower, str.upper, str.capitalize, str.title)
"""Spellings in which index files are looked up. Any other waits for the next crawl."""


def canonical_sources(connection: Connection, ids: Iterable[int], *, limit: int) -> set[int] | None:
    """Return the pages whose canonicals lead to one of the URLs, directly or through others; None if above `limit`."""
    query = select(_SEEN.url_id).where(_OTHER_CANONICAL)
    found: set[int] = set()
    new = set(ids)
    while new:
        sources: set[int] = set()
        for chunk in chunks(sorted(new)):
            sources.update(connection.scalars(query.where(_SEEN.canonical.in_(chunk)).limit(limit + 1)))
        new = sources - found
        found |= new
        if len(found) > limit:
            return None
    return found


def canonical_targets(connection: Connection, ids: Iterable[int]) -> set[int]:
    """Return the URLs to which the canonicals of the pages lead, directly or through others."""
    query = select(_SEEN.canonical).where(_OTHER_CANONICAL)
    found: set[int] = set()
    new = set(ids)
    while new:
        targets: set[int] = set()
        for chunk in chunks(sorted(new)):
            targets.update(connection.scalars(query.where(_SEEN.url_id.in_(chunk))))
        new = targets - found
        found |= new
    return found


def index_files(connection: Connection, pages: Iterable[str]) -> set[int]:
    """Return the ids of the known index files in those of the pages that are directories."""
    keys = [
        url_key(page + spell(name))
        for page in pages
        if page.endswith("/")
        for name in INDEX_FILES
        for spell in _SPELLINGS
    ]
    query = select(urls.c.id)
    return {url_id for chunk in chunks(keys) for url_id in connection.scalars(query.where(urls.c.key.in_(chunk)))}


def known_ids(connection: Connection, wanted: Iterable[str]) -> dict[str, int]:
    """Return the ids of the known ones of these URLs."""
    keys = {url_key(url): url for url in wanted}
    query = select(urls.c.id, urls.c.key)
    with connection.begin():
        return {
            keys[row.key]: row.id
            for chunk in chunks(list(keys))
            for row in connection.execute(query.where(urls.c.key.in_(chunk)))
        }


def claims_of(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return as texts what pages, and foreign sitemaps, say of their language versions; nothing for most pages."""
    own = select(_SEEN.url_id, _SEEN.alternates).where(_SEEN.alternates.is_not(null()))
    of_sitemaps = select(named_alternates.c.url_id, named_alternates.c.alternates)
    found: dict[int, str] = {}
    with connection.begin():
        for chunk in chunks(ids):
            for query, column in ((own, _SEEN.url_id), (of_sitemaps, named_alternates.c.url_id)):
                for url_id, claims in connection.execute(query.where(column.in_(chunk))):
                    found[url_id] = f"{found.get(url_id, '')}{claims}"
    return found


def count_runs(connection: Connection, ids: Sequence[int]) -> bool:
    """Return whether a decision on some URLs counts runs: nothing leads to one of them, or its server fails."""
    unlinked = select(urls.c.id).where(urls.c.unlinked_since.is_not(None))
    failing = select(_SEEN.url_id).where(_SEEN.failed_since.is_not(None))
    with connection.begin():
        return any(
            connection.scalar(query.limit(1)) is not None
            for chunk in chunks(ids)
            for query in (unlinked.where(urls.c.id.in_(chunk)), failing.where(_SEEN.url_id.in_(chunk)))
        )


def stored_decisions(connection: Connection, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the rows of the decisions on some URLs, by id."""
    query = select(decisions)
    with connection.begin():
        return {
            row["url_id"]: dict(row)
            for chunk in chunks(ids)
            for row in connection.execute(query.where(decisions.c.url_id.in_(chunk))).mappings()
        }


def restore_decisions(connection: Connection, ids: Sequence[int], rows: Collection[dict[str, Any]]) -> None:
    """Replace the decisions on some URLs by rows that `stored_decisions` has returned."""
    with connection.begin():
        for chunk in chunks(ids):
            connection.execute(decisions.delete().where(decisions.c.url_id.in_(chunk)))
        if rows:
            connection.execute(decisions.insert(), list(rows))
