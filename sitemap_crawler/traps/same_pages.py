"""The pages of one path that show what simpler URLs of the same path show.

The simplest URL of a content has the fewest parameters, then the fewest characters. Pages of different paths are never
compared: a term of a glossary has a page of its own, although the glossary shows all terms. So has a page with a title
of its own that is a part of what others show, such as a post that stands in a list, and one that is believed to be its
own canonical URL: a category of a shop shows what its products show, and so do its further pages, although they have
its title. So have the sizes of a product, which differ by their titles and headings only.
"""

from __future__ import annotations

from collections import defaultdict
from sys import intern
from typing import TYPE_CHECKING

from sitemap_crawler.traps.idle_parameters import MAX_PARAMETERS
from sitemap_crawler.traps.shown_texts import numbers_and_weights, title_number
from sitemap_crawler.urls.parameters import count_separators, number_of, parameters_of, simpler_urls

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_ELSEWHERE = 0.02
"""Share of the weight of a page's texts that simpler URLs of its path need not have shown for the same content."""
MIN_VIEW = 0.5
"""Share of what a simpler URL shows, from which on a page is another view of it, whatever its title is."""
MAX_TEXTS = 1_000_000
"""Maximum number of texts, and of titles, of one path that are remembered. Pages with others are not the same."""
MAX_TITLED = 200_000
"""Maximum number of URLs of one path whose titles are remembered."""
MAX_FINGERPRINTS = 1_000_000
"""Maximum number of different contents of one path that are remembered."""


class SamePages:
    """The contents of the listed URLs of one path. The caller asks for each URL in turn, the simplest first."""

    def __init__(self) -> None:
        self._fingerprints: set[bytes] = set()
        self._texts: dict[int, int] = {}
        """By text, the number of the first page that shows it."""
        self._weights: list[int] = []
        """Weight of all texts of each page."""
        self._names: list[str] = []
        """Names of the parameters of each page."""
        self._titles: set[int] = set()
        self._title_of: dict[int, int] = {}
        """By URL, as a number, its title, as a number."""

    def repeats(
        self, url: str, fingerprint: bytes | None, texts: bytes | None, title: str | None, *, is_canonical: bool = False
    ) -> bool:
        """Return whether simpler URLs show what a page shows.

        `texts` is None if not all texts of the page are known: then only its fingerprint counts. `is_canonical`:
        whether the page is believed to be its own canonical URL.
        """
        if fingerprint in self._fingerprints:
            return True
        if not texts:
            return False
        elsewhere = 0
        shown: defaultdict[int, int] = defaultdict(int)
        for number, weight in numbers_and_weights(texts):
            if (page := self._texts.get(number)) is not None:
                shown[page] += weight
            else:
                elsewhere += weight
        known = sum(shown.values())
        if not known or elsewhere > MAX_ELSEWHERE * (known + elsewhere):
            return False
        if title is None or title_number(title) in self._titles:
            return not is_canonical or self._extends(url, title) or self._shows(shown, known + elsewhere)
        if is_canonical:
            return False
        # A page whose title and heading are its own is no view of one that differs by the values of parameters only.
        names = _names(url) if elsewhere else None
        return any(
            weight >= MIN_VIEW * self._weights[page] for page, weight in shown.items() if self._names[page] != names
        )

    def _extends(self, url: str, title: str | None) -> bool:
        """Return whether a page with fewer of the parameters of a URL, and with the same title, is listed."""
        if title is None or count_separators(url) >= MAX_PARAMETERS:
            return False
        number = title_number(title)
        return any(self._title_of.get(number_of(simpler)) == number for simpler in simpler_urls(url))

    def _shows(self, shown: Mapping[int, int], weight: int) -> bool:
        """Return whether one page shows texts of this weight. The first page of a path has the texts of all of them."""
        most = max((part for page, part in shown.items() if page), default=0)
        return shown.get(0, 0) + most >= (1 - MAX_ELSEWHERE) * weight

    def add(self, url: str, fingerprint: bytes | None, texts: bytes | None, title: str | None) -> None:
        """Add a page that is listed."""
        if fingerprint is not None and len(self._fingerprints) < MAX_FINGERPRINTS:
            self._fingerprints.add(fingerprint)
        if texts and len(self._texts) < MAX_TEXTS:
            page, total = len(self._weights), 0
            for number, weight in numbers_and_weights(texts):
                self._texts.setdefault(number, page)
                total += weight
            self._weights.append(total)
            self._names.append(_names(url))
        if title is not None and len(self._titles) < MAX_TEXTS:
            number = title_number(title)
            self._titles.add(number)
            if len(self._title_of) < MAX_TITLED:
                self._title_of[number_of(url)] = number


def _names(url: str) -> str:
    """Return the names of the parameters of a URL, for a comparison. Most pages of one path share them."""
    return intern("&".join(sorted(part.partition("=")[0] for part in parameters_of(url.partition("?")[2]))))
