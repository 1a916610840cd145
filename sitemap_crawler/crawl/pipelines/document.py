from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sitemap_crawler.items import Page
    from sitemap_crawler.urls.normalise import Resolver

READABLE = frozenset(("text/html", "application/xhtml+xml"))
"""Content types that have links and directives of their own; others may be listed, by a setting."""


class DocumentPipeline(ReadingPipeline):
    """Parses the body, for the first and last time, and finds the links."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DocumentPipeline:
        spider: Any = crawler.spider
        return cls(spider.resolver)

    def process_item(self, item: Page) -> Page:
        body, item.body = item.body, None
        if body is None:
            return item
        from sitemap_crawler.extract.links import refresh_header_target

        observation, resolve = item.observation, self._resolver.resolve
        observation.body_hash = blake2b(body, digest_size=16).digest()
        refresh = item.headers.get("refresh", ())
        observation.refresh = refresh_header_target(refresh, url=item.queued.url, resolve=resolve)
        if observation.content_type in READABLE:
            self._parse(item, body)
        return item

    def _parse(self, item: Page, body: bytes) -> None:
        from sitemap_crawler.extract.diagnostics import looks_like_script_shell
        from sitemap_crawler.extract.document import parse_document
        from sitemap_crawler.extract.links import find_links, refresh_target

        content_type = next(iter(item.headers.get("content-type", ())), "")
        document = parse_document(body, url=item.queued.url, content_type=content_type, resolver=self._resolver)
        if document is None:
            return
        item.document, item.is_document = document, True
        observation = item.observation
        if document.is_cut_off:
            observation.notes["deep-page"] = 1
        if item.is_start and looks_like_script_shell(document):
            observation.notes["script-shell"] = 1
        observation.refresh = observation.refresh or refresh_target(document)
        links = find_links(document, item.headers.get("link", ()))
        item.links, item.nofollow_links = links.follow, links.nofollow
