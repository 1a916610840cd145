"""The traps whose URLs are left out: what was learnt of them, examples, and the option that excludes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from sitemap_crawler.inventory.frontier import one_in
from sitemap_crawler.inventory.schema import TRAPPED, UrlState, decisions, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.report.html.texts import clean
from sitemap_crawler.report.url_groups.counter import UrlGroups
from sitemap_crawler.report.url_groups.exclusion import shape_of_group
from sitemap_crawler.report.url_groups.listed_urls import count_listed, ways_to_listed

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from sitemap_crawler.report.html.texts import PageTexts
    from sitemap_crawler.report.url_groups.exclusion import UrlShape

MAX_TRAPS = 10
"""Maximum number of traps that are shown."""
MAX_COUNTED = 100_000
"""Number of URLs from which examples and options are made. Of more URLs a part is read."""
MAX_EVIDENCE = 300
"""Characters of what was learnt."""
_LEARNT = tuple(state for state in TRAPPED if state != UrlState.SAME)
"""States of URLs that are left out for what other URLs have shown. Those of SAME were seen themselves."""
_ARE_LEFT_OUT = (urls.c.state.in_(_LEARNT), decisions.c.reason != Reason.ORPHAN)


class LearntTrap(NamedTuple):
    """One trap."""

    evidence: str
    """The evidence of its URLs, which says what the crawl has learnt."""
    urls: int
    """Number of URLs that are left out."""
    examples: list[str]
    """The shortest of them."""
    exclude: str | None
    """Value of --exclude that matches the URLs.

    None if that would match pages that led to listed ones, or too many listed pages.
    """
    listed: int
    """Number of listed pages that it matches, too."""


class LearntTraps(NamedTuple):
    traps: list[LearntTrap]
    """Those with the most URLs."""
    total: int
    """Number of all traps."""
    is_estimated: bool
    """Whether only a part of the pages was read, so that the numbers are estimates."""


def read_learnt(connection: Connection, texts: PageTexts, *, prefix: str) -> LearntTraps:
    """Return the traps of an inventory. `prefix` is that of the crawled scope."""
    number = func.count().label("number")
    query = select(decisions.c.evidence, number).join(urls, urls.c.id == decisions.c.url_id)
    query = query.where(*_ARE_LEFT_OUT, decisions.c.evidence.is_not(None)).group_by(decisions.c.evidence)
    found = connection.execute(query.order_by(number.desc(), decisions.c.evidence)).all()
    counts: dict[str, int] = {row.evidence: row.number for row in found[:MAX_TRAPS]}
    groups = _groups_of(connection, counts, prefix)
    shapes = {name: _shape_of(groups[name], prefix) for name in counts}
    options = {shape.exclude for shape in shapes.values() if shape is not None and shape.exclude is not None}
    ways = ways_to_listed(connection, options)
    listed = count_listed(connection, options - ways)
    advised = {
        name: shape.exclude
        for name, shape in shapes.items()
        if shape is not None and shape.exclude is not None and shape.exclude not in ways
        if listed.leaves_enough(shape.exclude, others=counts[name])
    }
    traps = [
        LearntTrap(
            clean(name, MAX_EVIDENCE),
            number,
            [] if (shape := shapes[name]) is None else [texts.url(url) for url in shape.examples],
            exclude := advised.get(name),
            listed.matched[exclude],
        )
        for name, number in counts.items()
    ]
    return LearntTraps(traps, len(found), is_estimated=listed.every > 1)


def _groups_of(connection: Connection, counts: dict[str, int], prefix: str) -> dict[str, UrlGroups]:
    """Return the URLs of each trap, by its evidence."""
    groups = {evidence: UrlGroups(prefix) for evidence in counts}
    if groups:
        every = max(1, -(-sum(counts.values()) // MAX_COUNTED))
        query = select(urls.c.url, decisions.c.evidence).join(decisions, decisions.c.url_id == urls.c.id)
        query = query.where(*_ARE_LEFT_OUT, decisions.c.evidence.in_(counts), one_in(every, urls.c.id))
        for row in connection.execute(query, execution_options={"yield_per": STREAM_ROWS}):
            groups[row.evidence].add(row.url)
    return groups


def _shape_of(groups: UrlGroups, prefix: str) -> UrlShape | None:
    """Return the shape that most of the URLs have."""
    return next((shape_of_group(group, prefix) for group in groups.top(1) if group.urls), None)
