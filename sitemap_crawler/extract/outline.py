"""The elements that readers look at, found in one walk: each walk over a page costs as much as a tenth of its parse."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml import etree

# What links, shows, or says something of the page.
COLLECTED = (
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

# What tells the main content from the rest. Tags that a page has by the hundred (p, li, span, td) would cost more than
# they tell.
BLOCKS = (
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

_WALKED = tuple(dict.fromkeys((*COLLECTED, *BLOCKS)))
_COLLECTED = frozenset(COLLECTED)
_BLOCKS = frozenset(BLOCKS)


def outline(root: etree._Element) -> tuple[dict[str, list[etree._Element]], list[etree._Element]]:
    """Return those in COLLECTED by their tag, and the BLOCKS, in document order."""
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


def span(root: etree._Element, elements: Sequence[etree._Element], first: etree._Element) -> slice:
    """Return which of all elements of some kind, in document order, stand from the `first` one to the end of `root`."""
    start = next(at for at, element in enumerate(elements) if element is first)
    if root in elements[-1].iterancestors():
        return slice(start, None)
    return slice(start, bisect_left(elements, True, start + 1, key=lambda one: root not in one.iterancestors()))
