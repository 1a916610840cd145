"""What a run takes back that was refused or only tried out: what it saw may have been an outage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, update

from sitemap_crawler.inventory.schema import observations, urls
from sitemap_crawler.inventory.sql import below

if TYPE_CHECKING:
    from sqlalchemy import Connection


def take_back(connection: Connection, run: int, *, prefix: str | None = None) -> None:
    """That nothing leads to a URL, and that it fails since then: the next run may be the first to say so. Of the URLs
    below `prefix` only, if there is one."""
    with connection.begin():
        unlinked = (urls.c.unlinked_since == run) & below(prefix)
        connection.execute(update(urls).where(unlinked).values(unlinked_since=None))
        failing = observations.c.failed_since == run
        if prefix is not None:
            failing &= observations.c.url_id.in_(select(urls.c.id).where(below(prefix)))
        connection.execute(update(observations).where(failing).values(failed_since=run + 1))
