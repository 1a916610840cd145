"""The one pass over all URLs in scope: counts by reason and by clicks, both trees, and a fair sample for the table."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, or_, select

from sitemap_crawler.inventory.schema import decisions, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS, url_key
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.rules import LINKED_FROM_UNREACHED
from sitemap_crawler.report.html.click_tree import ClickTree
from sitemap_crawler.report.html.decision_groups import GROUP_OF, Counts, Group, no_counts
from sitemap_crawler.report.html.directory_tree import DirectoryTree
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sitemap_crawler.inventory.lookup import Inventory
    from sitemap_crawler.report.html.directory_tree import TreeNode

MAX_CLICKS = 10
"""Number of clicks from which on pages are counted together."""
OUT_OF_SCOPE = str(Reason.OUT_OF_SCOPE)


class ReasonUrls:
    """The URLs of one reason: their ids, those that have the reason since the latest run apart."""

    def __init__(self) -> None:
        self.new = array("I")
        self.old = array("I")

    @property
    def total(self) -> int:
        return len(self.new) + len(self.old)

    def sample(self, number: int) -> Iterable[int]:
        """Return about `number` ids: new ones first, then old ones, both spread over the whole site."""
        new = _spread(self.new, number)
        return [*new, *_spread(self.old, number - len(new))]


@dataclass(slots=True)
class Scan:
    """The result of the pass."""

    by_reason: dict[str | None, ReasonUrls]
    """By reason; None for URLs that are not decided yet. Without those out of the scope."""
    counts: Counts
    by_clicks: list[Counts]
    """Counts by number of clicks. The last but one is that of MAX_CLICKS and more, the last one that of no clicks."""
    directories: TreeNode
    clicks: TreeNode | None
    start_id: int | None
    elsewhere: int
    """Number of URLs out of the scope."""

    @property
    def in_scope(self) -> int:
        return sum(self.counts)

    @property
    def listed(self) -> int:
        return self.counts[Group.LISTED] + self.counts[Group.AT_RISK]


def scan(inventory: Inventory, *, prefix: str, to_public: Callable[[str], str] | None) -> Scan:
    """Read all URLs in the order of their addresses. `prefix` is the public directory of the site.

    `to_public` returns the public form of a crawled URL; None if they are the same.
    """
    connection, run = inventory.connection, inventory.run.id
    max_id = connection.scalar(select(func.max(urls.c.id))) or 0
    start = connection.scalar(select(urls.c.id).where(urls.c.key == url_key(inventory.run.start_url)))
    by_directory, by_click = DirectoryTree(prefix), ClickTree(max_id, start)
    by_reason: dict[str | None, ReasonUrls] = {}
    by_clicks = [no_counts() for _ in range(MAX_CLICKS + 2)]
    group_of: dict[str | None, int] = {str(reason): int(group) for reason, group in GROUP_OF.items()}
    group_of[None] = int(Group.OPEN)
    columns = (urls.c.url, urls.c.id, urls.c.depth, urls.c.referrer, decisions.c.reason, decisions.c.since)
    query = select(*columns).outerjoin(decisions, decisions.c.url_id == urls.c.id)
    query = query.where(or_(decisions.c.reason.is_(None), decisions.c.reason != OUT_OF_SCOPE)).order_by(urls.c.url)
    for rows in connection.execute(query, execution_options={"yield_per": STREAM_ROWS}).partitions():
        for url, url_id, depth, referrer, reason, since in rows:
            group = group_of[reason]
            by_directory.add(url if to_public is None else to_public(url), group)
            by_click.add(url_id, referrer, group)
            by_clicks[depth if depth < MAX_CLICKS else MAX_CLICKS + (depth >= LINKED_FROM_UNREACHED)][group] += 1
            known = by_reason.get(reason)
            if known is None:
                known = by_reason[reason] = ReasonUrls()
            (known.new if since == run else known.old).append(url_id)
    counts = no_counts()
    for reason, found in by_reason.items():
        counts[group_of[reason]] += found.total

    origin = origin_of(prefix)

    def labels_of(ids: Iterable[int]) -> dict[int, str]:
        """Return the addresses by id, without the origin of the site."""
        shown = {url_id: to_public(url) if to_public else url for url_id, url in inventory.urls_of(ids).items()}
        return {url_id: url[len(origin) :] if url.startswith(f"{origin}/") else url for url_id, url in shown.items()}

    return Scan(
        by_reason,
        counts,
        by_clicks,
        by_directory.finish(),
        by_click.finish(labels_of),
        start,
        _count_elsewhere(inventory),
    )


def _count_elsewhere(inventory: Inventory) -> int:
    query = select(func.count()).select_from(decisions).where(decisions.c.reason == OUT_OF_SCOPE)
    return inventory.connection.scalar(query) or 0


def fair_sample(by_reason: dict[str | None, ReasonUrls], limit: int) -> set[int]:
    """Return at most `limit` ids: all of rare reasons, and equally many of each other reason."""
    chosen: set[int] = set()
    left = limit
    in_order = sorted(by_reason.values(), key=lambda found: found.total)
    for position, found in enumerate(in_order):
        share = left // (len(in_order) - position)
        ids = list(found.sample(share))
        chosen.update(ids)
        left -= len(ids)
    return chosen


def _spread(ids: array[int], number: int) -> array[int]:
    """Return at most `number` of the ids, at equal distances."""
    if number <= 0:
        return array("I")
    if len(ids) <= number:
        return ids
    return array("I", [ids[position * len(ids) // number] for position in range(number)])
