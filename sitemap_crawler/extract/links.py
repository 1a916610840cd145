"""The URLs that a page leads to: followed links, the target of a refresh, and the resources to render the page."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.document import rel_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lxml import etree

    from sitemap_crawler.extract.document import Document

MAX_MEAN_LENGTH = 320
"""Maximum number of characters of all links of one page, divided by `max_links`. A long <base> makes each short link
long: 50,000 links of 8,192 characters would take 400 MB."""
MIN_LINKS_LENGTH = 1_000_000
"""Number of characters of links that are kept of one page whatever `max_links` is."""
MAX_LINK_HEADERS_LENGTH = 65_536
"""Maximum number of characters read of all `Link:` headers of one response."""
MAX_HEADER_LINKS = 1_000
"""Maximum number of links read from the headers of one response."""
MAX_REFRESHES = 20
"""Maximum number of refresh tags read on one page."""
MAX_REDIRECT_SECONDS = 60
"""Number of seconds from which on a refresh is no redirect: visitors read the page, which loads anew after a while.

The front pages of newspapers and trackers lead to themselves so, under a parameter.
"""
MAX_REFRESH_HEADER_LENGTH = 16_384
"""Maximum number of characters read of a `Refresh:` header."""
MAX_RESOURCES = 200
"""Maximum number of scripts and style sheets read on one page."""

_SEPARATORS = re.compile(r"[\s,]+")
_HEADER_TARGET = re.compile(r"<([^<>]*+)>")
_HEADER_PARAMETER = re.compile(
    r""";\s*+([^\s=;,"<>]*+)\s*+(?:=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^;,]*+)))?+\s*+""", re.DOTALL
)
_LINK_RELATIONS = frozenset({"next", "prev"})
"""Values of `rel` with which a `link` element or `Link:` header leads to a page. So does `alternate` with hreflang."""
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)

# https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
_REFRESH = re.compile(r"[ \t\n\f\r]*+([0-9]++|(?=\.))[0-9.]*+(?:(?=[ \t\n\f\r;,])(.*)|\Z)", re.DOTALL)
_REFRESH_SEPARATOR = re.compile(r"\A[ \t\n\f\r]*+[;,]?+[ \t\n\f\r]*+")
_REFRESH_URL = re.compile(r"url[ \t\n\f\r]*+=[ \t\n\f\r]*+", re.IGNORECASE)


class Links(NamedTuple):
    """Absolute URLs without duplicates. Neither tuple holds the URL of the page itself."""

    follow: tuple[str, ...]
    nofollow: tuple[str, ...]
    """URLs that only `nofollow` links name."""
    is_cut: bool = False
    """Whether the page has more links, which were left out."""


class Refresh(NamedTuple):
    """Another URL that a browser loads in the place of a page after some time."""

    url: str
    is_redirect: bool
    """Whether that takes less than a minute: the page is then a redirect."""


def find_links(document: Document, link_headers: Sequence[str], *, max_links: int) -> Links:
    """Return the links of the page: of `a`, `area`, `link`, frames and headers, each kind in document order.

    At most the first `max_links` URLs are returned, and fewer if they are long. The canonical and the target of a
    refresh are not links: `find_canonical` and `find_refresh` return them.
    """
    # Whether each URL is followed. The page itself comes first, so that it does not count as one of the links.
    links = {document.url: True}
    room = max(MIN_LINKS_LENGTH, max_links * MAX_MEAN_LENGTH)
    resolve, base, charset = document.resolver.resolve, document.base, document.charset
    for reference, is_followed in _link_references(document).items():
        url = resolve(reference, base, charset)
        if url is not None and (is_followed or url not in links):
            links[url] = is_followed
            room -= len(url)
            if len(links) > max_links + 1 or room < 0:
                break
    for target in _header_targets(link_headers):
        # A reference in a header is relative to the URL of the response, not to <base>: RFC 8288, section 3.2.
        url = resolve(target, document.url, "utf-8")
        if url is not None:
            links[url] = True
    del links[document.url]
    is_cut = len(links) > max_links or room < 0
    if len(links) > max_links:
        links = dict(islice(links.items(), max_links))
    follow = tuple([url for url, is_followed in links.items() if is_followed])
    if len(follow) == len(links):
        return Links(follow, (), is_cut)
    return Links(follow, tuple([url for url, is_followed in links.items() if not is_followed]), is_cut)


def parse_link_header(values: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """Return the targets, as written, with their parameters by lower-case name. The first parameter of a name counts.

    The syntax is that of RFC 8288, section 3. Malformed links are skipped, or read up to the error.
    """
    links: list[tuple[str, dict[str, str]]] = []
    budget = MAX_LINK_HEADERS_LENGTH
    for value in values:
        for link in _parse_header_value(value[:budget]):
            if len(links) == MAX_HEADER_LINKS:
                return links
            links.append(link)
        budget -= min(budget, len(value))
    return links


def find_refresh(document: Document) -> Refresh | None:
    """Return the first valid `<meta http-equiv=refresh>`; `None` if that loads the page itself."""
    refreshes = (element for element in document.all("meta") if _is_refresh(element))
    for element in islice(refreshes, MAX_REFRESHES):
        if _is_in_noscript_or_template(element):
            continue
        refresh = _read_refresh(element.get("content", ""))
        if refresh is None:
            continue
        if not refresh.url:
            return None  # The refresh loads the page itself, so a later refresh has no effect.
        target = document.resolve(refresh.url)
        if target is not None:
            return refresh._replace(url=target) if target != document.url else None
    return None


def find_header_refresh(
    values: Sequence[str], *, url: str, resolve: Callable[[str, str], str | None]
) -> Refresh | None:
    """Return the `Refresh:` header; `None` if that loads `url` itself.

    Browsers obey the header like the tag.
    """
    refresh = _read_refresh(values[0][:MAX_REFRESH_HEADER_LENGTH]) if values else None
    target = resolve(refresh.url, url) if refresh is not None and refresh.url else None
    return refresh._replace(url=target) if refresh is not None and target is not None and target != url else None


def find_resources(document: Document) -> Iterator[str]:
    """Yield the absolute URLs of scripts and style sheets, as often as the page names them.

    Browsers and search engines need them to render the page.
    """
    references = (reference for reference in _resource_references(document) if reference)
    for reference in islice(references, MAX_RESOURCES):
        url = document.resolve(reference)
        if url is not None:
            yield url


def _link_references(document: Document) -> dict[str, bool]:
    """Map each distinct reference, without its fragment, to whether at least one link with it is followed."""
    references: dict[str, bool] = {}
    areas = document.all("area")
    elements, hrefs = document.all("a"), document.anchor_hrefs()
    if areas:
        elements, hrefs = elements + areas, hrefs + [area.get("href") for area in areas]
    for element, href in zip(elements, hrefs, strict=True):
        if href is None:
            continue
        cut = href.find("#")
        if cut == 0 or (cut > 0 and href[cut - 1] > " "):  # White space before the # belongs to the path.
            href = href[:cut]
        if not references.get(href):
            rel = element.get("rel")
            references[href] = rel is None or not _is_nofollow(rel)
    for reference in _link_and_frame_references(document):
        references[reference] = True
    if document.base == document.url:
        references.pop("", None)
    return references


def _is_nofollow(rel: str) -> bool:
    # Google also separates the values by commas:
    # https://developers.google.com/search/docs/crawling-indexing/qualify-outbound-links
    return "nofollow" in _SEPARATORS.split(rel.lower())


def _link_and_frame_references(document: Document) -> Iterator[str]:
    for rel, element in document.link_elements():
        if _leads_to_page(rel, element) and (href := element.get("href")):
            yield href
    for element in document.all("iframe") + document.all("frame"):
        if source := element.get("src"):
            yield source


def _header_targets(link_headers: Sequence[str]) -> Iterator[str]:
    for target, parameters in parse_link_header(link_headers):
        if "anchor" not in parameters and _leads_to_page(rel_tokens(parameters.get("rel")), parameters):
            yield target


def _leads_to_page(rel: frozenset[str], attributes: Mapping[str, str] | etree._Element) -> bool:
    return not rel.isdisjoint(_LINK_RELATIONS) or (
        "alternate" in rel and bool((attributes.get("hreflang") or "").strip())
    )


def _parse_header_value(value: str) -> Iterator[tuple[str, dict[str, str]]]:
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


def _is_refresh(element: etree._Element) -> bool:
    return element.get("http-equiv", "").strip().lower() == "refresh"


def _is_in_noscript_or_template(element: etree._Element) -> bool:
    return next(element.iterancestors("noscript", "template"), None) is not None


def _read_refresh(content: str) -> Refresh | None:
    """Return a refresh with the reference as written, "" for the page itself; `None` for an invalid value."""
    valid = _REFRESH.match(content)
    if valid is None:
        return None
    seconds = valid[1].lstrip("0")
    is_redirect = len(seconds) <= len(str(MAX_REDIRECT_SECONDS)) and int(seconds or "0") < MAX_REDIRECT_SECONDS
    rest = valid[2] or ""
    rest = _REFRESH_SEPARATOR.sub("", rest, count=1)
    if prefix := _REFRESH_URL.match(rest):
        rest = rest[prefix.end() :]
    if rest.startswith(("'", '"')):
        rest = rest[1:].partition(rest[0])[0]
    return Refresh(rest.strip(), is_redirect)


def _resource_references(document: Document) -> Iterator[str | None]:
    for element in document.all("script"):
        yield element.get("src")
    for rel, element in document.link_elements():
        if "stylesheet" in rel:
            yield element.get("href")
