from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.job import job_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sitemap_crawler.items import Page


class TrapsPipeline:
    """Learns from pages whose addresses can go on for ever whether they do."""

    def __init__(self, crawler: Crawler) -> None:
        self._traps = job_of(crawler).traps

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> TrapsPipeline:
        return cls(crawler)

    def process_item(self, item: Page) -> Page:
        if item.is_document and item.suspect is not None:
            self._traps.learn(item.suspect, item.likeness, item.links)
        return item
