"""Pages that only show what a page above them in their path shows, under its title: `/shoes/12/reviews/add/`.

Such a page is the form, the print view or a tab of an object. A few of them prove nothing, as a picture may have no
texts of its own. If most pages of one kind do so, each with the title of its own object, they are no content.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sitemap_crawler.traps.shapes import shape_of
from sitemap_crawler.traps.shown_texts import numbers_and_weights, title_number
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

MIN_PAGES = 30
"""Number of pages of a shape, from which on they may be parts."""
MIN_PARTS = 0.7
"""Share of the pages of such a shape that are parts."""
NEARLY_ALL = 0.95
"""The same for a shape whose pages count as parts if their texts are not known. Their titles have to agree."""
MIN_TITLES = 15
"""Number of different titles of these pages. The pages of some sites all have one title."""
MAX_ELSEWHERE = 0.02
"""Share of the weight of a page's texts that the page above it need not show."""
MIN_COMMON = 0.5
"""Share of the pages of a shape that show a text or an image, from which on it belongs to their template."""
MAX_TEMPLATE_PAGES = 100
"""Number of pages of a shape whose texts and images are counted."""
MAX_LEVELS = 3
"""Number of directories above a page in which the page is looked for whose part it is."""
MAX_SHAPES = 10_000
"""Maximum number of shapes whose pages are counted."""


@dataclass(slots=True)
class _Pages:
    counted: int = 0
    """Number of pages whose texts and images were counted."""
    shown: Counter[int | str] = field(default_factory=Counter)
    """Number of these pages, by text and by image."""
    template: set[int | str] | None = None
    """The texts and images of the template; None before it is asked for."""
    compared: int = 0
    parts: int = 0
    titles: set[int] = field(default_factory=set)

    def are_parts(self, share: float) -> bool:
        """Return whether at least this share of the pages are parts."""
        enough = self.compared >= MIN_PAGES and len(self.titles) >= MIN_TITLES
        return enough and self.parts >= share * self.compared


class PartShapes:
    """The shapes of URLs without parameters whose pages are parts of others."""

    def __init__(self) -> None:
        self._pages: dict[str, _Pages] = {}

    def add(self, url: str, texts: bytes, images: Iterable[str]) -> None:
        """Count what a page shows for the template of its shape, before the pages are compared."""
        pages = self._pages_like(url)
        if pages is not None and pages.counted < MAX_TEMPLATE_PAGES:
            pages.counted += 1
            pages.template = None
            pages.shown.update({number for number, _ in numbers_and_weights(texts)})
            pages.shown.update(set(images))

    def template_of(self, url: str) -> set[int | str]:
        """Return the texts and the images of the template of the pages of a shape."""
        pages = self._pages_like(url)
        if pages is None or pages.counted < MIN_PAGES:
            return set()
        if pages.template is None:
            least = MIN_COMMON * pages.counted
            pages.template = {shown for shown, count in pages.shown.items() if count >= least}
        return pages.template

    def count(self, url: str, title: str | None, *, is_part: bool) -> None:
        """Count a page that was compared with those above it."""
        pages = self._pages_like(url)
        if pages is None:
            return
        pages.compared += 1
        pages.parts += is_part
        if is_part and len(pages.titles) < MIN_TITLES:
            pages.titles.add(title_number(title))

    @property
    def are_proven(self) -> bool:
        """Whether the pages of any shape are parts."""
        return any(pages.are_parts(MIN_PARTS) for pages in self._pages.values())

    def is_proven(self, url: str, share: float) -> bool:
        """Return whether at least this share of the pages of a shape are parts."""
        pages = self._pages.get(shape_of(url).groups[0])
        return pages is not None and pages.are_parts(share)

    def _pages_like(self, url: str) -> _Pages | None:
        shape = shape_of(url).groups[0]
        if shape not in self._pages and len(self._pages) >= MAX_SHAPES:
            return None
        return self._pages.setdefault(shape, _Pages())


def may_be_part(url: str) -> bool:
    """Return whether the path of a URL has a segment with a number above its last one, and no parameters."""
    return "?" not in url and "#" in shape_of(url).path.rstrip("/").rpartition("/")[0]


def pages_above(url: str) -> list[str]:
    """Return the addresses of the pages above a URL without parameters, the nearest first, with a slash and without."""
    above: list[str] = []
    start = len(origin_of(url)) + 1
    path = url[start:].rstrip("/")
    for _ in range(MAX_LEVELS):
        path = path.rpartition("/")[0]
        if not path:
            break
        above += (f"{url[:start]}{path}/", url[:start] + path)
    return above


def is_part(
    texts: bytes,
    images: Iterable[str],
    *,
    of_texts: bytes,
    of_images: Iterable[str],
    template: Set[int | str] = frozenset(),
) -> bool:
    """Return whether a page with some texts and images shows nothing that another page does not show.

    The texts and the images of its template do not count.
    """
    if not set(images) - template <= set(of_images):
        return False
    shown = {number for number, _ in numbers_and_weights(of_texts)}
    known = elsewhere = 0
    for number, weight in numbers_and_weights(texts):
        if number in shown:
            known += weight
        elif number not in template:
            elsewhere += weight
    return known > 0 and elsewhere <= MAX_ELSEWHERE * (known + elsewhere)
