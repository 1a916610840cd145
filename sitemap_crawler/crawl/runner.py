"""The process of a crawl: Scrapy's process object, its log and the signals that stop it."""

from __future__ import annotations

import logging
import signal
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from scrapy.crawler import AsyncCrawlerProcess
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.engine import SiteCrawler
from sitemap_crawler.crawl.extensions import exporter
from sitemap_crawler.crawl.log import open_log_file, quieten_asyncio, quieten_scrapy
from sitemap_crawler.crawl.spiders.site import SiteSpider
from sitemap_crawler.crawl.startup import begin
from sitemap_crawler.crawl.submission import submit_published
from sitemap_crawler.exceptions import CrawlStoppedError, InventoryError, OptionError
from sitemap_crawler.inventory.store import inventory_failure
from sitemap_crawler.report.report import Report
from sitemap_crawler.utils.runtime import Phase, set_garbage_collection
from sitemap_crawler.utils.shortage import ShortageError, shortage_of
from sitemap_crawler.utils.stopping import exit_at_signals
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from scrapy.settings import Settings

    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.crawl.startup import Start

CANNOT_START = (ValueError, TypeError, ImportError, AttributeError, NameError)
"""Exceptions that Scrapy raises for settings that it cannot use."""


def run_crawl(start: Start, *, verbosity: int) -> Report:
    """Crawl, decide and publish. Return the report, also of a crawl that cannot begin.

    Raises InputError if Scrapy or the job rejects the settings, InventoryError if the inventory fails before the first
    request, and CrawlStoppedError if there is no report.
    """
    settings = start.settings
    job = begin(start)
    if isinstance(job, Report):
        return job
    try:
        if verbosity < 1:
            quieten_scrapy()
        quieten_asyncio()
        if not settings["LOG_FILE"]:
            # The command prints the outcome itself.
            exporter.logger.addFilter(lambda record: record.levelno < logging.WARNING)
        with helpers_of(start, verbosity=verbosity):
            failure = _start_process(settings, job)
        if failure is not None:
            if (shortage := shortage_of(failure)) is not None:
                raise ShortageError(shortage) from failure
            if isinstance(failure, SQLAlchemyError):
                raise InventoryError(inventory_failure(job.store.location, failure)) from failure
            reason = printable(f"{type(failure).__name__}: {failure}")
            raise OptionError(f"Scrapy can't work with these settings ({reason}): check -s and the site file")
        if job.report is None:
            raise CrawlStoppedError("the crawl was stopped at once; run the same command to continue")
    finally:
        job.close()
    # The inventory is free for other commands meanwhile.
    submit_published(job)
    return job.report


def helpers_of(start: Start, *, verbosity: int) -> AbstractContextManager[object]:
    """Return a context in which the helpers of `--processes` crawl along."""
    if start.options.processes == 1:
        return nullcontext()
    from sitemap_crawler.crawl.helpers import Helpers

    return Helpers(start, verbosity=verbosity)


def _start_process(settings: Settings, job: Job) -> BaseException | None:
    try:
        if settings["LOG_FILE"]:
            open_log_file(settings, private=job.options.has_secrets)
        process = AsyncCrawlerProcess(settings)
        crawler = SiteCrawler(SiteSpider, settings)
    except CANNOT_START as error:
        return error
    return run_process(process, crawler, job=job)


def run_process(process: AsyncCrawlerProcess, crawler: SiteCrawler, **arguments: Any) -> BaseException | None:
    """Run the process until the crawl has ended. Return the exception that kept the crawl from beginning, if any."""
    try:
        set_garbage_collection(Phase.WORK)
        task = process.crawl(crawler, **arguments)
        _stop_on_hangup()
        process.start()
        # The event loop has given the signals back to Python, whose own handlers leave without a word.
        exit_at_signals()
    except CANNOT_START as error:
        return error
    return task.exception() if task.done() and not task.cancelled() else None


def _stop_on_hangup() -> None:
    """Let SIGHUP, which the end of a terminal sends, stop the crawl like SIGTERM. Under nohup it stays ignored."""
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
