from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.reading.images import find_images

if TYPE_CHECKING:
    from sitemap_crawler.items import Page


class ImagesPipeline:
    """The images that a page embeds."""

    def process_item(self, item: Page) -> Page:
        if item.document is not None:
            item.observation.images = find_images(item.document)
        return item
