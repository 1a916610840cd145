"""Relative links on a server that answers by the end of a path: every page leads one step deeper, to pages met before.

The links of three pages make all the paths of their three names. No name repeats in a row, and many paths have none
twice: names are learnt from those that have, and then what is made of them is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

FIRST_EPOCH = 50
"""Pages whose paths have a name twice, of one origin, before they are judged."""
NEW = 0.05
"""Share of those among them whose content was not met before, up to which they are pages met again."""
MAX_CONTENTS = 1_000
"""From which on the site has too many pages of that kind to be such a trap."""
MAX_NAMES = 200
_NAMES = 2
"""Learnt names that may stand in one path."""


def repeated_names(url: str) -> list[str]:
    """The names that the path has more than once, each with the origin before it; numbers are no names."""
    origin, segments = _path(url)
    if len(set(segments)) == len(segments):
        return []
    return sorted({f"{origin}/{name}" for name in segments if segments.count(name) > 1 and not name.isdigit()})


def is_nested(url: str, learnt: Container[str]) -> bool:
    """Whether the path is made of learnt names: it has one twice, or more than two."""
    origin, segments = _path(url)
    known = [name for name in segments if f"{origin}/{name}" in learnt]
    return len(known) > _NAMES or len(set(known)) < len(known)


def last_segment(url: str) -> str:
    """The end of the path, which is what the page depends on, and the query."""
    return url.removesuffix("/").rpartition("/")[2]


@dataclass(slots=True)
class NestedPages:
    """The pages of an origin whose paths have a name twice, in epochs of which each is as long as all before."""

    epoch: int = FIRST_EPOCH
    seen: int = 0
    total: int = 0
    new: int = 0
    contents: dict[str, list[str]] = field(default_factory=dict)
    """With the names of the first page of each."""
    names: set[str] = field(default_factory=set)
    """Of the pages that were met again."""

    @property
    def count(self) -> int:
        return self.total + self.seen

    @property
    def settled(self) -> bool:
        return len(self.contents) >= MAX_CONTENTS

    def add(self, names: Iterable[str], content: str) -> list[str]:
        """The names to be learnt when the epoch that ends with this page shows a trap."""
        self.seen += 1
        if content not in self.contents:
            self.contents[content] = list(names)
            self.new += 1
        elif len(self.names) < MAX_NAMES:
            self.names.update(names, self.contents[content])
        if self.seen < self.epoch:
            return []
        found = sorted(self.names) if self.new <= NEW * self.epoch else []
        self.total = 0 if found else self.total + self.seen
        self.epoch = max(FIRST_EPOCH, self.total)
        self.seen = self.new = 0
        self.names.clear()
        return found


def _path(url: str) -> tuple[str, list[str]]:
    origin = origin_of(url)
    return origin, url[len(origin) :].partition("?")[0].strip("/").split("/")
