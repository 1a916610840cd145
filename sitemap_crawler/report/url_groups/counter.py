"""Groups of URLs by their shape, `/tag/*` or `?replytocom=*`: what an owner can take in of a million of them.

Adding counts URLs by directory and by names of parameters, in bounded memory. `top` merges what is small into what lies
above it. Nothing but the bounds of memory makes the result depend on the order of the URLs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.report.url_groups.groups import (
    MAX_EXAMPLE,
    MAX_PATTERN,
    MIN_URLS,
    GroupCount,
    UrlGroup,
    count,
    cut,
    shared,
)
from sitemap_crawler.report.url_groups.queries import Query
from sitemap_crawler.report.url_groups.tree import Directory, directory_key
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["UrlGroup", "UrlGroups"]

_MAX_DIRECTORIES = 12_000
_MAX_QUERIES = 6_000
_MAX_ORIGINS = 2_000

_MAX_DEPTH = 10  # directories told apart below one another
_MAX_PARAMETERS = 8
_MIN_SHARE = 50
# The key of all queries whose names were too rare to be counted.
_OTHER_NAMES = "*"


class UrlGroups:
    """Counts URLs, all of them normalised, of a site whose scope begins with `prefix`."""

    __slots__ = ("_combinations", "_directories", "_origins", "_prefix", "_queries", "_root", "_urls")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._root = origin_of(prefix) + "/"
        self._urls = 0
        self._directories: dict[str, GroupCount] = {}
        self._origins: dict[str, GroupCount] = {}
        self._queries: dict[str, Query] = {}
        self._combinations = 0

    def add(self, url: str) -> None:
        self._urls += 1
        example = url if len(url) <= MAX_EXAMPLE else url[:MAX_EXAMPLE] + "…"
        if not url.startswith(self._root):
            count(self._origins, cut(origin_of(url) + "/*"), example)
            if len(self._origins) > _MAX_ORIGINS:
                _prune(self._origins, _any_host)
        elif "?" in url:
            self._add_query(url, example)
        else:
            count(self._directories, self._directory(url), example)
            if len(self._directories) > _MAX_DIRECTORIES:
                _prune(self._directories, self._parent)

    def top(self, limit: int = 10) -> list[UrlGroup]:
        """At most `limit` (1 or more) groups that cover all URLs, the largest first.

        The last one has what is in no other, whatever its size; its name is what all of it begins with.
        """
        small = max(MIN_URLS, -(-self._urls // _MIN_SHARE))
        query_shapes = [shape for names, group in self._queries.items() for shape in group.shapes(names, small)]
        queries, other_queries = _settled(query_shapes, small)
        origins, other_origins = _settled([group.shape(name) for name, group in self._origins.items()], small)
        directories, other_directories = self._directory_shapes(small)
        rest = other_queries + other_origins + other_directories
        return _limited(_merged(queries + origins + directories), rest, max(limit, 1))

    def _directory(self, url: str) -> str:
        """The key of a URL: its directory; with a day's, month's or year's own page, all of its path."""
        # The start page lies in the scope, not above it.
        top = self._prefix if url.startswith(self._prefix) else self._root
        slash = url.rfind("/", len(top) - 1, -1)
        directory = url[: slash + 1] if slash >= 0 else top
        # Two slashes belong to the scheme.
        if slash > len(self._root) + MAX_PATTERN or directory.count("/") > _MAX_DEPTH + 3:
            return "/".join(url[: len(self._root) + MAX_PATTERN].split("/", _MAX_DEPTH + 3)[:-1]) + "/"
        return directory_key(directory, url[slash + 1 :].rstrip("/"))

    def _parent(self, key: str) -> str:
        return key[: max(key.rfind("/", 0, -1) + 1, len(self._root))]

    def _add_query(self, url: str, example: str) -> None:
        path, _, query = url.partition("?")
        parameters = query.split("&", _MAX_PARAMETERS)
        if len(parameters) > _MAX_PARAMETERS:
            parameters[-1] = "…"
        parts = [parameter.partition("=") for parameter in parameters]
        names = "&".join([name + equals for name, equals, _ in parts])
        if len(names) > MAX_PATTERN:
            names = names[:MAX_PATTERN] + "…"
            parts = []
        group = self._queries.get(names)
        if group is None:
            group = self._queries[names] = Query(path, [set() for _ in parts])
        before = len(group.combinations)
        group.add(path, [value for _, _, value in parts], example)
        self._combinations += len(group.combinations) - before
        if self._combinations > _MAX_QUERIES:
            self._prune_queries()

    def _prune_queries(self) -> None:
        """Halves what is counted: values that tell few URLs apart are forgotten, then names that do."""
        few = 1
        while self._combinations > _MAX_QUERIES // 2:
            for names, group in list(self._queries.items()):
                total = group.total()
                if names == _OTHER_NAMES or total.urls > few * len(group.combinations):
                    continue
                if len(group.combinations) > 1:
                    group.forget(range(len(group.values)))
                else:
                    del self._queries[names]
                    self._queries.setdefault(_OTHER_NAMES, Query(group.path, [])).absorb(group.path, total)
            self._combinations = sum(len(group.combinations) for group in self._queries.values())
            few *= 2

    def _directory_shapes(self, small: int) -> tuple[list[UrlGroup], list[UrlGroup]]:
        """The groups of URLs without a query; and what is left."""
        tree = Directory()
        for key, group in self._directories.items():
            tree.insert(key[len(self._root) :], group)
        tree.fold_dates((), 0)
        found: list[UrlGroup] = []
        left = tree.collect((), found, small)
        return found, [left.shape(left.path() + "*")] if left.urls else []


def _prune(groups: dict[str, GroupCount], parent: Callable[[str], str]) -> None:
    """Halves the number of groups: the rarest go to what lies above them. The topmost is its own parent."""
    keep = len(groups) // 2
    few = 1
    while len(groups) > keep:
        rare = [key for key, group in groups.items() if group.urls <= few and parent(key) != key]
        for key in rare:
            groups.setdefault(parent(key), GroupCount()).absorb(groups.pop(key))
        few = few if rare else few * 2


def _any_host(origin: str) -> str:
    return "https://*" if origin.startswith("https:") else "http://*"


def _settled(shapes: list[UrlGroup], small: int) -> tuple[list[UrlGroup], list[UrlGroup]]:
    """The large ones, with the small ones as one of them when they are large together; else the small ones beside."""
    large = [shape for shape in shapes if shape.urls >= small]
    rest = [shape for shape in shapes if shape.urls < small]
    if sum(shape.urls for shape in rest) >= small:
        return [*large, _joined(rest)], []
    return large, rest


def _limited(found: list[UrlGroup], rest: list[UrlGroup], limit: int) -> list[UrlGroup]:
    over = found[limit - 1 :] if len(found) + bool(rest) > limit else []
    if not over and not rest:
        return found
    # What bears the name of the rest, as the pages at the top may, is part of it.
    name = _joined(over + rest).pattern
    namesakes = [shape for shape in found if shape.pattern == name]
    others = [shape for shape in found if shape.pattern != name]
    return [*others[: limit - 1], _joined(others[limit - 1 :] + namesakes + rest)]


def _merged(shapes: list[UrlGroup]) -> list[UrlGroup]:
    """Largest first; one of each name: hostile names, and long ones that were cut, can be equal."""
    by_name: dict[str, list[UrlGroup]] = {}
    for shape in shapes:
        by_name.setdefault(shape.pattern, []).append(shape)
    return sorted(map(_joined, by_name.values()), key=lambda shape: (-shape.urls, shape.pattern))


def _joined(shapes: list[UrlGroup]) -> UrlGroup:
    example = min((shape.example for shape in shapes), key=lambda example: (len(example), example))
    return UrlGroup(_common({shape.pattern for shape in shapes}), sum(shape.urls for shape in shapes), example)


def _common(patterns: set[str]) -> str:
    if len(patterns) == 1:
        return next(iter(patterns))
    if len({pattern.partition("?")[0] for pattern in patterns}) > 1 and all("?" in pattern for pattern in patterns):
        return "?*"
    # What the first and the last in order share, all between them share.
    start = "".join(shared(min(patterns), max(patterns)))
    return start[: max(map(start.rfind, "/?&")) + 1] + "*"
