"""Shapes of URLs that keep failing: after many lasting failures of one shape, its further URLs are tried only once.

A site may link to thousands of addresses of a script that is broken. Three attempts for each would take as long as the
rest of the crawl.
"""

from __future__ import annotations

from hashlib import blake2b

from sitemap_crawler.traps.shapes import shape_of

MAX_FAILURES = 20
"""Number of URLs of a shape that fail at every attempt, after which its further URLs are tried once."""
MAX_SHAPES = 1_000
"""Maximum number of shapes that are remembered. That whose last failure is the oldest is forgotten."""


class FailingShapes:
    """Number of URLs that have failed since the last answer, for each shape that fails."""

    def __init__(self) -> None:
        self._failures: dict[bytes, int] = {}

    def failed(self, url: str) -> None:
        """Count a URL that has failed at every attempt."""
        shape = _key(url)
        self._failures[shape] = self._failures.pop(shape, 0) + 1
        if len(self._failures) > MAX_SHAPES:
            del self._failures[next(iter(self._failures))]

    def answered(self, url: str) -> None:
        """Forget the failures of a shape, because one of its URLs was answered."""
        # On most sites nothing fails, and no shape has to be found out.
        if self._failures:
            self._failures.pop(_key(url), None)

    def gives_up(self, url: str) -> bool:
        """Return whether a failure of the URL is not worth another attempt."""
        return bool(self._failures) and self._failures.get(_key(url), 0) >= MAX_FAILURES


def _key(url: str) -> bytes:
    return blake2b(shape_of(url).groups[0].encode(errors="replace"), digest_size=8).digest()
