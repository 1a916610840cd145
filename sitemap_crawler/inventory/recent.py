"""The pages that changed last, by their dates and by what past publications saw: for feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from sqlalchemy import and_, func, select

from sitemap_crawler.inventory.listings import Change
from sitemap_crawler.inventory.schema import changes, decisions, observations, runs, urls
from sitemap_crawler.inventory.sql import below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection


class RecentPage(NamedTuple):
    """`changed` in seconds since 1970."""

    url: str
    title: str | None
    changed: float
    kind: Literal["added", "changed"]


def recent_pages(connection: Connection, *, limit: int, prefix: str | None = None) -> Iterator[RecentPage]:
    """The listed pages, below `prefix` if there is one, with the newest dates, newest first.

    A page without a date has that of the run that added it, except those of the first publication: when they appeared
    nobody knows.
    """
    seen = (changes.c.publication > 1) & changes.c.kind.in_((str(Change.ADDED), str(Change.CHANGED)))
    last = select(changes.c.url_id, func.max(changes.c.publication).label("publication")).where(seen)
    latest = last.group_by(changes.c.url_id).subquery()
    moment = func.coalesce(decisions.c.lastmod, runs.c.started)
    kind = func.coalesce(changes.c.kind, str(Change.CHANGED))
    query = (
        select(urls.c.url, observations.c.title, moment, kind)
        .select_from(decisions)
        .join(urls, urls.c.id == decisions.c.url_id)
        .join(observations, observations.c.url_id == decisions.c.url_id)
        .outerjoin(latest, latest.c.url_id == decisions.c.url_id)
        .outerjoin(changes, and_(changes.c.url_id == latest.c.url_id, changes.c.publication == latest.c.publication))
        .outerjoin(runs, runs.c.id == changes.c.run)
        .where(decisions.c.decision == "listed", moment.is_not(None), below(prefix))
        .order_by(moment.desc(), urls.c.url)
        .limit(limit)
    )
    for row in connection.execute(query):
        yield RecentPage(*row)
