"""The texts of pages, stored with their observations, so that killed runs and later runs know them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from sitemap_crawler.inventory.dialects import insert
from sitemap_crawler.inventory.schema import observations, page_texts, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS, RowStatement
from sitemap_crawler.traps.canonicals import Canonicals
from sitemap_crawler.traps.met_links import MAX_LINKS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from sitemap_crawler.items import Observation

MAX_PAGES = 100_000
"""Maximum number of pages whose texts a process stores. Each takes up to 8 kB, a usual one less than 1 kB."""
IS_LISTABLE = ~observations.c.noindex & or_(
    observations.c.canonical.is_(None), observations.c.canonical == observations.c.url_id
)
"""Condition for a page that does not itself ask to be left out of the sitemap, see `Page.is_listable`."""
_COLUMNS = ("url_id", "run", "texts", "fingerprint")


def _upsert() -> RowStatement:
    new = insert(page_texts)
    values = {name: new.excluded[name] for name in _COLUMNS[1:]}
    return RowStatement(new.on_conflict_do_update(index_elements=["url_id"], set_=values), _COLUMNS, joins=True)


_UPSERT = _upsert()


class PageTextsWriter:
    """Writer of the texts of the pages that a run reads."""

    def __init__(self, connection: Connection, run: int) -> None:
        self._connection = connection
        self._run = run
        self._pages = 0

    def write(self, observed: Iterable[Observation]) -> None:
        """Store the texts of those pages that were compared with others."""
        rows = [
            {"url_id": seen.url_id, "run": self._run, "texts": seen.texts, "fingerprint": seen.fingerprint}
            for seen in observed
            if seen.texts is not None
        ]
        rows = rows[: MAX_PAGES - self._pages]
        self._pages += len(rows)
        _UPSERT.execute(self._connection, rows)


def read_canonicals(connection: Connection) -> Canonicals:
    """Return what is known of the canonical URLs that pages with parameters name."""
    canonicals = Canonicals()
    named = urls.alias()
    query = select(urls.c.url, named.c.url.label("canonical"), IS_LISTABLE.label("is_listable"))
    query = query.join(observations, observations.c.url_id == urls.c.id)
    query = query.outerjoin(named, named.c.id == observations.c.canonical)
    query = query.where(observations.c.status == 200, urls.c.url.contains("?")).order_by(urls.c.id).limit(MAX_LINKS)
    for row in connection.execute(query, execution_options={"yield_per": STREAM_ROWS}):
        canonicals.count(row.url, row.canonical, is_listable=row.is_listable)
    return canonicals
