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
    is_listable: bool = False
    """True if a page that shows the text may be listed."""


class ShownTexts:
    """The texts that the pages of a run have shown."""

    def __init__(self) -> None:
        self._texts, self._older_texts = dict[int, _Text](), dict[int, _Text]()
        self._titles: dict[int, bool] = {}
        """By title, whether a page has it that may be listed."""
        self._earlier: set[int] = set()
        """Texts that pages of earlier runs have shown."""

    def show(self, texts: bytes, title: str | None, *, pages: int, is_listable: bool, is_sample: bool) -> News:
        """Remember the texts of a page, and return what is new on it.

        `pages` is the number of pages so far. `is_listable`: whether the page may be listed; a text or title is new on
        such a page as long as none but pages that may not be listed have shown it. `is_sample`: whether the page is a
        sample of a refused group, on which the texts of earlier runs are not new either.
        """
        common = max(MIN_COMMON, COMMON_SHARE * pages)
        total = weight = new = 0
        is_titled = self._add_title(title, is_listable=is_listable)
        for number, letters in numbers_and_weights(texts):
            text = self._find(number)
            total += letters
            if text.pages < common:
                weight += letters
                is_known = text.is_listable or (text.pages > 0 and not is_listable)
                if not is_known and not (is_sample and number in self._earlier):
                    new += letters
            self._count(number, text, is_listable=is_listable)
        # The titles of pages that may not be listed, such as the weeks of a calendar, prove nothing.
        least = MIN_NEW_TITLED if is_titled and is_listable else MIN_NEW
        percent = -(-100 * new // weight) if weight else 0
        return News(percent, new > 0 and new >= least * weight, total < MIN_CHARACTERS, is_titled)

    def restore(self, texts: bytes, title: str | None, *, is_listable: bool) -> None:
        """Add a page that an earlier process of the run has seen."""
        for number, _ in numbers_and_weights(texts):
            self._count(number, self._find(number), is_listable=is_listable)
        self._add_title(title, is_listable=is_listable)

    def add_earlier(self, texts: bytes) -> None:
        """Add a page that an earlier run has seen."""
        if len(self._earlier) < MAX_TEXTS:
            self._earlier.update(number for number, _ in numbers_and_weights(texts))

    def _add_title(self, title: str | None, *, is_listable: bool) -> bool:
        """Remember the title of a page. Return whether it is new."""
        if title is None:
            return False
        number = title_number(title)
        known = self._titles.get(number)
        if known is None and len(self._titles) >= MAX_TITLES:
            return True
        self._titles[number] = is_listable or known is True
        return known is None or (is_listable and not known)

    def _find(self, number: int) -> _Text:
        return self._texts.get(number) or self._older_texts.get(number) or _Text()

    def _count(self, number: int, text: _Text, *, is_listable: bool) -> None:
        text.pages += 1
        text.is_listable = text.is_listable or is_listable
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
