"""The canonical URL that a page declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.document import head_elements, rel_tokens
from sitemap_crawler.extract.links import parse_link_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sitemap_crawler.extract.document import Document

# With one of these it names another version of the page, not the canonical one:
# https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls
_OTHER_VERSION = frozenset({"hreflang", "lang", "media", "type"})

MAX_CONFLICTING = 3


class Canonical(NamedTuple):
    url: str | None = None  # the page's own URL when it names itself
    conflicting: tuple[str, ...] = ()  # some of several different ones: none counts


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
    found = dict.fromkeys(_in_page(document)) if document else {}
    for target, parameters in parse_link_header(link_headers):
        is_canonical = "canonical" in rel_tokens(parameters.get("rel")) and _OTHER_VERSION.isdisjoint(parameters)
        if target and "anchor" not in parameters and is_canonical:
            found[resolve(target, url, "utf-8")] = None
    urls = [target for target in found if target is not None]
    return Canonical(conflicting=tuple(urls[:MAX_CONFLICTING])) if len(urls) > 1 else Canonical(next(iter(urls), None))


def _in_page(document: Document) -> Iterator[str | None]:
    canonicals = {
        link for rel, link in document.link_elements() if "canonical" in rel and _OTHER_VERSION.isdisjoint(link.keys())
    }
    if not canonicals:
        return
    for element in head_elements(document.root):
        if element in canonicals:
            href = element.get("href")
            yield document.resolve(href) if href else None
            canonicals.remove(element)
            if not canonicals:
                return
