"""The plain `<video>` elements of a page."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.extract.images import real_url
from sitemap_crawler.extract.text import MAX_TITLE, caption, page_description, page_title
from sitemap_crawler.extract.videos.draft import MAX_VIDEOS, Draft, is_inert
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from lxml import etree

    from sitemap_crawler.extract.document import Document

_MAX_SOURCES = 64
_WORDS = {
    "content": "source with an http(s) URL",
    "thumbnail": "poster (thumbnail)",
    "title": "title",
    "description": "description",
}


def videos_of_elements(document: Document) -> list[Draft]:
    """Return a draft of each, with what the page says of itself where the element has no text of its own."""
    elements = [element for element in document.all("video")[:MAX_VIDEOS] if not is_inert(document, element)]
    if not elements:
        return []
    title, description = page_title(document), page_description(document)
    return [
        Draft(
            f"video no. {number} of the page",
            thumbnail=real_url(document, element.get("poster")),
            title=_own_title(element) or title,
            description=description,
            content=_content(document, element),
            words=_WORDS,
        )
        for number, element in enumerate(elements, 1)
    ]


def _content(document: Document, element: etree._Element) -> str | None:
    """Return the first source that is a file on a web server, and not the page itself."""
    sources = (source.get("src") for source in islice(element.iter("video", "source"), _MAX_SOURCES))
    return next(filter(None, (real_url(document, source) for source in sources)), None)


def _own_title(element: etree._Element) -> str:
    titles = (one_line(element.get(name, ""), MAX_TITLE) for name in ("title", "aria-label"))
    return next(filter(None, titles), "") or caption(element)
