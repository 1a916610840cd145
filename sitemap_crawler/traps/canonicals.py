"""The canonical URLs that pages name: what they say of the URLs of a shape.

A shop under one path, such as `/index.php?route=…`, names the page of a category as its own canonical URL, and with it
the same page in another order. A list shows nothing but what other pages show, and is content all the same. Other sites
name the address of each request: there the canonical URL says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sitemap_crawler.traps.shapes import shape_of
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_UNPROVED = 50
"""Number of pages with parameters that name themselves, up to which they are believed without proof."""
MIN_OTHERS = 0.1
"""Number of pages that name another URL, or are noindex, for each further page that is believed."""
MIN_WITHOUT = 5
"""Number of pages of a shape that name their URL without the same parameters, before these are known to add nothing."""
MAX_EXCEPTIONS = 0.05
"""Share of the pages of such a shape that do not."""
MAX_SHAPES = 5_000
"""Number of shapes in each of the two generations whose canonical URLs are remembered."""


@dataclass(slots=True)
class _Without:
    """The parameters that the canonical URLs of one shape leave out."""

    names: frozenset[str] = frozenset()
    pages: int = 0
    """Number of pages whose canonical URL leaves out these parameters, and no other."""
    exceptions: int = 0
    """Number of the other pages."""


class Canonicals:
    """The canonical URLs of the pages with parameters of a site."""

    def __init__(self) -> None:
        self._own = 0
        """Number of pages that name themselves as canonical."""
        self._others = 0
        """Number of pages that name another URL as canonical, or may not be listed for another reason."""
        self._without = Recent[_Without](MAX_SHAPES)

    def count(self, url: str, canonical: str | None, *, is_listable: bool) -> None:
        """Count a page. `is_listable` is False for a page that its own directives keep out of the sitemap."""
        self._own += canonical == url
        self._others += not is_listable
        if canonical is None:
            return
        without = self._without.get_or_create(shape_of(url).groups[0], _Without)
        names = _names_left_out(url, canonical)
        if without.pages == 0:
            without.names = names
        if names and names == without.names:
            without.pages += 1
        else:
            without.exceptions += 1

    @property
    def are_believed(self) -> bool:
        """Whether a page that names itself counts as a page of its own."""
        return self._own <= MAX_UNPROVED or self._others >= MIN_OTHERS * self._own

    def expected_of(self, url: str) -> str | None:
        """Return the canonical URL that the page of a URL will name, but for the order of its parameters.

        None if the pages of its shape have not shown which parameters add nothing.
        """
        without = self._without.get(shape_of(url).groups[0])
        if without is None or without.pages < MIN_WITHOUT or without.exceptions > MAX_EXCEPTIONS * without.pages:
            return None
        path, _, query = url.partition("?")
        kept = [part for part in query.split("&") if part.partition("=")[0] not in without.names]
        return f"{path}?{'&'.join(kept)}" if kept else path


def number_of(url: str) -> int:
    """Return a number for a URL, the same for any order of its parameters."""
    path, _, query = url.partition("?")
    return hash((path, *sorted(query.split("&"))))


def simpler_numbers(url: str) -> Iterator[int]:
    """Yield the numbers of the URLs with fewer of the parameters of a URL, and at least one."""
    path, _, query = url.partition("?")
    parameters = sorted(query.split("&"))
    for size in range(1, len(parameters)):
        yield from (hash((path, *kept)) for kept in combinations(parameters, size))


def _names_left_out(url: str, canonical: str) -> frozenset[str]:
    """Return the names of the parameters of a URL that its canonical URL leaves out; none if more differs."""
    path, _, query = url.partition("?")
    other_path, _, other_query = canonical.partition("?")
    parameters, kept = query.split("&"), set(other_query.split("&") if other_query else ())
    if path != other_path or not kept.issubset(parameters):
        return frozenset()
    names = frozenset(part.partition("=")[0] for part in parameters if part not in kept)
    return names if names.isdisjoint(part.partition("=")[0] for part in kept) else frozenset()
