"""The parameters of each shape of URLs that add nothing: the URL without them shows the same.

A shop under one path names the URL of a product without the category as canonical. The lists of a forum name the forum
of a topic beside its number, and other links do not. All links to a product name one of its categories. The pages of
such URLs repeat others, which says nothing about the URLs that only one category, or one forum, links.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sitemap_crawler.traps.shapes import shape_of
from sitemap_crawler.urls.parameters import count_separators, number_of, parameters_of, urls_without_one
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MIN_PAGES = 5
"""Number of pages of a shape that show what their URL without the same parameters shows, before these are idle."""
MAX_EXCEPTIONS = 0.05
"""Share of the pages of such a shape that do not."""
MAX_PARAMETERS = 6
"""Number of parameters up to which the simpler URLs of a URL are looked up: there are 62."""
MAX_SIBLINGS = 500_000
"""Maximum number of URLs without one of their parameters that are remembered."""
MAX_SHAPES = 5_000
"""Number of shapes in each of the two generations that are remembered."""
MAX_STORED = 1_000
"""Maximum number of shapes that later runs know."""


@dataclass(slots=True)
class _Idle:
    """The parameters of one shape that add nothing."""

    names: frozenset[str] = frozenset()
    pages: int = 0
    """Number of pages that show the same without these parameters, and not without others."""
    exceptions: int = 0
    """Number of the other pages."""

    @property
    def is_proved(self) -> bool:
        return self.pages >= MIN_PAGES and self.exceptions <= MAX_EXCEPTIONS * self.pages


class IdleParameters:
    """The parameters that add nothing, by shape."""

    def __init__(self) -> None:
        self._shapes = Recent[_Idle](MAX_SHAPES)
        self._first: dict[int, int] = {}
        """By URL without one of its parameters, the first such URL, as numbers."""

    def admit(self, url: str) -> None:
        """Remember a URL that is to be requested."""
        if len(self._first) < MAX_SIBLINGS and 0 < count_separators(url) < MAX_PARAMETERS:
            number = number_of(url)
            for simpler in urls_without_one(url):
                self._first.setdefault(number_of(simpler), number)

    def siblings(self, url: str) -> Iterator[tuple[str, int]]:
        """Yield a URL without each of its parameters, and the number of the first URL that was the same without it."""
        if 0 < count_separators(url) < MAX_PARAMETERS:
            number = number_of(url)
            for simpler in urls_without_one(url):
                first = self._first.get(number_of(simpler), number)
                if first != number:
                    yield simpler, first

    def sibling(self, url: str, simpler: str) -> int | None:
        """Return the number of the first other URL that was the same without one parameter, as `simpler` is."""
        first = self._first.get(number_of(simpler))
        return None if first == number_of(url) else first

    def count(self, url: str, same: str | None) -> None:
        """Count a page. `same` is the URL that shows the same, or None if the page is an exception."""
        idle = self._shapes.get_or_create(shape_of(url).groups[0], _Idle)
        names = frozenset[str]() if same is None else _names_left_out(url, same)
        if idle.pages == 0:
            idle.names = names
        if names and names == idle.names:
            idle.pages += 1
        else:
            idle.exceptions += 1

    def simpler_of(self, url: str) -> str | None:
        """Return the URL that will show the same as a URL, but for the order of its parameters.

        None if the pages of its shape have not shown which parameters add nothing.
        """
        idle = self._shapes.get(shape_of(url).groups[0])
        if idle is None or not idle.is_proved:
            return None
        path, _, query = url.partition("?")
        kept = [part for part in parameters_of(query) if part.partition("=")[0] not in idle.names]
        return f"{path}?{'&'.join(kept)}" if kept else path

    @property
    def known(self) -> dict[str, list[Any]]:
        """What is proved, for JSON: of the shapes with the most pages."""
        largest = self._shapes.largest(MAX_STORED, attrgetter("pages"))
        return {shape: [sorted(idle.names), idle.pages, idle.exceptions] for shape, idle in largest if idle.is_proved}

    def add_known(self, known: Mapping[str, list[Any]]) -> None:
        """Add what an earlier run, or another process, has proved."""
        for shape, (names, pages, exceptions) in known.items():
            idle = self._shapes.get_or_create(shape, _Idle)
            if idle.pages < pages:
                idle.names, idle.pages, idle.exceptions = frozenset(names), pages, exceptions


def _names_left_out(url: str, other: str) -> frozenset[str]:
    """Return the names of the parameters of a URL that another URL leaves out; none if more differs."""
    path, _, query = url.partition("?")
    other_path, _, other_query = other.partition("?")
    parameters, kept = parameters_of(query), set(parameters_of(other_query) if other_query else ())
    if path != other_path or not kept.issubset(parameters):
        return frozenset()
    names = frozenset(part.partition("=")[0] for part in parameters if part not in kept)
    return names if names.isdisjoint(part.partition("=")[0] for part in kept) else frozenset()
