"""The links without parameters that pages have shown: a page that leads to a new one may yield for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.traps.shapes import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sitemap_crawler.traps.groups import Groups

MAX_LINKS = 200_000
"""Maximum number of links that are remembered. Later ones are not new."""


class MetLinks:
    """The URLs without parameters that a run has met, as hashes."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._hashes: set[int] = set()
        self._earlier: set[int] = set()

    def add_earlier(self, links: Iterable[str]) -> None:
        """Add URLs that earlier runs have met. A group that is left out does not yield by linking to them."""
        self._earlier.update(map(hash, links))

    def restore(self, links: Iterable[str]) -> None:
        """Add URLs that an earlier process of the run has met."""
        for url in links:
            if len(self._hashes) >= MAX_LINKS:
                break
            self._hashes.add(hash(url))

    def __contains__(self, url: str) -> bool:
        number = hash(url)
        return number in self._hashes or number in self._earlier

    def lead_on(self, links: Iterable[str], *, is_sample: bool) -> bool:
        """Remember the links of a page to URLs without parameters. Return whether any of them is new and promising.

        `is_sample` says that the group of the page is left out.
        """
        leads_on = False
        for url in links:
            if "?" in url or (number := hash(url)) in self._hashes or len(self._hashes) >= MAX_LINKS:
                continue
            self._hashes.add(number)
            if not leads_on and not (is_sample and number in self._earlier):
                leads_on = self._groups.is_promising(shape_of(url))
        return leads_on
