"""The texts that the pages of each shape have shown: whether its pages differ from each other.

The events of a calendar, and the posts of a blog, stand as a whole in lists that are requested before them. None of
their texts is new then, but no other page of their shape has shown them. Sorted and filtered lists, tabs and views
repeat each other, or the page without parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from sitemap_crawler.traps.shown_texts import MIN_NEW, numbers_and_weights
from sitemap_crawler.utils.bounded import Recent

MIN_OWN = 0.5
"""Share of the pages of a shape that have texts of their own, so that these are objects."""
MIN_SHOWN = 0.5
"""Share of the texts of one page that another shows, from which on one is a view or a part of the other."""
MAX_PAGES = 100_000
"""Number of pages whose texts are remembered."""
MIN_PAGES = 5
"""Number of such pages from which on they are: the first page of a shape has no other to differ from."""
MIN_COMMON = 5
"""Number of pages of a shape that show a text, from which on it belongs to their template."""
MAX_TEXTS = 100_000
"""Number of texts in each of the two generations that are remembered."""
MAX_SHAPES = 5_000
"""Number of shapes in each of the two generations."""


@dataclass(slots=True)
class _Pages:
    shown: int = 0
    own: int = 0
    """Number of pages with texts that no other page of the shape had shown before."""

    @property
    def show_objects(self) -> bool:
        return self.own >= max(MIN_PAGES, MIN_OWN * self.shown)


class OwnTexts:
    """The texts that the pages of each shape have shown."""

    def __init__(self) -> None:
        self._texts, self._older_texts = dict[int, int](), dict[int, int]()
        """Number of pages, by shape and text."""
        self._weights: dict[int, int] = {}
        """Weight of all texts, by page."""
        self._pages = Recent[_Pages](MAX_SHAPES)

    def remember(self, page: int, texts: bytes) -> None:
        """Remember the texts of a page, given as a number."""
        for number, _ in numbers_and_weights(texts):
            self._count(hash((page, number)))
        if len(self._weights) < MAX_PAGES:
            self._weights[page] = _weight_of(texts)

    def is_view(self, page: int, texts: bytes) -> bool:
        """Return whether texts are at least MIN_SHOWN of those of another page. If that is unknown, they are."""
        weight = self._weights.get(page)
        return weight is None or self._shown_weight(page, texts) >= MIN_SHOWN * weight

    def knows(self, page: int) -> bool:
        """Return whether the texts of a page are remembered."""
        return page in self._weights

    def is_part(self, page: int, texts: bytes) -> bool:
        """Return whether another page shows at least MIN_SHOWN of some texts. If that is unknown, it does."""
        return page not in self._weights or self.shows(page, texts, share=MIN_SHOWN)

    def shows(self, page: int, texts: bytes, *, share: float) -> bool:
        """Return whether a page is known to show at least this share of some texts."""
        return page in self._weights and self._shown_weight(page, texts) >= share * _weight_of(texts)

    def _shown_weight(self, page: int, texts: bytes) -> int:
        return sum(weight for number, weight in numbers_and_weights(texts) if self._number_of(hash((page, number))))

    def _number_of(self, key: int) -> int:
        return self._texts.get(key) or self._older_texts.get(key) or 0

    def _count(self, key: int) -> int:
        """Count a page that shows a text. Return the number of those before."""
        pages = self._number_of(key)
        if len(self._texts) >= MAX_TEXTS:
            self._texts, self._older_texts = {}, self._texts
        self._texts[key] = pages + 1
        return pages

    def show(self, shape: str, texts: bytes, *, like: str | None = None) -> bool:
        """Remember the texts of a page. Return whether it is an object: at least MIN_NEW of its texts are its own.

        False, too, as long as less than MIN_PAGES, or less than MIN_OWN of the pages of its shape, are objects.
        `like` is another shape, whose pages may show this instead.
        """
        weight = own = 0
        of_shape = crc32(shape.encode()) << 32
        for number, letters in numbers_and_weights(texts):
            pages = self._count(of_shape | number)
            if pages < MIN_COMMON:
                weight += letters
                own += 0 if pages else letters
        is_object = own > 0 and own >= MIN_NEW * weight
        counts = self._pages.get_or_create(shape, _Pages)
        counts.shown += 1
        counts.own += is_object
        return is_object and (counts.show_objects or (like is not None and self._has_objects(like)))

    def _has_objects(self, shape: str) -> bool:
        counts = self._pages.get(shape)
        return counts is not None and counts.show_objects


def _weight_of(texts: bytes) -> int:
    return sum(weight for _, weight in numbers_and_weights(texts))
