"""Budget of the URLs whose parameters multiply: n optional parameters make 2^n URLs.

A place is a script (`/index.php`) or a directory with all its pages (`/shop/*`). A page is identified by one parameter,
or by two as in `viewtopic.php?f=1&t=123&start=15`, where the topic determines the forum. Three or more parameters are
multiplied only at a place that has more URLs than its two richest parameters have combinations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from math import inf, log
from typing import Any, NamedTuple
from zlib import crc32

from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.urls.parameters import count_separators, parameters_of
from sitemap_crawler.utils.bounded import Recent

MIN_COMBINATIONS = 64
"""Number of different sequences of parameter names that every place may have."""
MAX_COMBINATIONS = 1_000
"""Maximum number of different sequences of parameter names that any place may have."""
COMBINATIONS_PER_NAME = 4
"""Number of different sequences that a place may have for each of its parameter names."""
MULTIPLE = 2
"""Number of URLs that a place may have for each combination of its two richest parameters.

Few places have all the combinations, and some pages have several URLs.
"""
MAX_PLACES = 10_000
"""Number of places in each of the two generations whose counts are kept in memory."""
MAX_SHARED_PLACES = 200
"""Maximum number of places whose counts are told to other processes at a time."""
MAX_SHARED_NAMES = 2_000
"""Maximum number of parameter names of a place whose counts are told to other processes."""

_BITS = 512
"""Size of the set of bits that stands for the values of a parameter."""
_MAX_NAMES = 16
"""Maximum number of parameters of one URL whose values are counted."""
_MAX_SHOWN = 100
"""Maximum number of characters of a place in messages."""
_SCRIPT = re.compile(r"\.(?:php[3-7]?|aspx?|ashx|jspx?|do|cgi|pl|cfm|dll|exe|py|rb)\Z", re.IGNORECASE)


class Facets(NamedTuple):
    """The place of a URL, and the names and values of its parameters."""

    place: str
    names: tuple[str, ...]
    values: tuple[str, ...]
    """One for each name. In a directory the name of the page is one more."""


def facets_of(url: str) -> Facets | None:
    """Return the facets of a URL, or None if it has fewer than two parameters."""
    path, _, query = url.partition("?")
    if not count_separators(query):
        return None
    pairs = [part.partition("=") for part in parameters_of(query) if part]
    if len(pairs) < 2:
        return None
    names = tuple([name for name, _, _ in pairs])
    values = tuple([value for _, _, value in pairs])
    directory, _, page = path.rpartition("/")
    if _SCRIPT.search(page):
        return Facets(path, names, values)
    return Facets(f"{directory}/*", names, (*values, page))


def facets_place(url: str) -> str:
    """Return the place of a URL for a message, without scheme and host."""
    facets = facets_of(url)
    place = facets.place if facets is not None else url
    return place[len(origin_of(place)) :][:_MAX_SHOWN]


@dataclass(slots=True)
class _PlaceCounts:
    """Counts of the admitted URLs of one place."""

    urls: int = 0
    """Number of URLs with three or more parameters."""
    names: set[str] = field(default_factory=set)
    combinations: set[int] = field(default_factory=set)
    """Hashes of the sequences of names."""
    values: dict[str, int] = field(default_factory=dict)
    """By name, the hashes of its values as a set of bits."""

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

    def merge(self, stored: dict[str, Any], new_urls: int) -> None:
        """Add the counts of other processes. `new_urls` of the URLs are not among the stored ones."""
        self.urls = stored["urls"] + new_urls
        self.names.update(stored["names"])
        self.combinations.update(stored["combinations"])
        for name, bits in stored["values"].items():
            self.values[name] = self.values.get(name, 0) | int(bits, 16)

    def stored(self) -> dict[str, Any]:
        """The counts for JSON."""
        values = {name: f"{bits:x}" for name, bits in self.values.items()}
        return {
            "urls": self.urls, "names": [*self.names], "combinations": [*self.combinations], "values": values
        }  # fmt: skip

    def richest(self) -> float:
        """Return the estimated number of combinations of the two parameters with the most values.

        The result is infinite if there are too many values to count.
        """
        # One more for each: a parameter that only some URLs have can also be absent.
        first, second = sorted((distinct(bits) for bits in self.values.values()), reverse=True)[:2]
        return (first + 1) * (second + 1)


def distinct(bits: int) -> float:
    """Return the estimated number of values that have set these bits, by linear counting of the unset ones."""
    unset = _BITS - bits.bit_count()
    return _BITS * log(_BITS / unset) if unset else inf


class FacetBudget:
    """Limit on the admitted URLs of each place. `budget` is the number of URLs that any place may have."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._places = Recent[_PlaceCounts](MAX_PLACES)
        self._changes: dict[str, int] | None = None
        """Number of URLs that other processes do not know of, by place. None where nobody is told."""

    def forget(self) -> None:
        """Forget the counts of all places, to count again."""
        self._places = Recent[_PlaceCounts](MAX_PLACES)
        if self._changes is not None:
            self._changes = {}

    def track_changes(self) -> None:
        """Begin to note which counts other processes do not know of."""
        self._changes = {}

    def changed_places(self) -> list[str]:
        """Return some of the places whose counts other processes do not know of."""
        return list(islice(self._changes or (), MAX_SHARED_PLACES))

    def merge(self, place: str, stored: dict[str, Any] | None) -> dict[str, Any] | None:
        """Add the stored counts of a place. Return those to be stored instead, or None if they are too many."""
        counts, new_urls = self._places.get_or_create(place, _PlaceCounts), (self._changes or {}).get(place, 0)
        if stored is not None:
            counts.merge(stored, new_urls)
        return counts.stored() if len(counts.names) <= MAX_SHARED_NAMES else None

    def forget_changes(self, places: list[str]) -> None:
        """Note that other processes can know of the counts of these places."""
        for place in places:
            (self._changes or {}).pop(place, None)

    def count(self, url: str) -> None:
        """Count a URL that is admitted in any case."""
        facets = facets_of(url)
        if facets is not None:
            counts = self._places.get_or_create(facets.place, _PlaceCounts)
            self._add(counts, facets, _combination(facets))

    def admits(self, url: str) -> bool:
        """Return whether a URL is within the budget. Such a URL is counted."""
        facets = facets_of(url)
        if facets is None:
            return True
        counts, combination = self._places.get_or_create(facets.place, _PlaceCounts), _combination(facets)
        if combination not in counts.combinations:
            names = len(counts.names.union(facets.names))
            if len(counts.combinations) >= min(MAX_COMBINATIONS, max(MIN_COMBINATIONS, COMBINATIONS_PER_NAME * names)):
                return False
        if len(facets.names) > 2 and counts.urls >= self._budget and counts.urls >= MULTIPLE * counts.richest():
            return False
        self._add(counts, facets, combination)
        return True

    def _add(self, counts: _PlaceCounts, facets: Facets, combination: int) -> None:
        counts.add(facets, combination)
        if self._changes is not None and (facets.place in self._changes or len(self._changes) < MAX_PLACES):
            self._changes[facets.place] = self._changes.get(facets.place, 0) + (len(facets.names) > 2)


def _combination(facets: Facets) -> int:
    # Not hash(), which differs between processes.
    return crc32("&".join(facets.names).encode())
