from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sitemap_crawler.items import Page


class ImagesPipeline(ReadingPipeline):
    """The images that a page embeds, and their titles and captions where they are asked for."""

    def __init__(self, *, texts: bool) -> None:
        self._texts = texts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ImagesPipeline:
        return cls(texts=job_of(crawler).options.image_texts)

    def process_item(self, item: Page) -> Page:
        if item.document is not None:
            from sitemap_crawler.extract.images import find_images

            item.observation.images = find_images(item.document)
            if self._texts:
                from sitemap_crawler.extract.images import find_image_texts

                item.observation.image_texts = find_image_texts(item.document)
        return item
