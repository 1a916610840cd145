"""The texts and the titles that the pages of a run have shown: how much of a page is new."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_NEW = 0.35
"""Share of the weight of a page's texts that is new on a page that yields."""
MIN_NEW_TITLED = 0.1
"""The same for a page whose title is new. Titles that name a selection are no content."""
COMMON_SHARE = 0.1
"""Share of the pages that show a text, from which on the text belongs to the template."""
MIN_COMMON = 5
"""Number of pages that show a text of the template."""
MIN_CHARACTERS = 50
"""Number of characters of the texts of a page, below which the page is empty."""
MAX_TEXTS = 100_000
"""Number of texts in each of the two generations that are remembered, and of those of earlier runs."""
_HASH = re.compile(r"\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}\b")
"""A hash, which may be shortened as Git, Mercurial and Fossil do it. A number, or a word of these letters, is none."""
MAX_TITLES = 50_000
"""Maximum number of titles that are remembered. All others are new."""
UNLISTED = 255
"""Rank of a page that may not be listed. That of any other is the number of parameters of its URL."""


class News(NamedTuple):
    """The news of a page: how much of it no page before has shown."""

    percent: int
    """Percentage of the weight of its texts that is new, rounded up. Texts of the template have no weight."""
    is_enough: bool
    """Whether that share is large enough for a page that yields."""
    is_empty: bool
    """Whether the page has next to no texts. Scripts may make its content."""
    has_new_title: bool
    """Whether no page before had its title."""


@dataclass(slots=True)
class _Text:
    pages: int = 0
    """Number of pages that show the text."""
    rank: int = UNLISTED
    """The lowest rank of these pages."""


class ShownTexts:
    """The texts that the pages of a run have shown."""

    def __init__(self) -> None:
        self._texts, self._older_texts = dict[int, _Text](), dict[int, _Text]()
        self._titles: dict[int, int] = {}
        """By title, the lowest rank of the pages that have it."""
        self._earlier: set[int] = set()
        """Texts that pages of earlier runs have shown."""

    def show(self, texts: bytes, title: str | None, *, pages: int, rank: int, is_sample: bool) -> News:
        """Remember the texts of a page, and return what is new on it.

        A text or title is new if only pages of a higher rank have shown it: a file is to be listed under its own
        address, although a comparison of two versions has shown its lines before.
        `pages` is the number of pages so far, and `rank` that of the page. `is_sample`: whether the page is a sample of
        a refused group, on which the texts of earlier runs are not new either.
        """
        common = max(MIN_COMMON, COMMON_SHARE * pages)
        total = weight = new = 0
        is_titled = self._add_title(title, rank)
        for number, letters in numbers_and_weights(texts):
            text = self._find(number)
            total += letters
            if text.pages < common:
                weight += letters
                is_known = text.pages > 0 and text.rank <= rank
                if not is_known and not (is_sample and number in self._earlier):
                    new += letters
            self._count(number, text, rank)
        # The titles of pages that may not be listed, such as the weeks of a calendar, prove nothing.
        least = MIN_NEW_TITLED if is_titled and rank < UNLISTED else MIN_NEW
        percent = -(-100 * new // weight) if weight else 0
        return News(percent, new > 0 and new >= least * weight, total < MIN_CHARACTERS, is_titled)

    def restore(self, texts: bytes, title: str | None, *, rank: int) -> None:
        """Add a page that an earlier process of the run has seen."""
        for number, _ in numbers_and_weights(texts):
            self._count(number, self._find(number), rank)
        self._add_title(title, rank)

    def add_earlier(self, texts: bytes) -> None:
        """Add a page that an earlier run has seen."""
        if len(self._earlier) < MAX_TEXTS:
            self._earlier.update(number for number, _ in numbers_and_weights(texts))

    def _add_title(self, title: str | None, rank: int) -> bool:
        """Remember the title of a page. Return whether it is new."""
        if title is None:
            return False
        number = title_number(title)
        known = self._titles.get(number)
        if known is None and len(self._titles) >= MAX_TITLES:
            return True
        self._titles[number] = rank if known is None else min(rank, known)
        return known is None or rank < known

    def _find(self, number: int) -> _Text:
        return self._texts.get(number) or self._older_texts.get(number) or _Text()

    def _count(self, number: int, text: _Text, rank: int) -> None:
        text.pages += 1
        text.rank = min(text.rank, rank)
        if len(self._texts) >= MAX_TEXTS:
            self._texts, self._older_texts = {}, self._texts
        self._texts[number] = text


def numbers_and_weights(texts: bytes) -> Iterator[tuple[int, int]]:
    """Return the hash and the weight of each text of a page, see `extract/content/blocks.py`."""
    numbers = array("I", texts)
    return zip(numbers[::2], numbers[1::2], strict=True)


def is_empty(texts: bytes) -> bool:
    """Return whether a page has next to no texts. Scripts may make its content."""
    return sum(letters for _, letters in numbers_and_weights(texts)) < MIN_CHARACTERS


def title_number(title: str | None) -> int:
    """Return the hash of a title without the hashes in it: each version of a file has its own."""
    return crc32(_HASH.sub("", title or "").encode())
