"""The URLs that a run has not requested: how many of each shape wait, and lines that say so and what to do."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from sitemap_crawler.report.url_groups.counter import UrlGroups
from sitemap_crawler.report.url_groups.exclusion import shape_of_group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sitemap_crawler.report.url_groups.exclusion import UrlShape

MAX_COUNTED = 200_000
"""Maximum number of waiting URLs whose shapes are counted. Of more URLs a part is counted, as it takes a second."""
MAX_SHAPES = 3
"""Maximum number of shapes that are named."""
_MAX_GROUPS = 10
"""Number of groups among which the shapes are found. The last one may hold the rest, which has no shape."""


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

    def shapes(self) -> list[UrlShape]:
        """Return the shapes with the most URLs, those first that can be excluded."""
        shapes = [
            shape_of_group(group, self._prefix)._replace(urls=group.urls * self.every)
            for group in self._groups.top(_MAX_GROUPS)
        ]
        return sorted(shapes, key=lambda shape: (shape.exclude is None, -shape.urls))[:MAX_SHAPES]


def growth_lines(shapes: Sequence[UrlShape], *, waiting: int, window: int) -> Iterator[str]:
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


def depth_notice(beyond: int, *, max_depth: int | None) -> str:
    """Return the line for a run whose --max-depth has left out URLs. `max_depth` is None if it is unknown."""
    limit = "--max-depth" if max_depth is None else f"--max-depth {max_depth}"
    are = "1 URL that is" if beyond == 1 else f"{beyond:,} URLs that are"
    return f"{limit} left out {are} more clicks away; crawl with a larger --max-depth, or without it, to request all"


def left_out_notice(left_out: int, requested: int) -> str:
    """Return the line for a run that has ended because its last pages had shown nothing new.

    `left_out` is the number of URLs that were not requested, `requested` that of the others that are not listed either.
    """
    were = "1 URL was" if left_out == 1 else f"{left_out:,} URLs were"
    repeats = "1 that was requested is" if requested == 1 else f"{requested:,} that were requested are"
    also = f", and {repeats} left out, too" if requested else ""
    return (
        f"the last pages of the crawl showed next to nothing new, so it ended: {were} not requested{also}; to list "
        "them all, give SITEMAP_NO_TRAPS a pattern for them; to leave them out from the beginning, crawl with --exclude"
    )


def limit_remedy() -> str:
    """Return the line before the shapes of a run that --max-pages has ended."""
    return "more URLs wait than were requested; to leave out those that nobody needs, crawl with --exclude"


def shape_lines(shapes: Iterable[UrlShape]) -> Iterator[str]:
    """Yield a line for each shape that an option excludes, with that option."""
    for shape in shapes:
        if shape.exclude is not None:
            yield f"{shape.urls:,} like {shape.pattern}{_listed(shape.listed)}: --exclude {quote(shape.exclude)}"


def _listed(pages: int | None) -> str:
    if not pages:
        return ""
    return "; 1 listed page matches, too" if pages == 1 else f"; {pages:,} listed pages match, too"
