"""The last published set of pages, and how the decisions of a run differ from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, func, insert, select

from sitemap_crawler.inventory.schema import decisions, listings

if TYPE_CHECKING:
    from sqlalchemy import Connection

_LISTED = decisions.c.decision == "listed"


@dataclass(frozen=True, slots=True)
class Changes:
    """Pages added to, changed in (another lastmod) and removed from the sitemap since it was last published."""

    added: int = 0
    changed: int = 0
    removed: int = 0


def published_count(connection: Connection) -> int:
    """Pages in the last published set."""
    with connection.begin():
        return connection.scalar(select(func.count()).select_from(listings)) or 0


def changes_since_published(connection: Connection) -> Changes:
    both = listings.c.url_id == decisions.c.url_id
    decided = select(func.count()).select_from(decisions.outerjoin(listings, both)).where(_LISTED)
    other_date = listings.c.lastmod.is_distinct_from(decisions.c.lastmod)
    gone = listings.outerjoin(decisions, and_(both, _LISTED))
    with connection.begin():
        return Changes(
            added=connection.scalar(decided.where(listings.c.url_id.is_(None))) or 0,
            changed=connection.scalar(decided.where(listings.c.url_id.is_not(None), other_date)) or 0,
            removed=connection.scalar(select(func.count()).select_from(gone).where(decisions.c.url_id.is_(None))) or 0,
        )


def remember_listed(connection: Connection) -> None:
    """What is decided now is the published set."""
    source = select(decisions.c.url_id, decisions.c.lastmod).where(_LISTED)
    with connection.begin():
        connection.execute(delete(listings))
        connection.execute(insert(listings).from_select(["url_id", "lastmod"], source))
