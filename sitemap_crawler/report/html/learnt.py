"""The traps whose URLs are left out: what was learnt of them, examples, and the option that excludes them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from sitemap_crawler.inventory.frontier import one_in
from sitemap_crawler.inventory.schema import TRAPPED, UrlState, decisions, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS
from sitemap_crawler.report.html.texts import clean
from sitemap_crawler.report.url_groups.counter import UrlGroups
from sitemap_crawler.report.url_groups.exclusion import shape_of_group
from sitemap_crawler.utils.patterns import UserPattern

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from sitemap_crawler.report.html.texts import PageTexts

MAX_TRAPS = 10
"""Maximum number of traps that are shown."""
MAX_COUNTED = 100_000
"""Number of URLs from which examples and options are made. Of more URLs a part is read."""
MAX_EVIDENCE = 300
"""Characters of what was learnt."""
_LEARNT = tuple(state for state in TRAPPED if state != UrlState.SAME)
"""States of URLs that are left out for what other URLs have shown. Those of SAME were seen themselves."""


class LearntTrap(NamedTuple):
    """One trap."""

    evidence: str
    """The evidence of its URLs, which says what the crawl has learnt."""
    urls: int
    """Number of URLs that are left out."""
    examples: list[str]
    """The shortest of them."""
    exclude: str | None
    """Value of --exclude that matches the URLs; None if it would match all pages of the site."""
    listed: int = 0
    """Number of listed pages that it matches, too; an estimate if only a part was read."""


class LearntTraps(NamedTuple):
    traps: list[LearntTrap]
    """Those with the most URLs."""
    total: int
    """Number of all traps."""


def read_learnt(connection: Connection, texts: PageTexts, *, prefix: str) -> LearntTraps:
    """Return the traps of an inventory. `prefix` is that of the crawled scope."""
    number = func.count().label("number")
    query = select(decisions.c.evidence, number).join(urls, urls.c.id == decisions.c.url_id)
    query = query.where(urls.c.state.in_(_LEARNT), decisions.c.evidence.is_not(None)).group_by(decisions.c.evidence)
    found = connection.execute(query.order_by(number.desc(), decisions.c.evidence)).all()
    counts: dict[str, int] = {row.evidence: row.number for row in found[:MAX_TRAPS]}
    groups = _groups_of(connection, counts, prefix)
    traps = [_trap(name, counts[name], groups[name], texts, prefix) for name in counts]
    listed = _listed_by_option(connection, {trap.exclude for trap in traps if trap.exclude is not None})
    return LearntTraps([trap._replace(listed=listed[trap.exclude]) for trap in traps], len(found))


def _groups_of(connection: Connection, counts: dict[str, int], prefix: str) -> dict[str, UrlGroups]:
    """Return the URLs of each trap, by its evidence."""
    groups = {evidence: UrlGroups(prefix) for evidence in counts}
    if groups:
        every = max(1, -(-sum(counts.values()) // MAX_COUNTED))
        query = select(urls.c.url, decisions.c.evidence).join(decisions, decisions.c.url_id == urls.c.id)
        query = query.where(urls.c.state.in_(_LEARNT), decisions.c.evidence.in_(counts), one_in(every, urls.c.id))
        for row in connection.execute(query, execution_options={"yield_per": STREAM_ROWS}):
            groups[row.evidence].add(row.url)
    return groups


def _listed_by_option(connection: Connection, options: set[str]) -> Counter[str | None]:
    """Return the number of listed pages that each value of --exclude matches."""
    found: Counter[str | None] = Counter()
    if options:
        patterns = [UserPattern(option) for option in options]
        is_listed = decisions.c.decision == "listed"
        number = connection.execute(select(func.count()).select_from(decisions).where(is_listed)).scalar_one()
        every = max(1, -(-number // MAX_COUNTED))
        query = select(urls.c.url).join(decisions, decisions.c.url_id == urls.c.id)
        query = query.where(is_listed, one_in(every, urls.c.id))
        for url in connection.execute(query, execution_options={"yield_per": STREAM_ROWS}).scalars():
            found.update({pattern.text: every for pattern in patterns if pattern.found_in(url)})
    return found


def _trap(evidence: str, number: int, groups: UrlGroups, texts: PageTexts, prefix: str) -> LearntTrap:
    shapes = [shape_of_group(group, prefix) for group in groups.top(1) if group.urls]
    examples = [texts.url(url) for shape in shapes for url in shape.examples]
    exclude = next((shape.exclude for shape in shapes), None)
    return LearntTrap(clean(evidence, MAX_EVIDENCE), number, examples, exclude)
