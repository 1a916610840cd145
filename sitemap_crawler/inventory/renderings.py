"""Renderings in the inventory: what they have shown of templates, and the numbers of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, select

from sitemap_crawler.inventory.dialects import insert
from sitemap_crawler.inventory.schema import page_templates, rendering_counts
from sitemap_crawler.inventory.sql import RowStatement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import Connection

MAX_TEMPLATES = 2_000
"""Maximum number of templates that are kept from one run to the next, the latest ones."""
KEPT_RUNS = 10
"""Number of runs for which a template is kept that no page has any more. Each build of a site makes new ones."""
REFUSED = "refused "
"""Begin of the names of counts of refused requests. The host follows."""

_NAMES = ("key", "shape", "rendered", "useful", "idle", "failed", "passed")
"""Columns of a template, in the order of TemplateCounts."""


def _store_statement() -> RowStatement:
    statement = insert(page_templates)
    values = {name: statement.excluded[name] for name in (*_NAMES[1:], "run")}
    upsert = statement.on_conflict_do_update(index_elements=[page_templates.c.key], set_=values)
    return RowStatement(upsert, (*_NAMES, "run"))


def _count_statement() -> RowStatement:
    statement = insert(rendering_counts)
    total = rendering_counts.c.count + statement.excluded.count
    upsert = statement.on_conflict_do_update(
        index_elements=[rendering_counts.c.run, rendering_counts.c.name], set_={"count": total}
    )
    return RowStatement(upsert, ("run", "name", "count"))


_STORE = _store_statement()
_COUNT = _count_statement()


class RenderingTotals(NamedTuple):
    """The numbers of the renderings of a run, over all its processes."""

    rendered: int
    """Number of pages that a browser rendered, with those that failed."""
    useful: int
    """Number of renderings that showed more than the plain page."""
    failed: int
    confirmed: int
    """Number of pages whose last rendering stands, because neither they nor what their scripts ask for has changed."""
    seconds: float
    """Time that the renderings took, together."""
    refused: dict[str, int]
    """Number of requests of scripts that were not made, by host."""

    def to_json(self) -> dict[str, Any]:
        return self._asdict()


def load_templates(connection: Connection, run: int, *, of_run_only: bool = False) -> Iterator[tuple[int, ...]]:
    """Yield the stored templates in the order of TemplateCounts, those of the latest runs first.

    With `of_run_only` what earlier runs have seen does not count. Templates that no page has had for KEPT_RUNS runs are
    deleted, and the numbers of earlier runs.
    """
    with connection.begin():
        connection.execute(delete(page_templates).where(page_templates.c.run < run - KEPT_RUNS))
        connection.execute(delete(rendering_counts).where(rendering_counts.c.run < run))
        query = select(*(page_templates.c[name] for name in _NAMES))
        if of_run_only:
            query = query.where(page_templates.c.run == run)
        query = query.order_by(page_templates.c.run.desc(), page_templates.c.key).limit(MAX_TEMPLATES)
        rows = connection.execute(query).all()
    yield from map(tuple, rows)


def store_renderings(
    connection: Connection, run: int, templates: Iterable[Sequence[int]], counts: Mapping[str, int]
) -> None:
    """Store changed templates, and add to the numbers of the run."""
    rows = [{**dict(zip(_NAMES, template, strict=True)), "run": run} for template in templates]
    added = [{"run": run, "name": name, "count": count} for name, count in counts.items() if count]
    if rows or added:
        with connection.begin():
            _STORE.execute(connection, rows)
            _COUNT.execute(connection, added)


def rendering_totals(connection: Connection, run: int) -> RenderingTotals | None:
    """Return the numbers of a run; None without any rendering."""
    query = select(rendering_counts.c.name, rendering_counts.c.count).where(rendering_counts.c.run == run)
    with connection.begin():
        counts: dict[str, int] = dict(map(tuple, connection.execute(query.order_by(rendering_counts.c.name))))
    if not counts:
        return None
    refused = {name.removeprefix(REFUSED): count for name, count in counts.items() if name.startswith(REFUSED)}
    return RenderingTotals(
        counts.get("rendered", 0),
        counts.get("useful", 0),
        counts.get("failed", 0),
        counts.get("confirmed", 0),
        round(counts.get("milliseconds", 0) / 1000, 1),
        dict(sorted(refused.items(), key=lambda item: (-item[1], item[0]))),
    )
