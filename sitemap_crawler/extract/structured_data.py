"""The structured data of a page, and which of it is about the page itself: JSON-LD, and microdata in the same shape."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from lxml import etree

from sitemap_crawler.exceptions import NestingError
from sitemap_crawler.extract.document import JsonLd
from sitemap_crawler.utils.nesting import read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.extract.document import Document


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Types of https://schema.org in lower case.
PAGE_TYPES = _names(
    """
    aboutpage checkoutpage collectionpage contactpage faqpage imagegallery itempage mediagallery medicalwebpage
    profilepage qapage searchresultspage videogallery webpage
    """
)
"""Types of a page."""
ARTICLE_TYPES = _names(
    """
    advertisercontentarticle analysisnewsarticle apireference article askpublicnewsarticle backgroundnewsarticle
    blogposting creativework dataset discussionforumposting howto liveblogposting medicalscholarlyarticle newsarticle
    opinionnewsarticle recipe report reportagenewsarticle reviewnewsarticle satiricalarticle scholarlyarticle
    socialmediaposting techarticle
    """
)
"""Types of the subject of a page."""
# Properties in lower case.
OTHER_PAGE_PROPERTIES = _names(
    """
    blogpost blogposts citation haspart isbasedon ispartof itemlistelement mentions relatedlink significantlink
    subjectof
    """
)
"""Properties whose values are other pages."""
FOREIGN_PROPERTIES = OTHER_PAGE_PROPERTIES | _names("comment hasoccurrence review reviews workexample")
"""Properties whose values are other pages, or parts of the page that change independently."""

# Bounds on hostile pages; real ones stay far below.
_MAX_SCRIPTS = 200
_MAX_SCRIPT_LENGTH = 3_000_000  # characters
_MAX_TOTAL_LENGTH = 4_000_000  # characters of all scripts; a parsed list of empty objects takes 24 times its size
_MAX_VALUES = 20_000  # objects and lists in one script
_MAX_OBJECTS = 20_000
_MAX_DEPTH = 100
_MAX_NAMES = 20  # types or property names of one object, canonicals of a page
_MAX_ITEMS = 200  # of microdata
_MAX_ITEM_DEPTH = 10
_MAX_STEPS = 50_000  # elements of all items of a page, and tags in their texts
_MAX_TEXT_STEPS = 1_000  # start and end tags in one text
_MAX_TEXT_LENGTH = 10_000  # characters, white space included

# Comment and CDATA marks around a script. They hid it from browsers that are no longer in use.
_OPENINGS = ("<!--//-->", "<![CDATA[//>", "//", "/*", "<!--", "<![CDATA[", "*/")
_CLOSINGS = ("<!]]>", "*/", "-->", "]]>", "//", "/*", ";")
_BLANK = "\ufeff \t\r\n"
_TRAILING_COMMA = re.compile(r",\s*+(?=[}\]])")
_SEPARATOR = re.compile(r"[/:#]")

# https://html.spec.whatwg.org/multipage/microdata.html#values
_VALUE_ATTRIBUTES = {
    "a": "href",
    "area": "href",
    "audio": "src",
    "data": "value",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "meta": "content",
    "meter": "value",
    "object": "data",
    "source": "src",
    "track": "src",
    "video": "src",
}
_FIND_ITEMS = etree.XPath("descendant-or-self::*[@itemscope][@itemtype]")


def json_ld_objects(document: Document) -> tuple[dict[str, Any], ...]:
    """Return every JSON-LD object of the page, at any depth, in document order and outer before inner."""
    return _parse_json_ld(document).objects


def json_ld_roots(document: Document) -> tuple[object, ...]:
    """Return the value of each script, for readers that leave parts of it out."""
    return _parse_json_ld(document).roots


def objects_in(value: object, *, without: frozenset[str] = frozenset()) -> Iterator[dict[str, Any]]:
    """Yield `value` if it is an object, and all objects inside it.

    The values of the properties in `without`, in lower case, are left out.
    """
    pending: list[Iterator[object]] = [iter((value,))]
    budget_left = _MAX_VALUES
    while pending:
        for part in pending[-1]:
            if isinstance(part, dict):
                yield part
                parts = _property_values(part, without)
            elif isinstance(part, list):
                parts = part
            else:
                continue
            budget_left -= 1
            if not budget_left:
                return
            if len(pending) < _MAX_DEPTH:
                pending.append(iter(parts))
                break
        else:
            pending.pop()


def type_names(value: object) -> frozenset[str]:
    """Return the type names of an `@type` in lower case, without their vocabulary.

    The forms are `Article`, `schema:Article` and `["https://schema.org/Article"]`.
    """
    values = value[:_MAX_NAMES] if isinstance(value, list) else [value]
    return frozenset(_SEPARATOR.split(name)[-1].lower() for name in values if isinstance(name, str))


def microdata_items(document: Document, wanted: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Yield the microdata items of one of the wanted types in document order, in the shape of JSON-LD objects.

    References in the items are as written. https://html.spec.whatwg.org/multipage/microdata.html
    """
    if not document.may_have_microdata:
        return
    elements = cast("list[etree._Element]", _FIND_ITEMS(document.root))
    items = (element for element in elements if not wanted.isdisjoint(type_names(_types(element))))
    yield from read_microdata(islice(items, _MAX_ITEMS))


def read_microdata(elements: Iterable[etree._Element]) -> Iterator[dict[str, Any]]:
    """Yield these microdata items in the shape of JSON-LD objects."""
    budget = iter(range(_MAX_STEPS))
    for element in elements:
        yield _read_item(element, budget, _MAX_ITEM_DEPTH)


def own_urls(document: Document) -> set[str]:
    """Return the URL of the page and the canonical URLs that it declares."""
    canonicals = (link for rel, link in document.link_elements() if "canonical" in rel)
    urls = (document.resolve(link.get("href") or "") for link in islice(canonicals, _MAX_NAMES))
    return {document.url, *filter(None, urls)}


def stated_urls(document: Document, data: dict[str, Any]) -> set[str]:
    """Return the URLs of the page that an object names as its own."""
    return {*_resolved_urls(document, data.get("url")), *_resolved_urls(document, data.get("mainEntityOfPage"))}


def ownership_rank(data: dict[str, Any], document: Document, own: set[str]) -> int | None:
    """Return how surely an object describes this page; 0 is the surest.

    - 0: a page or an article that names one of the `own` URLs of the page.
    - 1: a page that names no URL.
    - 2: an article that names no URL.
    - `None`: an object that names only other URLs, or is neither a page nor an article.
    """
    types = type_names(data.get("@type"))
    if types.isdisjoint(PAGE_TYPES) and types.isdisjoint(ARTICLE_TYPES):
        return None
    named = stated_urls(document, data)
    if not own.isdisjoint(named) or not own.isdisjoint(_resolved_urls(document, data.get("@id"))):
        return 0
    if named:
        return None
    return 2 if types.isdisjoint(PAGE_TYPES) else 1


def reference_texts(value: object, *names: str) -> Iterator[str]:
    """Yield the references in a value, as written: texts, or the properties `names` of objects."""
    for part in value[:_MAX_NAMES] if isinstance(value, list) else (value,):
        texts: Iterable[object] = [part.get(name) for name in names] if isinstance(part, dict) else (part,)
        yield from (text for text in texts if isinstance(text, str) and text)


def _parse_json_ld(document: Document) -> JsonLd:
    if document.json_ld is None:
        roots = tuple(_script_values(document))
        document.json_ld = JsonLd(roots, tuple(islice(_all_objects(roots), _MAX_OBJECTS)))
    return document.json_ld


def _all_objects(roots: Iterable[object]) -> Iterator[dict[str, Any]]:
    for root in roots:
        yield from objects_in(root)


def _script_values(document: Document) -> Iterator[object]:
    typed = ((script, script.get("type")) for script in document.all("script"))
    scripts = (script.text for script, kind in typed if kind and "ld+json" in kind.lower())
    budget_left = _MAX_TOTAL_LENGTH
    for text in islice(scripts, _MAX_SCRIPTS):
        if not text or len(text) > min(budget_left, _MAX_SCRIPT_LENGTH):
            continue
        budget_left -= len(text)
        root = _parse_script(text)
        if root is not None:
            yield root


def _parse_script(text: str) -> object:
    """Return the JSON value of a script, or `None`. Comment marks and trailing commas are tolerated."""
    try:
        return read_json(text, strict=False)
    except NestingError:
        return None
    except ValueError:
        pass
    try:
        return read_json(_TRAILING_COMMA.sub("", _without_wrapping(text)), strict=False)
    except ValueError:
        return None


def _without_wrapping(text: str) -> str:
    text = text.strip(_BLANK)
    for opening in _OPENINGS:
        text = text.removeprefix(opening).lstrip(_BLANK)
    for closing in _CLOSINGS:
        text = text.removesuffix(closing).rstrip(_BLANK)
    return text


def _property_values(data: dict[str, Any], without: frozenset[str]) -> Iterable[object]:
    return [part for name, part in data.items() if name.lower() not in without] if without else data.values()


def _types(element: etree._Element) -> list[str]:
    return (element.get("itemtype") or "").split()


def _read_item(element: etree._Element, budget: Iterator[int], depth: int) -> dict[str, Any]:
    types = _types(element)
    item: dict[str, Any] = {"@type": types[0] if len(types) == 1 else types} if types else {}
    for part in _property_elements(element, budget):
        if part.get("itemscope") is None:
            value: object = _read_value(part, budget)
        elif depth > 1:
            value = _read_item(part, budget, depth - 1)
        else:
            continue
        for name in (part.get("itemprop") or "").split()[:_MAX_NAMES]:
            if not name.startswith("@"):
                _add_value(item, name, value)
    return item


def _property_elements(item: etree._Element, budget: Iterator[int]) -> Iterator[etree._Element]:
    """Yield the property elements of this item, without those of nested items."""
    pending = [iter(item)]
    while pending:
        for element in pending[-1]:
            if next(budget, None) is None:
                return
            if element.get("itemprop"):
                yield element
            if element.get("itemscope") is None:
                pending.append(iter(element))
                break
        else:
            pending.pop()


def _add_value(item: dict[str, Any], name: str, value: object) -> None:
    """Add a value to a property. Several values of one property become a list."""
    if name not in item:
        item[name] = value
    elif isinstance(item[name], list):
        item[name].append(value)
    else:
        item[name] = [item[name], value]


def _read_value(element: etree._Element, budget: Iterator[int]) -> str:
    attribute = _VALUE_ATTRIBUTES.get(element.tag)
    if attribute is not None:
        return (element.get(attribute) or "").strip()[:_MAX_TEXT_LENGTH]
    # By the standard only <meta> has `content`. Other elements often have it too, and search engines read it.
    stated = element.get("datetime") if element.tag == "time" else None
    stated = element.get("content") if stated is None else stated
    return _read_text(element, budget) if stated is None else stated.strip()[:_MAX_TEXT_LENGTH]


def _read_text(element: etree._Element, budget: Iterator[int]) -> str:
    pieces = []
    walk = islice(etree.iterwalk(element, events=("start", "end")), _MAX_TEXT_STEPS)
    for (event, part), _ in zip(walk, budget, strict=False):
        piece = part.text if event == "start" else part.tail if part is not element else None
        if piece:
            pieces.append(piece[:_MAX_TEXT_LENGTH])
    return "".join(pieces)[:_MAX_TEXT_LENGTH].strip()


def _resolved_urls(document: Document, value: object) -> Iterator[str]:
    yield from filter(None, map(document.resolve, reference_texts(value, "@id", "url")))
