from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Stat
from sitemap_crawler.urls.normalise import MAX_STORED_URL

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sitemap_crawler.items import Page


class InventoryPipeline:
    """Stores the observation with the page's links and lets the document go; the last pipeline, never left out."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._engine = EngineControl(crawler)
        self._job = job_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> InventoryPipeline:
        return cls(crawler)

    def process_item(self, item: Page) -> Page:
        observation, job = item.observation, self._job
        links, nofollow_links = self._followed(item)
        for name in ("location", "refresh", "canonical"):
            url = getattr(observation, name)
            if url is not None and not self._storable((url,)):
                setattr(observation, name, None)
        observation.alternates = tuple([one for one in observation.alternates if self._storable(one[1:])])
        if job.failure is None:
            try:
                job.queue.record(observation, depth=item.queued.depth, links=links, nofollow_links=nofollow_links)
            except Exception as error:
                job.inventory_failed(error)
                self._engine.close(CloseReason.INVENTORY_FAILED)
        job.listable += _looks_listable(item)
        # What robots.txt forbids was handed out, but is not a fetched page.
        job.fetched -= observation.blocked_by is not None
        job.done += observation.blocked_by is None
        item.document = None
        return item

    def _followed(self, item: Page) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The links that are followed, and those that are not."""
        follow, nofollow = self._storable(item.links), item.nofollow_links
        if self._job.options.follow_nofollow:
            return follow + self._storable(nofollow), ()
        notes = item.observation.notes if item.queued.url == self._job.start_url else {}
        if item.observation.nofollow and follow:
            notes["nofollow-page"] = 1
            return (), follow + nofollow
        if nofollow:
            notes["nofollow-links"] = len(nofollow)
        return follow, nofollow

    def _storable(self, links: tuple[str, ...]) -> tuple[str, ...]:
        short = tuple([url for url in links if len(url) <= MAX_STORED_URL])
        if len(short) < len(links):
            self._crawler.stats.inc_value(Stat.LINKS_TOO_LONG, len(links) - len(short))
        return short

    def close_spider(self) -> None:
        if self._job.failure is None:
            try:
                self._job.queue.flush()
            except Exception as error:
                self._job.inventory_failed(error)


def _looks_listable(item: Page) -> bool:
    """As far as the page itself says: for the progress line only."""
    observation = item.observation
    moved = observation.refresh or (observation.canonical or item.queued.url) != item.queued.url
    return item.is_document and not observation.noindex and not moved
