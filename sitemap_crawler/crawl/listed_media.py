"""The check of listed images and videos: each is requested once, and judged by its status and its type."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from sitemap_crawler.crawl.download.errors import describe_failure
from sitemap_crawler.crawl.download.handler import RequestRefusedError
from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import Meta
from sitemap_crawler.crawl.middlewares.robots import BlockedByRobotsError, RobotsUnavailableError
from sitemap_crawler.crawl.middlewares.shortage import RequestAbandonedError
from sitemap_crawler.extract.media_type import media_type
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

MEDIA_AT_ONCE = 8
"""Maximum number of requests for media that are in flight. The throttles of the hosts allow fewer."""
MAX_PROBLEMS = 10_000
"""Number of media with a problem from which on no further medium is requested."""
_RECENT_MEDIA = 50_000
"""Size of a generation of media that are not requested again. Sites list the same logo on each page."""
_HEAD_REFUSED = frozenset((400, 403, 404, 405, 406, 500, 501, 503))
"""Statuses of a HEAD request after which a GET request is sent: some servers answer HEAD with an error."""
_TOO_MANY_REQUESTS = 429
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
"""Media types of pages, with which servers answer for files that they do not have, or ask for a login."""


class MediumProblem(NamedTuple):
    """The problem of one image or video."""

    kind: Literal["broken", "blocked", "unanswered"]
    """`broken`: it is not there. `blocked`: robots.txt disallows it. `unanswered`: the check could not be made."""
    reason: str


class MediaCheck:
    """One check of listed images and videos. They may be on any host that the gate lets pass."""

    def __init__(self, crawler: Crawler, listed: Iterable[str]) -> None:
        self._crawler = crawler
        self._gate = job_of(crawler).gate
        self._engine = EngineControl(crawler)
        self._listed = iter(listed)
        self._requested: Recent[bool] = Recent(_RECENT_MEDIA)
        self._task: asyncio.Task[None] | None = None
        self.problems: dict[str, MediumProblem] = {}
        """The problem of each image or video that has one, by its URL as listed."""

    @property
    def problem(self) -> str | None:
        """Why some media were not checked; None if all were."""
        if self._is_given_up:
            return f"{MAX_PROBLEMS:,} images and videos have problems, and the check of the others was given up"
        unanswered = [(url, found.reason) for url, found in self.problems.items() if found.kind == "unanswered"]
        if not unanswered:
            return None
        url, reason = min(unanswered)
        what = "1 image or video was" if len(unanswered) == 1 else f"{len(unanswered):,} images and videos were"
        return f"{what} not checked, such as {url}: {reason}"

    @property
    def _is_given_up(self) -> bool:
        return len(self.problems) >= MAX_PROBLEMS

    def is_done(self) -> bool:
        """Start the check with the first call. Return whether it has ended; its end wakes the engine."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        return self._task.done()

    async def _run(self) -> None:
        await asyncio.gather(*(self._check_some() for _ in range(MEDIA_AT_ONCE)))
        self._engine.wake()

    async def _check_some(self) -> None:
        spider: Any = self._crawler.spider
        for text in self._unchecked():
            url = spider.resolver.normalise(text)
            if url is None:
                continue
            self._gate.name(origin_of(url))
            problem = await self._problem_of(url)
            if problem is not None and not self._engine.is_closing:
                self.problems[text] = problem

    def _unchecked(self) -> Iterator[str]:
        for text in self._listed:
            if self._engine.is_closing or self._is_given_up:
                return
            if text not in self.problems and self._requested.get(text) is None:
                self._requested.put(text, True)
                yield text

    async def _problem_of(self, url: str) -> MediumProblem | None:
        try:
            for method in ("HEAD", "GET"):
                meta = {Meta.VERBATIM_URL: True, Meta.MAX_BODY_BYTES: 1}
                request = Request(url, method=method, callback=NO_CALLBACK, meta=meta)
                response = await self._crawler.engine.download_async(request)
                is_page = _type_of(response) in _PAGES
                # Some servers state the type of their error pages for any HEAD request.
                if method == "GET" or (response.status not in _HEAD_REFUSED and not is_page):
                    break
        except BlockedByRobotsError as error:
            return MediumProblem("blocked", str(error))
        except (RobotsUnavailableError, RequestRefusedError, RequestAbandonedError) as error:
            return MediumProblem("unanswered", str(error))
        except Exception as error:
            return MediumProblem("broken", describe_failure(error))
        if response.status == _TOO_MANY_REQUESTS:
            return MediumProblem("unanswered", f"status {response.status}, too many requests")
        if response.status >= 400:
            return MediumProblem("broken", f"status {response.status}")
        return MediumProblem("broken", "a page of HTML is sent in its place") if is_page else None


def _type_of(response: Response) -> str:
    header = response.headers.get("Content-Type")
    return media_type(header.decode("latin-1") if header else None, b"")
