"""The spider `site`, which makes one Page of every response."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scrapy import Spider

from sitemap_crawler.crawl.download.conditional import unconditional_request, without_conditions
from sitemap_crawler.crawl.download.errors import describe_failure
from sitemap_crawler.crawl.download.handler import BOMB, TRUNCATED
from sitemap_crawler.crawl.keys import Meta
from sitemap_crawler.crawl.middlewares.politeness import RequestPostponedError
from sitemap_crawler.crawl.middlewares.robots import BlockedByRobotsError, RobotsUnavailableError
from sitemap_crawler.crawl.middlewares.shortage import RequestAbandonedError
from sitemap_crawler.crawl.seed_sitemaps import read_seed_sitemaps
from sitemap_crawler.crawl.startup import job_or_exit
from sitemap_crawler.extract.media_type import DECOMPRESSION_BOMB, media_type
from sitemap_crawler.items import NoteKind, Observation, Page, QueuedUrl
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.urls.normalise import Resolver

logger = logging.getLogger(__name__)

_UNUSED = {
    "FEEDS": "items (-o, -O) go to no feed, `sitemap-crawler pages --format jsonl` tells of every page",
    "DEPTH_LIMIT": "--max-depth limits the clicks from the start page",
    "URLLENGTH_LIMIT": "--exclude leaves out what a pattern matches",
}
"""Settings of components of Scrapy that are left out, each with its replacement."""

UNASKED_304 = "status 304, not modified, to a request without conditions: the server sends no page"
"""Evidence for a page whose server answers 304 although the request had no conditions."""


class SiteSpider(Spider):
    name = "site"
    job: Job

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, job: Job | None = None, **kwargs: Any) -> SiteSpider:
        """Take the job of the command line, or open one from the settings and arguments of `scrapy crawl`."""
        spider = super().from_crawler(crawler)
        spider.job = job if job is not None else job_or_exit(crawler, kwargs)
        _share_concurrency(crawler.settings)
        if "_job" not in kwargs:
            # Scrapyd sets FEEDS for all its jobs.
            _warn_of_unused(crawler.settings)
        spider.resolver = spider.job.rules.resolver()
        return spider

    resolver: Resolver

    async def start(self) -> AsyncIterator[Any]:
        # All pages come from the queue, which already holds the start page.
        if self.job.is_helper and self.crawler.crawling:
            return
        if self.crawler.crawling:
            await read_seed_sitemaps(self.crawler)
        else:
            # Scrapy ignores a signal that arrives before the engine runs.
            await self.crawler.engine.stop_async()
        return
        yield

    def parse(self, response: Response) -> Iterator[Page | Request]:
        queued: QueuedUrl = response.meta[Meta.QUEUED]
        headers = _text_headers(response)
        plain = unconditional_request(response, queued, headers)
        if plain is not None:
            yield plain
            return
        observation = Observation(queued.id, datetime.now(UTC), status=response.status)
        observation.content_type = media_type(_first(headers, "content-type"), response.body)
        observation.body_bytes = len(response.body)
        observation.elapsed_ms = _milliseconds(response.meta.get(Meta.LATENCY_SECONDS))
        page = Page(queued, observation, headers)
        if BOMB in response.flags:
            observation.content_type = DECOMPRESSION_BOMB
        elif TRUNCATED in response.flags:
            observation.notes[NoteKind.LONG_BODY] = len(response.body)
        if response.status == 304 and queued.conditional:
            observation.not_modified = True
        elif response.status == 304:
            # It says nothing about the page, and is no redirect.
            observation.status, observation.error = None, UNASKED_304
        elif 300 <= response.status < 400:
            observation.location = self._location(headers, queued.url)
        elif response.status == 200 and response.body and observation.content_type in self.job.rules.content_types:
            page.body = response.body
            page.suspect = self.job.shared.traps.suspect(queued.url)
        page.is_start = queued.url == self.job.start_url
        yield page

    def failed(self, failure: Failure) -> Iterator[Page | Request]:
        """Make a Page of a request without a response: blocked by robots.txt, or unreachable after all retries."""
        request = failure.request  # type: ignore[attr-defined]
        unsent = (RequestPostponedError, RequestAbandonedError)
        if isinstance(failure.value, unsent) or self._ends_crawl(failure.value, request.url):
            return
        queued: QueuedUrl = request.meta[Meta.QUEUED]
        if isinstance(failure.value, ValueError) and queued.conditional:
            # The HTTP client refuses the request, perhaps for a condition of an earlier version of this program.
            yield without_conditions(request, queued)
            return
        observation = Observation(request.meta[Meta.QUEUED].id, datetime.now(UTC))
        if isinstance(failure.value, BlockedByRobotsError):
            observation.blocked_by = str(failure.value)
        else:
            observation.error = describe_failure(failure.value)
        yield Page(request.meta[Meta.QUEUED], observation)

    def _ends_crawl(self, error: BaseException | None, url: str) -> bool:
        """Return whether the error ends the crawl: only an unavailable robots.txt of the start page's origin does."""
        return isinstance(error, RobotsUnavailableError) and origin_of(url) == origin_of(self.job.start_url)

    def _location(self, headers: dict[str, list[str]], url: str) -> str | None:
        location = _first(headers, "location")
        return self.resolver.resolve(location, url) if location else None


def _share_concurrency(settings: BaseSettings) -> None:
    """Use CONCURRENT_REQUESTS for each domain, too, unless both settings are given: a site is usually one host."""
    name = "CONCURRENT_REQUESTS_PER_DOMAIN"
    if (settings.getpriority(name) or 0) < (settings.getpriority("CONCURRENT_REQUESTS") or 0):
        settings.set(name, settings.getint("CONCURRENT_REQUESTS"), priority="cmdline")


def _warn_of_unused(settings: BaseSettings) -> None:
    """Warn of settings of Scrapy that have no effect here."""
    for name, instead in _UNUSED.items():
        if settings.get(name) and settings.getpriority(name):
            logger.warning("%s is not used: %s", name, instead)


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def _text_headers(response: Response) -> dict[str, list[str]]:
    return {
        name.decode("latin-1").lower(): [_header_text(value) for value in values]
        for name, values in dict.items(response.headers)
    }


def _header_text(value: bytes) -> str:
    # Headers are Latin-1 by the standard, and UTF-8 in practice.
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _first(headers: dict[str, list[str]], name: str) -> str | None:
    values = headers.get(name)
    return values[0] if values else None
