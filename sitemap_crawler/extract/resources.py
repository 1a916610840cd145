"""What a browser, and so a search engine, needs to render a page: its scripts and style sheets."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.extract.document import Document

MAX_RESOURCES = 200  # of one page


def find_resources(document: Document) -> Iterator[str]:
    """Yield the absolute URLs, as often as the page names them."""
    references = (source for source in _references(document) if source)
    for reference in islice(references, MAX_RESOURCES):
        url = document.resolve(reference)
        if url is not None:
            yield url


def _references(document: Document) -> Iterator[str | None]:
    for element in document.all("script"):
        yield element.get("src")
    for rel, element in document.link_elements():
        if "stylesheet" in rel:
            yield element.get("href")
