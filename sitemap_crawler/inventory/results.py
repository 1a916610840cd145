"""Results of runs, stored for reports: the totals of each run, and the warnings of the latest one with decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, func, insert, select, update

from sitemap_crawler.inventory.schema import runs, warnings
from sitemap_crawler.inventory.sql import STREAM_ROWS, RowStatement
from sitemap_crawler.policy.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import Connection

OF_CRAWL = ("milliseconds", "requests", "not_modified", "bytes", "errors", "rendering", "refused")
"""Totals that only a crawl has. Those of the crawl stay when `write` concludes its run again."""
LISTED_REASONS = (Reason.LISTED, Reason.KEPT_AFTER_ERROR)
_ADD_WARNING = RowStatement(insert(warnings), ("id", "run", "kind", "url", "message"))


class StoredWarning(NamedTuple):
    """A warning of a run, as its report has it."""

    kind: str
    url: str
    message: str


def store_results(
    connection: Connection,
    run: int,
    totals: Mapping[str, Any],
    found: Sequence[Mapping[str, str]] | None,
    *,
    crawled: bool,
) -> None:
    """Store the totals of a run and its warnings, which replace those of earlier runs.

    `found` is None for a run without decisions: the warnings of the run that made the decisions stay. `crawled` is
    False for `write`.
    """
    with connection.begin():
        before = connection.scalar(select(runs.c.totals).where(runs.c.id == run)) or {}
        of_crawl = {} if crawled else {name: before[name] for name in OF_CRAWL if name in before}
        connection.execute(update(runs).where(runs.c.id == run).values(totals={**totals, **of_crawl}))
        if found is not None:
            connection.execute(delete(warnings))
            _ADD_WARNING.execute(
                connection, [{**warning, "id": number, "run": run} for number, warning in enumerate(found, 1)]
            )


def add_to_totals(connection: Connection, run: int, differences: Mapping[str, int]) -> None:
    """Add to the numbers of URLs by reason, after an update has decided on some URLs anew."""
    with connection.begin():
        totals = connection.scalar(select(runs.c.totals).where(runs.c.id == run))
        if not totals or "listed" not in totals:
            return
        excluded = dict(totals["excluded"])
        for reason, count in differences.items():
            if reason in LISTED_REASONS:
                totals["listed"] += count
                totals["kept"] += count if reason == Reason.KEPT_AFTER_ERROR else 0
            else:
                excluded[reason] = excluded.get(reason, 0) + count
        excluded = {reason: count for reason, count in sorted(excluded.items()) if count}
        connection.execute(update(runs).where(runs.c.id == run).values(totals={**totals, "excluded": excluded}))


def totals_by_run(connection: Connection) -> dict[int, dict[str, Any]]:
    """Return the totals of each run that has them, by its number. Runs of earlier releases have none."""
    rows = connection.execute(select(runs.c.id, runs.c.totals).where(runs.c.totals.is_not(None)).order_by(runs.c.id))
    return {row.id: row.totals for row in rows}


def warned_run(connection: Connection) -> int | None:
    """Return the run that the stored warnings are of; None without any."""
    run: int | None = connection.scalar(select(func.max(warnings.c.run)))
    return run


def stored_warnings(connection: Connection) -> Iterator[StoredWarning]:
    """Yield the stored warnings in the order of the report: by kind, the most useful first."""
    query = select(warnings.c.kind, warnings.c.url, warnings.c.message).order_by(warnings.c.id)
    yield from map(StoredWarning._make, connection.execution_options(yield_per=STREAM_ROWS).execute(query))
