"""Groups of URLs with a query: by the names of the parameters, and by their values if these are few."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sitemap_crawler.report.url_groups.groups import GroupCount, UrlGroup, count

if TYPE_CHECKING:
    from collections.abc import Iterable

# The values of a parameter are shown if they are few, short, and seen often enough not to be few by chance.
_MAX_VALUES = 8
"""Maximum number of values of one parameter."""
_MAX_VALUE_LENGTH = 40
"""Characters."""
_MIN_URLS_FOR_VALUES = 20
"""Minimum number of URLs with the same parameter names."""


@dataclass(slots=True)
class Query:
    """The URLs with the same path and parameter names."""

    values: list[set[str] | None]
    """The values of each parameter; None if there are too many."""
    combinations: dict[tuple[str | None, ...], GroupCount] = field(default_factory=dict)
    """Groups by the values of all parameters; None for a parameter with too many values."""

    def add(self, values: list[str], example: str) -> None:
        key = self._key(values)
        if key not in self.combinations:
            self._learn(values)
            key = self._key(values)
        count(self.combinations, key, example)

    def add_count(self, group: GroupCount) -> None:
        """Add URLs without their values."""
        self.combinations.setdefault((), GroupCount()).absorb(group)

    def absorb(self, other: Query) -> None:
        """Add the URLs of another path with the same parameter names."""
        for position, (mine, its) in enumerate(zip(self.values, other.values, strict=False)):
            if mine is None:
                continue
            if its is None or len(mine | its) > _MAX_VALUES:
                self.forget((position,))
            else:
                mine |= its
        for key, group in other.combinations.items():
            self.combinations.setdefault(self._key(key), GroupCount()).absorb(group)

    def copy(self) -> Query:
        copied = Query([None if seen is None else set(seen) for seen in self.values])
        copied.absorb(self)
        return copied

    def forget(self, positions: Iterable[int]) -> None:
        """Merge the groups that differ only in the values of these parameters."""
        for position in positions:
            self.values[position] = None
        combinations, self.combinations = self.combinations, {}
        for key, group in combinations.items():
            self.combinations.setdefault(self._key(key), GroupCount()).absorb(group)

    def total(self) -> GroupCount:
        """Return the count of all URLs. The caller must not change it."""
        first, *others = self.combinations.values()
        if not others:
            return first
        total = GroupCount()
        for group in (first, *others):
            total.absorb(group)
        return total

    def groups(self, path: str, names: str, small: int) -> list[UrlGroup]:
        """Return the groups by values that have at least `small` URLs, and one group of all other URLs."""
        large: list[UrlGroup] = []
        rest = GroupCount()
        split = self.total().urls >= _MIN_URLS_FOR_VALUES
        for values, group in self.combinations.items():
            if split and group.urls >= small:
                large.append(group.as_group(_pattern(path, names, values)))
            else:
                rest.absorb(group)
        if rest.urls:
            large.append(rest.as_group(_pattern(path, names, ())))
        return large

    def _key(self, values: Iterable[str | None]) -> tuple[str | None, ...]:
        pairs = zip(values, self.values, strict=False)
        return tuple([None if seen is None else value for value, seen in pairs])

    def _learn(self, values: list[str]) -> None:
        for position, (value, seen) in enumerate(zip(values, self.values, strict=False)):
            if seen is None or value in seen:
                continue
            if len(seen) == _MAX_VALUES or len(value) > _MAX_VALUE_LENGTH:
                self.forget((position,))
            else:
                seen.add(value)


def _pattern(path: str, names: str, values: tuple[str | None, ...]) -> str:
    shown = []
    for position, name in enumerate(names.split("&")):
        value = values[position] if position < len(values) else None
        shown.append(name + ("*" if value is None else value) if name.endswith("=") else name)
    return path + "?" + "&".join(shown)
