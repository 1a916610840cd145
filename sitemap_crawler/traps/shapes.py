"""Shapes of URLs: the path without its segments that have a number, and the names of the parameters.

The URLs of one shape come from one part of the program behind a site. A group is a shape, or all shapes with the same
parameters below one directory: the deeper the directory, the narrower the group.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.urls.parameters import parameters_of

VARIABLE = "#"
"""Stands for a segment with a number, and for the number in the name of a parameter."""
ANY = "*"
"""Stands for the rest of the path in a group of shapes."""

MAX_SAME_NAME = 3
"""Maximum number of times that one name counts in a shape. Further parameters of that name add nothing."""
_MAX_NAMES = 12
_MAX_NAME = 40  # characters
_MAX_LEVELS = 6  # directories whose groups are told apart
_MAX_PATH = 300  # characters

_DIGIT = re.compile("[0-9]")
_DIGIT_RUN = re.compile("[0-9]+")
_ESCAPE = re.compile(r"%[0-9A-F]{2}")


class Shape(NamedTuple):
    """The shape of a URL, and the wider groups that it belongs to."""

    groups: tuple[str, ...]
    """The shape itself, then the groups from the narrowest to the widest."""
    names: tuple[str, ...]
    """The names of the parameters, sorted. A name is repeated as in the URL."""
    path: str
    """The path with which the shape begins, before its parameters."""
    is_variable: bool
    """Whether the path has a segment with a number. Then many URLs may have this shape."""

    @property
    def repeats(self) -> bool:
        """Whether a name of a parameter stands in the URL more than once."""
        return len(set(self.names)) < len(self.names)

    @property
    def kind(self) -> str:
        """The shape, or the directory of a URL without parameters that ends with a name: such a shape has one URL."""
        path = self.path.rstrip("/")
        if self.names or path.endswith(VARIABLE):
            return self.groups[0]
        return self.groups[max(-self._segments, 1 - len(self.groups))]

    @property
    def section(self) -> str:
        """The group of the URLs below the same first directory, or of those at the root of the site."""
        return self.groups[-2] if self._segments > 1 else self.groups[-1]

    @property
    def _segments(self) -> int:
        return self.path.strip("/").count("/") + 1

    def without(self, index: int) -> tuple[str, ...]:
        """Return the groups of the URLs without one of the parameters, each in the place of the group with it."""
        parameters = _text_of(self.names)
        fewer = _text_of(self.names[:index] + self.names[index + 1 :])
        return tuple([group.removesuffix(parameters) + fewer for group in self.groups])


def shape_of(url: str) -> Shape:
    """Return the shape of a normalised URL."""
    start = len(origin_of(url))
    path, _, query = url[start:].partition("?")
    return _shape(url[:start], path[:_MAX_PATH], _names(query) if query else ())


@lru_cache(maxsize=4096)
def _shape(origin: str, path: str, names: tuple[str, ...]) -> Shape:
    segments = [_masked(segment) for segment in path.removeprefix("/").split("/")]
    masked = "/".join(segments)
    parameters = _text_of(names)
    wider = [
        f"{origin}/{'/'.join((*segments[:level], ANY))}{parameters}"
        for level in range(min(len(segments) - 1, _MAX_LEVELS), -1, -1)
    ]
    return Shape((f"{origin}/{masked}{parameters}", *wider), names, masked, VARIABLE in masked)


def _names(query: str) -> tuple[str, ...]:
    """Return the names of the parameters of a query, sorted, each at most MAX_SAME_NAME times."""
    names: list[str] = []
    for part in parameters_of(query):
        name = _DIGIT_RUN.sub(VARIABLE, part.partition("=")[0][:_MAX_NAME])
        if names.count(name) < MAX_SAME_NAME and len(names) < _MAX_NAMES:
            names.append(name)
    return tuple(sorted(names))


def _text_of(names: tuple[str, ...]) -> str:
    return "?" + "&".join(names) if names else ""


def _masked(segment: str) -> str:
    if "%" in segment:
        # The digits of an escape are no number.
        segment = _ESCAPE.sub("%", segment)
    return segment if _DIGIT.search(segment) is None else VARIABLE
