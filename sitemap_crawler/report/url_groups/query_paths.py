"""The URLs with the same parameter names, by path: a tree of path segments, in which rare names are merged.

`/issues?sort=1` and `/projects/a/issues?sort=1` are different paths: their numbers of segments differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sitemap_crawler.report.url_groups.groups import MAX_PATTERN
from sitemap_crawler.report.url_groups.queries import Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.report.url_groups.groups import UrlGroup

ANY = "*"
"""Name that stands for all names of a segment."""
FURTHER = "…"
"""Name that stands for all segments from this one on."""
_MAX_NAMES = 64
"""Maximum number of names of one segment that are counted apart."""
_MAX_SEGMENTS = 8
"""Maximum number of segments of a path that are counted apart."""
_MIN_SHARE = 3
"""A name of a segment is shown if more than one of this many URLs has it. All other names are shown as `*`."""

_Level: TypeAlias = "dict[str, _Level | Query]"


class QueryPaths:
    """The URLs with the same parameter names. A tree for each number of segments has their paths."""

    __slots__ = ("_parameters", "_trees", "size")

    def __init__(self, parameters: int) -> None:
        """`parameters` is the number of parameters whose values are counted."""
        self._parameters = parameters
        self._trees: dict[int, _Level] = {}
        self.size = 0
        """Number of combinations of a path and values."""

    def add(self, path: str, values: list[str], example: str) -> None:
        """Count one URL. `path` begins with a slash."""
        query = self._query_at(_segments(path))
        before = len(query.combinations)
        query.add(values, example)
        self.size += len(query.combinations) - before

    def absorb(self, other: QueryPaths) -> None:
        """Add the URLs of another object, without their values."""
        for place, query in list(_leaves(other._trees)):
            self._query_at(place).add_count(query.total())
        self._measure()

    def total_urls(self) -> int:
        return sum(map(_urls, self._trees.values()))

    def shrink(self) -> bool:
        """Merge values; without them all paths with the same number of segments; else all. Return whether it could."""
        before = self.size
        if before == 1:
            return False
        for _, query in _leaves(self._trees):
            query.forget(range(self._parameters))
        if sum(1 for _ in _leaves(self._trees)) == before > len(self._trees):
            for tree in self._trees.values():
                _merge_names(tree)
        elif before == len(self._trees):
            self._trees = {1: {FURTHER: _union(query for _, query in _leaves(self._trees))}}
        self._measure()
        return True

    def groups(self, names: str, small: int) -> Iterator[UrlGroup]:
        """Yield the groups by path and values that have at least `small` URLs, and groups of all other URLs."""
        for tree in self._trees.values():
            yield from _groups(tree, (), names, small)

    def _query_at(self, segments: Iterable[str]) -> Query:
        place = list(segments)
        level = self._trees.setdefault(len(place), {})
        for name in place[:-1]:
            below = self._child(level, name)
            if below is None:
                below = level[_known(level, name)] = {}
            assert isinstance(below, dict)  # noqa: S101 - the trees have leaves at the last segment only
            level = below
        query = self._child(level, place[-1])
        if query is None:
            query = level[_known(level, place[-1])] = Query([set() for _ in range(self._parameters)])
        assert isinstance(query, Query)  # noqa: S101 - as above
        return query

    def _child(self, level: _Level, name: str) -> _Level | Query | None:
        """Return what a level has under a name; None if it has nothing and has room for it."""
        known = level.get(_known(level, name))
        if known is None and level and (len(level) >= _MAX_NAMES or name == ANY):
            _merge_names(level)
            self._measure()
            return level[ANY]
        return known

    def _measure(self) -> None:
        self.size = sum(len(query.combinations) for _, query in _leaves(self._trees))


def _segments(path: str) -> list[str]:
    names = path[1:].split("/", _MAX_SEGMENTS)
    if len(names) > _MAX_SEGMENTS:
        names[-1] = FURTHER
    return [name if len(name) <= MAX_PATTERN else ANY for name in names]


def _known(level: _Level, name: str) -> str:
    return ANY if ANY in level else name


def _leaves(trees: dict[int, _Level]) -> Iterator[tuple[tuple[str, ...], Query]]:
    waiting: list[tuple[tuple[str, ...], _Level | Query]] = [((), tree) for tree in trees.values()]
    while waiting:
        place, node = waiting.pop()
        if isinstance(node, Query):
            yield place, node
        else:
            waiting.extend(((*place, name), child) for name, child in node.items())


def _urls(node: _Level | Query) -> int:
    return node.total().urls if isinstance(node, Query) else sum(map(_urls, node.values()))


def _union(nodes: Iterable[_Level | Query]) -> _Level | Query:
    """Return the sum of nodes of the same depth. They stay as they are."""
    first, *others = nodes
    if isinstance(first, Query):
        query = first.copy()
        for other in others:
            if isinstance(other, Query):
                query.absorb(other)
        return query
    below: dict[str, list[_Level | Query]] = {}
    for node in (first, *others):
        if isinstance(node, dict):
            for name, child in node.items():
                below.setdefault(name, []).append(child)
    level: _Level = {name: _union(children) for name, children in below.items()}
    if len(level) > _MAX_NAMES or (ANY in level and len(level) > 1):
        _merge_names(level)
    return level


def _merge_names(level: _Level) -> None:
    """Merge all names of a level, and of all levels below it."""
    merged = _union(level.values())
    level.clear()
    level[ANY] = merged
    if isinstance(merged, dict) and len(merged) > 1:
        _merge_names(merged)


def _groups(node: _Level | Query, place: tuple[str, ...], names: str, small: int) -> Iterator[UrlGroup]:
    if isinstance(node, Query):
        yield from node.groups("/" + "/".join(place), names, small)
        return
    counts = {name: _urls(child) for name, child in node.items()}
    least = max(small, sum(counts.values()) // _MIN_SHARE + 1)
    rare = [name for name, urls in counts.items() if urls < least]
    for name, child in node.items():
        if counts[name] >= least or len(rare) == 1:
            yield from _groups(child, (*place, name), names, small)
    if len(rare) > 1:
        yield from _groups(_union(node[name] for name in rare), (*place, ANY), names, small)
