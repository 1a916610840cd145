from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline
from sitemap_crawler.extract.indexability import find_canonical, robots_directives
from sitemap_crawler.urls.normalise import MAX_STORED_URL

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from sitemap_crawler.items import Page


class IndexabilityPipeline(ReadingPipeline):
    """Robots directives and canonical."""

    def __init__(self, resolve: Callable[[str, str, str], str | None]) -> None:
        self._resolve = resolve

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> IndexabilityPipeline:
        spider: Any = crawler.spider
        return cls(spider.resolver.resolve)

    def process_item(self, item: Page) -> Page:
        observation, document = item.observation, item.document
        tags = item.headers.get("x-robots-tag", ())
        if observation.body_hash is None and not tags:
            return item
        directives = robots_directives(document, tags)
        observation.noindex = directives.noindex
        observation.nofollow = directives.nofollow
        observation.directives = directives.evidence
        observation.unavailable_after = directives.unavailable_after
        if observation.body_hash is not None:
            links = item.headers.get("link", ())
            canonical = find_canonical(document, links, url=item.queued.url, resolve=self._resolve)
            observation.canonical = canonical.url
            if canonical.conflicting:
                observation.notes["canonicals"] = [other[:MAX_STORED_URL] for other in canonical.conflicting]
        return item
