"""The pages on which a run has seen a change itself, and their dates if the pages show something else each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, or_, select

from sitemap_crawler.inventory.schema import decisions, observations, runs, urls
from sitemap_crawler.inventory.sql import SET_DATE, batches_of_urls
from sitemap_crawler.items import NoteKind, RenderState
from sitemap_crawler.policy.lastmod import OBSERVED_CHANGE
from sitemap_crawler.policy.second_looks import ChangedPage, KeptDates
from sitemap_crawler.traps.shapes import shape_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from sqlalchemy import Connection, Select

    from sitemap_crawler.policy.common_changes import CommonChanges

_MADE_BY_SCRIPTS = (int(RenderState.RENDERED), int(RenderState.MOVED))


def has_earlier_run(connection: Connection, run: int) -> bool:
    """Return whether a run has earlier ones, whose pages it may find changed."""
    with connection.begin():
        return connection.scalar(select(func.count()).select_from(runs).where(runs.c.id < run)) != 0


def changed_pages(connection: Connection, run: int) -> Iterator[tuple[str, ChangedPage]]:
    """Yield the pages whose date is the moment at which the run has seen a change, each with its shape.

    Those that scripts make are left out. The transaction is that of the caller.
    """
    for rows in batches_of_urls(connection, _changed(run)):
        for row in rows:
            shape = shape_of(row.url)
            yield shape.kind, ChangedPage(row.url, row.fingerprint, shape.section, row.step)


def keep_dates(
    connection: Connection, run: int, *, shapes: Container[str], pages: Container[str], common: CommonChanges
) -> KeptDates:
    """Give the changed pages of unstable shapes, unstable pages, and those with a common change, the dates before."""
    of_unstable = of_common = 0
    example = ""
    with connection.begin():
        for rows in batches_of_urls(connection, _changed(run)):
            same = []
            for row in rows:
                shape = shape_of(row.url)
                is_common = common.has(shape.section, row.step)
                if is_common or shape.kind in shapes or row.url in pages:
                    same.append(_dated_as_before(row))
                    if is_common:
                        of_common += 1
                    else:
                        of_unstable += 1
                        example = example or row.url
            SET_DATE.execute(connection, same)
    return KeptDates(of_unstable, of_common, example)


def _changed(run: int) -> Select[Any]:
    seen, before = observations.c, decisions.c
    step = seen.notes[NoteKind.NUMBERS_STEP].as_integer().label("step")
    columns = (urls.c.id, urls.c.url, seen.fingerprint, step, before.lastmod, before.lastmod_source, before.lastmod_day)
    query = select(*columns).join(observations, seen.url_id == urls.c.id)
    query = query.outerjoin(decisions, before.url_id == urls.c.id)
    return query.where(
        seen.run == run,
        seen.lastmod_source == OBSERVED_CHANGE,
        seen.lastmod == seen.fetched,
        seen.fingerprint.is_not(None),
        or_(seen.rendered.is_(None), seen.rendered.not_in(_MADE_BY_SCRIPTS)),
    )


def _dated_as_before(row: Any) -> dict[str, Any]:
    return {
        "b_id": row.id,
        "b_lastmod": row.lastmod,
        "b_lastmod_source": row.lastmod_source,
        "b_lastmod_day": bool(row.lastmod_day),
    }
