"""A group of URLs and its name: what the counting of paths and of queries have in common."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

_K = TypeVar("_K")

MAX_PATTERN = 200  # characters; so are a directory, a host and the names in a query
MAX_EXAMPLE = 2_100  # characters: a URL that can be listed stays whole
# A group has at least three URLs, and a fiftieth of all unless it is the archives of days, months or years.
MIN_URLS = 3
# In a place; no segment of a path has a slash.
TOKENS = ("/YYYY", "/MM", "/DD")


class UrlGroup(NamedTuple):
    """A group of URLs: the pattern that names it (at most 200 characters), its size, the shortest of its URLs."""

    pattern: str
    urls: int
    example: str


@dataclass(slots=True)
class GroupCount:
    urls: int = 0
    example: str = ""
    # Where in the tree all of it lies: names of directories and tokens of dates.
    place: tuple[str, ...] = ()
    # What stands for the tokens: the value, or YYYY, MM, DD where there are several.
    date: tuple[str, ...] = ()

    def add(self, urls: int, example: str) -> None:
        old = len(self.example)
        if not self.urls or len(example) < old or (len(example) == old and example < self.example):
            self.example = example
        self.urls += urls

    def absorb(self, other: GroupCount) -> None:
        if not other.urls:
            return
        if self.urls:
            if self.place != other.place:
                self.place = tuple(shared(self.place, other.place))
            pairs = zip(self.date, other.date, TOKENS, strict=False)
            self.date = tuple([mine if mine == its else token[1:] for mine, its, token in pairs])
        else:
            self.place, self.date = other.place, other.date
        self.add(other.urls, other.example)

    def path(self) -> str:
        dates = iter(self.date)
        return "/" + "".join([(next(dates) if name in TOKENS else name) + "/" for name in self.place])

    def shape(self, pattern: str) -> UrlGroup:
        return UrlGroup(cut(pattern), self.urls, self.example)


def count(groups: dict[_K, GroupCount], key: _K, example: str) -> None:
    group = groups.get(key)
    if group is None:
        group = groups[key] = GroupCount()
    group.add(1, example)


def cut(pattern: str) -> str:
    return pattern if len(pattern) <= MAX_PATTERN else pattern[: MAX_PATTERN - 1] + "…"


def shared(first: Sequence[str], second: Sequence[str]) -> list[str]:
    return [mine for mine, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))]
