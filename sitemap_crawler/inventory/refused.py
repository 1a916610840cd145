"""What a run takes back that was refused or only tried out: what it saw may have been an outage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import update

from sitemap_crawler.inventory.schema import observations, urls

if TYPE_CHECKING:
    from sqlalchemy import Connection


def take_back(connection: Connection, run: int) -> None:
    """That nothing leads to a URL, and that it fails since then: the next run may be the first to say so."""
    with connection.begin():
        connection.execute(update(urls).where(urls.c.unlinked_since == run).values(unlinked_since=None))
        failing = observations.c.failed_since == run
        connection.execute(update(observations).where(failing).values(failed_since=run + 1))
