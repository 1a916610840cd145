"""The dates of pages that foreign sitemaps and feeds state, and the pages that they date at the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Integer, Select, bindparam, cast, delete, func, select, update
from sqlalchemy.dialects.sqlite import insert

from sitemap_crawler.inventory.schema import named_dates, observations, runs, urls
from sitemap_crawler.inventory.sql import RowStatement, batches_of_urls, url_key
from sitemap_crawler.policy.lastmod import DAY_SECONDS, MAX_SHARE, MINUTE_SECONDS, Dated, SeenContent, settle_named_date

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

_COLUMNS = ("url_id", "run", "sitemap", "source", "lastmod", "lastmod_day")
_MINUTE = cast(named_dates.c.lastmod / MINUTE_SECONDS, Integer)


def _store_statement() -> RowStatement:
    """Return the statement that stores a date in place of one of an earlier run. In one run the first date counts."""
    statement = insert(named_dates)
    replace = statement.on_conflict_do_update(
        index_elements=[named_dates.c.url_id],
        set_={name: statement.excluded[name] for name in _COLUMNS},
        where=named_dates.c.run < statement.excluded.run,
    )
    return RowStatement(replace, _COLUMNS)


_STORE = _store_statement()
_DATE = RowStatement(
    update(observations)
    .where(observations.c.url_id == bindparam("b_id"))
    .values({name: bindparam(f"b_{name}") for name in ("lastmod", "lastmod_source", "lastmod_day")}),
    ("b_id", "b_lastmod", "b_lastmod_source", "b_lastmod_day"),
)


def store_named_dates(connection: Connection, run: int, sitemap: str, dates: Mapping[int, Dated]) -> None:
    """Store the dates in a sitemap by the ids of their pages. The dates of one page in several sitemaps: the first."""
    key = url_key(sitemap)
    rows = [
        dict(zip(_COLUMNS, (url_id, run, key, dated.source, dated.lastmod, dated.day), strict=True))
        for url_id, dated in dates.items()
    ]
    with connection.begin():
        _STORE.execute(connection, rows)


def settle_named_dates(connection: Connection, run: int) -> None:
    """Date the pages of the run by the credible dates in foreign sitemaps, where no page states its own."""
    with connection.begin():
        connection.execute(delete(named_dates).where(named_dates.c.run < run))
        credible = _CredibleDates(connection)
        if not credible.total:
            return
        earlier_end = connection.scalar(
            select(func.max(func.coalesce(runs.c.finished, runs.c.started))).where(runs.c.id < run)
        )
        for batch in batches_of_urls(connection, _pages_query()):
            rows = []
            for row in batch:
                if not credible.believes(row.sitemap, row.named):
                    continue
                content = SeenContent(
                    fetched=row.fetched,
                    is_new=row.first_seen == run,
                    known_since=row.started,
                    earlier_end=earlier_end,
                )
                known = Dated(row.lastmod, row.lastmod_source, row.lastmod_day)
                dated = settle_named_date(known, Dated(row.named, row.source, row.named_day), content)
                if dated != known:
                    rows.append(
                        {
                            "b_id": row.id,
                            "b_lastmod": dated.lastmod,
                            "b_lastmod_source": dated.source,
                            "b_lastmod_day": dated.day,
                        }
                    )
            _DATE.execute(connection, rows)


class _CredibleDates:
    """The dates that can be believed, by how the dates of each file and of the whole run are spread.

    A generator that stamps all entries with its own run states the same minute for most of them, or dates within one
    day for all.
    """

    def __init__(self, connection: Connection) -> None:
        count = func.count()
        lastmod = named_dates.c.lastmod
        files = select(named_dates.c.sitemap, count, func.max(lastmod) - func.min(lastmod)).group_by(
            named_dates.c.sitemap
        )
        counts: dict[int, int] = {}
        self._stamped_files: set[int] = set()
        for sitemap, entries, spread_seconds in connection.execute(files).all():
            counts[sitemap] = entries
            if entries > 1 and spread_seconds < DAY_SECONDS:
                self._stamped_files.add(sitemap)
        self.total = sum(counts.values())
        shared = select(named_dates.c.sitemap, _MINUTE.label("minute"), count).group_by("sitemap", "minute")
        self._stamped_minutes = {
            (sitemap, minute)
            for sitemap, minute, entries in connection.execute(shared.having(count > 1))
            if entries > MAX_SHARE * counts[sitemap]
        }
        most = select(_MINUTE.label("minute")).group_by("minute").having(count > MAX_SHARE * self.total)
        self._stamped_minute = connection.scalar(most)

    def believes(self, sitemap: int, lastmod: float) -> bool:
        minute = int(lastmod / MINUTE_SECONDS)
        return (
            sitemap not in self._stamped_files
            and (sitemap, minute) not in self._stamped_minutes
            and minute != self._stamped_minute
        )


def _pages_query() -> Select[Any]:
    seen = observations.c
    return (
        select(
            urls.c.id, urls.c.first_seen, runs.c.started,
            named_dates.c.sitemap, named_dates.c.source, named_dates.c.lastmod.label("named"),
            named_dates.c.lastmod_day.label("named_day"),
            seen.fetched, seen.lastmod, seen.lastmod_source, seen.lastmod_day,
        )
        .join(named_dates, named_dates.c.url_id == urls.c.id)
        .join(observations, seen.url_id == urls.c.id)
        .join(runs, runs.c.id == urls.c.first_seen)
        .where(seen.fingerprint.is_not(None))
    )  # fmt: skip
