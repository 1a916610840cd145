"""From options to a finished run: what the command line, and tests, call."""

from __future__ import annotations

import logging
import signal
import sys
from typing import TYPE_CHECKING, Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from sitemap_crawler.config.option_errors import check_names
from sitemap_crawler.config.options import Options
from sitemap_crawler.config.paths import check_places
from sitemap_crawler.config.sources import apply_options, read_site_file, settings_module
from sitemap_crawler.crawl.download.tls import check_network
from sitemap_crawler.crawl.engine import SiteCrawler
from sitemap_crawler.crawl.extensions import exporter
from sitemap_crawler.crawl.job import Job
from sitemap_crawler.crawl.log import leave_quietly, quieten_scrapy
from sitemap_crawler.crawl.readers import readers_of
from sitemap_crawler.crawl.spiders.site import SiteSpider
from sitemap_crawler.crawl.startup import check_numbers
from sitemap_crawler.exceptions import CrawlStoppedError, OptionError
from sitemap_crawler.inventory.location import state_path
from sitemap_crawler.utils.runtime import Phase, set_garbage_collection
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sitemap_crawler.report.report import Report


CANNOT_START = (ValueError, TypeError, ImportError, AttributeError, NameError)
"""What Scrapy raises for settings that it can't work with."""


def build_settings(
    values: Mapping[str, Any], *, site_file: Path | None, scrapy_settings: Mapping[str, str], verbosity: int
) -> Settings:
    """Scrapy's settings for a run: the profile's, then the site file's, then `-s`, then the options in `values`.

    `verbosity` is how often -v was given. Raises OptionError for whatever can't be used.
    """
    settings = Settings()
    settings.setmodule(settings_module(), priority="project")
    known = [name for name in settings if name.isupper()]
    if site_file is not None:
        file_values, file_settings = read_site_file(site_file)
        _set(settings, file_settings, known, priority="project")
        apply_options(settings, file_values, priority="project")
    _set(settings, scrapy_settings, known, priority="cmdline")
    apply_options(settings, values, priority="cmdline")
    options = Options.from_settings(settings)
    wanted = options.progress if options.progress is not None else verbosity == 0 and not options.quiet
    progress = wanted and sys.stderr.isatty()
    settings.set("SITEMAP_PROGRESS", progress, priority="cmdline")
    # A profile or site file may say it, which -q and -v win over.
    said = "LOG_LEVEL" in scrapy_settings or (settings.getpriority("LOG_LEVEL") or 0) > 0
    if not said or ("LOG_LEVEL" not in scrapy_settings and (verbosity or "quiet" in values)):
        settings.set("LOG_LEVEL", _log_level(options, verbosity, progress=progress), priority="cmdline")
    check_numbers(settings)
    check_places(options, state=state_path(options), config=site_file)
    check_network(options, proxies=settings.getbool("HTTPPROXY_ENABLED"))
    return settings


def _set(settings: Settings, values: Mapping[str, Any], known: list[str], *, priority: str) -> None:
    ours = [Options.setting(name) for name in Options.model_fields]
    check_names(values, [*known, *ours], kind="setting")
    settings.update(dict(values), priority=priority)


def _log_level(options: Options, verbosity: int, *, progress: bool) -> str:
    if verbosity:
        return "DEBUG" if verbosity > 1 else "INFO"
    if options.log_file is not None:
        # What nobody has to look at may be complete.
        return "INFO"
    if options.quiet:
        return "ERROR"
    return "WARNING" if progress else "INFO"


def run_crawl(settings: Settings, *, verbosity: int) -> Report:
    """Crawl, decide, write. Raises InventoryError, OutputError, OptionError, CrawlStoppedError."""
    options = Options.from_settings(settings)
    job = Job(options, readers=readers_of(settings.getwithbase("ITEM_PIPELINES"), options))
    try:
        if verbosity < 1:
            quieten_scrapy()
        leave_quietly()
        if not settings["LOG_FILE"]:
            # The command tells of the outcome itself.
            exporter.logger.addFilter(lambda record: record.levelno < logging.WARNING)
        failure = _run_process(settings, job)
        if failure is not None:
            reason = printable(f"{type(failure).__name__}: {failure}")
            raise OptionError(f"Scrapy can't work with these settings ({reason}): check -s and the site file")
        if job.report is None:
            raise CrawlStoppedError("the crawl was stopped at once; run the same command to continue")
        return job.report
    finally:
        job.close()


def _run_process(settings: Settings, job: Job) -> BaseException | None:
    try:
        process = AsyncCrawlerProcess(settings)
        crawler = SiteCrawler(SiteSpider, settings)
    except CANNOT_START as error:
        return error
    return run_to_its_end(process, crawler, job=job)


def run_to_its_end(process: AsyncCrawlerProcess, crawler: SiteCrawler, **arguments: Any) -> BaseException | None:
    """Run the crawl; what kept it from beginning, if anything did."""
    try:
        set_garbage_collection(Phase.WORK)
        task = process.crawl(crawler, **arguments)
        _stop_with_the_terminal()
        process.start()
    except CANNOT_START as error:
        return error
    return task.exception() if task.done() and not task.cancelled() else None


def _stop_with_the_terminal() -> None:
    """Its end stops a crawl as gently as Ctrl-C does, which Scrapy looks after; under nohup nothing does."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
