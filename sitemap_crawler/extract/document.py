"""One page, parsed once: the tree, and the few elements that the other readers look at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lxml import etree

from sitemap_crawler.extract.allocator import tune_for_trees
from sitemap_crawler.extract.charset import UTF_8, decide_charset, to_utf8
from sitemap_crawler.extract.outline import outline
from sitemap_crawler.extract.parser import without_attribute_flood
from sitemap_crawler.extract.relations import rel_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

# All types of microdata that search engines know are there. Their attributes are written in any case, the host is not,
# and one search costs a sixtieth of the parse.
_VOCABULARY = b"schema.org/"

_END_TAG_BEGINS = re.compile(rb"</(?:html|HTML|Html)")  # half the time of three searches
_END_TAG = re.compile(rb"</html(?:\s[^>]*+)?>", re.IGNORECASE)

# libxml2 ends the document at this depth, whatever its options say.
_DEPTH_LIMIT = 2_048


class ResolverProtocol(Protocol):
    """What makes an absolute, normalised http(s) URL of a reference, or `None`."""

    def resolve(self, href: str, base: str, charset: str) -> str | None: ...


class JsonLd(NamedTuple):
    roots: tuple[object, ...]
    """One value for each script that could be read."""
    objects: tuple[dict[str, Any], ...]


@dataclass(slots=True)
class Document:
    """A parsed page. Its elements live as long as it does, so nothing may keep a document beyond its response."""

    root: etree._Element
    url: str  # the page's own URL, normalised
    base: str  # what relative references resolve against
    charset: str  # the Python codec that the page was decoded with
    elements: dict[str, list[etree._Element]]  # by tag, in document order; only the tags in COLLECTED
    blocks: list[etree._Element]  # in document order; only the tags in BLOCKS
    resolver: ResolverProtocol
    deep: bool  # nested too deeply, or a tag of too many attributes: what follows that place, links too, is lost
    has_items: bool  # there may be microdata
    json_ld: JsonLd | None = None  # once it was asked for
    _hrefs: list[str | None] | None = None
    _links: list[tuple[frozenset[str], etree._Element]] | None = None

    def resolve(self, href: str) -> str | None:
        return self.resolver.resolve(href, self.base, self.charset)

    def all(self, tag: str) -> list[etree._Element]:
        return self.elements.get(tag, [])

    def hrefs(self) -> list[str | None]:
        """Of all `<a>`, as they are written."""
        if self._hrefs is None:
            self._hrefs = [element.get("href") for element in self.all("a")]
        return self._hrefs

    def links(self) -> list[tuple[frozenset[str], etree._Element]]:
        """All `<link>`, each after the words of its `rel`."""
        if self._links is None:
            self._links = [(rel_tokens(element.get("rel")), element) for element in self.all("link")]
        return self._links


def parse_document(body: bytes, *, url: str, content_type: str, resolver: ResolverProtocol) -> Document | None:
    """Return the parsed page, or `None` when the body has nothing to parse."""
    charset = decide_charset(body, content_type)
    markup = _without_early_end(to_utf8(body, charset))
    bounded = without_attribute_flood(markup)
    root = _parse(bounded)
    if root is None:
        return None
    elements, blocks = outline(root)
    base = _base(elements.get("base", ()), url=url, charset=charset, resolver=resolver)
    return Document(
        root=root,
        url=url,
        base=base,
        charset=charset,
        elements=elements,
        blocks=blocks,
        resolver=resolver,
        deep=len(bounded) < len(markup) or _reaches_depth_limit(root),
        has_items=_VOCABULARY in bounded,
    )


def _without_early_end(markup: bytes) -> bytes:
    """libxml2 ends the document at `</html>`; by the standard what follows belongs to the body, and gets there so.

    https://html.spec.whatwg.org/multipage/parsing.html#the-after-after-body-insertion-mode
    """
    begin = _END_TAG_BEGINS.search(markup)
    if begin is not None and markup.find(b"<", begin.end()) >= 0:
        return _END_TAG.sub(b"", markup)
    return markup


tune_for_trees()

# Without huge_tree, everything nested more than 255 deep is lost.
_PARSER = etree.HTMLParser(encoding=UTF_8, huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False)


def _parse(body: bytes) -> etree._Element | None:
    try:
        return etree.fromstring(body, _PARSER)
    except etree.LxmlError:
        return None


def _base(bases: Iterable[etree._Element], *, url: str, charset: str, resolver: ResolverProtocol) -> str:
    resolved = (resolver.resolve(base.get("href", ""), url, charset) for base in bases if base.get("href"))
    return next((base for base in resolved if base), url)


def _reaches_depth_limit(root: etree._Element) -> bool:
    """A document that was cut off at the limit ends in the element that was the last straw."""
    depth, element = 1, root
    while len(element):
        depth, element = depth + 1, element[-1]
    return depth >= _DEPTH_LIMIT
