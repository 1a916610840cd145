"""How many pages of the site link to each URL."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from sitemap_crawler.inventory.schema import decisions, observations, urls
from sitemap_crawler.inventory.sql import decode_links

if TYPE_CHECKING:
    from sqlalchemy import Connection

STREAM_ROWS = 1_000


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
