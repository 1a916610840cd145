"""The middleware that obeys robots.txt (RFC 9309), fetched once for each scheme, host and port."""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http.request import NO_CALLBACK
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.download.errors import describe_failure
from sitemap_crawler.crawl.download.handler import RequestRefusedError
from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta, Stat
from sitemap_crawler.crawl.middlewares.shortage import RequestAbandonedError
from sitemap_crawler.crawl.run_state import RobotsResult
from sitemap_crawler.exceptions import SitemapCrawlerError
from sitemap_crawler.items import is_transient
from sitemap_crawler.policy.robots_txt import MAX_BYTES, RobotsTxt, product_token, robots_evidence
from sitemap_crawler.urls.normalise import Resolver, origin_of
from sitemap_crawler.utils.files import GZIP_MAGIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

MAX_REDIRECTS = 5
"""Redirects that are followed to a robots.txt, https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1.2"""
MAX_AGE_SECONDS = 24 * 3600
"""Age from which on a robots.txt is fetched again, https://www.rfc-editor.org/rfc/rfc9309#section-2.4"""
MAX_TIMEOUT_SECONDS = 10.0
"""Timeout of a robots.txt. All other requests to the host wait for it, and so does a Ctrl-C."""
REDIRECT_STATUSES = frozenset((301, 302, 303, 307, 308))


class BlockedByRobotsError(SitemapCrawlerError, IgnoreRequest):
    """robots.txt forbids the request; the message quotes the rule."""


class RobotsUnavailableError(SitemapCrawlerError, IgnoreRequest):
    """robots.txt cannot be fetched, so the request may be forbidden; a later run makes it."""

    def __init__(self, reason: str, *, refused: str | None = None) -> None:
        """`refused`: why robots.txt was not requested, if its host must not be asked."""
        super().__init__(reason)
        self.refused = refused


class _RobotsFetch(NamedTuple):
    rules: asyncio.Future[RobotsTxt | None]
    started_at: float
    """Time of the request, on the clock of the middleware."""


class RobotsMiddleware:
    """Downloader middleware that refuses the requests that robots.txt forbids.

    The crawl ends if the robots.txt of the start page is not available (section 2.3.1.4).
    """

    def __init__(
        self, crawler: Crawler, *, user_agent: str, timeout: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._crawler = crawler
        # The inventory stores this name. The whole header may hold an address or another private detail.
        self._agent = product_token(user_agent)
        self._timeout_seconds = timeout
        self._clock = clock
        self._resolver = Resolver(())
        self._fetches: dict[str, _RobotsFetch] = {}
        """By origin."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        return cls(
            crawler,
            user_agent=settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"],
            timeout=min(MAX_TIMEOUT_SECONDS, settings.getfloat("DOWNLOAD_TIMEOUT")),
        )

    async def process_request(self, request: Request) -> None:
        if Meta.FETCHES_ROBOTS in request.meta:
            return
        await self._check(request.url)
        address = job_of(self._crawler).rules.address
        if address is not None and address.robots_url is not None:
            public = address.to_public(request.url)
            if public != request.url:
                await self._check(public)

    async def _check(self, url: str) -> None:
        """Count and refuse a forbidden URL. Raises BlockedByRobotsError or RobotsUnavailableError."""
        origin = origin_of(url)
        rules = await self.rules_for(origin)
        rule = None if rules is None else rules.rule_against(url, self._agent)
        if rule is not None:
            self._crawler.stats.inc_value(Stat.ROBOTS_BLOCKED)
            raise BlockedByRobotsError(robots_evidence(origin, rule))

    async def rules_for(self, origin: str) -> RobotsTxt | None:
        """Return the rules of an origin such as `https://example.com:8443`; None if everything is allowed.

        Concurrent calls wait for the same response. Raises RobotsUnavailableError.
        """
        rules = self._current_rules(origin)
        try:
            return rules.result() if rules.done() else await asyncio.shield(rules)
        except RobotsUnavailableError as error:
            self._refuse(origin, str(error))
            # A new exception for each caller: a shared one would collect the tracebacks of all callers.
            raise RobotsUnavailableError(str(error), refused=error.refused) from None

    def _current_rules(self, origin: str) -> asyncio.Future[RobotsTxt | None]:
        fetch, now = self._fetches.get(origin), self._clock()
        if fetch is None or (now - fetch.started_at >= MAX_AGE_SECONDS and fetch.rules.done()):
            rules = asyncio.ensure_future(self._load(origin, earlier=fetch))
            fetch = self._fetches[origin] = _RobotsFetch(rules, now)
        return fetch.rules

    async def _load(self, origin: str, *, earlier: _RobotsFetch | None) -> RobotsTxt | None:
        job = job_of(self._crawler)
        result = await job.shared.read_robots(origin, partial(self._request_robots, origin))
        if isinstance(result.error, SQLAlchemyError):
            # Nothing is known of the site: it is not the one that refuses the run.
            job.inventory_failed(result.error)
            EngineControl(self._crawler).close(CloseReason.INVENTORY_FAILED)
        if result.reason is not None:
            # Section 2.4: an earlier robots.txt may be used for longer when the new one is not available.
            if earlier is None or earlier.rules.exception() is not None:
                raise RobotsUnavailableError(result.reason, refused=result.refused) from result.error
            return earlier.rules.result()
        # Another process may have requested it some time ago.
        fetch = self._fetches[origin]
        self._fetches[origin] = fetch._replace(started_at=fetch.started_at - result.age_seconds)
        if result.body is None:
            job.shared.robots.pop(origin, None)
            job.throttles.for_url(origin).set_crawl_delay(origin, None)
            return None
        rules = job.shared.robots[origin] = RobotsTxt.parse(result.body)
        self._apply_crawl_delay(origin, rules)
        return rules

    async def _request_robots(self, origin: str) -> RobotsResult:
        """Request the robots.txt of an origin, and store it for URLs that are judged without a request."""
        try:
            body = await self._read(self._url_of(origin))
        except RobotsUnavailableError as error:
            return RobotsResult(None, str(error), error.refused, error=error.__cause__)
        job_of(self._crawler).shared.store_robots(origin, agent=self._agent, body=body)
        return RobotsResult(body)

    def _url_of(self, origin: str) -> str:
        """Return the URL of an origin's robots.txt. The one of a site's public address is among the crawled files."""
        address = job_of(self._crawler).rules.address
        if address is not None and address.robots_url is not None and address.published_at == f"{origin}/":
            return address.robots_url
        return f"{origin}/robots.txt"

    def _apply_crawl_delay(self, origin: str, rules: RobotsTxt) -> None:
        asked = rules.crawl_delay(self._agent)
        throttles = job_of(self._crawler).throttles
        kept = throttles.for_url(origin).set_crawl_delay(origin, asked)
        throttles.tell(origin)
        if asked is not None and asked > kept:
            message = "%s/robots.txt asks for %g s between two requests: %g s are kept (SITEMAP_MAX_CRAWL_DELAY)"
            logger.warning(message, origin, asked, kept)

    async def _read(self, url: str) -> bytes | None:
        try:
            response = await self._fetch(url)
        except RequestAbandonedError:
            raise
        except Exception as error:
            refused = str(error) if isinstance(error, RequestRefusedError) else None
            raise RobotsUnavailableError(f"{url}: {describe_failure(error)}", refused=refused) from error
        if response is None:
            return None
        if is_transient(response.status):
            # Also 429, unlike RFC 9309: a host that is requested too often allows nothing.
            raise RobotsUnavailableError(f"{url}: status {response.status}")
        if not 200 <= response.status < 300:
            return None
        if response.body.startswith(GZIP_MAGIC):
            raise RobotsUnavailableError(f"{url}: it is compressed once more than its header says")
        return response.body

    async def _fetch(self, url: str) -> Response | None:
        """Return the response after at most five redirects; None after more, which counts as no robots.txt."""
        job = job_of(self._crawler)
        for _ in range(MAX_REDIRECTS + 1):
            limits = {Meta.TIMEOUT_SECONDS: self._timeout_seconds, Meta.MAX_BODY_BYTES: MAX_BYTES + 1}
            meta = {Meta.FETCHES_ROBOTS: True, Meta.VERBATIM_URL: True, **limits}
            request = Request(url, callback=NO_CALLBACK, meta=meta)
            self._crawler.stats.inc_value(Stat.ROBOTS_REQUESTS)
            response = await self._crawler.engine.download_async(request)
            location = response.headers.get("Location")
            target = self._resolver.resolve(location.decode("latin-1"), url) if location else None
            if response.status not in REDIRECT_STATUSES or target is None:
                return response
            if origin_of(url) == origin_of(job.start_url):
                job.gate.name(origin_of(target))
            url = target
        return None

    def _refuse(self, origin: str, reason: str) -> None:
        """End the crawl if the start page's robots.txt is not available. Any other closes its own origin only."""
        job = job_of(self._crawler)
        # An engine that stops has cancelled the request: its failure says nothing about the site.
        has_failed = job.ending.refusal is not None or job.ending.failure is not None
        if not has_failed and self._crawler.engine.running and origin == origin_of(job.start_url):
            message = f"robots.txt is not available ({reason}), and nothing may be crawled before it is"
            remedy = "check address, server and network, then run the same command"
            job.refuse(f"{message}: {remedy}", ends_run=False)
            EngineControl(self._crawler).close(CloseReason.ROBOTS_UNAVAILABLE)
