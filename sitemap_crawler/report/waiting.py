"""The URLs that a run has not requested: how many of each shape wait, and lines that say so and what to do."""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.exceptions import PatternError
from sitemap_crawler.report.url_groups.counter import UrlGroups
from sitemap_crawler.report.url_groups.groups import MAX_EXAMPLE
from sitemap_crawler.report.url_groups.query_paths import FURTHER
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.utils.patterns import UserPattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sitemap_crawler.report.url_groups.groups import UrlGroup

MAX_COUNTED = 200_000
"""Maximum number of waiting URLs whose shapes are counted. Of more URLs a part is counted, as it takes a second."""
MAX_SHAPES = 3
"""Maximum number of shapes that are named."""
_MAX_GROUPS = 10
"""Number of groups among which the shapes are found. The last one may hold the rest, which has no shape."""
_WILDCARD = re.compile(r"[*…]|(?<=/)(?:YYYY|MM|DD)(?=/)")
_NUMBERS = {"YYYY": "[0-9]{4}", "MM": "[0-9]{2}", "DD": "[0-9]{2}"}


class WaitingShape(NamedTuple):
    """URLs of one shape that wait."""

    pattern: str
    urls: int
    """Number of URLs; an estimate if only a part was counted."""
    example: str
    exclude: str | None
    """Value of --exclude that matches the URLs; None if the shape is no more than all pages of the site."""


class WaitingCount:
    """Counter of the waiting URLs of a run, by shape."""

    def __init__(self, prefix: str, *, waiting: int) -> None:
        """`prefix` is that of the scope, `waiting` the number of URLs."""
        self._prefix = prefix
        self._groups = UrlGroups(prefix)
        self.every = max(1, -(-waiting // MAX_COUNTED))
        """One of this many URLs is counted."""

    def add(self, urls: Iterable[str]) -> None:
        for url in urls:
            self._groups.add(url)

    def shapes(self) -> list[WaitingShape]:
        """Return the shapes with the most URLs, those first that can be excluded."""
        shapes = [
            WaitingShape(group.pattern, group.urls * self.every, group.example, exclude_pattern(group, self._prefix))
            for group in self._groups.top(_MAX_GROUPS)
        ]
        return sorted(shapes, key=lambda shape: (shape.exclude is None, -shape.urls))[:MAX_SHAPES]


def exclude_pattern(group: UrlGroup, prefix: str) -> str | None:
    """Return a regular expression for the URLs of a group, or None if it would match all pages of the scope."""
    origin, pattern = origin_of(prefix), group.pattern
    if "://" in pattern:
        origin, pattern = origin_of(pattern), pattern[len(origin_of(pattern)) :]
    path, mark, query = pattern.partition("?")
    is_all = not mark and origin == origin_of(prefix) and path in ("/*", f"{prefix[len(origin) :]}*")
    if "*" in origin or is_all or path == f"/{FURTHER}":
        return None
    start = f"^{re.escape(origin)}"
    if mark:
        text = start + _expression(path, "[^/?]*") + r"\?" + _query_expression(query) + "$"
    elif path.endswith("*"):
        text = start + _expression(path[:-1], ".*")
    else:
        # The archive of a year, a month or a day.
        text = start + _expression(path.rstrip("/") + "/", ".*").removesuffix("/") + "/?$"
    return text if _matches(text, group.example) else None


def _query_expression(query: str) -> str:
    # A parameter of which nothing is known stands for any number of parameters.
    return "&".join([".*" if part == "*" else _expression(part, "[^&]*") for part in query.split("&")])


def _expression(pattern: str, wildcard: str) -> str:
    """Return the regular expression of a part of a pattern, in which `*` is the wildcard."""
    parts: list[str] = []
    end = 0
    for found in _WILDCARD.finditer(pattern):
        parts.append(re.escape(pattern[end : found.start()]))
        parts.append(wildcard if found[0] == "*" else _NUMBERS.get(found[0], ".*"))
        end = found.end()
    return "".join([*parts, re.escape(pattern[end:])])


def _matches(text: str, example: str) -> bool:
    try:
        return len(example) <= MAX_EXAMPLE and UserPattern(text).found_in(example)
    except PatternError:
        return False


def growth_lines(shapes: Sequence[WaitingShape], *, waiting: int, window: int) -> Iterator[str]:
    """Yield the lines for a crawl whose queue grows. `window` is the number of requests over which it has grown."""
    yield (
        f"the queue grows: over the last {window:,} requests more URLs were added than requested, and {waiting:,} "
        "wait; to go on without some of them, interrupt the crawl and run the same command with --exclude"
    )
    yield from shape_lines(shapes)


def interruption_notice(waiting: int) -> str:
    """Return the line for an interrupted run whose queue has grown."""
    return (
        f"the queue has grown faster than it was requested, and {waiting:,} URLs wait; to go on without some of them, "
        "run the same command with --exclude"
    )


def unfinished_notice(run: int, open_run: int, waiting: int) -> str:
    """Return the line for files that are written by the decisions of a run while a later one is open."""
    return (
        f"run {open_run} is not finished, and {waiting:,} known URLs wait: the files show run {run}, and the pages "
        f"that run {open_run} has fetched; run the same crawl command to go on, or once with --max-pages 1 to end it"
    )


def unfinished_problem(fetched: int, waiting: int, *, command: str) -> str:
    """Return why nothing can be written before the first run has ended, with the command that publishes a part."""
    return (
        f"{fetched:,} URLs are fetched and {waiting:,} wait: run the same crawl command to go on, or once with "
        f"--max-pages 1 to publish the pages that are fetched: {command} --max-pages 1"
    )


def limit_notice(waiting: int, *, max_pages: int | None) -> str:
    """Return the line for a run that --max-pages has ended while URLs waited. `max_pages` is None if it is unknown."""
    limit = "--max-pages" if max_pages is None else f"--max-pages {max_pages}"
    were = "1 known URL was" if waiting == 1 else f"{waiting:,} known URLs were"
    return (
        f"{limit} ended the run: {were} not requested and may be missing in the sitemap; crawl with a larger "
        "--max-pages, or without it, to request all"
    )


def left_out_notice(left_out: int) -> str:
    """Return the line for a run that has ended because its last pages had shown nothing new."""
    were = "1 URL was" if left_out == 1 else f"{left_out:,} URLs were"
    return (
        f"the last pages of the crawl showed next to nothing new, so it ended: {were} not requested; to request them "
        "all, except them with SITEMAP_NO_TRAPS; to leave them out from the beginning, crawl with --exclude"
    )


def limit_remedy() -> str:
    """Return the line before the shapes of a run that --max-pages has ended."""
    return "more URLs wait than were requested; to leave out those that nobody needs, crawl with --exclude"


def shape_lines(shapes: Iterable[WaitingShape]) -> Iterator[str]:
    """Yield a line for each shape, with the option that excludes its URLs."""
    for shape in shapes:
        remedy = "" if shape.exclude is None else f": --exclude {quote(shape.exclude)}"
        yield f"{shape.urls:,} like {shape.pattern}{remedy}"
