"""What search engines answer about sitemaps and pages, and how much of their quota is used.

The functions read with any connection. `EngineAnswers` writes, each time in a short transaction.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update

from sitemap_crawler.inventory.dialects import insert as upsert
from sitemap_crawler.inventory.schema import engine_quota, engine_sitemaps, inspections
from sitemap_crawler.inventory.sitemap_answers import newest_ids
from sitemap_crawler.inventory.sql import chunks
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from sitemap_crawler.inventory.inspections import Inspection
    from sitemap_crawler.inventory.sitemap_answers import SitemapAnswer
    from sitemap_crawler.inventory.unlocked import UnlockedInventory

MAX_WORDS = 200
"""Maximum number of characters of a text that an engine chooses freely."""
MAX_URL = 2_048
"""Maximum number of characters of a URL in an answer. A longer one cannot be listed."""
MAX_ANSWERS = 100
"""Maximum number of different answers that are kept for one sitemap."""
QUOTA_DAYS = 31
"""Number of days for which the use of a quota is kept."""


class EngineAnswers:
    """The writer of answers."""

    def __init__(self, inventory: UnlockedInventory) -> None:
        self._inventory = inventory

    def keep_sitemap(
        self,
        service: str,
        property_name: str,
        url: str,
        answer: SitemapAnswer,
        children: Mapping[str, SitemapAnswer],
        now: datetime,
    ) -> None:
        """Store what an engine says of an entry file and of the sitemaps that it names, if it says something new."""
        asked = now.timestamp()
        given = {url: answer.to_json() | {"parent": None}}
        given |= {child: told.to_json() | {"parent": url} for child, told in children.items()}
        with self._inventory.transaction() as connection:
            kept = {row.url: row for row in _newest(connection, service, property_name)}
            same = {name for name, fields in given.items() if name in kept and kept[name].answer == fields}
            for ids in chunks([kept[name].id for name in same]):
                connection.execute(update(engine_sitemaps).where(engine_sitemaps.c.id.in_(ids)).values(asked=asked))
            place = {"service": service, "property": property_name, "since": asked, "asked": asked}
            new = [{**place, "url": name, "answer": fields} for name, fields in given.items() if name not in same]
            if new:
                connection.execute(insert(engine_sitemaps), new)
                _drop_old_answers(connection)

    def keep_inspection(self, url_id: int, inspection: Inspection) -> None:
        """Store the newest answer about a page. Texts are cut, so that they can be shown."""
        row = inspection._asdict()
        for name in ("verdict", "coverage_state", "robots", "indexing", "fetch"):
            row[name] = _text(row[name], MAX_WORDS)
        for name in ("google_canonical", "user_canonical"):
            row[name] = _text(row[name], MAX_URL)
        statement = upsert(inspections).values(url_id=url_id, **row)
        with self._inventory.transaction() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=[inspections.c.url_id], set_=row))

    def reserve(self, service: str, property_name: str, day: str, *, limit: int) -> bool:
        """Count one more request of a day, before it is sent. Return False if the limit is reached."""
        row = {"service": service, "property": property_name, "day": day}
        with self._inventory.transaction() as connection:
            if used_quota(connection, service, property_name, day) >= limit:
                return False
            counted = upsert(engine_quota).values(**row, used=1)
            connection.execute(
                counted.on_conflict_do_update(
                    index_elements=list(engine_quota.primary_key), set_={"used": engine_quota.c.used + 1}
                )
            )
            oldest = date.fromisoformat(day) - timedelta(QUOTA_DAYS)
            connection.execute(delete(engine_quota).where(engine_quota.c.day < oldest.isoformat()))
        return True


def used_quota(connection: Connection, service: str, property_name: str, day: str) -> int:
    """Return the number of requests of a day."""
    query = select(engine_quota.c.used).where(
        engine_quota.c.service == service, engine_quota.c.property == property_name, engine_quota.c.day == day
    )
    return connection.scalar(query) or 0


def quota_properties(connection: Connection, service: str, day: str) -> list[str]:
    """Return the properties that have used the quota of a day."""
    query = select(engine_quota.c.property).where(engine_quota.c.service == service, engine_quota.c.day == day)
    return sorted(connection.scalars(query))


def _newest(connection: Connection, service: str, property_name: str) -> Sequence[Any]:
    """Return the newest row of each sitemap of a property."""
    columns = engine_sitemaps.c
    query = select(columns.url, columns.id, columns.answer).where(
        columns.service == service,
        columns.property == property_name,
        columns.id.in_(newest_ids(columns.service, columns.property, columns.url)),
    )
    return connection.execute(query).all()


def _drop_old_answers(connection: Connection) -> None:
    columns = engine_sitemaps.c
    number = func.row_number().over(
        partition_by=(columns.service, columns.property, columns.url), order_by=columns.id.desc()
    )
    numbered = select(columns.id, number.label("number")).subquery()
    old = select(numbered.c.id).where(numbered.c.number > MAX_ANSWERS)
    connection.execute(delete(engine_sitemaps).where(columns.id.in_(old)))


def _text(value: str | None, limit: int) -> str | None:
    return None if value is None else one_line(value, limit) or None
