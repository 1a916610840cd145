"""robots.txt (RFC 9309), once for each scheme, host and port."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http.request import NO_CALLBACK

from sitemap_crawler.crawl.download.content_coding import GZIP
from sitemap_crawler.crawl.download.errors import failure_words
from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta, Stat
from sitemap_crawler.exceptions import SitemapCrawlerError
from sitemap_crawler.items import is_transient
from sitemap_crawler.policy.robots_txt import MAX_BYTES, RobotsTxt, product_token, robots_evidence
from sitemap_crawler.urls.normalise import Resolver, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

# https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1.2
MAX_REDIRECTS = 5
# Seconds, https://www.rfc-editor.org/rfc/rfc9309#section-2.4
MAX_AGE = 24 * 3600
# Seconds. Everything else waits for it, a Ctrl-C too.
MAX_TIMEOUT = 10.0
REDIRECTS = frozenset((301, 302, 303, 307, 308))


class BlockedByRobotsError(SitemapCrawlerError, IgnoreRequest):
    """robots.txt forbids the request; the message says by what."""


class RobotsUnavailableError(SitemapCrawlerError, IgnoreRequest):
    """robots.txt can't be had, so nothing is known of the request: it is to be made another time."""


class _Fetched(NamedTuple):
    rules: asyncio.Future[RobotsTxt | None]
    since: float


class RobotsMiddleware:
    """Lets through what robots.txt allows; ends the crawl when the start page's can't be had (section 2.3.1.4)."""

    def __init__(
        self, crawler: Crawler, *, user_agent: str, timeout: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._crawler = crawler
        # Not the whole header, which may hold what is nobody's business: this one is remembered.
        self._agent = product_token(user_agent)
        self._timeout = timeout
        self._clock = clock
        self._resolver = Resolver(())
        self._fetched: dict[str, _Fetched] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        return cls(
            crawler,
            user_agent=settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"],
            timeout=min(MAX_TIMEOUT, settings.getfloat("DOWNLOAD_TIMEOUT")),
        )

    async def process_request(self, request: Request) -> None:
        if Meta.FETCHES_ROBOTS in request.meta:
            return
        await self._check(request.url)
        address = job_of(self._crawler).rules.address
        if address is not None and address.robots_url is not None:
            public = address.published(request.url)
            if public != request.url:
                await self._check(public)

    async def _check(self, url: str) -> None:
        origin = origin_of(url)
        rules = await self.rules_for(origin)
        rule = None if rules is None else rules.rule_against(url, self._agent)
        if rule is not None:
            self._crawler.stats.inc_value(Stat.ROBOTS_BLOCKED)
            raise BlockedByRobotsError(robots_evidence(origin, rule))

    async def rules_for(self, origin: str) -> RobotsTxt | None:
        """The rules of `https://example.com:8443`; None when everything is allowed. Raises RobotsUnavailableError.

        Whoever asks while they are being fetched waits for the same answer.
        """
        rules = self._current(origin)
        try:
            return rules.result() if rules.done() else await asyncio.shield(rules)
        except RobotsUnavailableError as error:
            self._refuse(origin, str(error))
            # A new one for each caller: a shared exception would gather the tracebacks of all.
            raise RobotsUnavailableError(str(error)) from None

    def _current(self, origin: str) -> asyncio.Future[RobotsTxt | None]:
        fetched, now = self._fetched.get(origin), self._clock()
        if fetched is None or (now - fetched.since >= MAX_AGE and fetched.rules.done()):
            rules = asyncio.ensure_future(self._load(origin, earlier=fetched))
            fetched = self._fetched[origin] = _Fetched(rules, now)
        return fetched.rules

    async def _load(self, origin: str, *, earlier: _Fetched | None) -> RobotsTxt | None:
        try:
            body = await self._read(self._url_of(origin))
        except RobotsUnavailableError:
            # Section 2.4: what was had before may be used longer when nothing newer can be had.
            if earlier is None or earlier.rules.exception() is not None:
                raise
            return earlier.rules.result()
        job = job_of(self._crawler)
        job.store_robots(origin, agent=self._agent, body=body)
        if body is None:
            job.robots.pop(origin, None)
            job.paces.of(origin).robots_ask(origin, None)
            return None
        rules = job.robots[origin] = RobotsTxt.parse(body)
        self._keep_delay(origin, rules)
        return rules

    def _url_of(self, origin: str) -> str:
        """Where robots.txt of an origin is; that of a site's public address is among what is crawled."""
        address = job_of(self._crawler).rules.address
        if address is not None and address.robots_url is not None and address.published_at == f"{origin}/":
            return address.robots_url
        return f"{origin}/robots.txt"

    def _keep_delay(self, origin: str, rules: RobotsTxt) -> None:
        asked = rules.crawl_delay(self._agent)
        kept = job_of(self._crawler).paces.of(origin).robots_ask(origin, asked)
        if asked is not None and asked > kept:
            message = "%s/robots.txt asks for %g s between two requests: %g s are kept (SITEMAP_MAX_CRAWL_DELAY)"
            logger.warning(message, origin, asked, kept)

    async def _read(self, url: str) -> bytes | None:
        try:
            response = await self._fetch(url)
        except Exception as error:
            raise RobotsUnavailableError(f"{url}: {failure_words(error)}") from error
        if response is None:
            return None
        if is_transient(response.status):
            # Also 429, against the letter of RFC 9309: who is asked too often allows nothing.
            raise RobotsUnavailableError(f"{url}: status {response.status}")
        if not 200 <= response.status < 300:
            return None
        if response.body.startswith(GZIP):
            raise RobotsUnavailableError(f"{url}: it is packed once more than it says")
        return response.body

    async def _fetch(self, url: str) -> Response | None:
        """The answer after at most five redirects; None when there were more, which counts as no robots.txt."""
        for _ in range(MAX_REDIRECTS + 1):
            bound = {Meta.TIMEOUT_SECONDS: self._timeout, Meta.MAX_BODY_BYTES: MAX_BYTES + 1}
            meta = {Meta.FETCHES_ROBOTS: True, Meta.VERBATIM_URL: True, **bound}
            request = Request(url, callback=NO_CALLBACK, meta=meta)
            self._crawler.stats.inc_value(Stat.ROBOTS_REQUESTS)
            response = await self._crawler.engine.download_async(request)
            location = response.headers.get("Location")
            target = self._resolver.resolve(location.decode("latin-1"), url) if location else None
            if response.status not in REDIRECTS or target is None:
                return response
            url = target
        return None

    def _refuse(self, origin: str, why: str) -> None:
        """End the crawl if the start page's robots.txt can't be had; any other closes its own origin only."""
        job = job_of(self._crawler)
        # An engine that stops has ended the request, which says nothing of the site.
        if job.refusal is None and self._crawler.engine.running and origin == origin_of(job.start_url):
            job.refuse(f"robots.txt is not available ({why}): nothing may be crawled before it is", ends_run=False)
            EngineControl(self._crawler).close(CloseReason.ROBOTS_UNAVAILABLE)
