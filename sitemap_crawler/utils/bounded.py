"""A mapping of recently used keys, in bounded memory."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class Recent(Generic[_T]):
    """Values of recently used keys, in two generations of at most `generation_size` keys each.

    When the young generation is full, it replaces the old one, whose keys are dropped.
    """

    def __init__(self, generation_size: int) -> None:
        self._generation_size = generation_size
        self._young: dict[str, _T] = {}
        self._old: dict[str, _T] = {}

    def get(self, key: str) -> _T | None:
        value = self._young.get(key)
        return self._old.get(key) if value is None else value

    def put(self, key: str, value: _T) -> None:
        if len(self._young) >= self._generation_size:
            self._old, self._young = self._young, {}
        self._young[key] = value

    def get_or_create(self, key: str, create: Callable[[], _T]) -> _T:
        """Return the value of a key, or the value that `create` makes for a new key. The key becomes young again."""
        value = self._young.get(key)
        if value is None:
            value = self._old.get(key)
            if value is None:
                value = create()
            self.put(key, value)
        return value

    def largest(self, number: int, size_of: Callable[[_T], int]) -> list[tuple[str, _T]]:
        """Return the `number` keys and values for which `size_of` returns the most."""
        return nlargest(number, {**self._old, **self._young}.items(), key=lambda item: size_of(item[1]))
