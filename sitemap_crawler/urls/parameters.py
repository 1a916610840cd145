"""The parameters of a URL. Some programs separate them by semicolons, as HTML 4 recommended."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEPARATOR = re.compile("[&;]")


def parameters_of(query: str) -> list[str]:
    """Return the parameters of a query, each as it is written."""
    return _SEPARATOR.split(query) if ";" in query else query.split("&")


def count_separators(url: str) -> int:
    """Return the number of separators between the parameters of a URL."""
    return url.count("&") + url.count(";")


def simplicity(url: str) -> tuple[int, int]:
    """Return the number of parameters of a URL, and its length. The smaller, the simpler is the URL."""
    return url.count("?") + count_separators(url), len(url)


def number_of(url: str) -> int:
    """Return a number for a URL, the same for any order of its parameters, and for all separators."""
    path, _, query = url.partition("?")
    return hash((path, *sorted(parameters_of(query))))


def simpler_urls(url: str) -> Iterator[str]:
    """Yield the URLs with fewer of the parameters of a URL, and at least one: those with the fewest first."""
    path, _, query = url.partition("?")
    parameters = parameters_of(query)
    for size in range(1, len(parameters)):
        yield from (f"{path}?{'&'.join(kept)}" for kept in combinations(parameters, size))


def urls_without_one(url: str) -> Iterator[str]:
    """Yield the URL without each one of its parameters, without the last one first. The separators stay."""
    path, _, query = url.partition("?")
    ends = [found.start() for found in _SEPARATOR.finditer(query)]
    # Each parameter goes with the separator before it, and the first one with the separator after it.
    for start, end in reversed(list(pairwise([*ends, len(query)]))):
        yield f"{path}?{query[:start]}{query[end:]}"
    yield f"{path}?{query[ends[0] + 1 :]}" if ends else path
