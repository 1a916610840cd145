"""Insertion of the URLs that a crawl discovers, with their ids.

Ids are dense: link blobs take one or two bytes a link, and the walk over the links has arrays by id. In a file the only
process counts. On a server the ids come from a sequence, and several processes may insert the same URL at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select

from sitemap_crawler.inventory.schema import urls
from sitemap_crawler.inventory.sql import RowStatement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

_COLUMNS = ("key", "url", "state", "depth", "referrer", "first_seen")
_INSERT = RowStatement(insert(urls), ("id", *_COLUMNS))
# The ids are in the order of discovery. The rows are inserted in that of the keys, as in all processes, so that no two
# wait for each other.
_INSERT_ON_SERVER = """
WITH given AS MATERIALIZED (SELECT nextval('url_ids') AS id, given.* FROM unnest(%(key)s::bigint[], %(url)s::text[],
    %(state)s::smallint[], %(depth)s::integer[], %(referrer)s::bigint[], %(first_seen)s::bigint[])
    AS given (key, url, state, depth, referrer, first_seen))
INSERT INTO urls (id, key, url, state, depth, referrer, first_seen) SELECT * FROM given ORDER BY key
ON CONFLICT (key) DO NOTHING RETURNING id, key
"""


class NewUrls:
    """Insertion of new URLs by the only process."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        with connection.begin():
            self._next_id: int = (connection.scalar(select(func.max(urls.c.id))) or 0) + 1

    def insert(self, rows: Sequence[Mapping[str, Any]]) -> dict[int, int]:
        """Insert URLs, each with the columns from `key` to `first_seen`. Return the ids of the inserted ones by key."""
        ids: dict[int, int] = {}
        fresh = []
        for row in rows:
            ids[row["key"]] = self._next_id
            fresh.append({"id": self._next_id, **row})
            self._next_id += 1
        _INSERT.execute(self._connection, fresh)
        return ids


class _NewUrlsOnServer(NewUrls):
    """Insertion of new URLs by one of several processes. Those that another one has inserted are left out."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def insert(self, rows: Sequence[Mapping[str, Any]]) -> dict[int, int]:
        if not rows:
            return {}
        columns = {name: [row[name] for row in rows] for name in _COLUMNS}
        return {row.key: row.id for row in self._connection.exec_driver_sql(_INSERT_ON_SERVER, columns)}


def new_urls(connection: Connection) -> NewUrls:
    """Return the insertion for the database of a connection."""
    return (_NewUrlsOnServer if connection.dialect.name == "postgresql" else NewUrls)(connection)
