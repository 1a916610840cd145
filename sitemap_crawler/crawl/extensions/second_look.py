"""The extension that asks for some changed pages again, to recognise those that show something else at each request.

It does so at the end of a crawl, and only if many pages of one shape have changed since the last run.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.extensions.probing import read_fingerprint
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta, Stat
from sitemap_crawler.inventory.observed_changes import changed_pages, has_earlier_run, keep_dates
from sitemap_crawler.policy.second_looks import SecondLooks

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from sitemap_crawler.policy.second_looks import ChangedPage

logger = logging.getLogger(__name__)


class SecondLook:
    """Extension that asks for pages again. Such a request stores no observation and counts for no limit."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._looks: SecondLooks | None = None
        self._is_done = False
        crawler.signals.connect(self._spider_idle, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SecondLook:
        return cls(crawler)

    def _spider_idle(self) -> None:
        """Send the requests once nothing is left to fetch, and keep the dates when all of them are answered.

        Raises DontCloseSpider while requests are in flight; otherwise Scrapy closes the spider after this.
        """
        job = self._job
        if self._is_done or job.is_helper or job.ending.failure is not None or job.ending.refusal is not None:
            return
        try:
            if self._looks is None:
                self._looks = self._look_for_changes()
                chosen = self._looks.choose()
                for shape, page in chosen:
                    self._ask(self._looks, shape, page)
                if chosen:
                    raise DontCloseSpider
            self._is_done = True
            if unstable := self._looks.unstable:
                job.kept_dates = keep_dates(job.store.connection, job.run.id, unstable)
        except SQLAlchemyError as error:
            job.inventory_failed(error)
            raise CloseSpider(CloseReason.INVENTORY_FAILED) from error

    def _look_for_changes(self) -> SecondLooks:
        job, looks = self._job, SecondLooks()
        connection = job.store.connection
        if has_earlier_run(connection, job.run.id):
            # Pages in the buffer have no row yet.
            job.queue.flush()
            with connection.begin():
                for shape, page in changed_pages(connection, job.run.id):
                    looks.add(shape, page)
        return looks

    def _ask(self, looks: SecondLooks, shape: str, page: ChangedPage) -> None:
        # A request that fails is not worth a retry.
        meta = {Meta.VERBATIM_URL: True, Meta.NO_RETRY: True}
        callback = partial(self._parse, looks, shape, page)
        self._crawler.engine.crawl(Request(page.url, callback=callback, errback=self._failed, meta=meta))

    def _parse(self, looks: SecondLooks, shape: str, page: ChangedPage, response: Response) -> None:
        self._crawler.stats.inc_value(Stat.PROBE_REQUESTS)
        spider: Any = self._crawler.spider
        seen = read_fingerprint(response, spider.resolver) if response.status == 200 and response.body else None
        differs = seen is not None and looks.compare(shape, page, seen)
        logger.info("second look at %s: %s", page.url, "another content" if differs else "no other content")

    def _failed(self, failure: Failure) -> None:
        if not isinstance(failure.value, IgnoreRequest):
            self._crawler.stats.inc_value(Stat.PROBE_REQUESTS)
