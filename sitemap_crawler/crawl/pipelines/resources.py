from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline
from sitemap_crawler.urls.normalise import MAX_STORED_URL

if TYPE_CHECKING:
    from sitemap_crawler.items import Page

MAX_SEEN = 10_000


class ResourcesPipeline(ReadingPipeline):
    """The scripts and style sheets that a page needs and none before it did."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def process_item(self, item: Page) -> Page:
        # How a page looks that search engines are told to leave out is nobody's concern.
        if item.document is not None and not item.observation.noindex and len(self._seen) < MAX_SEEN:
            from sitemap_crawler.extract.links import find_resources

            found = dict.fromkeys(url for url in find_resources(item.document) if len(url) <= MAX_STORED_URL)
            item.resources = tuple([url for url in found if url not in self._seen])
            self._seen.update(item.resources)
        return item
