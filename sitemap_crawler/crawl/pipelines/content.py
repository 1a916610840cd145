from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline

if TYPE_CHECKING:
    from sitemap_crawler.items import Page

MAX_TITLE = 200
"""Characters: what a feed or a table shows of it."""


class ContentPipeline(ReadingPipeline):
    """The fingerprint of the content, by which a change is told from a new rendering; its date, and a title."""

    def process_item(self, item: Page) -> Page:
        observation = item.observation
        if item.document is not None:
            from sitemap_crawler.extract.content.fingerprint import fingerprint
            from sitemap_crawler.extract.page_dates import modified_date
            from sitemap_crawler.extract.text import page_title

            observation.fingerprint = fingerprint(item.document)
            observation.title = page_title(item.document)[:MAX_TITLE] or None
            observation.stated = modified_date(item.document, now=observation.fetched)
        else:
            # What we can't read into changes when its bytes do.
            observation.fingerprint = observation.body_hash
        return item
