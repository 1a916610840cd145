"""Groups of URLs by pattern, such as `/tag/*` or `?replytocom=*`, for an owner who surveys a million of them.

`add` counts URLs by directory and by parameter names, in bounded memory. `top` merges small groups into the directories
above. The result depends on the order of the URLs only if the memory bounds are reached.
"""

from __future__ import annotations

import re
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
    shorten,
    shortest,
)
from sitemap_crawler.report.url_groups.query_paths import FURTHER, QueryPaths
from sitemap_crawler.report.url_groups.tree import Directory, directory_key
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

# Bounds of memory. When a number is exceeded, it is halved: the rarest groups are merged.
_MAX_DIRECTORIES = 12_000
_MAX_QUERIES = 6_000
_MAX_ORIGINS = 2_000

_MAX_DEPTH = 10
"""Maximum number of nested directories that are counted apart."""
_MAX_PARAMETERS = 8
"""Maximum number of parameters of a query that are counted apart."""
_MIN_SHARE = 50
"""A group has at least one of this many URLs."""
_NUMBER_OF_NAME = re.compile("[0-9]+")
"""The number of a parameter without a value: `/spip.php?article12`."""
_OTHER_NAMES = "*"
"""Key of all queries whose parameter names were too rare to be counted."""


class UrlGroups:
    """Counter of the URLs of one site."""

    __slots__ = ("_combinations", "_directories", "_origins", "_prefix", "_queries", "_root", "_urls")

    def __init__(self, prefix: str) -> None:
        """`prefix` is the prefix of the scope."""
        self._prefix = prefix
        self._root = origin_of(prefix) + "/"
        self._urls = 0
        self._directories: dict[str, GroupCount] = {}
        self._origins: dict[str, GroupCount] = {}
        self._queries: dict[str, QueryPaths] = {}
        self._combinations = 0

    def add(self, url: str) -> None:
        """Count a normalised URL."""
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
        """Return at most `limit` (1 or more) groups that together hold all URLs, the largest first.

        The last group holds all URLs of no other group, whatever its size. Its pattern is their common beginning.
        """
        small = max(MIN_URLS, -(-self._urls // _MIN_SHARE))
        query_groups = [group for names, query in self._queries.items() for group in query.groups(names, small)]
        queries, other_queries = _large_and_small(query_groups, small)
        origins, other_origins = _large_and_small(
            [group.as_group(name) for name, group in self._origins.items()], small
        )
        directories, other_directories = self._directory_groups(small)
        rest = other_queries + other_origins + other_directories
        return _limited(_merged(queries + origins + directories), rest, max(limit, 1))

    def _directory(self, url: str) -> str:
        """Return the key of a URL: its directory; the whole path for the page of a day, month or year."""
        # The start page belongs to the scope, although its URL may be the prefix itself.
        top = self._prefix if url.startswith(self._prefix) else self._root
        slash = url.rfind("/", len(top) - 1, -1)
        directory = url[: slash + 1] if slash >= 0 else top
        # Three of the slashes belong to the scheme and the origin.
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
        names = "&".join([name + equals if equals else _NUMBER_OF_NAME.sub("*", name) for name, equals, _ in parts])
        if len(names) > MAX_PATTERN:
            names = names[:MAX_PATTERN] + "…"
            parts = []
        paths = self._queries.get(names)
        if paths is None:
            paths = self._queries[names] = QueryPaths(len(parts))
        before = paths.size
        # The root ends with the slash that begins the path.
        paths.add(path[len(self._root) - 1 :], [value for _, _, value in parts], example)
        self._combinations += paths.size - before
        if self._combinations > _MAX_QUERIES:
            self._prune_queries()

    def _prune_queries(self) -> None:
        """Halve the number of groups. Rare values of parameters are merged first, then paths, then rare names."""
        few = 1
        while self._combinations > _MAX_QUERIES // 2:
            for names, paths in list(self._queries.items()):
                if paths.total_urls() > few * paths.size or paths.shrink() or names == _OTHER_NAMES:
                    continue
                del self._queries[names]
                self._queries.setdefault(_OTHER_NAMES, QueryPaths(0)).absorb(paths)
            self._combinations = sum(paths.size for paths in self._queries.values())
            few *= 2

    def _directory_groups(self, small: int) -> tuple[list[UrlGroup], list[UrlGroup]]:
        """Return the groups of URLs without a query, and at most one group of all other such URLs."""
        tree = Directory()
        for key, group in self._directories.items():
            tree.insert(key[len(self._root) :], group)
        tree.fold_dates((), 0)
        tree.fold_alike()
        groups: list[UrlGroup] = []
        rest = tree.collect((), groups, small)
        return groups, [rest.as_group(rest.path() + "*")] if rest.urls else []


def _prune(groups: dict[str, GroupCount], parent: Callable[[str], str]) -> None:
    """Halve the number of groups: merge the rarest into their parents. The topmost group is its own parent."""
    keep = len(groups) // 2
    few = 1
    while len(groups) > keep:
        rare = [key for key, group in groups.items() if group.urls <= few and parent(key) != key]
        for key in rare:
            groups.setdefault(parent(key), GroupCount()).absorb(groups.pop(key))
        few = few if rare else few * 2


def _any_host(origin: str) -> str:
    return "https://*" if origin.startswith("https:") else "http://*"


def _large_and_small(groups: list[UrlGroup], small: int) -> tuple[list[UrlGroup], list[UrlGroup]]:
    """Return the groups with at least `small` URLs, and the other groups.

    If the other groups together have as many, they are one more group of the first list.
    """
    large = [group for group in groups if group.urls >= small]
    rest = [group for group in groups if group.urls < small]
    if sum(group.urls for group in rest) >= small:
        return [*large, _joined(rest)], []
    return large, rest


def _limited(groups: list[UrlGroup], rest: list[UrlGroup], limit: int) -> list[UrlGroup]:
    """Return at most `limit` groups. The last one holds `rest` and all groups beyond the limit."""
    over = groups[limit - 1 :] if len(groups) + bool(rest) > limit else []
    if not over and not rest:
        return groups
    # A group with the pattern of the rest, such as the pages at the top, becomes part of the rest.
    pattern = _joined(over + rest).pattern
    namesakes = [group for group in groups if group.pattern == pattern]
    others = [group for group in groups if group.pattern != pattern]
    return [*others[: limit - 1], _joined(others[limit - 1 :] + namesakes + rest)]


def _merged(groups: list[UrlGroup]) -> list[UrlGroup]:
    """Return the groups, the largest first, one for each pattern. Hostile or cut patterns can be equal."""
    patterns = sorted({group.pattern for group in groups})
    short = dict(zip(patterns, shorten(patterns, MAX_PATTERN), strict=True))
    by_pattern: dict[str, list[UrlGroup]] = {}
    for group in groups:
        pattern = short[group.pattern]
        by_pattern.setdefault(pattern, []).append(group._replace(pattern=pattern))
    return sorted(map(_joined, by_pattern.values()), key=lambda group: (-group.urls, group.pattern))


def _joined(groups: list[UrlGroup]) -> UrlGroup:
    examples = shortest(url for group in groups for url in group.examples)
    return UrlGroup(_common({group.pattern for group in groups}), sum(group.urls for group in groups), tuple(examples))


def _common(patterns: set[str]) -> str:
    """Return the pattern that all patterns match."""
    if len(patterns) == 1:
        return next(iter(patterns))
    if all("?" in pattern for pattern in patterns):
        paths, queries = zip(*(pattern.split("?", 1) for pattern in patterns), strict=True)
        path = paths[0] if len(set(paths)) == 1 else _common_start(set(paths), "/")[:-1] + FURTHER
        return path + "?" + (queries[0] if len(set(queries)) == 1 else _common_start(set(queries), "&"))
    return _common_start(patterns, "/?&")


def _common_start(texts: set[str], separators: str) -> str:
    """Return the common beginning of texts up to one of the separators, and `*`."""
    # The common beginning of the first and the last in alphabetical order is common to all between them.
    start = "".join(shared(min(texts), max(texts)))
    return start[: max(map(start.rfind, separators)) + 1] + "*"
