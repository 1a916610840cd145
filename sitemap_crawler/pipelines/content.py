from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.reading.fingerprint import fingerprint
from sitemap_crawler.reading.page_dates import modified_date

if TYPE_CHECKING:
    from sitemap_crawler.items import Page


class ContentPipeline:
    """The fingerprint of the content, by which a change is told from a new rendering, and the date that it states."""

    def process_item(self, item: Page) -> Page:
        observation = item.observation
        if item.document is not None:
            observation.fingerprint = fingerprint(item.document)
            observation.stated = modified_date(item.document, now=observation.fetched)
        else:
            # What we can't read into changes when its bytes do.
            observation.fingerprint = observation.body_hash
        return item
