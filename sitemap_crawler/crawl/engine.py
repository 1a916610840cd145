"""Scrapy's engine with one task for a request, where Scrapy starts five.

Scrapy hands a request from part to part as Twisted's Deferreds, each of which becomes a task of asyncio and back, and
that costs more than the HTTP client does. Here one coroutine goes all the way, from the scheduler to the last pipeline.
Slots, delays, middlewares, signals and back-pressure are Scrapy's, and so is the way of whatever is not an answer to
our own spider.
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

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.core.engine import _Slot as EngineSlot
    from scrapy.core.scraper import Slot as ScraperSlot

logger = logging.getLogger("scrapy.core.engine")
"""Scrapy's: what is said is the same, and whoever hides or wants it knows it by this name."""

_BETWEEN = ("process_spider_input", "process_spider_output", "process_spider_exception")
"""What a spider middleware does between an answer and the pipelines."""


TURNS = 3
"""Of the event loop: in the first the engine is called, in the second it starts a request, in the third that leaves."""


class SiteCrawler(Crawler):
    """For our spider; has Scrapy's own engine when a setting names another downloader than ours."""

    def _create_engine(self) -> ExecutionEngine:
        downloader = load_object(self.settings["DOWNLOADER"])
        ours = isinstance(downloader, type) and issubclass(downloader, SiteDownloader)
        return (SiteEngine if ours else ExecutionEngine)(self, lambda _: self.stop_async())


class SiteDownloader(Downloader):
    """Has those wait that have to, for a place or for a delay, and no others."""

    async def _enqueue_request(self, request: Request) -> Response:
        key = self.get_slot_key(request)
        slot = self.slots.get(key) or self._get_slot(request)[1]
        request.meta[self.DOWNLOAD_SLOT] = key
        slot.active.add(request)
        try:
            spider = self.crawler.spider
            self.signals.send_catch_log(signal=signals.request_reached_downloader, request=request, spider=spider)
            if slot.queue or slot.delay or slot.latercall or slot.free_transfer_slots() <= 0:
                turn: Deferred[Response] = Deferred()
                slot.queue.append((request, turn))
                self._process_queue(slot)
                return await maybe_deferred_to_future(turn)
            slot.lastseen = monotonic()
            return await self._download(slot, request)
        finally:
            slot.active.remove(request)


def _is_cancelled() -> bool:
    """Whether the request's own task was told to end, as all are when a crawl is stopped at once."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class SiteEngine(ExecutionEngine):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._crawls: dict[Request, asyncio.Task[None]] = {}
        """Nobody else holds on to them."""
        self._context = copy_context()
        """For each of them: what calls the engine is often the end of another request, with what that has bound."""
        self._is_direct = False
        """Whether what the spider makes of an answer goes to the pipelines as it is."""

    async def open_spider_async(self, *, close_if_idle: bool = True) -> None:
        await super().open_spider_async(close_if_idle=close_if_idle)
        spider, middlewares = cast("Spider", self.spider), self.scraper.spidermw.methods
        self._is_direct = isgeneratorfunction(spider.parse) and not any(map(middlewares.get, _BETWEEN))

    def _start_scheduled_request(self) -> bool:
        slot = cast("EngineSlot", self._slot)
        request = slot.scheduler.next_request()
        if request is None:
            self.signals.send_catch_log(signals.scheduler_empty)
            return False
        # At once: whether there is room for another one is asked before the task begins.
        slot.add_request(request)
        self.downloader.active.add(request)
        crawl = self._crawl(request, slot)
        self._crawls[request] = asyncio.get_running_loop().create_task(crawl, context=self._context.copy())
        return True

    async def _crawl(self, request: Request, slot: EngineSlot) -> None:
        try:
            result = await self._fetch(request)
            slot.nextcall.schedule()
            if isinstance(result, Request):
                self.crawl(result)
            else:
                await self._scrape(result, request)
        except Exception:
            logger.exception("Error while crawling %s", request)
        finally:
            self._crawls.pop(request, None)
            slot.remove_request(request)
            slot.nextcall.schedule()

    async def _fetch(self, request: Request) -> Response | Request | Failure:
        try:
            return await self._answer(request)
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            # What was cancelled may also be something that it waited for.
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            return Failure()  # type: ignore[no-untyped-call]

    async def _answer(self, request: Request) -> Response | Request:
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
        scraper, slot = self.scraper, cast("ScraperSlot", self.scraper.slot)
        slot.active.add(request)
        size = len(result.body) if isinstance(result, Response) else 0
        slot.active_size += max(size, slot.MIN_RESPONSE_SIZE)
        try:
            # The next request leaves before this answer is read: of many that came together, each would wait for all.
            for _ in range(TURNS):
                await asyncio.sleep(0)
            if self._is_direct and isinstance(result, Response):
                await self._parse(result, request)
            else:
                await scraper._scrape(result, request)
        finally:
            slot.finish_response(result, request)
            scraper._check_if_closing()

    async def _parse(self, response: Response, request: Request) -> None:
        asked = cast("Request", response.request)
        if asked.callback != cast("Spider", self.spider).parse or asked.cb_kwargs:
            await self.scraper._scrape(response, request)
            return
        try:
            for item in asked.callback(response):
                await self.scraper._process_spidermw_output_async(item, response)
        except Exception:
            self.scraper.handle_spider_error(Failure(), request, response)  # type: ignore[no-untyped-call]
