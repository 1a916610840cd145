"""Whether a page may be indexed and under which URL: its robots directives and its canonical.

https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.dates import parse_date
from sitemap_crawler.extract.document import head_elements, rel_tokens
from sitemap_crawler.extract.links import parse_link_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from sitemap_crawler.extract.document import Document

MAX_EVIDENCE = 200
"""Maximum number of characters of the evidence."""
MAX_SOURCES = 100
"""Maximum number of robots tags and headers read in one response."""
MAX_VALUE = 16_384
"""Maximum number of characters read of one robots tag or header."""
MAX_CONFLICTING = 3
"""Maximum number of conflicting canonicals that are kept."""

_ROBOTS = frozenset({"robots", "googlebot", "bingbot"})
_ROBOTS_IN_HEADERS = _ROBOTS | {"*"}
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_NAMED = re.compile(r"([\w.*-]++)\s*+:\s*+(.*)", re.DOTALL)
_NAME_SEPARATORS = re.compile(r"[\s;]+")

# A link with one of these attributes names another version of the page, not its canonical URL:
# https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls
_OTHER_VERSION = frozenset({"hreflang", "lang", "media", "type"})


class Directives(NamedTuple):
    """The robots directives of one response."""

    noindex: bool = False
    nofollow: bool = False
    evidence: str | None = None
    """The tag or header with the directive, shortened."""
    unavailable_after: datetime | None = None
    """The time from which the page is noindex; the earliest of several."""


class Canonical(NamedTuple):
    """The canonical URL that a page declares."""

    url: str | None = None
    """The canonical URL, also if it is the URL of the page itself."""
    conflicting: tuple[str, ...] = ()
    """Some of several different canonical URLs; then none of them counts."""


def robots_directives(document: Document | None, x_robots_tags: Sequence[str]) -> Directives:
    """Return the most restrictive combination of `<meta name=robots>` and `X-Robots-Tag`.

    The evidence is that of noindex, or else that of nofollow.
    """
    noindex: str | None = None
    nofollow: str | None = None
    expiries: list[datetime] = []
    for value, evidence, from_header in islice(_robots_values(document, x_robots_tags), MAX_SOURCES):
        restrictions, expiry = _parse_robots_value(value[:MAX_VALUE], from_header=from_header)
        if "noindex" in restrictions and noindex is None:
            noindex = evidence
        if "nofollow" in restrictions and nofollow is None:
            nofollow = evidence
        expiries += expiry
    evidence_shown = noindex if noindex is not None else nofollow
    return Directives(noindex is not None, nofollow is not None, evidence_shown, min(expiries, default=None))


def find_canonical(
    document: Document | None,
    link_headers: Sequence[str],
    *,
    url: str,
    resolve: Callable[[str, str, str], str | None],
) -> Canonical:
    """Return the canonical URL on which `<link rel=canonical>` in the head and the `Link:` headers agree.

    `url` is the URL of the page. `resolve` takes a reference, its base and its charset, and returns a URL or `None`.
    """
    canonicals = dict.fromkeys(_canonicals_in_head(document)) if document else {}
    for target, parameters in parse_link_header(link_headers):
        is_canonical = "canonical" in rel_tokens(parameters.get("rel")) and _OTHER_VERSION.isdisjoint(parameters)
        if target and "anchor" not in parameters and is_canonical:
            canonicals[resolve(target, url, "utf-8")] = None
    urls = [canonical for canonical in canonicals if canonical is not None]
    return Canonical(conflicting=tuple(urls[:MAX_CONFLICTING])) if len(urls) > 1 else Canonical(next(iter(urls), None))


def _robots_values(document: Document | None, x_robots_tags: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield each value, its evidence, and whether it comes from a header."""
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


def _parse_robots_value(value: str, *, from_header: bool) -> tuple[set[str], list[datetime]]:
    """Return which of noindex and nofollow a value states, and its times of unavailable_after."""
    restrictions: set[str] = set()
    expiries: list[datetime] = []
    for directive, argument in _split_directives(value, from_header=from_header):
        if directive == "none":
            restrictions |= {"noindex", "nofollow"}
        elif directive in {"noindex", "nofollow"}:
            restrictions.add(directive)
        elif directive == "unavailable_after":
            expiry = parse_date(argument)
            if expiry is not None:
                expiries.append(expiry)
    return restrictions, expiries


def _split_directives(value: str, *, from_header: bool) -> Iterator[tuple[str, str]]:
    """Yield the directives with their arguments.

    In a header, yield only directives for all robots or for a robot of _ROBOTS. A `robot:` prefix names the robot of
    the directives after it.
    """
    is_for_us = True
    parts = value.split(",")
    for index, part in enumerate(parts):
        text = part.strip()
        named = _NAMED.fullmatch(text)
        if from_header and named and named[1].lower() not in _WITH_VALUE:
            is_for_us = named[1].lower() in _ROBOTS_IN_HEADERS
            text = named[2]
            named = _NAMED.fullmatch(text)
        if not is_for_us:
            continue
        if named:
            yield named[1].lower(), _argument(named[2], parts[index + 1 : index + 2])
        else:
            yield from ((name, "") for name in _NAME_SEPARATORS.split(text.lower()))


def _argument(text: str, following: Sequence[str]) -> str:
    """Return the argument. A date that was split after its weekday is rejoined: `Saturday, 25-Jun-30 15:00:00 UTC`."""
    if following and text.strip().isalpha() and following[0].strip()[:1].isdigit():
        return f"{text},{following[0]}"
    return text


def _canonicals_in_head(document: Document) -> Iterator[str | None]:
    candidates = {
        link for rel, link in document.link_elements() if "canonical" in rel and _OTHER_VERSION.isdisjoint(link.keys())
    }
    if not candidates:
        return
    for element in head_elements(document.root):
        if element in candidates:
            href = element.get("href")
            yield document.resolve(href) if href else None
            candidates.remove(element)
            if not candidates:
                return
