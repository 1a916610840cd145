"""The check of listed URLs: each is requested and judged as in a crawl, and no link is followed.

The same engine, robots.txt, pace and decisions as in a crawl apply. Observations and decisions go to an inventory of
their own.
"""

from __future__ import annotations

import asyncio
import logging
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import DontCloseSpider
from scrapy.http.request import NO_CALLBACK

from sitemap_crawler.crawl.download.errors import describe_failure
from sitemap_crawler.crawl.engine import EngineControl, SiteCrawler
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta
from sitemap_crawler.crawl.log import quieten_asyncio, quieten_scrapy
from sitemap_crawler.crawl.middlewares.robots import BlockedByRobotsError, RobotsUnavailableError
from sitemap_crawler.crawl.middlewares.shortage import RequestAbandonedError
from sitemap_crawler.crawl.runner import run_process
from sitemap_crawler.crawl.spiders.site import SiteSpider
from sitemap_crawler.crawl.startup import begin, start_of_command
from sitemap_crawler.exceptions import FAILED, CrawlStoppedError, OptionError, SitemapCrawlerError
from sitemap_crawler.publish.conclude import decider_of
from sitemap_crawler.report.report import Report
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.urls.scope import registrable_domain
from sitemap_crawler.utils.addresses import Gate
from sitemap_crawler.utils.shortage import ShortageError, shortage_of
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
    from pathlib import Path

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.items import Page

logger = logging.getLogger(__name__)

QUEUED_AT_ONCE = 5_000
"""Number of listed URLs that are queued in one transaction, between two turns of the event loop."""
MAX_TARGET_ROUNDS = 10
"""Maximum number of redirects and canonicals that are followed from a listed URL."""
MEDIA_AT_ONCE = 8
"""Maximum number of requests for media that are in flight. The throttles of the hosts allow fewer."""
_HEAD_REFUSED = frozenset((400, 403, 404, 405, 406, 500, 501, 503))
"""Statuses of a HEAD request after which a GET request is sent: some servers answer HEAD with an error."""
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
    media: dict[str, str]
    """The problem of each image or video that is not there, by its URL as listed."""


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
    start.settings.set("EXTENSIONS", {**start.settings.getdict("EXTENSIONS"), **_EXTENSIONS}, priority="cmdline")
    start.settings.set("ITEM_PIPELINES", {**start.settings.getdict("ITEM_PIPELINES"), **_PIPELINES}, priority="cmdline")
    job = begin(start)
    if isinstance(job, Report):
        raise SitemapCrawlerError(job.message) if job.exit_code == FAILED else CrawlStoppedError(job.message)
    if named_by is not None:
        # A sitemap of another site must not choose whom the program talks to.
        job.gate = Gate.for_listed(origin, named_by=named_by, domain_of=registrable_domain)
    outcome = CheckOutcome("the check was stopped at once", {})
    try:
        if request_options.verbosity < 1:
            quieten_scrapy()
        quieten_asyncio()
        crawler = SiteCrawler(ListedSpider, start.settings)
        failure = run_process(AsyncCrawlerProcess(start.settings), crawler, job=job, listed=requests)
        if failure is not None:
            if (shortage := shortage_of(failure)) is not None:
                raise ShortageError(shortage) from failure
            raise OptionError(printable(f"the check cannot start ({type(failure).__name__}: {failure})"))
        spider = crawler.spider
        if isinstance(spider, ListedSpider) and spider.outcome is not None:
            outcome = spider.outcome
        return outcome
    finally:
        job.close()


class ListedSpider(SiteSpider):
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

    async def start(self) -> AsyncIterator[Any]:
        engine = EngineControl(self.crawler)
        urls = filter(None, map(self.resolver.normalise, self.listed.pages))
        while not engine.is_closing and (some := tuple(islice(urls, QUEUED_AT_ONCE))):
            self.job.queue.add_from_sitemap(some)
            await asyncio.sleep(0)
        return
        yield

    def parse(self, response: Response) -> Iterator[Page | Request]:
        for item in super().parse(response):
            if not isinstance(item, Request):
                # The first page is like any other: a redirect elsewhere does not end the check.
                item.is_start = False
            yield item


class WithoutLinks:
    """Pipeline that drops the links of a page: no link is followed, so none has to be stored."""

    def process_item(self, item: Page) -> Page:
        item.links = item.nofollow_links = ()
        return item


class ListedChecks:
    """Extension that follows redirects and canonicals, requests the media, and decides when the spider closes."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job: Job = job_of(crawler)
        self._engine = EngineControl(crawler)
        self._rounds = 0
        self._media: asyncio.Task[None] | None = None
        self._media_problems: dict[str, str] = {}
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
        job = self._job
        ending = job.ending
        if ending.shortage is not None or ending.failure is not None or ending.refusal is not None:
            return
        if self._rounds < MAX_TARGET_ROUNDS:
            self._rounds += 1
            job.queue.flush()
            job.queue.add_targets()
            if job.queue.queued:
                self._engine.wake()
                raise DontCloseSpider
        if self._media is None:
            self._media = asyncio.ensure_future(self._check_media())
        if not self._media.done():
            raise DontCloseSpider

    async def _check_media(self) -> None:
        texts = iter(self._spider.listed.media)
        await asyncio.gather(*(self._check_some_media(texts) for _ in range(MEDIA_AT_ONCE)))
        self._engine.wake()

    async def _check_some_media(self, texts: Iterator[str]) -> None:
        for text in texts:
            if self._engine.is_closing:
                return
            url = self._spider.resolver.normalise(text)
            if url is None or text in self._media_problems:
                continue
            self._job.gate.name(origin_of(url))
            problem = await self._media_problem(url)
            if problem is not None and not self._engine.is_closing:
                self._media_problems[text] = problem

    async def _media_problem(self, url: str) -> str | None:
        """Return why an image or video is not there; None if it is, or if robots.txt forbids the question."""
        try:
            for method in ("HEAD", "GET"):
                meta = {Meta.VERBATIM_URL: True, Meta.MAX_BODY_BYTES: 1}
                request = Request(url, method=method, callback=NO_CALLBACK, meta=meta)
                response = await self._crawler.engine.download_async(request)
                if method == "GET" or response.status not in _HEAD_REFUSED:
                    break
        except BlockedByRobotsError as error:
            return f"robots.txt forbids it ({error})"
        except (RobotsUnavailableError, RequestAbandonedError):
            return None
        except Exception as error:
            return describe_failure(error)
        return None if response.status < 400 else f"status {response.status}"

    def _spider_closed(self, reason: str) -> None:
        job, ending = self._job, self._job.ending
        problem = ending.shortage or ending.failure or ending.refusal or ending.interruption
        if problem is None and reason != CloseReason.FINISHED:
            problem = "the check was stopped"
        if ending.failure is None:
            decisions, decider = decider_of(job.context, proved=False)
            decisions.save(decider.decisions())
        self._spider.outcome = CheckOutcome(problem, self._media_problems)
        job.close()
