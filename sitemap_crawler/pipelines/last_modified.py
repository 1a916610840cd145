from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.reading.dates import last_modified

if TYPE_CHECKING:
    from sitemap_crawler.items import Page


MAX_VALIDATOR = 200


class LastModifiedPipeline:
    """The validators of the response: its entity tag, and when the server credibly says that the page changed."""

    def process_item(self, item: Page) -> Page:
        if item.observation.body_hash is not None:
            observation = item.observation
            modified, date, etag = (_first(item, name) for name in ("last-modified", "date", "etag"))
            observation.last_modified = last_modified(modified, date, fetched=observation.fetched)
            observation.etag = etag if etag and len(etag) <= MAX_VALIDATOR else None
            observation.modified_header = modified if modified and len(modified) <= MAX_VALIDATOR else None
        return item


def _first(item: Page, name: str) -> str | None:
    values = item.headers.get(name)
    return values[0] if values else None
