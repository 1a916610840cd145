"""One group of URLs: its count, its example and its pattern. Shared by paths and queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_K = TypeVar("_K")

MAX_PATTERN = 200
"""Characters of a pattern, a directory, a host, and the parameter names of a query."""
MAX_EXAMPLE = 2_100
"""Characters of an example. A URL that can be listed is never cut."""
MAX_EXAMPLES = 3
"""Maximum number of examples of a group."""
MIN_URLS = 3
"""Minimum number of URLs of a group. A group also has a fiftieth of all URLs, unless it is an archive by date."""
TOKENS = ("/YYYY", "/MM", "/DD")
"""Placeholders of years, months and days in a place. Path segments have no slash, so none equals a token."""


class UrlGroup(NamedTuple):
    """A group of URLs as the report shows it."""

    pattern: str
    """The common part of the URLs, in at most MAX_PATTERN characters."""
    urls: int
    """Number of URLs."""
    examples: tuple[str, ...]
    """The MAX_EXAMPLES shortest of the URLs, the shortest first."""

    @property
    def example(self) -> str:
        """The shortest of the URLs."""
        return self.examples[0]


@dataclass(slots=True)
class GroupCount:
    """Count of the URLs of one group while groups are still merged."""

    urls: int = 0
    examples: list[str] = field(default_factory=list)
    """The MAX_EXAMPLES shortest URLs, the shortest first."""
    place: tuple[str, ...] = ()
    """The directory that all URLs have in common: its segments, with TOKENS for dates."""
    date: tuple[str, ...] = ()
    """The value of each token in `place`; YYYY, MM or DD if there are several values."""

    def add(self, example: str) -> None:
        """Count one URL."""
        self.urls += 1
        if len(self.examples) < MAX_EXAMPLES:
            self._keep([example])
            return
        last = self.examples[-1]
        if len(example) <= len(last) and _rank(example) < _rank(last):
            self._keep([example])

    def _keep(self, examples: Sequence[str]) -> None:
        self.examples = shortest([*self.examples, *examples])

    def absorb(self, other: GroupCount) -> None:
        """Add the URLs of another group."""
        if not other.urls:
            return
        if self.urls:
            if self.place != other.place:
                self.place = tuple(shared(self.place, other.place))
            pairs = zip(self.date, other.date, TOKENS, strict=False)
            self.date = tuple([mine if mine == its else token[1:] for mine, its, token in pairs])
        else:
            self.place, self.date = other.place, other.date
        self.urls += other.urls
        self._keep(other.examples)

    def path(self) -> str:
        """Return the directory as a path, with the values of its date."""
        dates = iter(self.date)
        return "/" + "".join([(next(dates) if name in TOKENS else name) + "/" for name in self.place])

    def as_group(self, pattern: str) -> UrlGroup:
        return UrlGroup(pattern, self.urls, tuple(self.examples))


def count(groups: dict[_K, GroupCount], key: _K, example: str) -> None:
    """Count one URL in the group of `key`."""
    group = groups.get(key)
    if group is None:
        group = groups[key] = GroupCount()
    group.add(example)


def shortest(urls: Iterable[str]) -> list[str]:
    """Return the MAX_EXAMPLES shortest of these URLs, each once."""
    return sorted(set(urls), key=_rank)[:MAX_EXAMPLES]


def _rank(url: str) -> tuple[int, str]:
    return len(url), url


def cut(pattern: str) -> str:
    """Return the beginning of a pattern, in at most MAX_PATTERN characters."""
    return _without_end(pattern, MAX_PATTERN)


def shorten(patterns: Sequence[str], width: int) -> list[str]:
    """Return the patterns, each in at most `width` characters (8 or more).

    A long one loses its middle. If several are then equal, each shows the place where they begin to differ.
    """
    short = [_without_middle(pattern, width) for pattern in patterns]
    alike: dict[str, set[str]] = {}
    for pattern, text in zip(patterns, short, strict=True):
        alike.setdefault(text, set()).add(pattern)
    return [
        text if len(alike[text]) == 1 else _around_difference(pattern, alike[text], width)
        for pattern, text in zip(patterns, short, strict=True)
    ]


def _without_middle(pattern: str, width: int) -> str:
    if len(pattern) <= width:
        return pattern
    end = (width - 1) // 2
    return pattern[: width - 1 - end] + "…" + pattern[-end:]


def _around_difference(pattern: str, alike: set[str], width: int) -> str:
    """Return the beginning of a pattern, and the part from where it differs from those with the same ends."""
    difference = len(shared(min(alike), max(alike)))
    start = width // 4
    rest = pattern[max(start, difference - start) :]
    return pattern[:start] + "…" + _without_end(rest, width - start - 1)


def _without_end(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def shared(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return the items that both sequences begin with."""
    return [mine for mine, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))]
