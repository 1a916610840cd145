"""Why a start page may lead nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.extract.document import Document

_MAX_LINKS = 3
_MAX_TEXT = 200  # characters: more than "Loading…" and a cookie notice, less than a page
_INVISIBLE = frozenset({"noscript", "script", "style", "template"})


def looks_like_script_shell(document: Document) -> bool:
    """Tell whether the page is an empty frame that scripts fill in a browser, such as `<div id=root>`."""
    if not document.all("script") or document.all("frame") or document.all("iframe"):
        return False
    links = sum(1 for element in document.all("a") if element.get("href", "#")[:1] != "#")
    return links <= _MAX_LINKS and not _has_text(document.root)


def _has_text(root: etree._Element) -> bool:
    length = 0
    for text in _visible_texts(root):
        length += len(text.strip())
        if length > _MAX_TEXT:
            return True
    return False


def _visible_texts(root: etree._Element) -> Iterator[str]:
    body = root.find("body")
    if body is None:
        return
    walk = etree.iterwalk(body, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            if element.tag in _INVISIBLE:
                walk.skip_subtree()
            elif element.text:
                yield element.text
        elif element.tail and element is not body:
            yield element.tail
