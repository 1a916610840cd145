"""The renderer of a crawl: which page is rendered when, for how long, and what its end means."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from typing import TYPE_CHECKING, TypeVar

from scrapy.exceptions import IgnoreRequest

from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Stat
from sitemap_crawler.crawl.middlewares.shortage import ends_crawl
from sitemap_crawler.crawl.rendering.browser import BrowserUnusableError, find_browser
from sitemap_crawler.crawl.rendering.network import Network, PageRequests
from sitemap_crawler.crawl.rendering.protocol import BrowserError
from sitemap_crawler.crawl.rendering.rendered import PlainPage, Rendered
from sitemap_crawler.crawl.rendering.tab import PageReplacedError
from sitemap_crawler.crawl.rendering.tab_pool import TabPool
from sitemap_crawler.exceptions import SitemapCrawlerError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence
    from typing import Any

    from scrapy.crawler import Crawler

    from sitemap_crawler.crawl.rendering.rendered import ScriptRequest
    from sitemap_crawler.crawl.rendering.tab import Shown, Tab

logger = logging.getLogger(__name__)

MAX_DEFAULT_PAGES = 4
"""Maximum number of pages at a time by default: each one keeps a processor busy."""
MAX_TRIES = 2
"""Number of tabs in which the browser may fail at a page before the page counts as the cause."""
TICK_SECONDS = 0.1
"""Time between two looks at the clock of a page and at the crawl."""
SELF_TEST_SECONDS = 60.0
"""Maximum time of the test of a new browser, which takes a fifth of a second."""
SELF_TEST_URL = "http://self-test.invalid/"
SELF_TEST = PlainPage(
    200,
    {"content-type": ["text/html"]},
    b"<!DOCTYPE html><p id=a>no</p><script>setTimeout(() => { a.textContent = 'it works' }, 2500)</script>",
)
_Result = TypeVar("_Result")


class RenderingAbandonedError(SitemapCrawlerError, IgnoreRequest):
    """The crawl ends before the page is rendered. It says nothing about the page, so nothing may be stored."""


class _TooLongError(SitemapCrawlerError):
    """The page takes longer than it may."""


class Renderer:
    """Renders pages, several at a time. The crawl has one; it costs nothing before its first page."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._options = self._job.options
        self._engine = EngineControl(crawler)
        self._network = Network(crawler)
        self._turns = asyncio.Semaphore(self._options.render_pages or default_pages())
        self._pool: TabPool | None = None

    async def render(self, url: str, plain: PlainPage) -> Rendered:
        """Return the page as the browser shows it. A page that cannot be rendered has a `problem`.

        Raises RenderingAbandonedError if the crawl ends before that. No browser that works ends the crawl.
        """
        async with self._turns:
            if self._engine.is_closing:
                raise RenderingAbandonedError("the crawl ends")
            try:
                return await self._render(url, plain)
            except (BrowserUnusableError, OSError) as error:
                if not ends_crawl(self._crawler, error, f"at the rendering of {url}"):
                    self._job.lack_tool(str(error))
                    self._engine.close(CloseReason.SHORTAGE)
                raise RenderingAbandonedError(str(error)) from error

    async def unchanged(self, requests: Sequence[ScriptRequest]) -> bool:
        """Return whether all that a page asked for in an earlier run is the same now.

        Each request is made once a run, with its validators. What has changed is kept for the rendering that follows.
        """
        for request in requests:
            if not await self._network.unchanged(request):
                return False
        return True

    async def close(self) -> None:
        """End the browser, if it was started."""
        await self._network.close()
        if self._pool is not None:
            await self._pool.close()

    async def _render(self, url: str, plain: PlainPage) -> Rendered:
        requests, watch, problem = PageRequests(self._network, url), _Stopwatch(), ""
        for _ in range(MAX_TRIES):
            requests, watch = PageRequests(self._network, url), _Stopwatch()
            try:
                shown = await self._show(url, plain, requests, watch)
            except BrowserUnusableError:
                raise
            except BrowserError as error:
                # Whether the page or chance is the cause, the next try tells: a process may have been killed.
                problem = str(error)
                logger.info("%s is rendered again: %s", url, error)
                continue
            except (PageReplacedError, _TooLongError) as error:
                problem = str(error)
                break
            return Rendered(
                html=shown.html,
                moved_to=shown.moved_to,
                moved_by_history=shown.moved_by_history,
                requests=requests.noted,
                refused=requests.refused,
                seconds=watch.seconds,
            )
        return Rendered(requests=requests.noted, refused=requests.refused, seconds=watch.seconds, problem=problem)

    async def _show(self, url: str, plain: PlainPage, requests: PageRequests, watch: _Stopwatch) -> Shown:
        options = self._options
        async with self._tabs.tab() as tab:
            showing = tab.show(url, plain, requests, budget_seconds=options.render_budget, max_length=options.max_body)
            return await self._bounded(showing, requests, watch)

    async def _bounded(self, work: Coroutine[Any, Any, _Result], requests: PageRequests, watch: _Stopwatch) -> _Result:
        """Return the result of work that ends with the crawl and after `render_timeout`.

        The time for which all is held up by requests that wait for their turn does not count.
        """
        task = asyncio.ensure_future(work)
        watch.tick(counts=False)
        try:
            while not (await asyncio.wait({task}, timeout=TICK_SECONDS))[0]:
                watch.tick(counts=not requests.are_waiting)
                if self._engine.is_closing:
                    raise RenderingAbandonedError("the crawl ends")
                if watch.seconds > self._options.render_timeout:
                    raise _TooLongError(f"it takes longer than {self._options.render_timeout:g} s to render")
            watch.tick(counts=True)
            return task.result()
        finally:
            task.cancel()

    @property
    def _tabs(self) -> TabPool:
        if self._pool is None:
            options = self._options
            self._pool = TabPool(
                find_browser(options),
                sandbox=not options.browser_no_sandbox,
                recycle=options.render_recycle,
                user_agent=str(self._crawler.settings["USER_AGENT"]),
                test=self._works,
                started=lambda: self._crawler.stats.inc_value(Stat.RENDER_BROWSERS),
            )
        return self._pool

    async def _works(self, tab: Tab) -> bool:
        """Return whether a tab renders a page whose timer takes longer than the page may."""
        requests = PageRequests(self._network, SELF_TEST_URL)
        showing = tab.show(SELF_TEST_URL, SELF_TEST, requests, budget_seconds=5.0, max_length=10_000)
        try:
            async with asyncio.timeout(SELF_TEST_SECONDS):
                shown = await showing
        except TimeoutError:
            return False
        return "it works" in shown.html.partition("<script")[0]


class _Stopwatch:
    """Wall-clock time that is counted in pieces."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last = time.monotonic()

    def tick(self, *, counts: bool) -> None:
        now = time.monotonic()
        if counts:
            self.seconds += now - self._last
        self._last = now


def default_pages() -> int:
    """Return one page at a time for each processor that this process may use, at most 4."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MAX_DEFAULT_PAGES, processors)
