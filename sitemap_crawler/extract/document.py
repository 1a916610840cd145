"""One parsed page: its tree, and the elements that several readers use, collected in one walk."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sitemap_crawler.extract.parser import (
    MAX_REFERENCES,
    decide_charset,
    parse_tree,
    reaches_depth_limit,
    to_utf8,
    without_attribute_flood,
    without_early_end,
    without_tag_flood,
    without_xhtml_prefixes,
)
from sitemap_crawler.urls.normalise import MAX_STORED_URL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lxml import etree

# Elements with links, media or statements about the page.
COLLECTED_TAGS = (
    "a",
    "area",
    "base",
    "embed",
    "frame",
    "h1",
    "html",
    "iframe",
    "img",
    "link",
    "main",
    "meta",
    "picture",
    "script",
    "source",
    "template",
    "time",
    "title",
    "video",
)

# Elements that separate the main content from the rest. Tags that a page has by the hundred (p, li, span, td) would
# cost more time than they add information.
BLOCK_TAGS = (
    "article",
    "aside",
    "body",
    "dialog",
    "div",
    "footer",
    "form",
    "header",
    "main",
    "nav",
    "noscript",
    "ol",
    "script",
    "section",
    "style",
    "table",
    "template",
    "textarea",
    "ul",
)

_WALKED = tuple(dict.fromkeys((*COLLECTED_TAGS, *BLOCK_TAGS)))
_COLLECTED = frozenset(COLLECTED_TAGS)
_BLOCKS = frozenset(BLOCK_TAGS)

# All microdata types that search engines know stand below this host. Microdata attributes are written in any case, the
# host is not, and one search for it costs a sixtieth of the parse.
_VOCABULARY = b"schema.org/"

# Nearly all programs write these attributes in lower case. These searches cost a third of a walk.
_DATETIME = b"datetime="
_DATED_TITLE = re.compile(
    rb"title=[\"']?[^\"'<>0-9]{0,30}+(?:[0-9]{1,4}+[^\"'<>0-9]{1,12}+){0,2}"
    rb"(?:(?:19|20)[0-9]{2}|[0-9]{2},?[ T][0-9]{1,2}:[0-9]{2})"
)

# The elements that HTML allows in <head>. Any other element ends <head>, and what follows belongs to the body:
# https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inhead
_HEAD_TAGS = frozenset(
    {"base", "basefont", "bgsound", "link", "meta", "noframes", "noscript", "script", "style", "template", "title"}
)

# Characters. The cache must not keep long texts of hostile pages.
_MAX_CACHED_REL = 100


class ResolverProtocol(Protocol):
    """Resolver of references to absolute, normalised http(s) URLs; `None` for an unusable reference."""

    def resolve(self, href: str, base: str, charset: str) -> str | None: ...


class JsonLd(NamedTuple):
    """The parsed JSON-LD of one page."""

    roots: tuple[object, ...]
    """One value for each readable script."""
    objects: tuple[dict[str, Any], ...]
    """Every object in the roots, at any depth."""


@dataclass(slots=True)
class Document:
    """A parsed page. Its elements keep the whole tree in memory, so nothing may hold a document after its response."""

    root: etree._Element
    url: str
    """The normalised URL of the page."""
    base: str
    """The URL against which relative references resolve. A longer one than a run stores is shortened, because each
    relative reference is as long."""
    charset: str
    """The Python codec that decoded the page."""
    elements: dict[str, list[etree._Element]]
    """Elements with a tag in COLLECTED_TAGS, by tag, in document order."""
    blocks: list[etree._Element]
    """Elements with a tag in BLOCK_TAGS, in document order."""
    resolver: ResolverProtocol
    is_cut_off: bool
    """Whether the parse ended early, at a too deep element, after too many tags or at a tag with too many attributes.
    The rest of the page is lost, with its links."""
    may_have_microdata: bool
    may_have_dated_texts: bool
    """Whether an attribute `datetime`, or a `title` with a year, may say which date a text is."""
    json_ld: JsonLd | None = None
    """The JSON-LD of the page; `None` until `structured_data` has parsed it."""
    _hrefs: list[str | None] | None = None
    _link_elements: list[tuple[frozenset[str], etree._Element]] | None = None

    def resolve(self, href: str) -> str | None:
        """Return the absolute, normalised URL of a reference, or `None`."""
        return self.resolver.resolve(href, self.base, self.charset)

    def all(self, tag: str) -> list[etree._Element]:
        """Return the elements with a tag of COLLECTED_TAGS, in document order."""
        return self.elements.get(tag, [])

    def anchor_hrefs(self) -> list[str | None]:
        """Return the `href` of each `<a>`, as written."""
        if self._hrefs is None:
            self._hrefs = [element.get("href") for element in self.all("a")]
        return self._hrefs

    def link_elements(self) -> list[tuple[frozenset[str], etree._Element]]:
        """Return all `<link>` elements, each with the tokens of its `rel`."""
        if self._link_elements is None:
            self._link_elements = [(rel_tokens(element.get("rel")), element) for element in self.all("link")]
        return self._link_elements


def parse_document(
    body: bytes, *, url: str, content_type: str, resolver: ResolverProtocol, max_references: int = MAX_REFERENCES
) -> Document | None:
    """Return the parsed page, or `None` for a body without any element.

    The page is read up to the tag number `max_references` that may refer to a URL.
    """
    charset = decide_charset(body, content_type)
    markup = without_early_end(without_xhtml_prefixes(to_utf8(body, charset), content_type))
    bounded = without_tag_flood(without_attribute_flood(markup), max_references=max_references)
    root = parse_tree(bounded)
    if root is None:
        return None
    elements, blocks = collect_elements(root)
    base = _base_url(elements.get("base", ()), url=url, charset=charset, resolver=resolver)
    return Document(
        root=root,
        url=url,
        base=base,
        charset=charset,
        elements=elements,
        blocks=blocks,
        resolver=resolver,
        is_cut_off=len(bounded) < len(markup) or reaches_depth_limit(root),
        may_have_microdata=_VOCABULARY in bounded,
        may_have_dated_texts=_DATETIME in bounded or _DATED_TITLE.search(bounded) is not None,
    )


def collect_elements(root: etree._Element) -> tuple[dict[str, list[etree._Element]], list[etree._Element]]:
    """Return the elements of COLLECTED_TAGS by tag, and the elements of BLOCK_TAGS, both in document order.

    One walk serves all readers: each walk over a page costs up to a tenth of its parse.
    """
    elements: dict[str, list[etree._Element]] = {}
    blocks: list[etree._Element] = []
    for element in root.iter(*_WALKED):
        tag = element.tag
        if tag in elements:
            elements[tag].append(element)
        elif tag in _COLLECTED:
            elements[tag] = [element]
        if tag in _BLOCKS:
            blocks.append(element)
    return elements, blocks


def slice_within(root: etree._Element, elements: Sequence[etree._Element], first: etree._Element) -> slice:
    """Return the slice of `elements` from the `first` one to the last one inside `root`.

    `elements` are all elements of some kind, in document order.
    """
    start = next(index for index, element in enumerate(elements) if element is first)
    if root in elements[-1].iterancestors():
        return slice(start, None)
    return slice(start, bisect_left(elements, True, start + 1, key=lambda one: root not in one.iterancestors()))


def head_elements(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements that an HTML5 parser would put into `<head>`.

    libxml2 also leaves unknown elements in `<head>`, and leaves elements between `</head>` and `<body>` in `<html>`.
    """
    for child in root:
        for element in child if child.tag == "head" else (child,):
            if element.tag not in _HEAD_TAGS:
                return
            yield element


def rel_tokens(rel: str | None) -> frozenset[str]:
    """Return the tokens of a `rel` attribute or parameter in lower case."""
    if not rel:
        return frozenset()
    return _cached_tokens(rel) if len(rel) <= _MAX_CACHED_REL else _tokens(rel)


def _tokens(rel: str) -> frozenset[str]:
    return frozenset(rel.lower().split())


_cached_tokens = lru_cache(maxsize=1_024)(_tokens)


def _base_url(bases: Iterable[etree._Element], *, url: str, charset: str, resolver: ResolverProtocol) -> str:
    resolved = (resolver.resolve(base.get("href", ""), url, charset) for base in bases if base.get("href"))
    base = next((base for base in resolved if base), url)
    # Behind the slash a relative reference is still too long to be stored, as it is with the whole base.
    return base if len(base) <= MAX_STORED_URL else f"{base[:MAX_STORED_URL]}/"
