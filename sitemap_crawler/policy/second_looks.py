"""Pages that show something else at each request: which are asked for again, and what the answers prove.

Shops show products at random, and blogs their posts: such a page is another one in each run, although nobody has
changed it. A page that has changed shows the same when it is asked for again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

MIN_CHANGED = 10
"""Number of changed pages of a run from which on some are asked for again; of a shape, from which on some of it are."""
MAX_LOOKS = 4
"""Number of pages of a shape that are asked for again. Some show the same as before by chance."""
MIN_UNSTABLE = 2
"""Number of these that have to differ once more, each in its own way, before no page of the shape counts as changed."""
MAX_SHAPES = 50
"""Maximum number of shapes that are looked at: those with the most changed pages."""
MAX_SINGLE_LOOKS = 50
"""Maximum number of pages of other shapes that are asked for again. Each speaks for itself only."""
MAX_KNOWN_SHAPES = 20_000
"""Maximum number of shapes whose changed pages are counted."""


class ChangedPage(NamedTuple):
    """A page on which a run has seen a change."""

    url: str
    fingerprint: bytes
    section: str = ""
    """The pages of a section may have changes in common, see `policy/common_changes.py`."""
    step: int | None = None


class KeptDates(NamedTuple):
    """The numbers of changed pages that keep the dates of the last run."""

    unstable: int = 0
    """Pages that show something else at each request."""
    common: int = 0
    """Pages whose change others of their section have in common."""
    example: str = ""
    """The URL of one of the unstable pages."""


@dataclass(slots=True)
class _Shape:
    changed: int = 0
    looks: list[ChangedPage] = field(default_factory=list)
    others: list[bytes] = field(default_factory=list)
    """The fingerprints of the answers that differed once more."""

    @property
    def is_unstable(self) -> bool:
        # Several pages with one content are a message of the server, such as maintenance.
        own = [other for other in self.others if self.others.count(other) == 1]
        return len(own) >= MIN_UNSTABLE


class SecondLooks:
    """The shapes of the changed pages of a run, and what the second requests have shown."""

    def __init__(self) -> None:
        self._shapes: dict[str, _Shape] = {}
        self._few: list[tuple[str, ChangedPage]] = []
        """Pages that were among the first of their shapes."""
        self._changed = 0
        self._answers: dict[str, bytes] = {}
        """The contents that answered the second requests, if they differed, by URL."""

    def add(self, shape: str, page: ChangedPage) -> None:
        """Count a changed page. The first one, and some later ones at growing distances, are asked for again."""
        if len(self._shapes) >= MAX_KNOWN_SHAPES and shape not in self._shapes:
            return
        known = self._shapes.setdefault(shape, _Shape())
        self._changed += 1
        known.changed += 1
        if known.changed < MIN_CHANGED and len(self._few) < MIN_CHANGED * MAX_SINGLE_LOOKS:
            self._few.append((shape, page))
        # The pages are those with the numbers 1, 2, 4, 8 …: the last few of them are spread over all.
        if known.changed.bit_count() == 1:
            known.looks = [*known.looks[1 - MAX_LOOKS :], page]

    def choose(self) -> list[tuple[str, ChangedPage]]:
        """Return the pages that are to be asked for again, each with its shape."""
        if self._changed < MIN_CHANGED:
            return []
        many = [(name, shape) for name, shape in self._shapes.items() if shape.changed >= MIN_CHANGED]
        many.sort(key=lambda item: (-item[1].changed, item[0]))
        looks = [(name, page) for name, shape in many[:MAX_SHAPES] for page in shape.looks]
        few = [(name, page) for name, page in self._few if self._shapes[name].changed < MIN_CHANGED]
        return looks + few[:MAX_SINGLE_LOOKS]

    def compare(self, shape: str, page: ChangedPage, answer: bytes) -> bool:
        """Return whether the content that answered the second request for a page differs from its first one."""
        if answer == page.fingerprint:
            return False
        if self._shapes[shape].changed >= MIN_CHANGED:
            self._shapes[shape].others.append(answer)
        self._answers[page.url] = answer
        return True

    @property
    def unstable(self) -> set[str]:
        """The shapes whose pages show something else at each request."""
        return {name for name, shape in self._shapes.items() if shape.is_unstable}

    @property
    def unstable_pages(self) -> set[str]:
        """The URLs of the pages that have shown something else at the second request, each in its own way."""
        shown = Counter(self._answers.values())
        return {url for url, answer in self._answers.items() if shown[answer] == 1}


def kept_dates_notice(pages: int, example: str) -> str:
    """Return the line for pages that show something else at each request. `example` is the URL of one of them."""
    show = f"{example} shows" if pages == 1 else f"{pages:,} pages show"
    named = "" if pages == 1 else f" ({example})"
    return (
        f"{show} something else at each request, such as products at random{named}: whether their content has changed "
        "is not known, and their dates are those of the last run"
    )
