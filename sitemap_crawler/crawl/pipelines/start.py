from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason
from sitemap_crawler.urls.scope import redirect_of_start

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sitemap_crawler.items import Page


class StartPipeline:
    """Goes on from where the start page redirects to, or ends the crawl there."""

    def __init__(self, crawler: Crawler) -> None:
        self._engine = EngineControl(crawler)
        self._job = job_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StartPipeline:
        return cls(crawler)

    def process_item(self, item: Page) -> Page:
        target = item.observation.location or item.observation.refresh
        if item.is_start and target is not None and not self._goes_on(target):
            self._engine.close(CloseReason.START_ELSEWHERE)
            # Nothing of what it links to is the site's.
            item.links, item.nofollow_links = (), ()
        return item

    def _goes_on(self, target: str) -> bool:
        job = self._job
        kind = redirect_of_start(job.start_url, target, job.rules.scope)
        chosen = job.options.sitemap_url is not None
        if kind == "inside" or (chosen and job.rules.scope.admits(target)):
            return True
        if kind == "directory" and not chosen:
            job.adopt_start(target, notice=f"the start page redirects to {target}: its directory is the scope")
        elif kind == "variant" and not chosen:
            job.adopt_start(target, notice=f"the start page redirects to {target}: the crawl goes on from there")
        else:
            message = f"the start page {job.start_url} redirects to {target}: start from that address"
            job.refuse(f"{message}, or change --sitemap-url" if chosen else message, ends_run=True)
            return False
        return True
