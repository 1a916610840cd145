"""The canonical URL that a page declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitemap_crawler.reading.links import parse_link_header, rel_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lxml import etree

    from sitemap_crawler.reading.document import Document

# What may stand in <head>; any other element ends it, and a canonical after that is in the body, where it is ignored:
# https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inhead
_HEAD = frozenset(
    {"base", "basefont", "bgsound", "head", "link", "meta", "noframes", "noscript", "script", "style", "template"}
    | {"title"}
)

# With one of these it names another version of the page, not the canonical one:
# https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls
_OTHER_VERSION = frozenset({"hreflang", "lang", "media", "type"})


@dataclass(frozen=True, slots=True)
class Canonical:
    url: str | None = None  # the page's own URL when it names itself
    conflicting: bool = False  # several different ones: none counts


def find_canonical(
    document: Document | None,
    link_headers: Sequence[str],
    *,
    url: str,
    resolve: Callable[[str, str, str], str | None],
) -> Canonical:
    """Return what `<link rel=canonical>` in the head and `Link:` headers agree on.

    `url` is the page's own URL; `resolve` makes a URL of a reference, its base and its charset, or `None`.
    """
    found = set(_in_page(document)) if document else set()
    for target, parameters in parse_link_header(link_headers):
        if target and "anchor" not in parameters and _is_canonical(parameters.get("rel"), parameters):
            found.add(resolve(target, url, "utf-8"))
    found.discard(None)
    return Canonical(conflicting=True) if len(found) > 1 else Canonical(next(iter(found), None))


def _in_page(document: Document) -> Iterator[str | None]:
    for element in document.all("link"):
        if _is_canonical(element.get("rel"), element.keys()) and _in_head(element) and (href := element.get("href")):
            yield document.resolve(href)


def _is_canonical(rel: str | None, attributes: Iterable[object]) -> bool:
    return "canonical" in rel_tokens(rel) and _OTHER_VERSION.isdisjoint(attributes)


def _in_head(element: etree._Element) -> bool:
    parent = element.getparent()
    # libxml2 leaves a link between </head> and <body> in <html>, and unknown elements in <head>.
    return (
        parent is not None
        and parent.tag in {"head", "html"}
        and all(sibling.tag in _HEAD for sibling in element.itersiblings(preceding=True))
    )
