"""The pages of one path that show what simpler URLs of the same path show.

The simplest URL of a content has the fewest parameters, then the fewest characters. Pages of different paths are never
compared: a term of a glossary has a page of its own, although the glossary shows all terms. So has a page that is
believed to be its own canonical URL, and has a title of its own: a category of a shop shows what its products show.
"""

from __future__ import annotations

from sitemap_crawler.traps.shown_texts import numbers_and_weights, title_number

MAX_ELSEWHERE = 0.02
"""Share of the weight of a page's texts that simpler URLs of its path need not have shown for the same content."""
MAX_TEXTS = 1_000_000
"""Maximum number of texts, and of titles, of one path that are remembered. Pages with others are not the same."""
MAX_FINGERPRINTS = 1_000_000
"""Maximum number of different contents of one path that are remembered."""


class SamePages:
    """The contents of the listed URLs of one path. The caller asks for each URL in turn, the simplest first."""

    def __init__(self) -> None:
        self._fingerprints: set[bytes] = set()
        self._texts: set[int] = set()
        self._titles: set[int] = set()

    def repeats(self, fingerprint: bytes | None, texts: bytes | None, title: str | None = None) -> bool:
        """Return whether simpler URLs show what a page shows.

        `texts` is None if not all texts of the page are known: then only its fingerprint counts. `title` is that of a
        page that is believed to be its own canonical URL.
        """
        if fingerprint in self._fingerprints:
            return True
        if not texts or (title is not None and title_number(title) not in self._titles):
            return False
        shown = elsewhere = 0
        for number, weight in numbers_and_weights(texts):
            if number in self._texts:
                shown += weight
            else:
                elsewhere += weight
        return shown > 0 and elsewhere <= MAX_ELSEWHERE * (shown + elsewhere)

    def add(self, fingerprint: bytes | None, texts: bytes | None, title: str | None = None) -> None:
        """Add a page that is listed."""
        if fingerprint is not None and len(self._fingerprints) < MAX_FINGERPRINTS:
            self._fingerprints.add(fingerprint)
        if texts and len(self._texts) < MAX_TEXTS:
            self._texts.update(number for number, _ in numbers_and_weights(texts))
        if title is not None and len(self._titles) < MAX_TEXTS:
            self._titles.add(title_number(title))
