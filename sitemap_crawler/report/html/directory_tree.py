"""The tree of a site by directory, counted in one pass over its URLs in their order, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nlargest
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from sitemap_crawler.report.html.decision_groups import Counts, no_counts
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHILDREN = 40
"""Maximum number of directories that one directory shows. The others are counted together."""
MAX_LEVELS = 12
"""Maximum number of levels below the root. Deeper URLs count as pages of the lowest level."""
MAX_NODES = 800
"""Maximum number of directories in the tree: 40 bytes of the report each."""
MAX_OPEN_NODES = 4 * MAX_NODES
"""Number of directories below one directory from which on the smallest are folded."""
MAX_NAME = 200
"""Maximum number of characters of a directory's name. URLs below a longer one count as pages of the directory above."""


@dataclass(slots=True)
class TreeNode:
    """A directory, or a page and the pages to which it led first."""

    label: str
    own: Counts = field(default_factory=no_counts)
    """URLs directly in the directory."""
    children: list[TreeNode] = field(default_factory=list)
    folded: int = 0
    """Number of directories that are not shown."""
    folded_counts: Counts = field(default_factory=no_counts)
    """URLs in the directories that are not shown."""
    total: int = 0
    """Number of all URLs at and below the directory."""
    size: int = 1
    """Number of directories at and below this one, without folded ones."""

    def counts(self) -> Counts:
        """Return the number of URLs of each group at and below the directory."""
        below = [child.counts() for child in self.children]
        return [sum(numbers) for numbers in zip(self.own, self.folded_counts, *below, strict=True)]

    def close(self) -> None:
        """Sum up a directory whose URLs have all been counted, and fold the smallest directories below it."""
        self.total = sum(self.own) + sum(self.folded_counts) + sum(child.total for child in self.children)
        if len(self.children) > MAX_CHILDREN:
            kept = nlargest(MAX_CHILDREN, self.children, key=_total)
            names = {id(child) for child in kept}
            self.fold([child for child in self.children if id(child) not in names])
            self.children = kept
        self.children.sort(key=lambda child: (-child.total, child.label))
        self.size = 1 + sum(child.size for child in self.children)

    def fold(self, nodes: list[TreeNode]) -> None:
        """Count directories below this one that are not shown."""
        for node in nodes:
            self.folded += node.directories()
            self.folded_counts = [sum(pair) for pair in zip(self.folded_counts, node.counts(), strict=True)]

    def directories(self) -> int:
        """Return the number of directories at and below this one, with folded ones."""
        return 1 + self.folded + sum(child.directories() for child in self.children)

    def prune(self, limit: int) -> None:
        """Fold the smallest directories until at most about `limit` are left."""
        if self.size <= limit:
            return
        smallest = nlargest(limit, (node.total for node in self.walk()))[-1]
        self._fold_up_to(smallest)

    def _fold_up_to(self, total: int) -> None:
        kept = [child for child in self.children if child.total > total]
        self.fold([child for child in self.children if child.total <= total])
        self.children = kept
        for child in kept:
            child._fold_up_to(total)
        self.size = 1 + sum(child.size for child in kept)

    def walk(self) -> Iterator[TreeNode]:
        yield self
        for child in self.children:
            yield from child.walk()

    def to_json(self) -> list[Any]:
        """Return `[label, own, children, folded, counts of the folded]`, without zeros and empty values at the end."""
        values: list[Any] = [
            self.label,
            _short(self.own),
            [child.to_json() for child in self.children],
            self.folded,
            _short(self.folded_counts),
        ]
        while not values[-1]:
            values.pop()
        return values


def _total(node: TreeNode) -> int:
    return node.total


def _short(counts: Counts) -> Counts:
    """Return the counts without the zeros at the end."""
    used = max((position + 1 for position, count in enumerate(counts) if count), default=0)
    return counts[:used]


class DirectoryTree:
    """Builder of the tree. URLs come in their order, so that each directory is open once."""

    def __init__(self, prefix: str) -> None:
        """Take the directory of the site, which ends in `/`. URLs elsewhere are shown below their origin."""
        self._prefix = prefix
        self._directory: str | None = None
        self._names: list[str] = []
        self._open = [TreeNode(prefix)]

    def add(self, url: str, group: int) -> None:
        """Count one URL."""
        query = url.find("?")
        directory = url[: url.rfind("/", 0, query if query >= 0 else len(url)) + 1]
        if directory != self._directory:
            self._directory = directory
            self._enter(self._path(directory))
        self._open[-1].own[group] += 1

    def finish(self) -> TreeNode:
        """Return the whole tree."""
        self._enter([])
        root = self._open[0]
        root.close()
        root.prune(MAX_NODES)
        return root

    def _path(self, directory: str) -> list[str]:
        """Return the names of the directories from the root to this one."""
        if directory.startswith(self._prefix):
            rest, names = directory[len(self._prefix) :], []
        else:
            origin = f"{origin_of(directory)}/"
            rest, names = directory[len(origin) :], [origin]
        below = rest.split("/", MAX_LEVELS)[: min(MAX_LEVELS, rest.count("/"))]
        return names + [f"{name}/" for name in takewhile(lambda name: len(name) <= MAX_NAME, below)]

    def _enter(self, names: list[str]) -> None:
        """Close the directories that the next URL is not in, and open those that it is in."""
        common = 0
        for mine, its in zip(self._names, names, strict=False):
            if mine != its:
                break
            common += 1
        while len(self._names) > common:
            self._names.pop()
            node = self._open.pop()
            node.close()
            node.prune(MAX_OPEN_NODES)
            parent = self._open[-1]
            parent.children.append(node)
            if len(parent.children) > 4 * MAX_CHILDREN:
                parent.close()
        for name in names[common:]:
            self._names.append(name)
            self._open.append(TreeNode(name))
