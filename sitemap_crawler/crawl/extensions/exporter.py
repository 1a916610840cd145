"""The extension that ends a run: it has the run decided and published when the spider closes, and writes the report."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from sitemap_crawler.crawl.extensions.status import INTERVAL_SECONDS, StatusFile
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Stat
from sitemap_crawler.exceptions import FAILED
from sitemap_crawler.report.report import failure_report
from sitemap_crawler.utils.shortage import shortage_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sitemap_crawler.publish.context import Ending
    from sitemap_crawler.report.report import Report

logger = logging.getLogger(__name__)

FURTHER_REQUESTS = (Stat.RETRIES, Stat.ROBOTS_REQUESTS, Stat.SEED_REQUESTS, Stat.PROBE_REQUESTS)
"""Statistics of requests that leave no observation."""


class Exporter:
    """Extension that ends the run when the spider closes. An interrupted run stays open and can be resumed."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._job = job_of(crawler)
        path = self._job.options.status
        self._status = None if path is None else StatusFile(path, private=self._job.options.has_secrets)
        self._status_loop = create_looping_call(self._write_status)
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Exporter:
        return cls(crawler)

    def _spider_opened(self) -> None:
        if self._status is not None:
            self._status_loop.start(INTERVAL_SECONDS, now=True)

    def _write_status(self) -> None:
        if self._status is not None:
            self._status.write_crawling(self._job)

    def _spider_closed(self, reason: str) -> None:
        if self._status_loop.running:
            self._status_loop.stop()
        job = self._job
        further_requests = sum(self._stats.get_value(name, 0) for name in FURTHER_REQUESTS)
        ending = job.ending._replace(
            finished=reason == CloseReason.FINISHED,
            saw_everything=not job.is_limited,
            further_requests=further_requests,
        )
        if self._status is not None:
            self._status.write_writing(job)
        job.report = report = self._conclude(ending)
        report.deliver(job.options, private=job.options.has_secrets)
        if self._status is not None:
            self._status.write_done(job, report)
        self._stats.set_value(Stat.OUTCOME, str(report.outcome))
        level = logging.ERROR if report.exit_code else logging.INFO
        message = report.message.removeprefix(f"{report.outcome}; ")
        logger.log(level, "%s: %s (%s)", report.outcome, message, report.numbers())
        job.close()

    def _conclude(self, ending: Ending) -> Report:
        """Conclude the run. Without a descriptor or memory for that, return the report of the shortage."""
        try:
            from sitemap_crawler.publish.conclude import conclude
        except Exception as error:
            shortage = shortage_of(error)
            if shortage is None:
                raise
            return failure_report(self._job.options, code=FAILED, message=ending.shortage or str(shortage))
        return conclude(self._job.context, ending)
