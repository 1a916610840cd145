from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline

if TYPE_CHECKING:
    from sitemap_crawler.items import Page


class VideosPipeline(ReadingPipeline):
    """The videos that a page embeds; what lacks a required value is a warning."""

    def process_item(self, item: Page) -> Page:
        if item.document is not None:
            from sitemap_crawler.extract.videos.find import find_videos

            item.observation.videos, problems = find_videos(item.document)
            if problems:
                item.observation.notes["incomplete-video"] = list(problems)
        return item
