"""The addresses that a page leads to: its elements and its `Link:` headers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.document import rel_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lxml import etree

    from sitemap_crawler.extract.document import Document

MAX_HEADER_LENGTH = 65_536  # characters of all Link: headers of one response
MAX_HEADER_LINKS = 1_000

_SEPARATORS = re.compile(r"[\s,]+")
_HEADER_TARGET = re.compile(r"<([^<>]*+)>")
_HEADER_PARAMETER = re.compile(
    r""";\s*+([^\s=;,"<>]*+)\s*+(?:=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^;,]*+)))?+\s*+""", re.DOTALL
)
_LEADING_ON = frozenset({"next", "prev"})
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)


class Links(NamedTuple):
    """Absolute URLs without duplicates; the page itself is in neither."""

    follow: tuple[str, ...]
    nofollow: tuple[str, ...]  # those that no followed link names too


def find_links(document: Document, link_headers: Sequence[str]) -> Links:
    """Return where the page leads, in document order of each kind of element: `a`, `area`, `link`, frames, headers.

    The canonical and the target of a refresh are no links: `find_canonical` and `refresh_target` return them.
    """
    follow: dict[str, None] = {}
    nofollow: dict[str, None] = {}
    resolve, base, charset = document.resolver.resolve, document.base, document.charset
    for reference, followed in _references(document).items():
        url = resolve(reference, base, charset)
        if url is not None:
            (follow if followed else nofollow)[url] = None
    for target in _header_targets(link_headers):
        # The context of a header is the response, whatever <base> says: RFC 8288, section 3.2.
        url = resolve(target, document.url, "utf-8")
        if url is not None:
            follow[url] = None
    follow.pop(document.url, None)
    nofollow.pop(document.url, None)
    return Links(tuple(follow), tuple(url for url in nofollow if url not in follow))


def parse_link_header(values: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """Return the targets, as written, with their parameters (names in lower case, the first of a name counts).

    Follows RFC 8288, section 3; what is malformed is skipped, or read as far as it goes.
    """
    links: list[tuple[str, dict[str, str]]] = []
    budget = MAX_HEADER_LENGTH
    for value in values:
        for link in _scan(value[:budget]):
            if len(links) == MAX_HEADER_LINKS:
                return links
            links.append(link)
        budget -= min(budget, len(value))
    return links


def _references(document: Document) -> dict[str, bool]:
    """Map each distinct reference, without its fragment, to whether some link follows it."""
    references: dict[str, bool] = {}
    areas = document.all("area")
    elements, hrefs = document.all("a"), document.anchor_hrefs()
    if areas:
        elements, hrefs = elements + areas, hrefs + [area.get("href") for area in areas]
    for element, href in zip(elements, hrefs, strict=True):
        if href is None:
            continue
        cut = href.find("#")
        if cut == 0 or (cut > 0 and href[cut - 1] > " "):  # white space before the # belongs to the path
            href = href[:cut]
        if not references.get(href):
            rel = element.get("rel")
            references[href] = rel is None or not _is_nofollow(rel)
    for reference in _other_references(document):
        references[reference] = True
    if document.base == document.url:
        references.pop("", None)
    return references


def _is_nofollow(rel: str) -> bool:
    # Google separates the values by commas too:
    # https://developers.google.com/search/docs/crawling-indexing/qualify-outbound-links
    return "nofollow" in _SEPARATORS.split(rel.lower())


def _other_references(document: Document) -> Iterator[str]:
    for rel, element in document.link_elements():
        if _leads_on(rel, element) and (href := element.get("href")):
            yield href
    for element in document.all("iframe") + document.all("frame"):
        if source := element.get("src"):
            yield source


def _header_targets(link_headers: Sequence[str]) -> Iterator[str]:
    for target, parameters in parse_link_header(link_headers):
        if "anchor" not in parameters and _leads_on(rel_tokens(parameters.get("rel")), parameters):
            yield target


def _leads_on(rel: frozenset[str], attributes: Mapping[str, str] | etree._Element) -> bool:
    return not rel.isdisjoint(_LEADING_ON) or ("alternate" in rel and bool((attributes.get("hreflang") or "").strip()))


def _scan(value: str) -> Iterator[tuple[str, dict[str, str]]]:
    position = 0
    while target := _HEADER_TARGET.search(value, position):
        position = target.end()
        while value[position : position + 1].isspace():
            position += 1
        parameters: dict[str, str] = {}
        while parameter := _HEADER_PARAMETER.match(value, position):
            position = parameter.end()
            name, quoted, token = parameter.groups()
            text = _QUOTED_PAIR.sub(r"\1", quoted) if quoted is not None else (token or "").strip().strip('"')
            parameters.setdefault(name.lower(), text)
        yield target[1].strip(), parameters
