from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline

if TYPE_CHECKING:
    from sitemap_crawler.items import Page


class NewsPipeline(ReadingPipeline):
    """What a page says of itself as a news article."""

    def process_item(self, item: Page) -> Page:
        if item.document is not None:
            from sitemap_crawler.extract.news import find_article

            item.observation.article = find_article(item.document, item.observation.fetched)
        return item
