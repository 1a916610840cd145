"""The middleware that holds each request until its host's throttle allows it, and reports the result to the throttle.

It stands next to the network, so that requests for robots.txt, sitemaps and retries pass it, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta, Stat
from sitemap_crawler.crawl.load_signals import ResponseKind, classify_status, is_back_pressure, retry_after_seconds
from sitemap_crawler.crawl.throttle import UNCHANGED
from sitemap_crawler.exceptions import SitemapCrawlerError
from sitemap_crawler.urls.normalise import host_of, origin_of

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from sitemap_crawler.crawl.throttle import HostThrottle, ThrottleChange

logger = logging.getLogger(__name__)

CLOSING_CHECK_SECONDS = 1.0
"""Maximum sleep of a waiting request: nothing wakes it when the crawl begins to close."""


class RequestPostponedError(SitemapCrawlerError, IgnoreRequest):
    """The crawl ends before the host may be requested; the next run makes the request."""


class HostClosedError(SitemapCrawlerError, IgnoreRequest):
    """A host other than the start page's must not be requested any more; the crawl goes on without it."""


class PolitenessMiddleware:
    """Downloader middleware that enforces delays, pauses and backoffs for each host."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._engine = EngineControl(crawler)
        self._job = job_of(crawler)
        self._throttles = self._job.throttles
        self._tasks: set[asyncio.Future[None]] = set()
        """References that keep the tasks from garbage collection."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PolitenessMiddleware:
        return cls(crawler)

    def process_request(self, request: Request) -> Coroutine[None, None, None] | None:
        throttle, now = self._throttles.for_url(request.url), time.monotonic()
        if not throttle.is_started and Meta.FETCHES_ROBOTS not in request.meta:
            # The robots middleware comes first, so the Crawl-delay of the host is known by now.
            throttle.start()
            self._throttles.tell(request.url)
        if self._seconds_to_wait(throttle, request, now) > 0:
            return self._wait(throttle, request)
        self._mark_sent(throttle, request, now)
        return None

    async def _wait(self, throttle: HostThrottle, request: Request) -> None:
        """Wait until the request may be sent.

        Raises RequestPostponedError or HostClosedError if that will not be during this crawl.
        """
        while (seconds := self._seconds_to_wait(throttle, request, now := time.monotonic())) > 0:
            host = host_of(request.url)
            if self._engine.is_closing or (throttle.is_closed and host == host_of(self._job.start_url)):
                raise RequestPostponedError(f"{host} must not be requested now")
            if throttle.is_closed:
                raise HostClosedError(f"{host} is overloaded or does not answer, or asks for too long a pause")
            await asyncio.sleep(min(seconds, CLOSING_CHECK_SECONDS))
        # No await may stand between the check and this call: another request could pass the check, too.
        self._mark_sent(throttle, request, now)

    def _mark_sent(self, throttle: HostThrottle, request: Request, now: float) -> None:
        throttle.request_sent(now)
        self._throttles.requests_sent += 1
        self._throttles.in_flight += 1
        request.meta[Meta.SENT_AT] = now

    def process_response(self, request: Request, response: Response) -> Response:
        if Meta.SENT_AT in request.meta:
            kind = classify_status(response.status)
            asks_to_slow_down = kind is ResponseKind.BACK_PRESSURE
            self._request_ended(request, kind, retry_after=retry_after_seconds(response) if asks_to_slow_down else None)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        # A request without SENT_AT never reached the network: robots.txt forbids it, or the crawl closes.
        if Meta.SENT_AT in request.meta:
            asks_to_slow_down = is_back_pressure(exception)
            self._request_ended(request, ResponseKind.BACK_PRESSURE if asks_to_slow_down else ResponseKind.OTHER)

    def _request_ended(self, request: Request, kind: ResponseKind, *, retry_after: float | None = None) -> None:
        throttle, meta, now = self._throttles.for_url(request.url), request.meta, time.monotonic()
        is_retry = meta.pop(Meta.NOT_BEFORE, None) is not None
        sent_at = meta.pop(Meta.SENT_AT)
        self._throttles.in_flight -= 1
        change = throttle.response_received(kind, sent_at=sent_at, now=now, retry_after=retry_after, is_retry=is_retry)
        if change is not UNCHANGED:
            self._throttles.tell(request.url)
        if kind is ResponseKind.BACK_PRESSURE:
            self._crawler.stats.inc_value(Stat.BACK_PRESSURE)
            meta[Meta.NOT_BEFORE] = now + self._throttles.retry_delay(meta.get(Meta.RETRIES, 0) + 1)
        if change.outage_seconds:
            task = asyncio.ensure_future(self._confirm_outage(request.url, change.outage_seconds))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif change.pause_seconds:
            self._handle_pause(request.url, change)
        elif change.backoff_seconds is not None:
            self._handle_backoff_change(request.url, change.backoff_seconds)

    def _handle_pause(self, url: str, change: ThrottleChange) -> None:
        host, seconds = host_of(url), math.ceil(change.pause_seconds)
        self._crawler.stats.inc_value(Stat.PAUSES)
        logger.info("%s asks for a pause of %d s (Retry-After)", host, seconds)
        if change.pause_too_long:
            until = datetime.now(UTC) + timedelta(seconds=seconds)
            limit = f"SITEMAP_MAX_RETRY_AFTER is {self._job.options.max_retry_after:g} s"
            message = f"{host} asks for no requests before {until:%Y-%m-%d %H:%M:%S} UTC (Retry-After; {limit})"
            self._interrupt(host, f"{message}: run the same command after that", until=until)

    def _handle_backoff_change(self, url: str, seconds: float) -> None:
        self._crawler.stats.inc_value(Stat.BACKOFFS)
        if seconds:
            logger.info("%s: slowed down to %.3g s between requests", host_of(url), seconds)
        else:
            logger.info("%s: the backoff is over", host_of(url))

    async def _confirm_outage(self, url: str, seconds: float) -> None:
        """Request the host's robots.txt, and give the host up if that fails, too.

        If robots.txt is answered, only some pages of the host fail. At the end of a run these pages may be all that is
        left, so that each response is a failure although the host works.
        """
        throttle = self._throttles.for_url(url)
        meta = {Meta.FETCHES_ROBOTS: True, Meta.VERBATIM_URL: True, Meta.NO_RETRY: True}
        with contextlib.suppress(Exception):
            # The response passes this middleware, which reports it to the throttle.
            await self._crawler.engine.download_async(
                Request(f"{origin_of(url)}/robots.txt", callback=NO_CALLBACK, meta=meta)
            )
        if throttle.outage_suspected and not self._engine.is_closing:
            throttle.give_up(time.monotonic())
            self._throttles.tell(url)
            self._handle_outage(url, seconds)

    def _handle_outage(self, url: str, seconds: float) -> None:
        host = host_of(url)
        outage = f"{host} has been overloaded or has not answered for {seconds:.0f} s"
        logger.warning("%s: it is not requested any more in this run", outage)
        limit = f"SITEMAP_MAX_OUTAGE is {self._job.options.max_outage:g} s"
        self._interrupt(host, f"{outage} ({limit}): run the same command when the host answers again to continue")

    def _interrupt(self, host: str, message: str, *, until: datetime | None = None) -> None:
        """End the crawl if `host` is the start page's host. Any other host is closed by its throttle alone."""
        job = self._job
        if host != host_of(job.start_url) or job.ending.interruption is not None:
            return
        if until is None:
            job.interrupt(message)
            self._engine.close(CloseReason.OUTAGE)
        else:
            job.pause_until(until, message)
            self._engine.close(CloseReason.RETRY_LATER)

    def _seconds_to_wait(self, throttle: HostThrottle, request: Request, now: float) -> float:
        """Return the seconds until the request may be sent; 0 or less for now."""
        not_before: float = request.meta.get(Meta.NOT_BEFORE, 0.0)
        if throttle.is_free:
            return not_before - now
        seconds = max(throttle.next_request_time(now), not_before) - now
        return seconds if seconds > 0 else self._throttles.seconds_to_grant(request.url, throttle, now)
