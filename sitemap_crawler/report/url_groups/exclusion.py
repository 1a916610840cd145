"""Shapes of URLs for people: a group of URLs with the `--exclude` that leaves it out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from sitemap_crawler.exceptions import PatternError
from sitemap_crawler.report.url_groups.groups import MAX_EXAMPLE
from sitemap_crawler.report.url_groups.query_paths import FURTHER
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.utils.patterns import UserPattern

if TYPE_CHECKING:
    from sitemap_crawler.report.url_groups.groups import UrlGroup

ANY_PARAMETERS = r"\?.*$"
"""End of an option for URLs of a path whatever parameters they have."""
_WILDCARD = re.compile(r"[*…]|(?<=/)(?:YYYY|MM|DD)(?=/)")
_NUMBERS = {"YYYY": "[0-9]{4}", "MM": "[0-9]{2}", "DD": "[0-9]{2}"}


class UrlShape(NamedTuple):
    """A group of URLs, with the option that leaves it out."""

    pattern: str
    urls: int
    """Number of URLs; an estimate if only a part was counted."""
    example: str
    """The shortest URL."""
    examples: list[str]
    """The shortest URLs."""
    exclude: str | None
    """Value of --exclude that matches the URLs; None if the shape is no more than all pages of the site."""
    listed: int | None = None
    """Number of listed pages that the option matches, too, on large sites an estimate; None if nobody has counted."""

    def to_json(self) -> dict[str, Any]:
        """Return the values for reports, without the listed pages if they were not counted."""
        return {name: value for name, value in self._asdict().items() if name != "listed" or value is not None}


def shape_of_group(group: UrlGroup, prefix: str) -> UrlShape:
    """Return the shape of a group of URLs. `prefix` is that of the scope."""
    examples = list(group.examples)
    return UrlShape(group.pattern, group.urls, group.example, examples, exclude_pattern(group, prefix))


def exclude_pattern(group: UrlGroup, prefix: str) -> str | None:
    """Return a regular expression for the URLs of a group, or None if it would match all pages of the scope."""
    origin, pattern = origin_of(prefix), group.pattern
    if "://" in pattern:
        origin, pattern = origin_of(pattern), pattern[len(origin_of(pattern)) :]
    path, mark, query = pattern.partition("?")
    is_all = not mark and origin == origin_of(prefix) and path in ("/*", f"{prefix[len(origin) :]}*")
    if "*" in origin or is_all or path == f"/{FURTHER}":
        return None
    start = f"^{re.escape(origin)}"
    if mark:
        expression = ANY_PARAMETERS if query == "*" else rf"\?{_query_expression(query)}$"
        text = start + _expression(path, "[^/?]*") + expression
    elif path.endswith("*"):
        text = start + _expression(path[:-1], ".*")
    else:
        # The archive of a year, a month or a day.
        text = start + _expression(path.rstrip("/") + "/", ".*").removesuffix("/") + "/?$"
    return text if _matches(text, group.example) else None


def _query_expression(query: str) -> str:
    # A parameter of which nothing is known stands for any number of parameters.
    return "&".join([".*" if part == "*" else _expression(part, "[^&]*") for part in query.split("&")])


def _expression(pattern: str, wildcard: str) -> str:
    """Return the regular expression of a part of a pattern, in which `*` is the wildcard."""
    parts: list[str] = []
    end = 0
    for found in _WILDCARD.finditer(pattern):
        parts.append(re.escape(pattern[end : found.start()]))
        parts.append(wildcard if found[0] == "*" else _NUMBERS.get(found[0], ".*"))
        end = found.end()
    return "".join([*parts, re.escape(pattern[end:])])


def _matches(text: str, example: str) -> bool:
    try:
        return len(example) <= MAX_EXAMPLE and UserPattern(text).found_in(example)
    except PatternError:
        return False
