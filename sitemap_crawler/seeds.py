"""Sitemaps that are not ours as a source of URLs: those that robots.txt names, and those that the options give."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request, signals
from scrapy.http.request import NO_CALLBACK
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.downloader import TRUNCATED
from sitemap_crawler.failures import failure_words
from sitemap_crawler.inventory.publications import published_urls
from sitemap_crawler.inventory.runs import remember_seeded
from sitemap_crawler.job import end_crawl, job_of
from sitemap_crawler.middlewares.robots import REDIRECTS, BlockedByRobots, RobotsMiddleware, RobotsUnavailable
from sitemap_crawler.reading.sitemaps import SitemapFile, read_sitemap
from sitemap_crawler.sitemap.limits import MAX_BYTES
from sitemap_crawler.urls import Resolver, origin_of

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

MAX_FILES = 10_000
"""Sitemaps of one run: with 50,000 URLs each far more than a crawl can hold."""
MAX_REDIRECTS = 5
MAX_LEVEL = 2
"""An index must not list another one (https://www.sitemaps.org/protocol.html#index); some do."""


class _Seed(NamedTuple):
    url: str
    named_by: str
    level: int
    """0, or that of the index that names it plus 1."""


async def read_seeds(crawler: Crawler) -> None:
    """Queue what foreign sitemaps name, after all that is linked has been fetched.

    Not earlier, because the start page may still move the scope; and what only a sitemap names is fetched last anyway.
    """
    if job_of(crawler).run.seeded:
        return
    await _linked_pages(crawler)
    seeds = _Seeds(crawler)
    try:
        await seeds.read()
    except SQLAlchemyError as error:
        job_of(crawler).inventory_failed(error)
        end_crawl(crawler, "inventory-failed")


async def _linked_pages(crawler: Crawler) -> None:
    """Wait until nothing is queued and nothing under way."""
    idle = asyncio.Event()

    def look() -> None:
        if _is_idle(crawler.engine):
            idle.set()

    crawler.signals.connect(look, signals.scheduler_empty)
    try:
        look()
        await idle.wait()
    finally:
        crawler.signals.disconnect(look, signals.scheduler_empty)


def _is_idle(engine: ExecutionEngine) -> bool:
    """As the engine itself finds it out, but for the start that waits here."""
    if engine.downloader.active or (engine.scraper.slot is not None and not engine.scraper.slot.is_idle()):
        return False
    return engine.scheduler is None or not engine.scheduler.has_pending_requests()


class _Seeds:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._pages = Resolver(self._job.options.tracking_parameters)
        self._sitemaps = Resolver(())
        """Of a sitemap's own URL no parameter is superfluous."""
        self._waiting: deque[_Seed] = deque()
        self._known: set[str] = set()
        """Sitemaps that are read, to be read, or not to be read as they are ours."""
        self._files = self._urls = self._outside = 0
        self._overfull = False

    async def read(self) -> None:
        if self._ending():
            return
        ours = published_urls(self._job.store.connection)
        self._known |= {url for url in map(self._sitemaps.normalise, ours) if url is not None}
        try:
            await self._add_named_by_robots()
        except RobotsUnavailable:
            # The middleware has refused the run.
            return
        for url in self._job.options.seed_sitemap:
            self._add(self._sitemaps.normalise(url), "--seed-sitemap", 0)
        while self._waiting and not self._ending():
            await self._read_file(self._waiting.popleft())
        if not self._waiting and not self._ending():
            remember_seeded(self._job.store.connection, self._job.run.id)
        if self._files:
            message = "%d URLs in %d sitemaps, %d of them out of scope"
            logger.info(message, self._urls, self._files, self._outside)

    async def _add_named_by_robots(self) -> None:
        middleware = self._crawler.get_downloader_middleware(RobotsMiddleware)
        if middleware is None:
            return
        origin = origin_of(self._job.start_url)
        robots_url = f"{origin}/robots.txt"
        rules = await middleware.rules_for(origin)
        for written in () if rules is None else rules.sitemaps:
            self._add(self._sitemaps.resolve(written, robots_url), robots_url, 0)

    def _add(self, url: str | None, named_by: str, level: int) -> None:
        """Note a sitemap to be read, once; None, which is no usable URL, is passed over."""
        if url is None or url in self._known:
            return
        if self._files + len(self._waiting) >= MAX_FILES:
            if not self._overfull:
                self._overfull = True
                self._job.warn("seed-sitemap", url, f"is not read, nor are others: a run reads {MAX_FILES:,} sitemaps")
            return
        self._known.add(url)
        self._waiting.append(_Seed(url, named_by, level))

    async def _read_file(self, seed: _Seed) -> None:
        self._files += 1
        try:
            response = await self._fetch(seed.url)
        except _Unread as problem:
            if not self._ending():
                remedy = f"correct or remove it in {seed.named_by}"
                self._job.warn("seed-sitemap", seed.url, f"cannot be read as a sitemap: {problem}; {remedy}")
            return
        if response is None:
            return
        file = read_sitemap(response.body)
        if file is None:
            message = f"is no sitemap, feed or list of URLs; correct or remove it in {seed.named_by}"
            self._job.warn("seed-sitemap", seed.url, message)
            return
        if file.index:
            await self._take_sitemaps(file, seed)
        else:
            await self._take_urls(file)
        damage = f"has more than {MAX_BYTES:,} bytes" if TRUNCATED in response.flags else file.damage
        if damage is not None:
            self._job.warn("seed-sitemap", seed.url, f"{damage}: URLs may be missing; mend it where it is written")

    async def _take_sitemaps(self, index: SitemapFile, seed: _Seed) -> None:
        if seed.level >= MAX_LEVEL:
            message = f"is not read: it is an index of indexes; name its sitemaps in {seed.named_by}"
            self._job.warn("seed-sitemap", seed.url, message)
            return
        for batch in index:
            for loc in batch:
                self._add(self._sitemaps.normalise(loc), seed.url, seed.level + 1)
            if self._overfull:
                return
            await asyncio.sleep(0)

    async def _take_urls(self, file: SitemapFile) -> None:
        for batch in file:
            scope = self._job.rules.scope
            urls = [url for url in map(self._pages.normalise, batch) if url is not None]
            self._urls += len(urls)
            self._outside += sum(not scope.admits(url) for url in urls)
            self._job.queue.add_named(urls)
            # Leave the loop to others: a file can be long.
            await asyncio.sleep(0)
            if self._ending():
                return

    async def _fetch(self, url: str) -> Response | None:
        """The answer of a sitemap; None where a redirect leads to one that is known. Raises _Unread."""
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._download(url)
            location = response.headers.get("Location")
            target = self._sitemaps.resolve(location.decode("latin-1"), url) if location else None
            if response.status not in REDIRECTS or target is None:
                if response.status != 200:
                    raise _Unread(f"it answers {response.status}")
                return response
            if target in self._known:
                return None
            self._known.add(target)
            url = target
        raise _Unread(f"it redirects more than {MAX_REDIRECTS} times")

    async def _download(self, url: str) -> Response:
        if self._ending():
            raise _Unread("the crawl is ending")
        self._crawler.stats.inc_value("seeds/requests")
        request = Request(url, callback=NO_CALLBACK, meta={"verbatim_url": True, "max_body": MAX_BYTES})
        try:
            return await self._crawler.engine.download_async(request)
        except BlockedByRobots as error:
            raise _Unread(f"robots.txt forbids it ({error})") from error
        except RobotsUnavailable as error:
            raise _Unread(f"robots.txt of its host is not available ({error})") from error
        except Exception as error:
            raise _Unread(failure_words(error)) from error

    def _ending(self) -> bool:
        """Whether the crawl is being stopped: requests would then be refused, and the inventory may be closed."""
        if self._job.failure is not None or self._job.refusal is not None:
            return True
        slot = self._crawler.engine._slot
        return slot is None or slot.closing is not None


class _Unread(Exception):  # noqa: N818 - it says what happened
    """Why a sitemap was not had, in a few words."""
