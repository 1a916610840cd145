"""Lets every request wait for its host's turn, and tells the host's pace what came of it.

It is the middleware next to the network, so that robots.txt, sitemaps and second tries come this way, too.
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
from scrapy.exceptions import (
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.http.request import NO_CALLBACK

from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta, Stat
from sitemap_crawler.crawl.politeness import Answer, answer_of, retry_seconds
from sitemap_crawler.exceptions import SitemapCrawlerError
from sitemap_crawler.urls.normalise import host_of, origin_of

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from sitemap_crawler.crawl.politeness import Pace, Verdict

logger = logging.getLogger(__name__)

LOOK_UP = 1.0
"""Seconds after which one that waits looks whether the crawl is ending: nothing tells it."""


class RequestPostponedError(SitemapCrawlerError, IgnoreRequest):
    """The crawl ends before the host may be asked; the request is to be made another time."""


class HostClosedError(SitemapCrawlerError, IgnoreRequest):
    """The host, not the start page's, must not be asked any more; the crawl goes on without it."""


class PolitenessMiddleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._engine = EngineControl(crawler)
        self._job = job_of(crawler)
        self._paces = self._job.paces
        self._tasks: set[asyncio.Future[None]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PolitenessMiddleware:
        return cls(crawler)

    def process_request(self, request: Request) -> Coroutine[None, None, None] | None:
        pace, now = self._paces.of(request.url), time.monotonic()
        if not pace.begun and Meta.FETCHES_ROBOTS not in request.meta:
            pace.begin()
        if _wait(pace, request, now) > 0:
            return self._turn(pace, request)
        self._leave(pace, request, now)
        return None

    async def _turn(self, pace: Pace, request: Request) -> None:
        """Raises RequestPostponedError when the turn will not come in this crawl."""
        while (wait := _wait(pace, request, now := time.monotonic())) > 0:
            host = host_of(request.url)
            if self._engine.is_closing or (pace.closed and host == host_of(self._job.start_url)):
                raise RequestPostponedError(f"{host} must not be asked now")
            if pace.closed:
                raise HostClosedError(f"{host} is overloaded, away, or asks to be left alone for too long")
            await asyncio.sleep(min(wait, LOOK_UP))
        # No await between the look at the pace and this: nobody else leaves in the same moment.
        self._leave(pace, request, now)

    def _leave(self, pace: Pace, request: Request, now: float) -> None:
        pace.left(now)
        self._paces.left += 1
        request.meta[Meta.SENT_AT] = now

    def process_response(self, request: Request, response: Response) -> Response:
        if Meta.SENT_AT in request.meta:
            answer = answer_of(response.status)
            pressed = answer is Answer.PRESSURE
            self._ended(request, answer, retry_after=_retry_after(response) if pressed else None)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        # Without the mark it never left: robots.txt forbids it, or the crawl ends.
        if Meta.SENT_AT in request.meta:
            self._ended(request, Answer.PRESSURE if is_pressure(exception) else Answer.OTHER)

    def _ended(self, request: Request, answer: Answer, *, retry_after: float | None = None) -> None:
        pace, meta, now = self._paces.of(request.url), request.meta, time.monotonic()
        repeated = meta.pop(Meta.NOT_BEFORE, None) is not None
        left_at = meta.pop(Meta.SENT_AT)
        verdict = pace.answered(answer, left_at=left_at, now=now, retry_after=retry_after, repeated=repeated)
        if answer is Answer.PRESSURE:
            self._crawler.stats.inc_value(Stat.BACK_PRESSURE)
            meta[Meta.NOT_BEFORE] = now + self._paces.delay_again(meta.get(Meta.RETRIES, 0) + 1)
        if verdict.outage:
            task = asyncio.ensure_future(self._ask_once_more(request.url, verdict.outage))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif verdict.pause:
            self._pause(request.url, verdict)
        elif verdict.back_off is not None:
            self._back_off(request.url, verdict.back_off)

    def _pause(self, url: str, verdict: Verdict) -> None:
        host = host_of(url)
        self._crawler.stats.inc_value(Stat.PAUSES)
        logger.info("%s asks to be left alone for %.0f s (Retry-After)", host, math.ceil(verdict.pause))
        if verdict.too_long:
            until = datetime.now(UTC) + timedelta(seconds=math.ceil(verdict.pause))
            limit = f"SITEMAP_MAX_RETRY_AFTER is {self._job.options.max_retry_after:g} s"
            words = f"{host} asks not to come again before {until:%Y-%m-%d %H:%M:%S} UTC (Retry-After; {limit})"
            self._interrupt(host, f"{words}: run the same command then to continue", until=until)

    async def _ask_once_more(self, url: str, seconds: float) -> None:
        """Give the host up, unless it is only some of its pages that fail: what is left at the end of a run may all be
        such, and be asked for again and again."""
        pace = self._paces.of(url)
        meta = {Meta.FETCHES_ROBOTS: True, Meta.VERBATIM_URL: True, Meta.NO_RETRY: True}
        with contextlib.suppress(Exception):
            # Its answer comes by here, and tells the pace.
            await self._crawler.engine.download_async(
                Request(f"{origin_of(url)}/robots.txt", callback=NO_CALLBACK, meta=meta)
            )
        if pace.doubted and not self._engine.is_closing:
            pace.give_up(time.monotonic())
            self._give_up(url, seconds)

    def _give_up(self, url: str, seconds: float) -> None:
        host = host_of(url)
        logger.warning("%s has been overloaded or away for %.0f s: it is left alone", host, seconds)
        limit = f"SITEMAP_MAX_OUTAGE is {self._job.options.max_outage:g} s"
        words = f"{host} has been overloaded or away for {seconds:.0f} s ({limit})"
        self._interrupt(host, f"{words}: run the same command when it is well to continue")

    def _interrupt(self, host: str, message: str, *, until: datetime | None = None) -> None:
        job = self._job
        if host != host_of(job.start_url) or job.interruption is not None:
            return
        if until is None:
            job.interrupt(message)
            self._engine.close(CloseReason.OUTAGE)
        else:
            job.postpone(until, message)
            self._engine.close(CloseReason.RETRY_LATER)

    def _back_off(self, url: str, seconds: float) -> None:
        self._crawler.stats.inc_value(Stat.BACKOFFS)
        if seconds:
            logger.info("%s: one request in %.3g s, for how it answers", host_of(url), seconds)
        else:
            logger.info("%s: the back-off is over", host_of(url))


def is_pressure(exception: Exception) -> bool:
    """Whether no answer means that the server is overloaded: a time-out, a reset, a refused connection.

    Not so a host name that is unknown or a certificate that is not valid.
    """
    if isinstance(exception, DownloadConnectionRefusedError):
        return isinstance(getattr(exception.__cause__, "os_error", None), ConnectionError)
    return isinstance(exception, (DownloadTimeoutError, DownloadFailedError, ResponseDataLossError, ConnectionError))


def _wait(pace: Pace, request: Request, now: float) -> float:
    """Seconds until the request may leave."""
    own: float = request.meta.get(Meta.NOT_BEFORE, 0.0)
    if pace.free:
        return own - now
    return max(pace.next_at(now), own) - now


def _retry_after(response: Response) -> float | None:
    value, date = (response.headers.get(name) for name in ("Retry-After", "Date"))
    if value is None:
        return None
    text = value.decode("latin-1")
    return retry_seconds(text, date.decode("latin-1") if date else None, now=datetime.now(UTC))
