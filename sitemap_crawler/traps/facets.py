"""Parameters that combine without end, 2^n of them: how many combinations a place may have.

A place is a script (`/index.php`) or a directory with all its pages (`/shop/*`). What identifies a page has one
parameter that counts, or two, as in `viewtopic.php?f=1&t=123&start=15`, where the topic settles the forum. Only a place
that has more addresses than its two richest parameters have combinations multiplies three or more of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from math import inf, log
from typing import NamedTuple
from zlib import crc32

from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.utils.bounded import Recent

MIN_COMBINATIONS = 64
MAX_COMBINATIONS = 1_000
PER_NAME = 4
"""Different sets of names, in their order: so many for each name are no combinations yet."""
MULTIPLE = 2
"""Of the combinations of the two richest parameters: few places have all of them, and some pages several addresses."""

_BITS = 512
_MAX_NAMES = 16
"""Of one address, whose values are counted."""
MAX_PLACES = 10_000
"""Whose counts are kept, twice."""
_MAX_SHOWN = 100
_SCRIPT = re.compile(r"\.(?:php[3-7]?|aspx?|ashx|jspx?|do|cgi|pl|cfm|dll|exe|py|rb)\Z", re.IGNORECASE)


class Facets(NamedTuple):
    place: str
    names: tuple[str, ...]
    values: tuple[str, ...]
    """As many as names, or one more: the page."""


def facets_of(url: str) -> Facets | None:
    """None for what has fewer than two parameters."""
    path, _, query = url.partition("?")
    if "&" not in query:
        return None
    pairs = [part.partition("=") for part in query.split("&") if part]
    if len(pairs) < 2:
        return None
    names = tuple([name for name, _, _ in pairs])
    values = tuple([value for _, _, value in pairs])
    directory, _, page = path.rpartition("/")
    if _SCRIPT.search(page):
        return Facets(path, names, values)
    return Facets(f"{directory}/*", names, (*values, page))


def facets_place(url: str) -> str:
    """Where the URL is, as a person reads it."""
    facets = facets_of(url)
    place = facets.place if facets is not None else url
    return place[len(origin_of(place)) :][:_MAX_SHOWN]


@dataclass(slots=True)
class _Count:
    urls: int = 0
    """Of those with three or more parameters."""
    names: set[str] = field(default_factory=set)
    combinations: set[int] = field(default_factory=set)
    values: dict[str, int] = field(default_factory=dict)
    """By name, a set of hashes of values as bits."""

    def add(self, facets: Facets, combination: int) -> None:
        self.combinations.add(combination)
        if len(self.combinations) <= MAX_COMBINATIONS:
            self.names.update(facets.names)
        if len(facets.names) < 3:
            return
        self.urls += 1
        for name, value in islice(zip((*facets.names, "/"), facets.values, strict=False), _MAX_NAMES):
            if name in self.values or len(self.values) < MAX_COMBINATIONS:
                self.values[name] = self.values.get(name, 0) | 1 << crc32(value.encode()) % _BITS

    def richest(self) -> float:
        """About how many combinations the two parameters with the most values have; inf when those can't be told."""
        # What only some addresses have can also be absent.
        first, second = sorted((distinct(bits) for bits in self.values.values()), reverse=True)[:2]
        return (first + 1) * (second + 1)


def distinct(bits: int) -> float:
    """Linear counting: how many different values have set these bits, by the share of those that none has."""
    unset = _BITS - bits.bit_count()
    return _BITS * log(_BITS / unset) if unset else inf


class FacetBudget:
    """Counts the addresses that were admitted, and says which ones are too many."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._places = Recent[_Count](MAX_PLACES)

    def count(self, url: str) -> None:
        """`url` is admitted, whatever the budget."""
        facets = facets_of(url)
        if facets is not None:
            self._places.get_or_create(facets.place, _Count).add(facets, _combination(facets))

    def admits(self, url: str) -> bool:
        """Whether `url` is within the budget; then it is counted."""
        facets = facets_of(url)
        if facets is None:
            return True
        count, combination = self._places.get_or_create(facets.place, _Count), _combination(facets)
        if combination not in count.combinations:
            names = len(count.names.union(facets.names))
            if len(count.combinations) >= min(MAX_COMBINATIONS, max(MIN_COMBINATIONS, PER_NAME * names)):
                return False
        if len(facets.names) > 2 and count.urls >= self._budget and count.urls >= MULTIPLE * count.richest():
            return False
        count.add(facets, combination)
        return True


def _combination(facets: Facets) -> int:
    return hash(facets.names)
