from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from sitemap_crawler.items import Page


class AlternatesPipeline(ReadingPipeline):
    """The language versions that a page names; codes that are none, or that name several URLs, are warnings."""

    def __init__(self, resolve: Callable[[str, str, str], str | None]) -> None:
        self._resolve = resolve

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> AlternatesPipeline:
        spider: Any = crawler.spider
        return cls(spider.resolver.resolve)

    def process_item(self, item: Page) -> Page:
        observation = item.observation
        if observation.body_hash is not None:
            from sitemap_crawler.extract.alternates import find_alternates

            found = find_alternates(item.document, item.headers, url=item.queued.url, resolve=self._resolve)
            observation.alternates = found.valid
            if found.invalid:
                observation.notes["invalid-alternates"] = list(found.invalid)
            if found.conflicting:
                observation.notes["conflicting-alternates"] = list(found.conflicting)
        return item
