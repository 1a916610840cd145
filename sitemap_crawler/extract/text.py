"""Texts of a page that several readers want: its title and description, the caption of what stands in a figure."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.sitemap.limits import MAX_VIDEO_DESCRIPTION
from sitemap_crawler.utils.text import MAX_INPUT, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from sitemap_crawler.extract.document import Document

# Not limits of the protocol: bounds on what a hostile page can make the inventory store.
MAX_TITLE = 1_000
_MAX_TEXTS = 200
_MAX_TITLES = 50
_MAX_METAS = 1_000


def page_title(document: Document) -> str:
    # An SVG's <title> names a drawing.
    titles = (
        title for title in islice(document.all("title"), _MAX_TITLES) if next(title.iterancestors("svg"), None) is None
    )
    title = next(titles, None)
    return "" if title is None else text_of(title)


def page_description(document: Document) -> str:
    values = _meta_values(document, "name", "description"), _meta_values(document, "property", "og:description")
    return next((value for found in values for value in found if value), "")


def caption(element: etree._Element) -> str:
    """Return the caption of the figure that the element stands in."""
    figure = next(element.iterancestors("figure"), None)
    found = None if figure is None else next(figure.iter("figcaption"), None)
    return "" if found is None else text_of(found)


def _meta_values(document: Document, attribute: str, name: str) -> Iterator[str]:
    for meta in islice(document.all("meta"), _MAX_METAS):
        if meta.get(attribute, "").strip().lower() == name:
            yield one_line(meta.get("content", ""), MAX_VIDEO_DESCRIPTION)


def text_of(element: etree._Element) -> str:
    """The text in the element on one line."""
    if not len(element):
        return one_line(element.text or "", MAX_TITLE)
    return one_line("".join(str(text)[:MAX_INPUT] for text in islice(element.itertext(), _MAX_TEXTS)), MAX_TITLE)
