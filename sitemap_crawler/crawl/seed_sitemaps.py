"""Seed sitemaps: foreign sitemaps, named by robots.txt or the options. Their URLs are queued, their dates stored.

The lists of a WordPress site are read after them. They name its posts and pages, and date all entries.
"""

from __future__ import annotations

import asyncio
import logging
import time
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.exceptions import UnsupportedURLSchemeError
from scrapy.http.request import NO_CALLBACK
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.download.errors import describe_failure
from sitemap_crawler.crawl.download.handler import BOMB, TRUNCATED, RequestRefusedError
from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta, Stat
from sitemap_crawler.crawl.list_files import delete_spool, is_url
from sitemap_crawler.crawl.middlewares.robots import (
    REDIRECT_STATUSES,
    BlockedByRobotsError,
    RobotsMiddleware,
    RobotsUnavailableError,
)
from sitemap_crawler.crawl.middlewares.shortage import RequestAbandonedError
from sitemap_crawler.exceptions import PatternTimeoutError, SitemapCrawlerError
from sitemap_crawler.extract.dates import GENERATION_TIME, parse_http_date
from sitemap_crawler.extract.entry_urls import EntryUrls
from sitemap_crawler.extract.page_dates import credible
from sitemap_crawler.extract.sitemaps import read_sitemap
from sitemap_crawler.extract.wordpress import (
    MAX_ANSWER_BYTES,
    is_last_page,
    list_urls,
    names_pages,
    next_page,
    read_entries,
    types_url,
)
from sitemap_crawler.inventory.alternates import delete_claims, store_claims
from sitemap_crawler.inventory.named_dates import store_named_dates, store_wordpress_dates, wordpress_apis
from sitemap_crawler.inventory.publications import published_urls
from sitemap_crawler.inventory.seed_sitemaps import REDIRECT, START, URLS, WORDPRESS, Seed, SeedQueue
from sitemap_crawler.items import is_transient
from sitemap_crawler.policy.lastmod import FEED, SITEMAP, Dated
from sitemap_crawler.policy.lastmod import WORDPRESS as WORDPRESS_DATE
from sitemap_crawler.sitemap.limits import MAX_BYTES
from sitemap_crawler.urls.normalise import MAX_STORED_URL, origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from sitemap_crawler.crawl.access_logs import LogReader
    from sitemap_crawler.crawl.url_lists import ListReader
    from sitemap_crawler.extract.sitemap_xml import SitemapEntry

logger = logging.getLogger(__name__)

MAX_REDIRECTS = 5
"""Redirects that are followed to a sitemap."""
MAX_LEVEL = 2
"""Indexes above a sitemap. An index must not list an index (https://www.sitemaps.org/protocol.html#index); some do."""
LEVEL_OF_TYPES = 0
LEVEL_OF_LISTS = 1
"""Levels of the answers of WordPress: its types of entries, and the pages of their lists."""


async def read_seed_sitemaps(crawler: Crawler) -> None:
    """Queue the URLs of foreign sitemaps after all linked pages have been fetched.

    Not earlier, because the start page may still move the scope, and because URLs that only a sitemap names are
    fetched last in any case.
    """
    try:
        reader = _SeedReader(crawler)
        if reader.has_work:
            await _linked_pages_fetched(crawler)
            await reader.read()
        await _linked_pages_fetched(crawler)
        await reader.read_wordpress()
    except (SQLAlchemyError, PatternTimeoutError) as error:
        job_of(crawler).inventory_failed(error)
        EngineControl(crawler).close(CloseReason.INVENTORY_FAILED)


async def _linked_pages_fetched(crawler: Crawler) -> None:
    """Wait until nothing is queued and nothing is in flight."""
    engine, idle = EngineControl(crawler), asyncio.Event()

    def check() -> None:
        if engine.is_idle:
            idle.set()

    crawler.signals.connect(check, signals.scheduler_empty)
    try:
        check()
        await idle.wait()
    finally:
        crawler.signals.disconnect(check, signals.scheduler_empty)


class _SeedReader:
    """Reader of all seed sitemaps of a run. Each is settled in the inventory, so that a resumed run reads the rest."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._engine = EngineControl(crawler)
        self._job = job_of(crawler)
        self._robots = crawler.get_downloader_middleware(RobotsMiddleware)
        self._pages = self._job.rules.resolver()
        """Normalises the URLs of pages."""
        self._sitemaps = self._job.rules.resolver(tracking=True)
        """Normalises the URLs of sitemaps, which keep their tracking parameters."""
        ours = published_urls(self._job.store.connection)
        known = [url for url in map(self._sitemaps.normalise, ours) if url is not None]
        options = self._job.options
        # A limit of pages is one of sitemaps, too: a small test of a site must not cost it thousands of requests.
        max_files = min(options.max_seed_files, options.max_pages or options.max_seed_files)
        self._queue = SeedQueue(self._job.store.connection, self._job.run.id, known, max_files=max_files)
        for url in self._queue.named:
            self._job.gate.name(origin_of(url))
        self._lists: ListReader | None = None
        self._logs: LogReader | None = None
        # Imported here: few crawls have a list or a log.
        if options.urls:
            from sitemap_crawler.crawl.url_lists import ListReader

            self._lists = ListReader(self._job, self._queue, is_stopping=self._is_stopping)
        if options.access_log:
            from sitemap_crawler.crawl.access_logs import LogReader

            self._logs = LogReader(self._job, self._queue, is_stopping=self._is_stopping)
        self._files = self._urls = self._outside = 0
        """Sitemaps that were read, URLs in them, and those out of scope."""

    @property
    def has_work(self) -> bool:
        """Whether a sitemap is left to read. None is in a run that is resumed after it had read all."""
        if self._queue.waiting or (self._lists and self._lists.unread) or (self._logs and self._logs.has_unread):
            return True
        if not all(map(self._queue.knows, self._chosen())):
            return True
        return self._robots is not None and not self._queue.knows(self._robots_url)

    @property
    def _robots_url(self) -> str:
        return f"{origin_of(self._job.start_url)}/robots.txt"

    def _chosen(self) -> Iterator[str]:
        """Yield the sitemaps that the option `seed_sitemap` names."""
        return (url for url in map(self._sitemaps.normalise, self._job.options.seed_sitemap) if url is not None)

    async def read(self) -> None:
        await self._read_lists()
        try:
            await self._queue_from_robots()
        except (RobotsUnavailableError, RequestAbandonedError):
            # The middlewares have refused or ended the run.
            return
        if self._is_stopping():
            return
        for url in self._chosen():
            self._queue.add(Seed(url, "--seed-sitemap", 0))
        self._queue.write()
        await self._read_waiting()
        if self._files:
            message = "%d URLs in %d sitemaps, %d of them out of scope"
            logger.info(message, self._urls, self._files, self._outside)

    async def _read_lists(self) -> None:
        """Read lists and logs of the owner, before any sitemap: their dates are stored first, so they count."""
        if (lists := self._lists) is not None:
            for source, name in lists.unread:
                if self._is_stopping():
                    return
                if is_url(source):
                    await self._read_list_of_url(lists, name)
                else:
                    await lists.read_file(source, name)
        if self._logs is not None:
            await self._logs.read()
        if not self._is_stopping():
            delete_spool(self._job.store)

    async def _read_list_of_url(self, lists: ListReader, url: str) -> None:
        """Request a list as a sitemap is requested, with its limits, and read it."""
        exceeded = self._exceeded_limit()
        try:
            if exceeded is not None:
                raise _UnreadSitemapError(exceeded, transient=True)
            response = await self._fetch(Seed(url, URLS, 0))
            body = b"" if response is None else response.body
            is_cut = response is not None and (TRUNCATED in response.flags or BOMB in response.flags)
            problems, complete = await lists.take([body], url)
            if is_cut:
                problems, complete = (*problems, f"has more than {MAX_BYTES:,} bytes: the rest is not read"), False
        except _UnreadSitemapError as error:
            problems, complete = (f"cannot be read as a list of URLs: {error}",), False
        lists.settle(url, problems, complete=complete)

    async def read_wordpress(self) -> None:
        """Read the lists of the WordPress sites whose API a page names, at the host of the start page only."""
        if self._is_stopping():
            return
        origin = origin_of(self._job.start_url)
        for api in wordpress_apis(self._job.store.connection):
            url = types_url(api) if origin_of(api) == origin else None
            if url is not None and not self._job.rules.is_excluded(url):
                self._queue.add(Seed(url, WORDPRESS, LEVEL_OF_TYPES))
        self._queue.write()
        await self._read_waiting()

    async def _read_waiting(self) -> None:
        """Read what the queue holds, as far as the limits allow."""
        while self._queue.waiting and not self._is_stopping():
            seed = self._queue.waiting.popleft()
            exceeded = self._exceeded_limit()
            if exceeded is not None:
                problem = f"is not read, and neither are {len(self._queue.waiting):,} further ones: {exceeded}"
                self._queue.write(seed._replace(done=True, problems=(problem,), transient=seed.named_by != WORDPRESS))
                self._queue.give_up()
            elif seed.named_by == WORDPRESS:
                await self._read_list(seed)
            else:
                await self._read_file(seed)

    def _exceeded_limit(self) -> str | None:
        """Return the limit that keeps the run from reading another sitemap, None if there is none."""
        options, spent = self._job.options, self._queue.spent
        if spent.bytes >= options.max_seed_bytes:
            return f"SITEMAP_MAX_SEED_BYTES is {options.max_seed_bytes:,}"
        if spent.seconds >= options.max_seed_time:
            return f"SITEMAP_MAX_SEED_TIME is {options.max_seed_time:g} s"
        return None

    async def _queue_from_robots(self) -> None:
        """Queue the sitemaps that robots.txt names: that of the start page, and that of a public address."""
        await self._queue_from(self._robots_url, origin_of(self._job.start_url))
        address = self._job.rules.address
        if address is not None and address.robots_url is not None:
            await self._queue_from(address.robots_url, origin_of(address.published_at))

    async def _queue_from(self, robots_url: str, origin: str) -> None:
        if self._robots is None or self._queue.knows(robots_url) or self._is_stopping():
            return
        rules = await self._robots.rules_for(origin)
        if self._is_stopping():
            return
        lines = EntryUrls("Sitemap lines", "http or https URL", lambda line: self._sitemaps.resolve(line, robots_url))
        for sitemap in filter(None, map(lines.accept, () if rules is None else rules.sitemaps)):
            self._job.gate.name(origin_of(sitemap))
            self._queue.add(Seed(sitemap, robots_url, 0))
        self._queue.write(Seed(robots_url, START, 0, done=True, problems=tuple(lines.problems())))

    async def _read_file(self, seed: Seed) -> None:
        """Fetch and read one sitemap, and settle it in the inventory."""
        self._files += 1
        began = time.monotonic()
        try:
            response = await self._fetch(seed)
            problems = () if response is None else await self._take(response, seed)
            settled = seed._replace(done=True, problems=tuple(problems))
        except _UnreadSitemapError as error:
            remedy = "try again later" if error.transient else f"correct or remove it in {seed.named_by}"
            problem = f"cannot be read as a sitemap: {error}; {remedy}"
            if not error.transient:
                self._delete_claims(seed)
            settled = seed._replace(done=True, problems=(problem,), transient=error.transient)
        self._settle(settled, began=began)

    async def _read_list(self, seed: Seed) -> None:
        """Fetch the types of entries, or one page of a list, and store the dates. A closed API is no problem."""
        began = time.monotonic()
        try:
            response = await self._download(seed.url, max_bytes=MAX_ANSWER_BYTES)
        except _UnreadSitemapError as error:
            logger.debug("%s is not read: %s", seed.url, error)
        else:
            self._queue.spent = self._queue.spent.plus(size=len(response.body))
            if response.status == 200 and not self._is_stopping():
                self._take_list(response, seed)
        self._settle(seed._replace(done=True), began=began)

    def _take_list(self, response: Response, seed: Seed) -> None:
        if seed.level == LEVEL_OF_TYPES:
            for url in list_urls(seed.url, response.body):
                self._queue.add(Seed(url, WORDPRESS, LEVEL_OF_LISTS))
            return
        entries = read_entries(response.body)
        now = datetime.now(UTC)
        pages: list[str] = []
        dates: dict[str, Dated] = {}
        for entry in entries:
            page, date = self._pages.normalise(entry.url), credible(entry.modified, WORDPRESS_DATE, now)
            if page is None or len(page) > MAX_STORED_URL or not self._job.rules.scope.admits(page):
                continue
            pages.append(page)
            if date is not None:
                dates[page] = Dated(date.moment.timestamp(), date.source)
        if pages and names_pages(seed.url):
            self._job.queue.add_from_sitemap(pages)
        store_wordpress_dates(self._job.store.connection, self._job.run.id, dates)
        if entries and not is_last_page(seed.url, len(entries), response.headers.get("X-WP-TotalPages")):
            self._queue.add(Seed(next_page(seed.url), WORDPRESS, LEVEL_OF_LISTS))

    def _settle(self, seed: Seed, *, began: float) -> None:
        """Write that a sitemap needs no reading any more. `began` is the time of time.monotonic() at its request."""
        if not self._is_stopping():
            self._queue.spent = self._queue.spent.plus(seconds=time.monotonic() - began)
            self._queue.write(seed)

    async def _take(self, response: Response, seed: Seed) -> Iterable[str]:
        """Queue the URLs in the file, and return its problems."""
        self._queue.spent = self._queue.spent.plus(size=len(response.body))
        file = read_sitemap(response.body)
        if file is None:
            self._delete_claims(seed)
            return (f"is no sitemap, feed or list of URLs; correct or remove it in {seed.named_by}",)
        if file.is_index and seed.level >= MAX_LEVEL:
            return (f"is not read: it is an index of indexes; name its sitemaps in {seed.named_by}",)
        resolver = self._sitemaps if file.is_index else self._pages
        urls = EntryUrls("entries", "absolute http or https URL", resolver.normalise)
        dates = EntryDates(response, is_feed=file.is_feed, now=datetime.now(UTC))
        for batch in file:
            # A long file must not block the event loop. After the last batch there is no pause: the URLs would be
            # requested before the file counts as read.
            await asyncio.sleep(0)
            if self._is_stopping():
                return ()
            if file.is_index:
                for url in filter(None, (urls.accept(entry.loc) for entry in batch)):
                    self._queue.add(Seed(url, seed.url, seed.level + 1))
            else:
                self._take_batch(batch, urls, dates, seed)
        urls.count_unread(file.too_long)
        if urls.too_long:
            self._crawler.stats.inc_value(Stat.LINKS_TOO_LONG, urls.too_long)
        is_cut = TRUNCATED in response.flags or BOMB in response.flags
        damage = f"has more than {MAX_BYTES:,} bytes" if is_cut else file.damage
        if damage is None:
            self._delete_claims(seed)
            return urls.problems()
        return (*urls.problems(), f"{damage}: URLs may be missing; fix it where it is written")

    def _take_batch(self, batch: Iterable[SitemapEntry], urls: EntryUrls, dates: EntryDates, seed: Seed) -> None:
        scope, wants_alternates = self._job.rules.scope, self._job.options.alternates
        claims: dict[str, dict[str, str]] = {}
        dated: dict[str, Dated] = {}
        for entry in batch:
            url = urls.accept(entry.loc)
            if url is None:
                continue
            self._urls += 1
            versions = claims.setdefault(url, {})
            if not scope.admits(url):
                self._outside += 1
                continue
            if wants_alternates and entry.alternates:
                for code, version in urls.versions(entry):
                    versions.setdefault(code, version)
            date = dates.of(entry) if entry.lastmod is not None else None
            if date is not None:
                dated.setdefault(url, date)
        self._write_claims(claims, dated, seed)

    def _write_claims(self, claims: dict[str, dict[str, str]], dated: dict[str, Dated], seed: Seed) -> None:
        """Queue the pages and their language versions, and store the dates and which page names which version.

        `claims` has the URL of each version by page and language code.
        """
        if not claims:
            return
        ids = self._job.queue.add_from_sitemap(chain(claims, *(versions.values() for versions in claims.values())))
        by_id = {
            ids[url]: [(code, ids[version]) for code, version in versions.items()] for url, versions in claims.items()
        }
        connection, run = self._job.store.connection, self._job.run.id
        store_claims(connection, run, seed.url, by_id)
        store_named_dates(connection, run, seed.url, {ids[url]: date for url, date in dated.items()})

    def _delete_claims(self, seed: Seed) -> None:
        if not self._is_stopping():
            delete_claims(self._job.store.connection, self._job.run.id, seed.url)

    async def _fetch(self, seed: Seed) -> Response | None:
        """Return the response of a sitemap; None if it redirects to a known one. Raises _UnreadSitemapError."""
        url = seed.url
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._download(url)
            location = response.headers.get("Location")
            target = self._sitemaps.resolve(location.decode("latin-1"), url) if location else None
            if response.status not in REDIRECT_STATUSES or target is None or len(target) > MAX_STORED_URL:
                if response.status != 200:
                    transient = is_transient(response.status)
                    raise _UnreadSitemapError(f"it answers {response.status}", transient=transient)
                return response
            if self._queue.knows(target):
                return None
            if seed.level == 0:
                self._job.gate.name(origin_of(target))
            self._queue.add(Seed(target, REDIRECT, seed.level, done=True))
            url = target
        raise _UnreadSitemapError(f"it redirects more than {MAX_REDIRECTS} times", transient=False)

    async def _download(self, url: str, *, max_bytes: int = MAX_BYTES) -> Response:
        """Request one URL, without following redirects. Raises _UnreadSitemapError."""
        if self._is_stopping():
            raise _UnreadSitemapError("the crawl is ending", transient=True)
        self._crawler.stats.inc_value(Stat.SEED_REQUESTS)
        request = Request(url, callback=NO_CALLBACK, meta={Meta.VERBATIM_URL: True, Meta.MAX_BODY_BYTES: max_bytes})
        try:
            return await self._crawler.engine.download_async(request)
        except BlockedByRobotsError as error:
            raise _UnreadSitemapError(f"robots.txt forbids it ({error})", transient=False) from error
        except RobotsUnavailableError as error:
            if error.refused is not None:
                raise _UnreadSitemapError(f"{url} is not requested: {error.refused}", transient=False) from error
            raise _UnreadSitemapError(f"robots.txt of its host is not available ({error})", transient=True) from error
        except RequestRefusedError as error:
            raise _UnreadSitemapError(f"{url} is not requested: {error}", transient=False) from error
        except UnsupportedURLSchemeError as error:
            raise _UnreadSitemapError(describe_failure(error), transient=False) from error
        except Exception as error:
            raise _UnreadSitemapError(describe_failure(error), transient=True) from error

    def _is_stopping(self) -> bool:
        """Return whether the crawl stops: requests are refused then, and the inventory may be closed."""
        ending = self._job.ending
        is_over = ending.failure is not None or ending.refusal is not None or ending.shortage is not None
        return is_over or self._engine.is_closing


class _UnreadSitemapError(SitemapCrawlerError):
    """A sitemap could not be read; the message is the reason in a few words."""

    def __init__(self, reason: str, *, transient: bool) -> None:
        """`transient`: whether a later run may succeed."""
        super().__init__(reason)
        self.transient = transient


class EntryDates:
    """Credible dates of the entries of one file, each by itself."""

    def __init__(self, response: Response, *, is_feed: bool, now: datetime) -> None:
        self._source = FEED if is_feed else SITEMAP
        self._now = now
        header = response.headers.get("Last-Modified")
        # The header of a feed is the date of its latest entry, that of a sitemap the moment of its generation.
        self._generated = None if is_feed or header is None else parse_http_date(header.decode("latin-1"))

    def of(self, entry: SitemapEntry) -> Dated | None:
        """Return the date of an entry; None if it is not credible, or the moment at which the file was generated."""
        date = credible(entry.lastmod or "", self._source, self._now)
        if date is None:
            return None
        if date.has_time and self._generated is not None and abs(date.moment - self._generated) <= GENERATION_TIME:
            return None
        return Dated(date.moment.timestamp(), date.source, not date.has_time)
