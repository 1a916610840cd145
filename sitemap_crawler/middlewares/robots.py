"""robots.txt (RFC 9309), once for each scheme, host and port."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from protego import Protego
from scrapy import Request
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http.request import NO_CALLBACK

from sitemap_crawler.failures import failure_words
from sitemap_crawler.job import end_crawl, job_of
from sitemap_crawler.urls import Resolver, origin_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

# https://www.rfc-editor.org/rfc/rfc9309#section-2.5 and 2.3.1.2
MAX_ROBOTS_BYTES = 500 * 1024
MAX_REDIRECTS = 5
# Seconds. Everything else waits for it, a Ctrl-C too.
MAX_TIMEOUT = 10.0
REDIRECTS = frozenset((301, 302, 303, 307, 308))


class BlockedByRobots(IgnoreRequest):
    """robots.txt forbids the request; the message says by what."""


class RobotsUnavailable(IgnoreRequest):
    """robots.txt can't be had, so nothing is known of the request: it is to be made another time."""


class RobotsMiddleware:
    """Lets through what robots.txt allows; ends the crawl when robots.txt can't be had (section 2.3.1.4)."""

    def __init__(self, crawler: Crawler, *, user_agent: str) -> None:
        self._crawler = crawler
        # The product token: what stands before the slash of the User-Agent.
        self._agent = user_agent.split()[0].partition("/")[0]
        self._timeout = min(MAX_TIMEOUT, crawler.settings.getfloat("DOWNLOAD_TIMEOUT"))
        self._resolver = Resolver(())
        self._rules: dict[str, asyncio.Future[Protego | None]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        return cls(crawler, user_agent=settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"])

    async def process_request(self, request: Request) -> None:
        if "robots" in request.meta:
            return
        origin = origin_of(request.url)
        rules = self._rules.get(origin)
        if rules is None:
            rules = self._rules[origin] = asyncio.ensure_future(self._load(origin))
        try:
            allowed = rules.result() if rules.done() else await asyncio.shield(rules)
        except RobotsUnavailable as error:
            raise RobotsUnavailable(str(error)) from None
        if allowed is not None and not allowed.can_fetch(request.url, self._agent):
            self._crawler.stats.inc_value("robots/blocked")
            raise BlockedByRobots(f"{origin}/robots.txt disallows it for {self._agent}")

    async def _load(self, origin: str) -> Protego | None:
        """The rules of `origin`; None when everything is allowed. Raises RobotsUnavailable."""
        url = f"{origin}/robots.txt"
        try:
            response = await self._fetch(url)
        except Exception as error:
            raise self._unavailable(url, failure_words(error)) from error
        if response is None or 400 <= response.status < 500:
            return None
        if response.status >= 500:
            raise self._unavailable(url, f"status {response.status}")
        if not 200 <= response.status < 300:
            return None
        text = response.body[:MAX_ROBOTS_BYTES].decode("utf-8-sig", "replace")
        return Protego.parse(text)

    async def _fetch(self, url: str) -> Response | None:
        """The answer after at most five redirects; None when there were more, which counts as no robots.txt."""
        for _ in range(MAX_REDIRECTS + 1):
            meta = {"robots": True, "verbatim_url": True, "download_timeout": self._timeout}
            request = Request(url, callback=NO_CALLBACK, meta=meta)
            self._crawler.stats.inc_value("robots/requests")
            response = await self._crawler.engine.download_async(request)
            location = response.headers.get("Location")
            target = self._resolver.resolve(location.decode("latin-1"), url) if location else None
            if response.status not in REDIRECTS or target is None:
                return response
            url = target
        return None

    def _unavailable(self, url: str, why: str) -> RobotsUnavailable:
        if self._crawler.engine.running:
            # Otherwise the crawl is ending already, and that is why.
            message = f"robots.txt is not available ({url}: {why}): nothing may be crawled, try again later"
            job_of(self._crawler).refuse(message, ends_run=False)
            end_crawl(self._crawler, "robots-unavailable")
        return RobotsUnavailable(f"{url}: {why}")
