from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.job import job_of
from sitemap_crawler.reading.videos import find_videos

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sitemap_crawler.items import Page


class VideosPipeline:
    """The videos that a page embeds; what lacks a required value is a warning."""

    def __init__(self, crawler: Crawler) -> None:
        self._job = job_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> VideosPipeline:
        return cls(crawler)

    def process_item(self, item: Page) -> Page:
        if item.document is not None:
            item.observation.videos, problems = find_videos(item.document)
            for problem in problems:
                self._job.warn("incomplete-video", item.queued.url, problem)
        return item
