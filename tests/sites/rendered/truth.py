"""The values that describe a site that needs a browser, and what the rules make of its URLs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.webserver import Page

START_ROBOTS = "User-agent: *\nDisallow: {}\n"


class Fate(NamedTuple):
    """What becomes of a URL: the reason of its decision, and the date that the page states."""

    reason: str = "listed"
    lastmod: str | None = None


LISTED = Fate()
NOINDEX = Fate("noindex")
REDIRECT = Fate("redirect")
ELSEWHERE = Fate("canonical-elsewhere")
BLOCKED = Fate("blocked-by-robots")
FOREIGN = Fate("out-of-scope")


@dataclass(frozen=True, slots=True)
class Site:
    """A site on one server."""

    name: str
    pages: Mapping[str, Page]
    truth: Mapping[str, Fate]
    """Every URL that a crawl may know, as a path of the site or absolute."""
    start: str = "/"
    fallback: Page | None = None
    never: tuple[str, ...] = ()
    """Paths that nobody may ask for: robots.txt forbids them, or only a visitor's click or a refused kind of request
    leads there. One that ends in a slash stands for all below it."""
    repeated: tuple[str, ...] = ()
    """Paths that may be asked for more than once, because they are pages and parts of pages."""
    options: tuple[str, ...] = ()
    rendered_at_most: float = 1.0
    """The share of the requested pages that may be rendered."""
    unrenderable: int = 0
    """Number of pages of which no browser can make anything."""
    error_pages: tuple[str, ...] = ()
    """Listed pages that say, with status 200, that they do not exist, on a site of more than 50 pages."""
    images: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Images of listed pages that only scripts show."""
