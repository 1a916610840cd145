"""What a page and its headers tell robots: `<meta name=robots>` and `X-Robots-Tag`.

https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.dates import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from sitemap_crawler.extract.document import Document

MAX_EVIDENCE = 200
MAX_SOURCES = 100  # tags and headers of one response
MAX_VALUE = 16_384  # characters of one of them

_ROBOTS = frozenset({"robots", "googlebot", "bingbot"})
_ROBOTS_IN_HEADERS = _ROBOTS | {"*"}
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_NAMED = re.compile(r"([\w.*-]++)\s*+:\s*+(.*)", re.DOTALL)
_WORDS = re.compile(r"[\s;]+")


class Directives(NamedTuple):
    noindex: bool = False
    nofollow: bool = False
    evidence: str | None = None  # the tag or header that says so, shortened
    unavailable_after: datetime | None = None  # from when on it is noindex, the earliest of several


def robots_directives(document: Document | None, x_robots_tags: Sequence[str]) -> Directives:
    """Return the most restrictive sum of all tags and headers; the evidence of noindex before that of nofollow."""
    noindex: str | None = None
    nofollow: str | None = None
    expiries: list[datetime] = []
    for value, evidence, from_header in islice(_sources(document, x_robots_tags), MAX_SOURCES):
        forbidden, expiry = _forbidden(value[:MAX_VALUE], from_header=from_header)
        if "noindex" in forbidden and noindex is None:
            noindex = evidence
        if "nofollow" in forbidden and nofollow is None:
            nofollow = evidence
        expiries += expiry
    proof = noindex if noindex is not None else nofollow
    return Directives(noindex is not None, nofollow is not None, proof, min(expiries, default=None))


def _sources(document: Document | None, x_robots_tags: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    for value in x_robots_tags:
        yield value, f"X-Robots-Tag: {_shortened(value)}", True
    for element in document.all("meta") if document else ():
        name, content = element.get("name"), element.get("content")
        if name and content and name.strip().lower() in _ROBOTS:
            shown = _shortened(content.replace('"', "&quot;"))
            yield content, f'<meta name="{name.strip().lower()}" content="{shown}">', False


def _shortened(text: str) -> str:
    text = " ".join(text[: 4 * MAX_EVIDENCE].split())
    limit = MAX_EVIDENCE - len('<meta name="googlebot" content="">')
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _forbidden(value: str, *, from_header: bool) -> tuple[set[str], list[datetime]]:
    found: set[str] = set()
    expiries: list[datetime] = []
    for directive, argument in _directives(value, from_header=from_header):
        if directive == "none":
            found |= {"noindex", "nofollow"}
        elif directive in {"noindex", "nofollow"}:
            found.add(directive)
        elif directive == "unavailable_after":
            end = parse_date(argument)
            if end is not None:
                expiries.append(end)
    return found, expiries


def _directives(value: str, *, from_header: bool) -> Iterator[tuple[str, str]]:
    """Yield directives with their arguments; in a header those for the robots that count, after `robot:` too."""
    counts = True
    parts = value.split(",")
    for index, part in enumerate(parts):
        text = part.strip()
        named = _NAMED.fullmatch(text)
        if from_header and named and named[1].lower() not in _WITH_VALUE:
            counts = named[1].lower() in _ROBOTS_IN_HEADERS
            text = named[2]
            named = _NAMED.fullmatch(text)
        if not counts:
            continue
        if named:
            yield named[1].lower(), _argument(named[2], parts[index + 1 : index + 2])
        else:
            yield from ((word, "") for word in _WORDS.split(text.lower()))


def _argument(text: str, following: Sequence[str]) -> str:
    """Rejoin a date that was split after its weekday: `Saturday, 25-Jun-30 15:00:00 UTC`."""
    if following and text.strip().isalpha() and following[0].strip()[:1].isdigit():
        return f"{text},{following[0]}"
    return text
