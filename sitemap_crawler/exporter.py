"""The extension that concludes a run when its crawl ends, and delivers the report."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals

from sitemap_crawler.conclude import Ending, conclude
from sitemap_crawler.job import job_of
from sitemap_crawler.report import Outcome

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Exporter:
    """A crawl that was interrupted is left as it is, to be continued."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._job = job_of(crawler)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Exporter:
        return cls(crawler)

    def _spider_closed(self, reason: str) -> None:
        job = self._job
        further = self._stats.get_value("retry/count", 0) + self._stats.get_value("robots/requests", 0)
        job.report = report = conclude(job, Ending(finished=reason == "finished", further_requests=further))
        if job.options.report is not None:
            try:
                report.write(job.options.report)
            except OSError as error:
                report.outcome = Outcome.FAILED
                report.message += f"; but cannot write the report {job.options.report}: {error.strerror or error}"
        logger.log(logging.ERROR if report.exit_code else logging.INFO, "%s: %s", report.outcome, report.message)
        job.close()
