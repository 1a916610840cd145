"""The spider `site`: makes one Page of every answer, parsed once."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from scrapy import Spider
from scrapy.exceptions import CloseSpider

from sitemap_crawler.conditional import asked_plainly
from sitemap_crawler.downloader import BOMB, TRUNCATED
from sitemap_crawler.entrance import job_or_exit
from sitemap_crawler.failures import failure_words
from sitemap_crawler.items import Observation, Page, QueuedUrl
from sitemap_crawler.middlewares.politeness import Postponed
from sitemap_crawler.middlewares.robots import BlockedByRobots, RobotsUnavailable
from sitemap_crawler.reading.content import DECOMPRESSION_BOMB, media_type
from sitemap_crawler.reading.document import parse_document
from sitemap_crawler.reading.hints import looks_like_script_shell
from sitemap_crawler.reading.links import find_links
from sitemap_crawler.reading.refresh import refresh_header_target, refresh_target
from sitemap_crawler.scope import redirect_of_start
from sitemap_crawler.seeds import read_seeds
from sitemap_crawler.urls import origin_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from sitemap_crawler.job import Job
    from sitemap_crawler.urls import Resolver

logger = logging.getLogger(__name__)

READABLE = frozenset(("text/html", "application/xhtml+xml"))
"""Content types that have links and directives of their own; others may be listed, by a setting."""


class SiteSpider(Spider):
    name = "site"
    job: Job

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, job: Job | None = None, **kwargs: Any) -> SiteSpider:
        """Our command line brings the job; `scrapy crawl` and Scrapyd have it made here, of settings and arguments."""
        spider = super().from_crawler(crawler)
        spider.job = job if job is not None else job_or_exit(crawler, kwargs)
        _share_concurrency(crawler.settings)
        spider.resolver = spider.job.rules.resolver()
        return spider

    resolver: Resolver

    async def start(self) -> AsyncIterator[Any]:
        # All pages come through the queue, which holds the start page already.
        if self.crawler.crawling:
            await read_seeds(self.crawler)
        else:
            # Scrapy forgets a signal that came while the engine was not running yet.
            await self.crawler.engine.stop_async()
        return
        yield

    def parse(self, response: Response) -> Iterator[Page | Request]:
        queued: QueuedUrl = response.meta["queued"]
        headers = _text_headers(response)
        plain = asked_plainly(response, queued, headers)
        if plain is not None:
            yield plain
            return
        observation = Observation(queued.id, datetime.now(UTC), status=response.status)
        observation.content_type = media_type(_first(headers, "content-type"), response.body)
        observation.body_bytes = len(response.body)
        page = Page(queued, observation, headers)
        if BOMB in response.flags:
            observation.content_type = DECOMPRESSION_BOMB
        elif TRUNCATED in response.flags:
            observation.notes["long-body"] = len(response.body)
        if response.status == 304 and queued.conditional:
            observation.not_modified = True
        elif 300 <= response.status < 400:
            observation.location = self._location(headers, queued.url)
        elif response.status == 200 and response.body and observation.content_type in self.job.rules.content_types:
            try:
                self._read(page, response.body)
            except Exception as error:
                # A page that we can't read must neither be listed blindly nor stop the crawl.
                logger.exception("cannot read %s", queued.url)
                page.give_up(failure_words(error))
        if queued.url == self.job.start_url:
            self._check_start(page)
        yield page

    def failed(self, failure: Failure) -> Iterator[Page]:
        """A request without an answer: forbidden by robots.txt, or unreachable after all tries."""
        request = failure.request  # type: ignore[attr-defined]
        if isinstance(failure.value, Postponed) or self._ends_crawl(failure.value, request.url):
            return
        observation = Observation(request.meta["queued"].id, datetime.now(UTC))
        if isinstance(failure.value, BlockedByRobots):
            observation.blocked_by = str(failure.value)
        else:
            observation.error = failure_words(failure.value)
        yield Page(request.meta["queued"], observation)

    def _ends_crawl(self, error: BaseException | None, url: str) -> bool:
        """What another host's robots.txt keeps away is unreachable, without that of the start page nothing goes on."""
        return isinstance(error, RobotsUnavailable) and origin_of(url) == origin_of(self.job.start_url)

    def _read(self, page: Page, body: bytes) -> None:
        url = page.queued.url
        content_type = _first(page.headers, "content-type") or ""
        observation = page.observation
        observation.body_hash = blake2b(body, digest_size=16).digest()
        observation.refresh = refresh_header_target(
            page.headers.get("refresh", ()), url=url, resolve=self.resolver.resolve
        )
        if observation.content_type not in READABLE:
            return
        document = parse_document(body, url=url, content_type=content_type, resolver=self.resolver)
        if document is None:
            return
        if document.deep:
            page.observation.notes["deep-page"] = 1
        page.document = document
        observation.refresh = observation.refresh or refresh_target(document)
        links = find_links(document, page.headers.get("link", ()))
        page.links, page.nofollow_links = links.follow, links.nofollow

    def _location(self, headers: dict[str, list[str]], url: str) -> str | None:
        location = _first(headers, "location")
        return self.resolver.resolve(location, url) if location else None

    def _check_start(self, page: Page) -> None:
        if page.document is not None and looks_like_script_shell(page.document):
            page.observation.notes["script-shell"] = 1
        target = page.observation.location or page.observation.refresh
        if target is None:
            return
        job = self.job
        kind = redirect_of_start(job.start_url, target, job.rules.scope)
        chosen = job.options.sitemap_url is not None
        if kind == "inside" or (chosen and job.rules.scope.admits(target)):
            return
        if kind == "directory" and not chosen:
            job.adopt_start(target, notice=f"the start page redirects to {target}: its directory is the scope")
        elif kind == "variant" and not chosen:
            job.adopt_start(target, notice=f"the start page redirects to {target}: the crawl goes on from there")
        else:
            message = f"the start page {job.start_url} redirects to {target}: start from that address"
            job.refuse(f"{message}, or change --sitemap-url" if chosen else message, ends_run=True)
            raise CloseSpider("start-elsewhere")


def _share_concurrency(settings: BaseSettings) -> None:
    """A site is one host, for which Scrapy has a limit of its own: the total is meant, unless both are given."""
    name = "CONCURRENT_REQUESTS_PER_DOMAIN"
    if (settings.getpriority(name) or 0) < (settings.getpriority("CONCURRENT_REQUESTS") or 0):
        settings.set(name, settings.getint("CONCURRENT_REQUESTS"), priority="cmdline")


def _text_headers(response: Response) -> dict[str, list[str]]:
    return {
        name.decode("latin-1").lower(): [_header_text(value) for value in values]
        for name, values in dict.items(response.headers)
    }


def _header_text(value: bytes) -> str:
    # Headers are Latin-1 by their standard and UTF-8 by custom.
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _first(headers: dict[str, list[str]], name: str) -> str | None:
    values = headers.get(name)
    return values[0] if values else None
