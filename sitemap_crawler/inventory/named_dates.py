"""The dates of pages that foreign sitemaps, feeds and the lists of WordPress state, and the pages that they date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, case, delete, func, literal_column, null, or_, select

from sitemap_crawler.inventory.dialects import Truncated, insert
from sitemap_crawler.inventory.schema import named_dates, observations, runs, urls
from sitemap_crawler.inventory.sql import SET_DATE, RowStatement, batches_of_urls, chunks, url_key
from sitemap_crawler.items import NoteKind
from sitemap_crawler.policy.lastmod import (
    DAY_SECONDS,
    MAX_SHARE,
    MINUTE_SECONDS,
    WORDPRESS,
    Dated,
    SeenContent,
    settle_named_date,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

MAX_PAGES_WITH_API = 1_000
"""Maximum id of the pages whose notes are read for the API of WordPress. Each of its pages names the API."""
MAX_APIS = 20
"""Maximum number of WordPress sites whose lists a run reads."""
_COLUMNS = ("url_id", "run", "sitemap", "source", "lastmod", "lastmod_day")
_MINUTE = Truncated(named_dates.c.lastmod / MINUTE_SECONDS)


def _store_statement() -> RowStatement:
    """Return the statement that stores a date in place of one of an earlier run.

    In one run the first date counts, except that the database of WordPress knows more than any sitemap.
    """
    statement = insert(named_dates)
    replace = statement.on_conflict_do_update(
        index_elements=[named_dates.c.url_id],
        set_={name: statement.excluded[name] for name in _COLUMNS},
        where=or_(
            named_dates.c.run < statement.excluded.run, statement.excluded.source == literal_column(f"'{WORDPRESS}'")
        ),
    )
    return RowStatement(replace, _COLUMNS)


_STORE = _store_statement()


def store_named_dates(connection: Connection, run: int, sitemap: str, dates: Mapping[int, Dated]) -> None:
    """Store the dates in a sitemap by the ids of their pages. The dates of one page in several sitemaps: the first."""
    key = url_key(sitemap)
    rows = [
        dict(zip(_COLUMNS, (url_id, run, key, dated.source, dated.lastmod, dated.day), strict=True))
        for url_id, dated in dates.items()
    ]
    with connection.begin():
        _STORE.execute(connection, rows)


def store_wordpress_dates(connection: Connection, run: int, dates: Mapping[str, Dated]) -> None:
    """Store the dates of entries by their URLs. Those of unknown URLs are dropped."""
    by_key = {url_key(url): date for url, date in dates.items()}
    known: dict[int, Dated] = {}
    with connection.begin():
        for chunk in chunks(list(by_key)):
            rows = connection.execute(select(urls.c.id, urls.c.key).where(urls.c.key.in_(chunk)))
            known.update((row.id, by_key[row.key]) for row in rows)
    # All lists are judged together: a list of three pages may well be of one day.
    store_named_dates(connection, run, WORDPRESS, known)


def wordpress_apis(connection: Connection) -> list[str]:
    """Return the URLs of the APIs of WordPress that the pages of the site name."""
    note = observations.c.notes[NoteKind.WORDPRESS_API].as_string()
    query = select(note).where(
        observations.c.url_id <= MAX_PAGES_WITH_API, observations.c.notes.is_not(None), note.is_not(None)
    )
    with connection.begin():
        return list(dict.fromkeys(connection.scalars(query.order_by(observations.c.url_id))))[:MAX_APIS]


def settle_named_dates(connection: Connection, run: int) -> None:
    """Date the pages of the run by the credible dates in foreign sitemaps, where no page states its own."""
    with connection.begin():
        connection.execute(delete(named_dates).where(named_dates.c.run < run))
        credible = CredibleDates(connection)
        if not credible.total:
            return
        earlier_end = connection.scalar(
            select(func.max(func.coalesce(runs.c.finished, runs.c.started))).where(runs.c.id < run)
        )
        for batch in batches_of_urls(connection, _pages_query()):
            rows = []
            for row in batch:
                if row.is_list is not None or not credible.believes(row.sitemap, row.named):
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
            SET_DATE.execute(connection, rows)


class CredibleDates:
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
    # An entry may be shown as a list of others: its date is not that of the list.
    is_list = case((named_dates.c.source == WORDPRESS, seen.notes[NoteKind.WORDPRESS_LIST].as_string()), else_=null())
    return (
        select(
            urls.c.id, urls.c.first_seen, runs.c.started,
            named_dates.c.sitemap, named_dates.c.source, named_dates.c.lastmod.label("named"),
            named_dates.c.lastmod_day.label("named_day"),
            seen.fetched, seen.lastmod, seen.lastmod_source, seen.lastmod_day, is_list.label("is_list"),
        )
        .join(named_dates, named_dates.c.url_id == urls.c.id)
        .join(observations, seen.url_id == urls.c.id)
        .join(runs, runs.c.id == urls.c.first_seen)
        .where(seen.fingerprint.is_not(None))
    )  # fmt: skip
