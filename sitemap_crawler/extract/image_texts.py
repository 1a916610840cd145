"""Titles and captions of images: what the retired elements of the image extension hold."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.extract.images import url_of_image
from sitemap_crawler.extract.text import caption
from sitemap_crawler.sitemap.limits import MAX_IMAGES
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from sitemap_crawler.extract.document import Document

MAX_TEXT = 500
"""Characters; no limit of the protocol, but of what a hostile page can make the inventory store."""


def find_image_texts(document: Document) -> dict[str, tuple[str, str]]:
    """Title (the `title` attribute, else `alt`) and caption (of the figure) by image, of those that have either."""
    texts: dict[str, tuple[str, str]] = {}
    for image in islice(document.all("img"), MAX_IMAGES):
        url = url_of_image(document, image)
        if url is None or url in texts:
            continue
        title = one_line(image.get("title") or "", MAX_TEXT) or one_line(image.get("alt") or "", MAX_TEXT)
        words = (title, one_line(caption(image), MAX_TEXT))
        if any(words):
            texts[url] = words
    return texts
