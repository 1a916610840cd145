"""The check of listed URLs: each is requested and judged as in a crawl, and no link is followed.

The same engine, robots.txt, pace and decisions as in a crawl apply. Observations and decisions go to an inventory of
their own.
"""

from __future__ import annotations

import asyncio
import logging
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.given_urls import GivenUrlsSpider, TargetRounds, add_components, run_session
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason
from sitemap_crawler.crawl.listed_media import MediaCheck, MediumProblem
from sitemap_crawler.crawl.startup import begin, start_of_command
from sitemap_crawler.exceptions import FAILED, CrawlStoppedError, SitemapCrawlerError
from sitemap_crawler.publish.conclude import decider_of
from sitemap_crawler.report.report import Report
from sitemap_crawler.urls.scope import registrable_domain
from sitemap_crawler.utils.addresses import Gate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from scrapy.crawler import Crawler

    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.items import Page

logger = logging.getLogger(__name__)

QUEUED_AT_ONCE = 5_000
"""Number of listed URLs that are queued in one transaction, between two turns of the event loop."""
PAGE_TYPES = (
    "text/html",
    "application/xhtml+xml",
    "application/pdf",
    "text/plain",
    "application/xml",
    "text/xml",
    "image/svg+xml",
    "application/epub+zip",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/rtf",
)
"""Content types that a sitemap may list, because search engines index them:
https://developers.google.com/search/docs/crawling-indexing/indexable-file-types"""
_PIPELINES = {"sitemap_crawler.crawl.listed.WithoutLinks": 890}
_EXTENSIONS = {
    "sitemap_crawler.crawl.extensions.exporter.Exporter": None,
    "sitemap_crawler.crawl.listed.ListedChecks": 900,
}


class ListedRequests(NamedTuple):
    """The URLs of one check. All pages are of one origin; media may be on any host."""

    pages: Iterable[str]
    media: Iterable[str] = ()


class RequestOptions(NamedTuple):
    """Options of the requests of a check."""

    values: Mapping[str, Any]
    """Options of a crawl such as `concurrency` and `auth`."""
    scrapy_settings: Mapping[str, str]
    verbosity: int
    """Number of times that -v was given."""
    has_credentials: bool = True
    """Whether the site gets the credentials, those of the environment included."""


class CheckOutcome(NamedTuple):
    """The end of a check. The inventory holds what the check found about pages."""

    problem: str | None
    """Why some URLs were not requested, if so."""
    media: dict[str, MediumProblem]
    """The problem of each image or video that has one, by its URL as listed."""


def check_listed(
    origin: str,
    requests: ListedRequests,
    *,
    first: str,
    named_by: str | None,
    state: Path,
    request_options: RequestOptions,
) -> CheckOutcome:
    """Request the listed URLs of one origin and store observations and decisions in a new inventory at `state`.

    `first` is the first of the pages. `named_by` is the origin of the sitemap that lists them; None for a file. A
    check that is stopped decides about the pages that it has requested. Raises SitemapCrawlerError.
    """
    options = {
        **request_options.values,
        "start_url": first,
        "sitemap_url": f"{origin}/sitemap.xml",
        "state": str(state),
        "dry_run": True,
        "max_depth": 0,
        "trap_budget": 0,
        "tracking_parameters": (),
        "content_types": PAGE_TYPES,
    }
    # The report has all that the level INFO logs about requests.
    level = {} if request_options.verbosity else {"LOG_LEVEL": "WARNING"}
    start = start_of_command(
        options,
        site_file=None,
        scrapy_settings={**level, **request_options.scrapy_settings},
        verbosity=request_options.verbosity,
    )
    if not request_options.has_credentials:
        start = start._replace(options=start.options.without_credentials())
    add_components(start.settings, "EXTENSIONS", _EXTENSIONS)
    add_components(start.settings, "ITEM_PIPELINES", _PIPELINES)
    job = begin(start)
    if isinstance(job, Report):
        raise SitemapCrawlerError(job.message) if job.exit_code == FAILED else CrawlStoppedError(job.message)
    if named_by is not None:
        # A sitemap of another site must not choose whom the program talks to.
        job.gate = Gate.for_listed(origin, named_by=named_by, domain_of=registrable_domain)
    outcome = CheckOutcome("the check was stopped at once", {})
    try:
        arguments: dict[str, Any] = {"job": job, "listed": requests}
        verbosity = request_options.verbosity
        spider = run_session(start.settings, ListedSpider, purpose="the check", verbosity=verbosity, **arguments)
        if isinstance(spider, ListedSpider) and spider.outcome is not None:
            outcome = spider.outcome
        return outcome
    finally:
        job.close()


class ListedSpider(GivenUrlsSpider):
    """Spider that requests the listed URLs and nothing else."""

    listed: ListedRequests
    outcome: CheckOutcome | None = None

    @classmethod
    def from_crawler(
        cls, crawler: Crawler, *args: Any, listed: ListedRequests | None = None, **kwargs: Any
    ) -> ListedSpider:
        spider: Any = super().from_crawler(crawler, *args, **kwargs)
        spider.listed = listed or ListedRequests(())
        checking: ListedSpider = spider
        return checking

    async def queue_urls(self) -> None:
        engine = EngineControl(self.crawler)
        urls = filter(None, map(self.resolver.normalise, self.listed.pages))
        while not engine.is_closing and (some := tuple(islice(urls, QUEUED_AT_ONCE))):
            self.job.queue.add_from_sitemap(some)
            await asyncio.sleep(0)


class WithoutLinks:
    """Pipeline that drops the links of a page: no link is followed, so none has to be stored."""

    def process_item(self, item: Page) -> Page:
        item.links = item.nofollow_links = ()
        return item


class ListedChecks:
    """Extension that has redirects and canonicals followed and media checked, and decides when the spider closes."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job: Job = job_of(crawler)
        self._engine = EngineControl(crawler)
        self._rounds = TargetRounds(self._job)
        self._media = MediaCheck(crawler, self._spider.listed.media)
        crawler.signals.connect(self._spider_idle, signals.spider_idle)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ListedChecks:
        return cls(crawler)

    @property
    def _spider(self) -> ListedSpider:
        spider: Any = self._crawler.spider
        checked: ListedSpider = spider
        return checked

    def _spider_idle(self) -> None:
        """Raise DontCloseSpider while a target or a medium is left."""
        if self._rounds.has_next():
            self._engine.wake()
            raise DontCloseSpider
        ending = self._job.ending
        was_ended = ending.shortage is not None or ending.failure is not None or ending.refusal is not None
        if not was_ended and not self._media.is_done():
            raise DontCloseSpider

    def _spider_closed(self, reason: str) -> None:
        job, ending = self._job, self._job.ending
        problem = ending.shortage or ending.failure or ending.refusal or ending.interruption
        if problem is None and reason != CloseReason.FINISHED:
            problem = "the check was stopped"
        if ending.failure is None:
            try:
                decisions, decider = decider_of(job.context, proved=False)
                decisions.save(decider.decisions())
            except SQLAlchemyError as error:
                job.inventory_failed(error)
                problem = job.ending.failure
        self._spider.outcome = CheckOutcome(problem or self._media.problem, self._media.problems)
        job.close()
