from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.download.conditional import header_mark
from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline
from sitemap_crawler.extract.dates import last_modified, parse_http_date

if TYPE_CHECKING:
    from sitemap_crawler.items import Page


MAX_VALIDATOR = 200


class LastModifiedPipeline(ReadingPipeline):
    """The validators of the response: its entity tag, and when the server credibly says that the page changed."""

    def process_item(self, item: Page) -> Page:
        observation = item.observation
        if observation.body_hash is not None or observation.not_modified:
            etag = _first(item, "etag")
            observation.etag = etag if etag and len(etag) <= MAX_VALIDATOR else None
        if observation.body_hash is not None:
            modified, date = _first(item, "last-modified"), _first(item, "date")
            observation.last_modified = last_modified(modified, date, fetched=observation.fetched)
            # What is no date would only be sent back to who has sent it.
            usable = modified is not None and len(modified) <= MAX_VALIDATOR and parse_http_date(modified) is not None
            observation.modified_header = modified if usable else None
        observation.header_mark = header_mark(item.headers)
        return item


def _first(item: Page, name: str) -> str | None:
    values = item.headers.get(name)
    return values[0] if values else None
