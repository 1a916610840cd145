"""Relative links on a server that answers by the end of a path: every page leads one step deeper, to known pages.

The links of three pages make all paths of their three names. No name repeats in a row, and many paths have no name
twice. Names are therefore learnt from the paths that have one twice. Then every path made of learnt names is a trap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

FIRST_EPOCH = 50
"""Number of pages of one origin whose paths repeat a name, before they are judged."""
MAX_NEW = 0.05
"""Share of pages with new content up to which the pages of an epoch count as known pages."""
MAX_CONTENTS = 1_000
"""Number of different contents from which on the site has too many such pages to be a trap."""
MAX_NAMES = 200
"""Maximum number of names that one epoch collects."""
_MAX_LEARNT_NAMES = 2
"""Maximum number of learnt names in the path of a URL that is fetched."""


def repeated_names(url: str) -> list[str]:
    """Return the names that a path has more than once, each after the origin. Numbers are not names."""
    origin, segments = _path(url)
    if len(set(segments)) == len(segments):
        return []
    return sorted({f"{origin}/{name}" for name in segments if segments.count(name) > 1 and not name.isdigit()})


def is_nested(url: str, learnt: Container[str]) -> bool:
    """Return whether a path is made of learnt names: it has one of them twice, or more than two of them."""
    origin, segments = _path(url)
    known = [name for name in segments if f"{origin}/{name}" in learnt]
    return len(known) > _MAX_LEARNT_NAMES or len(set(known)) < len(known)


def last_segment(url: str) -> str:
    """Return the last segment and the query. The content of a nested page depends only on them."""
    return url.removesuffix("/").rpartition("/")[2]


@dataclass(slots=True)
class NestedPages:
    """Counts of the pages of one origin whose paths repeat a name.

    Each epoch is as long as all epochs before it. The inventory stores the fields by their names.
    """

    epoch: int = FIRST_EPOCH
    """Length of the current epoch, in pages."""
    seen: int = 0
    """Number of pages in the current epoch."""
    total: int = 0
    """Number of pages in the epochs before."""
    new: int = 0
    """Number of pages of the current epoch whose content was new."""
    contents: dict[str, list[str]] = field(default_factory=dict)
    """By content, the repeated names of its first page."""
    names: set[str] = field(default_factory=set)
    """Repeated names of the pages whose content was known."""

    @property
    def count(self) -> int:
        return self.total + self.seen

    @property
    def settled(self) -> bool:
        """Whether the pages are proved to be no trap."""
        return len(self.contents) >= MAX_CONTENTS

    def add(self, names: Iterable[str], content: str) -> list[str]:
        """Count a page. Return the names to learn if an epoch ends with this page and shows a trap."""
        self.seen += 1
        if content not in self.contents:
            self.contents[content] = list(names)
            self.new += 1
        elif len(self.names) < MAX_NAMES:
            self.names.update(names, self.contents[content])
        if self.seen < self.epoch:
            return []
        learnt = sorted(self.names) if self.new <= MAX_NEW * self.epoch else []
        self.total = 0 if learnt else self.total + self.seen
        self.epoch = max(FIRST_EPOCH, self.total)
        self.seen = self.new = 0
        self.names.clear()
        return learnt


def _path(url: str) -> tuple[str, list[str]]:
    origin = origin_of(url)
    return origin, url[len(origin) :].partition("?")[0].strip("/").split("/")
