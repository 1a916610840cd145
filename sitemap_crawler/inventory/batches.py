"""Many rows, a few at a time, while they are being changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sitemap_crawler.inventory.schema import urls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Select

ROWS = 2_000


def batches_of_urls(connection: Connection, query: Select[Any]) -> Iterator[Sequence[Any]]:
    """All rows of a query that has the ids of URLs, by these; rows may be changed between two batches."""
    last = 0
    while rows := connection.execute(query.where(urls.c.id > last).order_by(urls.c.id).limit(ROWS)).all():
        yield rows
        last = rows[-1].id
