"""Sessions that request given URLs: no link is followed, no sitemap is read, and no probe is sent.

Engine, robots.txt, pace and readers are those of a crawl. So are redirects and canonicals, which are followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import CloseSpider
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.engine import EngineControl, SiteCrawler
from sitemap_crawler.crawl.keys import CloseReason
from sitemap_crawler.crawl.log import quieten_asyncio, quieten_scrapy
from sitemap_crawler.crawl.runner import run_process
from sitemap_crawler.crawl.spiders.site import SiteSpider
from sitemap_crawler.exceptions import OptionError
from sitemap_crawler.utils.shortage import ShortageError, shortage_of
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from scrapy import Spider
    from scrapy.http import Response
    from scrapy.settings import Settings

    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.items import Page

MAX_TARGET_ROUNDS = 10
"""Maximum number of redirects and canonicals that are followed from a given URL."""


class GivenUrlsSpider(SiteSpider):
    """Spider that requests what is queued and nothing else."""

    async def start(self) -> AsyncIterator[Any]:
        if not self.crawler.crawling:
            # Scrapy ignores a signal that arrives before the engine runs.
            await self.crawler.engine.stop_async()
            return
        try:
            await self.queue_urls()
        except SQLAlchemyError as error:
            self.job.inventory_failed(error)
            EngineControl(self.crawler).close(CloseReason.INVENTORY_FAILED)
        return
        yield

    async def queue_urls(self) -> None:
        """Queue the URLs. Here they are queued already."""

    def parse(self, response: Response) -> Iterator[Page | Request]:
        for item in super().parse(response):
            if not isinstance(item, Request):
                # The start page is like any other: a redirect elsewhere does not end the session.
                item.is_start = False
            yield item


class TargetRounds:
    """The redirects and canonicals of the pages that were read, which are requested in rounds."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._rounds = 0

    def has_next(self) -> bool:
        """Queue the targets of the last round. Return whether there are any. Raises CloseSpider."""
        job, ending = self._job, self._job.ending
        problem = ending.shortage or ending.failure or ending.refusal or ending.interruption
        if problem is not None or self._rounds >= MAX_TARGET_ROUNDS:
            return False
        self._rounds += 1
        try:
            job.queue.flush()
            job.queue.add_targets()
        except SQLAlchemyError as error:
            job.inventory_failed(error)
            raise CloseSpider(CloseReason.INVENTORY_FAILED) from error
        return job.queue.queued > 0


def add_components(settings: Settings, name: str, components: Mapping[str, int | None]) -> None:
    """Add components to the setting `name`, or remove those without an order."""
    settings.set(name, {**settings.getdict(name), **components}, priority="cmdline")


def run_session(
    settings: Settings, spider: type[GivenUrlsSpider], *, purpose: str, verbosity: int, **arguments: Any
) -> Spider | None:
    """Run a session until it has ended. Return its spider; None if it was stopped before that was made.

    `purpose` names the session in a message. Raises OptionError, ShortageError.
    """
    if verbosity < 1:
        quieten_scrapy()
    quieten_asyncio()
    crawler = SiteCrawler(spider, settings)
    failure = run_process(AsyncCrawlerProcess(settings), crawler, **arguments)
    if failure is not None:
        if (shortage := shortage_of(failure)) is not None:
            raise ShortageError(shortage) from failure
        raise OptionError(printable(f"{purpose} cannot start ({type(failure).__name__}: {failure})"))
    return crawler.spider
