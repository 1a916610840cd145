"""Sitemaps that are not ours as a source of URLs: those that robots.txt names, and those that the options give."""

from __future__ import annotations

import asyncio
import logging
from itertools import chain
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.exceptions import UnsupportedURLSchemeError
from scrapy.http.request import NO_CALLBACK
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.download.errors import failure_words
from sitemap_crawler.crawl.download.handler import BOMB, TRUNCATED
from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta, Stat
from sitemap_crawler.crawl.middlewares.robots import (
    REDIRECT_STATUSES,
    BlockedByRobotsError,
    RobotsMiddleware,
    RobotsUnavailableError,
)
from sitemap_crawler.crawl.seed_entries import SeedEntries
from sitemap_crawler.exceptions import SitemapCrawlerError
from sitemap_crawler.extract.sitemaps import read_sitemap
from sitemap_crawler.inventory.alternates import delete_claims, store_claims
from sitemap_crawler.inventory.publications import published_urls
from sitemap_crawler.inventory.seed_sitemaps import REDIRECT, START, Seed, SeedQueue
from sitemap_crawler.sitemap.limits import MAX_BYTES
from sitemap_crawler.urls.normalise import MAX_STORED_URL, origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from sitemap_crawler.extract.sitemap_xml import SitemapEntry

logger = logging.getLogger(__name__)

MAX_REDIRECTS = 5
MAX_LEVEL = 2
"""An index must not list another one (https://www.sitemaps.org/protocol.html#index); some do."""


async def read_seeds(crawler: Crawler) -> None:
    """Queue what foreign sitemaps name, after all that is linked has been fetched.

    Not earlier, because the start page may still move the scope; and what only a sitemap names is fetched last anyway.
    """
    try:
        seeds = _Seeds(crawler)
        if seeds.waiting:
            await _linked_pages(crawler)
            await seeds.read()
    except SQLAlchemyError as error:
        job_of(crawler).inventory_failed(error)
        EngineControl(crawler).close(CloseReason.INVENTORY_FAILED)


async def _linked_pages(crawler: Crawler) -> None:
    """Wait until nothing is queued and nothing under way."""
    engine, idle = EngineControl(crawler), asyncio.Event()

    def look() -> None:
        if engine.is_idle:
            idle.set()

    crawler.signals.connect(look, signals.scheduler_empty)
    try:
        look()
        await idle.wait()
    finally:
        crawler.signals.disconnect(look, signals.scheduler_empty)


class _Seeds:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._engine = EngineControl(crawler)
        self._job = job_of(crawler)
        self._robots = crawler.get_downloader_middleware(RobotsMiddleware)
        self._pages = self._job.rules.resolver()
        self._sitemaps = self._job.rules.resolver(tracking=True)
        """Of a sitemap's own URL no parameter is superfluous."""
        ours = published_urls(self._job.store.connection)
        known = [url for url in map(self._sitemaps.normalise, ours) if url is not None]
        self._queue = SeedQueue(self._job.store.connection, self._job.run.id, known)
        self._files = self._urls = self._outside = 0

    @property
    def waiting(self) -> bool:
        """Whether anything is left to be read: not so in a run that was stopped after it had read all."""
        if self._queue.waiting or not all(map(self._queue.knows, self._chosen())):
            return True
        return self._robots is not None and not self._queue.knows(self._robots_url)

    @property
    def _robots_url(self) -> str:
        return f"{origin_of(self._job.start_url)}/robots.txt"

    def _chosen(self) -> Iterator[str]:
        return (url for url in map(self._sitemaps.normalise, self._job.options.seed_sitemap) if url is not None)

    async def read(self) -> None:
        try:
            await self._take_robots()
        except RobotsUnavailableError:
            # The middleware has refused the run.
            return
        if self._ending():
            return
        for url in self._chosen():
            self._queue.add(Seed(url, "--seed-sitemap", 0))
        self._queue.write()
        while self._queue.waiting and not self._ending():
            await self._read_file(self._queue.waiting.popleft())
        if self._files:
            message = "%d URLs in %d sitemaps, %d of them out of scope"
            logger.info(message, self._urls, self._files, self._outside)

    async def _take_robots(self) -> None:
        await self._take_robots_of(self._robots_url, origin_of(self._job.start_url))
        address = self._job.rules.address
        if address is not None and address.robots_url is not None:
            await self._take_robots_of(address.robots_url, origin_of(address.published_at))

    async def _take_robots_of(self, url: str, origin: str) -> None:
        if self._robots is None or self._queue.knows(url) or self._ending():
            return
        rules = await self._robots.rules_for(origin)
        if self._ending():
            return
        lines = SeedEntries("Sitemap lines", "http or https URL", lambda line: self._sitemaps.resolve(line, url))
        for sitemap in filter(None, map(lines.url, () if rules is None else rules.sitemaps)):
            self._queue.add(Seed(sitemap, url, 0))
        self._queue.write(Seed(url, START, 0, done=True, problems=tuple(lines.problems())))

    async def _read_file(self, seed: Seed) -> None:
        self._files += 1
        try:
            response = await self._fetch(seed)
            problems = () if response is None else await self._take(response, seed)
            settled = seed._replace(done=True, problems=tuple(problems))
        except _UnreadSitemapError as error:
            remedy = "try again later" if error.passing else f"correct or remove it in {seed.named_by}"
            problem = f"cannot be read as a sitemap: {error}; {remedy}"
            if not error.passing:
                self._forget_claims(seed)
            settled = seed._replace(done=True, problems=(problem,), transient=error.passing)
        if not self._ending():
            self._queue.write(settled)

    async def _take(self, response: Response, seed: Seed) -> Iterable[str]:
        """Take over what the file names, and say what is wrong with it."""
        file = read_sitemap(response.body)
        if file is None:
            self._forget_claims(seed)
            return (f"is no sitemap, feed or list of URLs; correct or remove it in {seed.named_by}",)
        if file.is_index and seed.level >= MAX_LEVEL:
            return (f"is not read: it is an index of indexes; name its sitemaps in {seed.named_by}",)
        resolver = self._sitemaps if file.is_index else self._pages
        entries = SeedEntries("entries", "absolute http or https URL", resolver.normalise)
        for batch in file:
            # Leave the loop to others: a file can be long. Not after the last one, or what it names would be asked for
            # before the file counts as read.
            await asyncio.sleep(0)
            if self._ending():
                return ()
            if file.is_index:
                for url in filter(None, (entries.url(named.loc) for named in batch)):
                    self._queue.add(Seed(url, seed.url, seed.level + 1))
            else:
                self._take_batch(batch, entries, seed)
        entries.pass_over(file.too_long)
        if entries.too_long:
            self._crawler.stats.inc_value(Stat.LINKS_TOO_LONG, entries.too_long)
        cut = TRUNCATED in response.flags or BOMB in response.flags
        damage = f"has more than {MAX_BYTES:,} bytes" if cut else file.damage
        if damage is None:
            self._forget_claims(seed)
            return entries.problems()
        return (*entries.problems(), f"{damage}: URLs may be missing; mend it where it is written")

    def _take_batch(self, batch: Iterable[SitemapEntry], entries: SeedEntries, seed: Seed) -> None:
        scope, wanted = self._job.rules.scope, self._job.options.alternates
        claims: dict[str, dict[str, str]] = {}
        for named in batch:
            url = entries.url(named.loc)
            if url is None:
                continue
            self._urls += 1
            of_page = claims.setdefault(url, {})
            if not scope.admits(url):
                self._outside += 1
            elif wanted and named.alternates:
                for code, version in entries.versions(named):
                    of_page.setdefault(code, version)
        self._write_claims(claims, seed)

    def _write_claims(self, claims: dict[str, dict[str, str]], seed: Seed) -> None:
        """Queue the pages that are named, also those that are only named as versions, and keep what is said of them."""
        if not claims:
            return
        ids = self._job.queue.add_from_sitemap(chain(claims, *(of_page.values() for of_page in claims.values())))
        by_id = {ids[url]: [(code, ids[version]) for code, version in found.items()] for url, found in claims.items()}
        store_claims(self._job.store.connection, self._job.run.id, seed.url, by_id)

    def _forget_claims(self, seed: Seed) -> None:
        if not self._ending():
            delete_claims(self._job.store.connection, self._job.run.id, seed.url)

    async def _fetch(self, seed: Seed) -> Response | None:
        """The answer of a sitemap; None where a redirect leads to one that is known. Raises _UnreadSitemapError."""
        url = seed.url
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._download(url)
            location = response.headers.get("Location")
            target = self._sitemaps.resolve(location.decode("latin-1"), url) if location else None
            if response.status not in REDIRECT_STATUSES or target is None or len(target) > MAX_STORED_URL:
                if response.status != 200:
                    passing = response.status >= 500 or response.status == 429
                    raise _UnreadSitemapError(f"it answers {response.status}", passing=passing)
                return response
            if self._queue.knows(target):
                return None
            self._queue.add(Seed(target, REDIRECT, seed.level, done=True))
            url = target
        raise _UnreadSitemapError(f"it redirects more than {MAX_REDIRECTS} times", passing=False)

    async def _download(self, url: str) -> Response:
        if self._ending():
            raise _UnreadSitemapError("the crawl is ending", passing=True)
        self._crawler.stats.inc_value(Stat.SEED_REQUESTS)
        request = Request(url, callback=NO_CALLBACK, meta={Meta.VERBATIM_URL: True, Meta.MAX_BODY_BYTES: MAX_BYTES})
        try:
            return await self._crawler.engine.download_async(request)
        except BlockedByRobotsError as error:
            raise _UnreadSitemapError(f"robots.txt forbids it ({error})", passing=False) from error
        except RobotsUnavailableError as error:
            raise _UnreadSitemapError(f"robots.txt of its host is not available ({error})", passing=True) from error
        except UnsupportedURLSchemeError as error:
            raise _UnreadSitemapError(failure_words(error), passing=False) from error
        except Exception as error:
            raise _UnreadSitemapError(failure_words(error), passing=True) from error

    def _ending(self) -> bool:
        """Whether the crawl is being stopped: requests would then be refused, and the inventory may be closed."""
        if self._job.failure is not None or self._job.refusal is not None:
            return True
        return self._engine.is_closing


class _UnreadSitemapError(SitemapCrawlerError):
    """Why a sitemap was not had, in a few words."""

    def __init__(self, words: str, *, passing: bool) -> None:
        super().__init__(words)
        self.passing = passing
