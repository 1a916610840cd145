from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.reading.dates import last_modified

if TYPE_CHECKING:
    from sitemap_crawler.items import Page


class LastModifiedPipeline:
    """When the server says that the page changed, where that is credible."""

    def process_item(self, item: Page) -> Page:
        header = item.headers.get("last-modified")
        if header and item.document is not None:
            date = item.headers.get("date")
            fetched = item.observation.fetched
            item.observation.last_modified = last_modified(header[0], date[0] if date else None, fetched=fetched)
        return item
