"""The inventories that a command opens: an error that no code expects may come from damaged values of one of them."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.config.state_location import StateLocation

_opened: ContextVar[list[StateLocation] | None] = ContextVar("opened", default=None)


@contextmanager
def inventories_opened() -> Iterator[list[StateLocation]]:
    """Return a list to which the block adds each inventory that it opens."""
    opened: list[StateLocation] = []
    token = _opened.set(opened)
    try:
        yield opened
    finally:
        _opened.reset(token)


def add_opened(location: StateLocation) -> None:
    """Add an inventory to the list of the innermost block, if there is one."""
    opened = _opened.get()
    if opened is not None and location not in opened:
        opened.append(location)
