"""What of a page's structured data is about the page itself, and not about others that it tells of."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from sitemap_crawler.extract.structured_data import kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.extract.document import Document


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of https://schema.org that stand for a page or for what it is about.
PAGES = _words(
    """
    aboutpage checkoutpage collectionpage contactpage faqpage imagegallery itempage mediagallery medicalwebpage
    profilepage qapage searchresultspage videogallery webpage
    """
)
ARTICLES = _words(
    """
    advertisercontentarticle analysisnewsarticle apireference article askpublicnewsarticle backgroundnewsarticle
    blogposting creativework dataset discussionforumposting howto liveblogposting medicalscholarlyarticle newsarticle
    opinionnewsarticle recipe report reportagenewsarticle reviewnewsarticle satiricalarticle scholarlyarticle
    socialmediaposting techarticle
    """
)
# Properties whose values are other pages; in lower case.
OTHER_PAGES = _words(
    """
    blogpost blogposts citation haspart isbasedon ispartof itemlistelement mentions relatedlink significantlink
    subjectof
    """
)
# These, and the properties whose values are parts that change by themselves.
OTHERS = OTHER_PAGES | _words("comment hasoccurrence review reviews workexample")

_MAX_NAMES = 20  # a bound on hostile pages; real ones stay far below


def own_urls(document: Document) -> set[str]:
    """Return the URL of the page, and what it calls its canonical ones."""
    canonicals = (link for rel, link in document.link_elements() if "canonical" in rel)
    urls = (document.resolve(link.get("href") or "") for link in islice(canonicals, _MAX_NAMES))
    return {document.url, *filter(None, urls)}


def stated_urls(document: Document, found: dict[str, Any]) -> set[str]:
    """Return the URLs of the page that an object says it is, or is on."""
    return {*_urls(document, found.get("url")), *_urls(document, found.get("mainEntityOfPage"))}


def rank(found: dict[str, Any], document: Document, own: set[str]) -> int | None:
    """Return 0 for a page or an article that names one of the page's `own` URLs, 1 for a page and 2 for an article
    that names none; `None` for what names another, or is neither."""
    types = kinds(found.get("@type"))
    if types.isdisjoint(PAGES) and types.isdisjoint(ARTICLES):
        return None
    named = stated_urls(document, found)
    if not own.isdisjoint(named) or not own.isdisjoint(_urls(document, found.get("@id"))):
        return 0
    if named:
        return None
    return 2 if types.isdisjoint(PAGES) else 1


def references(value: object, *names: str) -> Iterator[str]:
    """Yield the texts of a reference as it is written, or as one of these properties of an object."""
    for part in value[:_MAX_NAMES] if isinstance(value, list) else (value,):
        texts: Iterable[object] = [part.get(name) for name in names] if isinstance(part, dict) else (part,)
        yield from (text for text in texts if isinstance(text, str) and text)


def _urls(document: Document, value: object) -> Iterator[str]:
    yield from filter(None, map(document.resolve, references(value, "@id", "url")))
