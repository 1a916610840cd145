"""The tree of a site by clicks: below each page the pages to which it led first. For sites without directories."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from sitemap_crawler.report.html.decision_groups import Counts, Group, no_counts
from sitemap_crawler.report.html.directory_tree import MAX_NODES, TreeNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MAX_CLICK_LEVELS = 6
"""Maximum number of levels below the start page."""
MAX_BRANCHES = 100
"""Maximum number of branches of a page that are looked at. The others are counted together."""
NOT_COUNTED = 255
"""Group of an id that the tree does not have."""
WITHOUT_PATH = "no clicks from the start page lead here"
"""Label of the pages that only sitemaps, lists or unlinked pages lead to."""


class ClickTree:
    """Builder of the tree. It takes 29 bytes a URL."""

    def __init__(self, max_id: int, start: int | None) -> None:
        """Take the largest id of a URL and the id of the start page."""
        size = max_id + 1
        self._start = start
        self._groups = bytearray([NOT_COUNTED]) * size
        self._parents = array("I", bytes(4 * size))
        self._totals = array("I", bytes(4 * size * len(Group)))

    def add(self, url_id: int, referrer: int | None, group: int) -> None:
        """Add a URL and the page that led to it first."""
        self._groups[url_id] = group
        self._parents[url_id] = referrer or 0

    def finish(self, labels_of: Callable[[Iterable[int]], Mapping[int, str]]) -> TreeNode | None:
        """Return the whole tree, or None without a start page. `labels_of` returns labels by id."""
        if self._start is None or self._groups[self._start] == NOT_COUNTED:
            return None
        self._parents[self._start] = 0
        branches = self._sum_up()
        children: dict[int, list[int]] = {}
        for page in branches:
            above = self._parents[page]
            if above and self._groups[above] != NOT_COUNTED:
                children.setdefault(above, []).append(page)
        shown = self._selected(children)
        labels = labels_of(shown)
        root = self._node(self._start, children, shown, labels, MAX_CLICK_LEVELS)
        if lost := self._without_path():
            root.children.append(TreeNode(WITHOUT_PATH, own=lost))
        root.close()
        root.prune(MAX_NODES)
        return root

    def _sum_up(self) -> list[int]:
        """Add the counts of each page to the page above it, the lowest first. Return the pages that lead to others."""
        groups, parents, totals, width = self._groups, self._parents, self._totals, len(Group)
        waiting = array("I", bytes(4 * len(groups)))
        for page, group in enumerate(groups):
            if group != NOT_COUNTED:
                totals[page * width + group] += 1
                waiting[parents[page]] += 1
        branches = [page for page, below in enumerate(waiting) if below and page and groups[page] != NOT_COUNTED]
        ready = [page for page, group in enumerate(groups) if group != NOT_COUNTED and not waiting[page]]
        while ready:
            page = ready.pop()
            above = parents[page]
            if not above or groups[above] == NOT_COUNTED:
                continue
            for position in range(width):
                totals[above * width + position] += totals[page * width + position]
            waiting[above] -= 1
            if not waiting[above]:
                ready.append(above)
        return branches

    def _counts(self, page: int) -> Counts:
        width = len(Group)
        return list(self._totals[page * width : (page + 1) * width])

    def _total(self, page: int) -> int:
        return sum(self._counts(page))

    def _selected(self, children: dict[int, list[int]]) -> set[int]:
        """Return the pages of the first levels, of each page only the largest branches."""
        shown = {self._start or 0}
        level = list(shown)
        for _ in range(MAX_CLICK_LEVELS):
            below: list[int] = []
            for page in level:
                branches = children.get(page, [])
                if len(branches) > MAX_BRANCHES:
                    branches = sorted(branches, key=self._total, reverse=True)[:MAX_BRANCHES]
                below += branches
            level = sorted(below, key=self._total, reverse=True)[:MAX_NODES]
            shown.update(level)
        return shown

    def _node(
        self, page: int, children: dict[int, list[int]], shown: set[int], labels: Mapping[int, str], levels: int
    ) -> TreeNode:
        node = TreeNode(labels.get(page, ""))
        own = self._counts(page)
        for child in children.get(page, ()) if levels else ():
            counts = self._counts(child)
            own = [mine - its for mine, its in zip(own, counts, strict=True)]
            if child in shown:
                node.children.append(self._node(child, children, shown, labels, levels - 1))
            else:
                node.folded += 1
                node.folded_counts = [sum(pair) for pair in zip(node.folded_counts, counts, strict=True)]
        node.own = own
        node.close()
        return node

    def _without_path(self) -> Counts | None:
        """Return the counts of the pages that the tree of the start page does not have."""
        counts = no_counts()
        for group in Group:
            counts[group] = self._groups.count(group)
        start = self._counts(self._start or 0)
        lost = [everything - below for everything, below in zip(counts, start, strict=True)]
        return lost if any(lost) else None
