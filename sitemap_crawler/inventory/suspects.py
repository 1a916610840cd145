"""Pages that answered 200 and may be errors all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, or_, select, update

from sitemap_crawler.inventory.schema import observations, urls

if TYPE_CHECKING:
    from sqlalchemy import Connection

ERROR_PAGE = "error-page"
"""The note with what the page says of itself."""
SOFT_404 = "soft-404"
"""The note of a page that is the same as what the site answers to any address."""
BATCH_ROWS = 1_000
MAX_NOTED = 100_000
"""Pages with the same content that get the note: a warning of so many is as good as one of all."""


def error_pages(connection: Connection, run: int, limit: int) -> list[str]:
    """Up to `limit` URLs of this run that say that they are errors, those nearest to the start page first."""
    seen = observations.c
    query = select(urls.c.url).join(observations, seen.url_id == urls.c.id).order_by(urls.c.depth, urls.c.id)
    says_so = seen.notes[ERROR_PAGE].as_string().is_not(None)
    with connection.begin():
        return list(connection.scalars(query.where(seen.run == run, seen.notes.is_not(None), says_so).limit(limit)))


def note_same_content(
    connection: Connection, run: int, note: str, *, body_hash: bytes, fingerprint: bytes | None, start_url: str
) -> int:
    """Note on the pages of this run that have this very body or content that they do; return how many they are.

    Not on the start page: a site that shows it for all that it does not have has a good one, and bad copies.
    """
    seen = observations.c
    same = seen.body_hash == body_hash
    if fingerprint is not None:
        same = or_(same, seen.fingerprint == fingerprint)
    query = select(seen.url_id, seen.notes).join(urls, urls.c.id == seen.url_id)
    query = query.where(seen.run == run, same, urls.c.url != start_url)
    query = query.order_by(seen.url_id).limit(BATCH_ROWS)
    statement = update(observations).where(seen.url_id == bindparam("b_id")).values(notes=bindparam("b_notes"))
    noted, last = 0, 0
    with connection.begin():
        while noted < MAX_NOTED:
            rows = connection.execute(query.where(seen.url_id > last)).all()
            if not rows:
                break
            values = [{"b_id": row.url_id, "b_notes": {**(row.notes or {}), SOFT_404: note}} for row in rows]
            connection.execute(statement, values)
            noted, last = noted + len(rows), rows[-1].url_id
    return noted
