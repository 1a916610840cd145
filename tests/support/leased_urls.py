"""URLs that are leased without a crawl, so that their observations can be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert

from sitemap_crawler.inventory.frontier import ONLY_PROCESS
from sitemap_crawler.inventory.schema import frontier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection


def lease_urls(connection: Connection, ids: Sequence[int]) -> None:
    with connection.begin():
        connection.execute(delete(frontier).where(frontier.c.url_id.in_(ids)))
        rows = [{"url_id": url_id, "depth": 0, "owner": ONLY_PROCESS} for url_id in ids]
        connection.execute(insert(frontier), rows)
