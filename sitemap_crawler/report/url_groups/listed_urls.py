"""How many listed pages an `--exclude` for other URLs would leave out, too."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from sitemap_crawler.inventory.frontier import one_in
from sitemap_crawler.inventory.schema import decisions, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS
from sitemap_crawler.utils.patterns import UserPattern

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy import Connection

    from sitemap_crawler.report.url_groups.exclusion import UrlShape

MAX_READ = 100_000
"""Number of listed pages that are read. Of more pages a part is read."""


def with_listed(connection: Connection, shapes: Sequence[UrlShape]) -> list[UrlShape]:
    """Return the shapes with the numbers of listed pages that their options match."""
    listed, _ = count_listed(connection, {shape.exclude for shape in shapes if shape.exclude is not None})
    return [shape._replace(listed=listed[shape.exclude]) for shape in shapes]


def count_listed(connection: Connection, options: Collection[str]) -> tuple[Counter[str | None], int]:
    """Return the number of listed pages that each value of --exclude matches, and the number for which each stands."""
    found: Counter[str | None] = Counter()
    every = 1
    if options:
        patterns = [UserPattern(option) for option in options]
        is_listed = decisions.c.decision == "listed"
        number = connection.execute(select(func.count()).select_from(decisions).where(is_listed)).scalar_one()
        every = max(1, -(-number // MAX_READ))
        query = select(urls.c.url).join(decisions, decisions.c.url_id == urls.c.id)
        query = query.where(is_listed, one_in(every, urls.c.id))
        for url in connection.execute(query, execution_options={"yield_per": STREAM_ROWS}).scalars():
            found.update({pattern.text: every for pattern in patterns if pattern.found_in(url)})
    return found, every
