"""Texts of a page that several readers use: its title and description, and the captions of figures."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.sitemap.limits import MAX_VIDEO_DESCRIPTION
from sitemap_crawler.utils.text import MAX_INPUT, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from sitemap_crawler.extract.document import Document

MAX_TITLE = 1_000
"""Maximum number of characters of a title or caption: not a limit of the protocol, but of what a hostile page can make
the inventory store."""

# Bounds on hostile pages; real ones stay far below.
_MAX_TEXTS = 200  # pieces of text of one element
_MAX_TITLES = 50
_MAX_METAS = 1_000


def page_title(document: Document) -> str:
    """Return the text of the first `<title>`, or ""."""
    # A <title> inside an SVG image names that image.
    titles = (
        title for title in islice(document.all("title"), _MAX_TITLES) if next(title.iterancestors("svg"), None) is None
    )
    title = next(titles, None)
    return "" if title is None else text_of(title)


def page_description(document: Document) -> str:
    """Return the description in the meta elements, or else that of Open Graph, or ""."""
    sources = _meta_values(document, "name", "description"), _meta_values(document, "property", "og:description")
    return next((value for values in sources for value in values if value), "")


def caption(element: etree._Element) -> str:
    """Return the caption of the figure that contains the element, or ""."""
    figure = next(element.iterancestors("figure"), None)
    figcaption = None if figure is None else next(figure.iter("figcaption"), None)
    return "" if figcaption is None else text_of(figcaption)


def text_of(element: etree._Element) -> str:
    """Return the text of the element on one line, at most MAX_TITLE characters."""
    if not len(element):
        return one_line(element.text or "", MAX_TITLE)
    return one_line("".join(str(text)[:MAX_INPUT] for text in islice(element.itertext(), _MAX_TEXTS)), MAX_TITLE)


def _meta_values(document: Document, attribute: str, name: str) -> Iterator[str]:
    for meta in islice(document.all("meta"), _MAX_METAS):
        if meta.get(attribute, "").strip().lower() == name:
            yield one_line(meta.get("content", ""), MAX_VIDEO_DESCRIPTION)
