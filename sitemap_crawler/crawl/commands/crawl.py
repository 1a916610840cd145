"""`scrapy crawl`, which Scrapyd runs, too, with the exit codes of `sitemap-crawler crawl`; Scrapy's own has only 0."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import crawl
from scrapy.crawler import AsyncCrawlerProcess

from sitemap_crawler.crawl.log import quieten_asyncio
from sitemap_crawler.exceptions import FAILED, INTERRUPTED, USAGE
from sitemap_crawler.utils.shortage import shortage_of
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    import argparse

    from sitemap_crawler.crawl.job import Job

logger = logging.getLogger(__name__)


class Command(crawl.Command):
    # A profile wins over it. An egg has no profile, and on Scrapyd a line for every request is too much.
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "INFO"}

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        # `scrapy list` imports this module, too, and needs no crawl.
        from sitemap_crawler.crawl.engine import SiteCrawler
        from sitemap_crawler.crawl.runner import run_process
        from sitemap_crawler.crawl.submission import submit_published

        process = self.crawler_process
        if len(args) != 1 or not isinstance(process, AsyncCrawlerProcess):
            super().run(args, opts)
            return
        if args[0] not in process.spider_loader.list():
            logger.error("not started: there is no spider %s: its name is site", printable(args[0]))
            self.exitcode = USAGE
            return
        quieten_asyncio()
        crawler = SiteCrawler(process.spider_loader.load(args[0]), process.settings)
        failure = run_process(process, crawler, **opts.spargs)
        job: Job | None = getattr(crawler.spider, "job", None)
        if failure is not None and (shortage := shortage_of(failure)) is not None:
            logger.error("failed: %s", shortage)
            self.exitcode = FAILED
        elif failure is not None:
            reason = printable(f"{type(failure).__name__}: {failure}")
            logger.error("not started: Scrapy can't work with these settings (%s): check them", reason)
            self.exitcode = USAGE
        elif job is None or job.report is None:
            logger.error("interrupted: stopped at once; run the same job again to continue")
            self.exitcode = INTERRUPTED
        else:
            submit_published(job)
            self.exitcode = job.report.exit_code
