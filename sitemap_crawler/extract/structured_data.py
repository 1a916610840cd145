"""What a page says for machines: JSON-LD, parsed once, and microdata in the same shape."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from lxml import etree

from sitemap_crawler.extract.document import JsonLd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.extract.document import Document


# Bounds on hostile pages; real ones stay far below.
_MAX_SCRIPTS = 200
_MAX_SCRIPT = 3_000_000  # characters
_MAX_SCRIPTS_TOGETHER = 4_000_000  # characters; a list of empty objects takes 24 times its size when parsed
_MAX_VALUES = 20_000  # objects and lists of one script
_MAX_OBJECTS = 20_000
_MAX_DEPTH = 100
_MAX_NAMES = 20
_MAX_ITEMS = 200
_MAX_ITEM_DEPTH = 10
_MAX_STEPS = 50_000  # elements of all items of a page, and tags of the texts in them
_MAX_TEXT_STEPS = 1_000  # tags of one text
_MAX_TEXT = 10_000  # characters, white space included

# What surrounds a script for the sake of browsers that nobody has any more.
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
_ITEMS = etree.XPath("descendant-or-self::*[@itemscope][@itemtype]")


def json_ld(document: Document) -> tuple[dict[str, Any], ...]:
    """Return every object in the page's scripts, whatever it is in, in document order and outer before inner."""
    return _read(document).objects


def json_ld_roots(document: Document) -> tuple[object, ...]:
    """Return what each script holds, for readers that must not look into everything."""
    return _read(document).roots


def objects_in(value: object, *, without: frozenset[str] = frozenset()) -> Iterator[dict[str, Any]]:
    """Yield the objects in `value` and `value` itself, except what hangs below one of the (lower-case) properties."""
    pending: list[Iterator[object]] = [iter((value,))]
    left = _MAX_VALUES
    while pending:
        for part in pending[-1]:
            if isinstance(part, dict):
                yield part
                parts = _values(part, without)
            elif isinstance(part, list):
                parts = part
            else:
                continue
            left -= 1
            if not left:
                return
            if len(pending) < _MAX_DEPTH:
                pending.append(iter(parts))
                break
        else:
            pending.pop()


def kinds(value: object) -> frozenset[str]:
    """Return the words of an `@type`, `Article`, `schema:Article` or `["https://schema.org/Article"]`, lower-case."""
    values = value[:_MAX_NAMES] if isinstance(value, list) else [value]
    return frozenset(_SEPARATOR.split(kind)[-1].lower() for kind in values if isinstance(kind, str))


def microdata(document: Document, wanted: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Yield the items of one of the wanted kinds in document order, in the shape in which JSON-LD has them.

    References in them are as written. https://html.spec.whatwg.org/multipage/microdata.html
    """
    if not document.may_have_microdata:
        return
    elements = cast("list[etree._Element]", _ITEMS(document.root))
    items = (element for element in elements if not wanted.isdisjoint(kinds(_types(element))))
    budget = iter(range(_MAX_STEPS))
    for element in islice(items, _MAX_ITEMS):
        yield _item(element, budget, _MAX_ITEM_DEPTH)


def _read(document: Document) -> JsonLd:
    if document.json_ld is None:
        roots = tuple(_roots(document))
        document.json_ld = JsonLd(roots, tuple(islice(_all_objects(roots), _MAX_OBJECTS)))
    return document.json_ld


def _all_objects(roots: Iterable[object]) -> Iterator[dict[str, Any]]:
    for root in roots:
        yield from objects_in(root)


def _roots(document: Document) -> Iterator[object]:
    typed = ((script, script.get("type")) for script in document.all("script"))
    scripts = (script.text for script, kind in typed if kind and "ld+json" in kind.lower())
    left = _MAX_SCRIPTS_TOGETHER
    for text in islice(scripts, _MAX_SCRIPTS):
        if not text or len(text) > min(left, _MAX_SCRIPT):
            continue
        left -= len(text)
        root = _parsed(text)
        if root is not None:
            yield root


def _parsed(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        return None
    except ValueError:
        pass
    try:
        return json.loads(_TRAILING_COMMA.sub("", _unwrapped(text)), strict=False)
    except (ValueError, RecursionError):
        return None


def _unwrapped(text: str) -> str:
    text = text.strip(_BLANK)
    for opening in _OPENINGS:
        text = text.removeprefix(opening).lstrip(_BLANK)
    for closing in _CLOSINGS:
        text = text.removesuffix(closing).rstrip(_BLANK)
    return text


def _values(found: dict[str, Any], without: frozenset[str]) -> Iterable[object]:
    return [part for name, part in found.items() if name.lower() not in without] if without else found.values()


def _types(element: etree._Element) -> list[str]:
    return (element.get("itemtype") or "").split()


def _item(element: etree._Element, budget: Iterator[int], depth: int) -> dict[str, Any]:
    types = _types(element)
    item: dict[str, Any] = {"@type": types[0] if len(types) == 1 else types} if types else {}
    for part in _properties(element, budget):
        if part.get("itemscope") is None:
            value: object = _value(part, budget)
        elif depth > 1:
            value = _item(part, budget, depth - 1)
        else:
            continue
        for name in (part.get("itemprop") or "").split()[:_MAX_NAMES]:
            if not name.startswith("@"):
                _add(item, name, value)
    return item


def _properties(item: etree._Element, budget: Iterator[int]) -> Iterator[etree._Element]:
    """Yield what is a property of this item, and not of one that is nested in it."""
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


def _add(item: dict[str, Any], name: str, value: object) -> None:
    """A property with several values is a list of them."""
    if name not in item:
        item[name] = value
    elif isinstance(item[name], list):
        item[name].append(value)
    else:
        item[name] = [item[name], value]


def _value(element: etree._Element, budget: Iterator[int]) -> str:
    attribute = _VALUE_ATTRIBUTES.get(element.tag)
    if attribute is not None:
        return (element.get(attribute) or "").strip()[:_MAX_TEXT]
    # By the standard `content` is for <meta> only, but it is often written elsewhere, and search engines read it.
    stated = element.get("datetime") if element.tag == "time" else None
    stated = element.get("content") if stated is None else stated
    return _text(element, budget) if stated is None else stated.strip()[:_MAX_TEXT]


def _text(element: etree._Element, budget: Iterator[int]) -> str:
    pieces = []
    walk = islice(etree.iterwalk(element, events=("start", "end")), _MAX_TEXT_STEPS)
    for (event, part), _ in zip(walk, budget, strict=False):
        piece = part.text if event == "start" else part.tail if part is not element else None
        if piece:
            pieces.append(piece[:_MAX_TEXT])
    return "".join(pieces)[:_MAX_TEXT].strip()
