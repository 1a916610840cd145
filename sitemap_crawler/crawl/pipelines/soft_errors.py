from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline
from sitemap_crawler.inventory.diagnostics import ERROR_PAGE

if TYPE_CHECKING:
    from sitemap_crawler.items import Page


class SoftErrorsPipeline(ReadingPipeline):
    """What a page says that answers 200 and yet is an error: for a warning, and for `probes.py`."""

    def process_item(self, item: Page) -> Page:
        # Only an answer of 200 has a document.
        if item.document is not None:
            from sitemap_crawler.extract.diagnostics import error_text

            if words := error_text(item.document):
                item.observation.notes[ERROR_PAGE] = words
        return item
