from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline

if TYPE_CHECKING:
    from sitemap_crawler.items import Page


class LikenessPipeline(ReadingPipeline):
    """What pages whose addresses can go on for ever have in common with each other."""

    def process_item(self, item: Page) -> Page:
        suspect = item.suspect
        if item.document is not None and suspect is not None and suspect.needs_content:
            from sitemap_crawler.extract.content.signature import signature

            item.likeness = signature(
                item.document,
                dateless=suspect.pattern is not None,
                name_of=suspect.name_of,
                without=suspect.tokens(item.links),
            )
        return item
