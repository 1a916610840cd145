"""Counts of what a crawl meets, in bounded memory."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class Recent(Generic[_T]):
    """What was met lately, made when it is asked for; bounded by dropping the older half."""

    def __init__(self, make: Callable[[], _T], size: int) -> None:
        self._make = make
        self._size = size
        self._young: dict[str, _T] = {}
        self._old: dict[str, _T] = {}

    def __getitem__(self, name: str) -> _T:
        found = self._young.get(name)
        if found is None:
            if len(self._young) >= self._size:
                self._old, self._young = self._young, {}
            kept = self._old.pop(name, None)
            found = self._young[name] = self._make() if kept is None else kept
        return found

    def top(self, size: int, count: Callable[[_T], int]) -> list[tuple[str, _T]]:
        """Those with the largest counts."""
        return nlargest(size, {**self._old, **self._young}.items(), key=lambda item: count(item[1]))
