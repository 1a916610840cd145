"""The URLs that a run has admitted: the first one of each path, and those that are one URL but for idle parameters.

Numbers stand for the URLs, in bounded memory. Of a path or URL that is not known, nothing is refused.
"""

from __future__ import annotations

from sitemap_crawler.urls.parameters import number_of

MAX_URLS = 200_000
"""Maximum number of paths whose first URL is remembered, and of URLs of each other kind."""


class AdmittedUrls:
    """The admitted URLs of a run."""

    def __init__(self) -> None:
        self.with_parameters = 0
        """Number of URLs with parameters that were admitted."""
        self._paths: dict[int, int] = {}
        """By path, the first URL that was admitted."""
        self._identities: dict[int, int] = {}
        """By URL with parameters, as a number, the first such URL that was admitted: the order may differ."""
        self._only: dict[int, int] = {}
        """By URL without idle parameters, as a number, the only URL that stands for it."""

    def admit(self, url: str) -> None:
        """Add a URL."""
        self.add_earlier(url)
        if "?" in url:
            self.with_parameters += 1
            if not self.is_full:
                self._identities.setdefault(number_of(url), hash(url))

    def add_earlier(self, url: str) -> None:
        """Add a URL of an earlier run, which this one may not admit: its path is known all the same."""
        if len(self._paths) < MAX_URLS:
            self._paths.setdefault(_path_number(url), hash(url))

    @property
    def is_full(self) -> bool:
        """Whether the maximum is reached: further URLs with parameters are not recorded."""
        return len(self._identities) >= MAX_URLS

    def knows(self, number: int) -> bool:
        """Return whether a URL with parameters was admitted, in any order of them. `number` stands for it."""
        return number in self._identities

    def is_first(self, url: str) -> bool:
        """Return whether a URL has parameters and no other URL of its path was admitted before."""
        return "?" in url and self._paths.get(_path_number(url), hash(url)) == hash(url)

    def stands_for_path(self, url: str) -> bool:
        """Return whether a URL has no parameters, or is the first of its path."""
        return "?" not in url or self.is_first(url)

    def stands_alone(self, url: str, simpler: str) -> bool:
        """Return whether a URL is the only one that stands for a simpler URL, which was not admitted."""
        number = number_of(simpler)
        if self.knows(number) or self.is_full or len(self._only) >= MAX_URLS:
            return False
        return self._only.setdefault(number, hash(url)) == hash(url)


def _path_number(url: str) -> int:
    return hash(url.partition("?")[0])
