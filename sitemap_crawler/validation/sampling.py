"""A sample of the listed URLs, stratified by file and shape of the URL, and the margin of what it shows."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sitemap_crawler.validation.listing import ListedUrl

MAX_STRATA = 10_000
"""Maximum number of strata. URLs of further shapes share one of each file."""
Z_95 = 1.96
"""Quantile of the normal distribution for a confidence of 95 %."""
_DIGITS = re.compile(r"[0-9]+")

Stratum = tuple[str, str]


class Interval(NamedTuple):
    """Bounds of a share of all URLs, with a confidence of 95 %."""

    low: float
    high: float


def sample(listed: Callable[[], Iterable[ListedUrl]], size: int) -> Iterator[ListedUrl]:
    """Yield `size` of the listed URLs, or all if there are no more.

    `listed` returns an iterator over all of them at each call. Each stratum gives its share, evenly spread over its
    URLs, and at least one URL if there is room for all strata. The same sitemap gives the same sample.
    """
    sizes: Counter[Stratum] = Counter()
    for url in listed():
        sizes[_stratum(url, sizes)] += 1
    taken = allocation(sizes, size)
    seen: Counter[Stratum] = Counter()
    for url in listed():
        stratum = _stratum(url, sizes)
        position, count, wanted = seen[stratum], sizes[stratum], taken[stratum]
        seen[stratum] += 1
        if (position + 1) * wanted // count > position * wanted // count:
            yield url


def allocation(sizes: Counter[Stratum], size: int) -> Counter[Stratum]:
    """Return how many URLs each stratum gives: its share by largest remainder, and at least one if there is room."""
    total = sizes.total()
    if total <= size:
        return Counter(sizes)
    if len(sizes) > size:
        return _spread(sizes, size)
    given: Counter[Stratum] = Counter(dict.fromkeys(sizes, 1))
    left = size - given.total()
    shares = {
        stratum: left * (count - given[stratum]) / max(total - given.total(), 1) for stratum, count in sizes.items()
    }
    for stratum, share in shares.items():
        given[stratum] += math.floor(share)
    rest = sorted(shares, key=lambda stratum: (math.floor(shares[stratum]) - shares[stratum], stratum))
    for stratum in rest[: size - given.total()]:
        given[stratum] += 1
    return given


def _spread(sizes: Counter[Stratum], size: int) -> Counter[Stratum]:
    """Return how many URLs each of more than `size` strata gives: the sample is spread evenly over all URLs."""
    total, before = sizes.total(), 0
    given: Counter[Stratum] = Counter()
    for stratum, count in sizes.items():
        given[stratum] = (before + count) * size // total - before * size // total
        before += count
    return given


def interval(wrong: int, checked: int, total: int) -> Interval:
    """Return the share of wrong URLs among all, by Wilson's interval with the correction for a finite population."""
    if checked >= total or not checked:
        share = wrong / checked if checked else 0.0
        return Interval(share, share if checked else 1.0)
    z = Z_95 * math.sqrt((total - checked) / (total - 1))
    share, factor = wrong / checked, 1 + z * z / checked
    middle = (share + z * z / (2 * checked)) / factor
    half = z / factor * math.sqrt(share * (1 - share) / checked + z * z / (4 * checked * checked))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def shape(url: str) -> str:
    """Return the shape of a URL: its first directory, depth, ending, and whether it has a query."""
    parts = urlsplit(url)
    # A page may be named like a directory: many programs write /title-of-a-post/.
    *directories, name = parts.path.strip("/").split("/")
    ending = name.rpartition(".")[2] if "." in name else ""
    first = _DIGITS.sub("0", directories[0]) if directories else ""
    return f"{first}/{len(directories)}/{ending[:8]}{'?' if parts.query else ''}"


def _stratum(url: ListedUrl, known: Counter[Stratum]) -> Stratum:
    stratum = (url.file, shape(url.loc))
    return stratum if stratum in known or len(known) < MAX_STRATA else (url.file, "")
