from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sitemap_crawler.items import Page

SEARCH_ENGINE = "Googlebot"
"""The robot that renders most pages, and so needs what they are made of."""


class SearchRobotsPipeline:
    """What robots.txt keeps from search engines though it lets us in: pages, and the scripts and style sheets of
    others, each noted at one page that needs it."""

    def __init__(self, crawler: Crawler) -> None:
        self._job = job_of(crawler)
        self._told: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SearchRobotsPipeline:
        return cls(crawler)

    def process_item(self, item: Page) -> Page:
        if item.is_document and self._job.robots and not item.observation.noindex:
            blocked = [words for url in item.resources if (words := self._blocked(url))]
            if blocked:
                item.observation.notes["blocked-resources"] = blocked
            if rule := self._rule_against(item.queued.url):
                item.observation.notes["blocked-for-search"] = f"{SEARCH_ENGINE}: {rule}"
        return item

    def _blocked(self, url: str) -> str | None:
        """In words, when it has not been told of before: several processes may meet it."""
        if url in self._told or (rule := self._rule_against(url)) is None:
            return None
        self._told.add(url)
        return f"{url}, which robots.txt forbids {SEARCH_ENGINE}: {rule}"

    def _rule_against(self, url: str) -> str | None:
        robots = self._job.robots.get(origin_of(url))
        return robots.rule_against(url, SEARCH_ENGINE) if robots is not None else None
