"""The engine of the crawl: Scrapy's engine with one task for each request, and the controls that components use.

Scrapy passes a request from part to part as Twisted Deferreds. Each of them becomes an asyncio task and back: five
tasks for a request, which cost more than the HTTP client does. Here one coroutine takes a request from the scheduler to
the last pipeline. Slots, delays, middlewares, signals and back-pressure are Scrapy's. Any result that is not a response
for our own spider takes Scrapy's own path.
"""

from __future__ import annotations

import asyncio
import logging
from contextvars import copy_context
from inspect import isgeneratorfunction
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.log import logformatter_adapter
from scrapy.utils.misc import load_object
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.core.engine import _Slot as EngineSlot
    from scrapy.core.scraper import Slot as ScraperSlot

CHECKED_SCRAPY = "2.19"
"""The version of Scrapy with which `SCRAPY_INTERNALS` was checked."""
SCRAPY_INTERNALS: dict[str, tuple[str, ...]] = {
    "scrapy.crawler.Crawler": ("_create_engine()",),
    "scrapy.core.engine.ExecutionEngine": ("_slot", "_start_scheduled_request()"),
    "scrapy.core.engine._Slot": ("closing", "nextcall", "scheduler", "add_request(request)", "remove_request(request)"),
    "scrapy.core.downloader.Downloader": (
        "active", "middleware", "slots", "DOWNLOAD_SLOT", "get_slot_key(request)", "_get_slot(request)",
        "_enqueue_request(request)", "_process_queue(slot)", "_download(slot, request)",
    ),
    "scrapy.core.downloader.Slot": (
        "active", "queue", "delay", "latercall", "lastseen", "free_transfer_slots()",
    ),
    "scrapy.core.downloader.middleware.DownloaderMiddlewareManager": ("download_async(download_func, request)",),
    "scrapy.core.scraper.Scraper": (
        "slot", "spidermw", "_scrape(result, request)", "_process_spidermw_output_async(output, response)",
        "_check_if_closing()", "handle_spider_error(_failure, request, response)",
    ),
    "scrapy.core.scraper.Slot": (
        "active", "active_size", "MIN_RESPONSE_SIZE", "finish_response(result, request)", "is_idle()",
    ),
    "scrapy.middleware.MiddlewareManager": ("methods", "_get_mwlist_from_settings(settings)"),
    "scrapy.downloadermiddlewares.cookies": ("_split_domain",),
    "scrapy.utils.ssl": ("_make_ssl_context(settings)",),
}  # fmt: skip
"""Private and undocumented names of Scrapy that the crawl uses, by class or module; methods with their parameters.

This module uses most of them. `pipelines/manager.py` uses MiddlewareManager, `middlewares/cookies.py` `_split_domain`
and `download/handler.py` `_make_ssl_context`. tests/unit/crawl/test_engine.py checks the list.
"""

logger = logging.getLogger("scrapy.core.engine")
"""Scrapy's own logger: the engine logs the same lines, and users filter them by this name."""

_SPIDER_MIDDLEWARE_METHODS = ("process_spider_input", "process_spider_output", "process_spider_exception")
"""Methods of spider middlewares that take part between a response and the pipelines."""

_TURNS_BEFORE_READING = 3
"""Turns of the event loop that the next request needs to leave: the engine is called in the first, starts the request
in the second, and the request leaves in the third."""


class SiteCrawler(Crawler):
    """Crawler of our spider. It has Scrapy's own engine when the setting DOWNLOADER names another class than ours."""

    def _create_engine(self) -> ExecutionEngine:
        downloader = load_object(self.settings["DOWNLOADER"])
        is_ours = isinstance(downloader, type) and issubclass(downloader, SiteDownloader)
        return (SiteEngine if is_ours else ExecutionEngine)(self, lambda _: self.stop_async())


class SiteDownloader(Downloader):
    """Downloader that queues a request only if its slot is full or a delay applies, and else downloads it at once."""

    async def _enqueue_request(self, request: Request) -> Response:
        key = self.get_slot_key(request)
        slot = self.slots.get(key) or self._get_slot(request)[1]
        request.meta[self.DOWNLOAD_SLOT] = key
        slot.active.add(request)
        try:
            spider = self.crawler.spider
            self.signals.send_catch_log(signal=signals.request_reached_downloader, request=request, spider=spider)
            if slot.queue or slot.delay or slot.latercall or slot.free_transfer_slots() <= 0:
                response: Deferred[Response] = Deferred()
                slot.queue.append((request, response))
                self._process_queue(slot)
                return await maybe_deferred_to_future(response)
            slot.lastseen = monotonic()
            return await self._download(slot, request)
        finally:
            slot.active.remove(request)


class SiteEngine(ExecutionEngine):
    """Engine that runs one asyncio task for each request."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._tasks: dict[Request, asyncio.Task[None]] = {}
        """References that keep the tasks from garbage collection."""
        self._context = copy_context()
        """Context variables that each task starts with. Without it a task would inherit the variables of another
        request, because the end of one request often starts the next."""
        self._bypasses_spider_middlewares = False
        """Whether the items of a response go straight to the pipelines: no spider middleware takes part."""

    async def open_spider_async(self, *, close_if_idle: bool = True) -> None:
        await super().open_spider_async(close_if_idle=close_if_idle)
        spider, middlewares = cast("Spider", self.spider), self.scraper.spidermw.methods
        takes_part = any(map(middlewares.get, _SPIDER_MIDDLEWARE_METHODS))
        self._bypasses_spider_middlewares = isgeneratorfunction(spider.parse) and not takes_part

    def _start_scheduled_request(self) -> bool:
        slot = cast("EngineSlot", self._slot)
        request = slot.scheduler.next_request()
        if request is None:
            self.signals.send_catch_log(signals.scheduler_empty)
            return False
        # A task that cannot be created leaves no request in flight that nothing would ever end.
        crawl = self._crawl(request, slot)
        self._tasks[request] = asyncio.get_running_loop().create_task(crawl, context=self._context.copy())
        # Before the task begins: the engine asks at once whether another request fits.
        slot.add_request(request)
        self.downloader.active.add(request)
        return True

    async def _crawl(self, request: Request, slot: EngineSlot) -> None:
        """Take one request from the scheduler to the last pipeline."""
        try:
            result = await self._fetch(request)
            slot.nextcall.schedule()
            if isinstance(result, Request):
                self.crawl(result)
            else:
                await self._scrape(result, request)
        except Exception as error:
            context = {"message": f"Error while crawling {request}", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)
        finally:
            self._tasks.pop(request, None)
            slot.remove_request(request)
            slot.nextcall.schedule()

    async def _fetch(self, request: Request) -> Response | Request | Failure:
        """Return the result of the downloader middlewares, or the failure of the download."""
        try:
            return await self._download_through_middlewares(request)
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            # Something that the request waited for may have been cancelled, and not the request.
            if isinstance(error, asyncio.CancelledError) and _current_task_is_cancelled():
                raise
            return Failure()  # type: ignore[no-untyped-call]

    async def _download_through_middlewares(self, request: Request) -> Response | Request:
        downloader = self.downloader
        try:
            result = await downloader.middleware.download_async(downloader._enqueue_request, request)
        finally:
            downloader.active.remove(request)
        if isinstance(result, Response):
            if result.request is None:
                result.request = request
            spider = cast("Spider", self.spider)
            line = self.logformatter.crawled(result.request, result, spider)
            if line is not None:
                logger.log(*logformatter_adapter(line), extra={"spider": spider})
            self.signals.send_catch_log(
                signal=signals.response_received, response=result, request=result.request, spider=spider
            )
        return result

    async def _scrape(self, result: Response | Failure, request: Request) -> None:
        """Pass a response or failure through the spider and the pipelines."""
        scraper, slot = self.scraper, cast("ScraperSlot", self.scraper.slot)
        slot.active.add(request)
        size_bytes = len(result.body) if isinstance(result, Response) else 0
        slot.active_size += max(size_bytes, slot.MIN_RESPONSE_SIZE)
        try:
            # The next request leaves before this response is read. Without the turns, the requests that follow several
            # responses of one moment would wait until all of these are read.
            for _ in range(_TURNS_BEFORE_READING):
                await asyncio.sleep(0)
            if self._bypasses_spider_middlewares and isinstance(result, Response):
                await self._parse(result, request)
            else:
                await scraper._scrape(result, request)
        finally:
            slot.finish_response(result, request)
            scraper._check_if_closing()

    async def _parse(self, response: Response, request: Request) -> None:
        """Call the spider's `parse` and pass its items to the pipelines; any other callback takes Scrapy's path."""
        asked = cast("Request", response.request)
        if asked.callback != cast("Spider", self.spider).parse or asked.cb_kwargs:
            await self.scraper._scrape(response, request)
            return
        try:
            for item in asked.callback(response):
                await self.scraper._process_spidermw_output_async(item, response)
        except Exception:
            self.scraper.handle_spider_error(Failure(), request, response)  # type: ignore[no-untyped-call]


def _current_task_is_cancelled() -> bool:
    """Return whether the task of the request itself was cancelled, as all tasks are when a crawl stops at once."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class EngineControl:
    """State and controls of a crawler's engine, for components. Works with `SiteEngine` and with Scrapy's own engine.

    Each call reads `crawler.engine`, because components are constructed before the engine is.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @property
    def is_closing(self) -> bool:
        """Whether the spider is being closed, is closed, or is not open yet: requests are refused."""
        slot = self._slot
        return slot is None or slot.closing is not None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is queued, in flight or being read. Unlike Scrapy's, it ignores `Spider.start()`."""
        engine = self._engine
        if engine.downloader.active or (engine.scraper.slot is not None and not engine.scraper.slot.is_idle()):
            return False
        return engine.scheduler is None or not engine.scheduler.has_pending_requests()

    def requests_in_flight(self, host: str | None = None) -> int:
        """Return the number of requests to `host`, or to all hosts, from the scheduler until their response."""
        active = self._engine.downloader.active
        if host is None:
            return len(active)
        return sum(host_of(request.url) == host for request in active)

    def active_requests(self) -> set[Request]:
        """Return the requests from the scheduler, or from a component, until their response."""
        return self._engine.downloader.active

    def responses_in_processing(self) -> int:
        """Return the number of responses that are in the spider or the pipelines."""
        slot = self._engine.scraper.slot
        return 0 if slot is None else len(slot.active)

    def wake(self) -> None:
        """Have the engine ask the scheduler for a request in the next turn of the event loop."""
        if self._slot is not None:
            self._slot.nextcall.schedule()

    def close(self, reason: str) -> None:
        """Close the spider, from a component that cannot raise CloseSpider."""
        task = asyncio.ensure_future(self._engine.close_spider_async(reason=reason))
        _closing_tasks.add(task)
        task.add_done_callback(_closing_tasks.discard)

    @property
    def _engine(self) -> ExecutionEngine:
        return self._crawler.engine

    @property
    def _slot(self) -> EngineSlot | None:
        return self._engine._slot


_closing_tasks: set[asyncio.Future[None]] = set()
"""References that keep the tasks from garbage collection."""
