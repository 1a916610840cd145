"""The item processor: calls the pipelines of the crawl, the reading ones in worker processes."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem
from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.misc import load_object

from sitemap_crawler.crawl.download.errors import MAX_ERROR_LENGTH
from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.middlewares.shortage import ends_crawl
from sitemap_crawler.crawl.pipelines.extraction import ReadingPipeline
from sitemap_crawler.crawl.pipelines.in_process import InventoryPipeline
from sitemap_crawler.crawl.pipelines.transfer import ExtractedValues, UnreadPage, apply_values, extracted_values
from sitemap_crawler.exceptions import WorkerDiedError, WorkerError
from sitemap_crawler.items import Observation, Page, QueuedUrl
from sitemap_crawler.utils.text import printable
from sitemap_crawler.utils.workers.pool import MAX_TASK_SECONDS, WorkerPool, default_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.settings import Settings

    from sitemap_crawler.crawl.pipelines.rendering import ReadPage, RenderingStage

logger = logging.getLogger(__name__)

MIN_LARGE_BODY = 2_000_000
"""Bytes of a body from which on one such page is read at a time: its tree takes up to twenty times as much memory."""
MIN_ABANDONED_BODY = 200_000
"""Bytes of a body from which on an interruption does not wait for its reading. Hostile markup of 15 MB takes 13 s."""
CLOSING_TURN_SECONDS = 0.01
"""Time between two such bodies that are read without workers. An interruption needs some turns of the event loop."""
MAX_CLOSING_SECONDS = 5.0
"""Time after which an interruption waits no longer for a worker: it is frozen, or its page is hostile."""
CLOSING_CHECK_SECONDS = 0.2
"""Time between two checks whether the crawl is interrupted while such a body is read."""


class PagePipelineManager(ItemPipelineManager):
    """Item processor that calls the pipelines in order, the reading ones in worker processes.

    Scrapy's manager wraps every call in a coroutine and looks up its name for a warning, which costs more than most of
    these pipelines do; this one awaits only results that need it. A page at which a pipeline fails goes to the last
    pipeline, which stores it as unreadable. A page that a pipeline drops is stored as not to be listed.
    """

    @classmethod
    def _get_mwlist_from_settings(cls, settings: Settings) -> list[Any]:
        pipelines = super()._get_mwlist_from_settings(settings)
        if not pipelines or load_object(pipelines[-1]) is not InventoryPipeline:
            raise ValueError(f"the last of ITEM_PIPELINES has to be {InventoryPipeline.__qualname__}")
        return pipelines

    def __init__(self, *middlewares: Any, **kwargs: Any) -> None:
        super().__init__(*middlewares, **kwargs)
        reading = list(takewhile(_is_reading, middlewares))
        others = middlewares[len(reading) :]
        self._local_steps = [pipeline.process_item for pipeline in others[:-1]]
        """Steps that remain for a page which a worker has read."""
        self._turn = asyncio.Lock()
        self._can_use_workers = not any(map(_may_need_document, others))
        self._rendering: RenderingStage | None = None
        self._reading = reading
        read = _page_reader(reading)
        self._pool: WorkerPool[UnreadPage, ExtractedValues] = WorkerPool(
            lambda unread: extracted_values(read(unread.to_page())),
            prepare=lambda: _import_readers(read),
            max_task_seconds=lambda: MAX_CLOSING_SECONDS if self._is_closing else MAX_TASK_SECONDS,
        )

    async def open_spider_async(self) -> None:
        await super().open_spider_async()
        if self._can_use_workers and self.crawler is not None:
            options = job_of(self.crawler).options
            # With a delay between requests the crawling process has time to read every page.
            default = 0 if options.delay else default_workers()
            await self._pool.open(default if options.workers is None else options.workers)
        if self.crawler is not None and job_of(self.crawler).options.renders:
            from sitemap_crawler.crawl.pipelines.rendering import RenderingStage

            self._rendering = RenderingStage(self.crawler, self._read_anywhere)

    async def close_spider_async(self) -> None:
        try:
            if self._rendering is not None:
                await self._rendering.close()
            await super().close_spider_async()
        finally:
            self._pool.close()

    async def process_item_async(self, item: Any) -> Any:
        *steps, store = self.methods["process_item"]
        try:
            if self._rendering is not None and isinstance(item, Page) and self._rendering.takes(item):
                if not await self._rendering.process(item):
                    # Nothing is stored: the page is requested again, at once or in the next run.
                    return item
                steps = self._local_steps
            elif isinstance(item, Page) and item.body is not None:
                may_take_long = len(item.body) > MIN_ABANDONED_BODY
                if may_take_long and await self._is_interrupted_before():
                    # Nothing is stored: the next run fetches the page again.
                    return item
                if self._pool.is_open:
                    values = await (self._read_or_abandon(item) if may_take_long else self._read(item))
                    if values is None:
                        return item
                    apply_values(item, values)
                    steps = self._local_steps
            for process_item in steps:
                item = await _call(process_item, item)
        except DropItem as error:
            if isinstance(item, Page):
                item.exclude(printable(f"DropItem: {error}")[:MAX_ERROR_LENGTH])
                await _call(store, item)
            raise
        except Exception as error:
            if not isinstance(item, Page) or self.crawler is None:
                raise
            url = item.queued.url
            if ends_crawl(self.crawler, error, f"at the reading of {url}"):
                # Nothing is stored: the next run fetches the page again.
                return item
            if isinstance(error, WorkerDiedError) and self._is_closing:
                # It had less time than other pages.
                return item
            if isinstance(error, WorkerDiedError):
                logger.error("cannot read %s: %s", url, error)
            else:
                logger.exception("cannot read %s", url)
            reason = str(error) if isinstance(error, WorkerError) else f"{type(error).__name__}: {error}"
            item.mark_unreadable(printable(reason)[:MAX_ERROR_LENGTH])
        return await _call(store, item)

    @property
    def _is_closing(self) -> bool:
        return self.crawler is not None and EngineControl(self.crawler).is_closing

    async def _is_interrupted_before(self) -> bool:
        """Return whether the crawl is interrupted before a large page is read."""
        if not self._pool.is_open:
            # Without workers the event loop stands still while a page is read. Here it hears of an interruption.
            async with self._turn:
                await asyncio.sleep(CLOSING_TURN_SECONDS)
        return self._is_closing

    async def _read(self, page: Page) -> ExtractedValues:
        return await self._read_in_worker(UnreadPage.from_page(page))

    async def _read_in_worker(self, unread: UnreadPage) -> ExtractedValues:
        is_large = unread.body is not None and len(unread.body) > MIN_LARGE_BODY
        return await self._pool.run(unread, alone=is_large)

    async def _read_anywhere(self, unread: UnreadPage) -> ReadPage:
        """Return what the readers make of a page, in a worker process or, without workers, in this one."""
        from sitemap_crawler.crawl.pipelines.rendering import ReadPage

        if self._pool.is_open:
            return ReadPage(await self._read_in_worker(unread))
        page = unread.to_page()
        for pipeline in self._reading:
            page = pipeline.process_item(page)
        return ReadPage(extracted_values(page), page.document)

    async def _read_or_abandon(self, page: Page) -> ExtractedValues | None:
        """Return what a worker reads; None if the crawl is interrupted before that."""
        reading = asyncio.ensure_future(self._read(page))
        try:
            while not (await asyncio.wait({reading}, timeout=CLOSING_CHECK_SECONDS))[0]:
                if self._is_closing:
                    return None
            return reading.result()
        finally:
            reading.cancel()


async def _call(process_item: Any, item: Any) -> Any:
    result = process_item(item)
    return result if isinstance(result, Page) else await ensure_awaitable(result)


def _is_reading(pipeline: Any) -> bool:
    return isinstance(pipeline, ReadingPipeline)


def _may_need_document(pipeline: Any) -> bool:
    """Return whether the pipeline reads pages. A pipeline from outside this package may do so."""
    return _is_reading(pipeline) or not type(pipeline).__module__.startswith("sitemap_crawler.")


def _page_reader(pipelines: Sequence[ReadingPipeline]) -> Callable[[Page], Page]:
    """Return a function that runs the reading pipelines on one page."""

    def read(page: Page) -> Page:
        for pipeline in pipelines:
            page = pipeline.process_item(page)
        page.document = None
        return page

    return read


def _import_readers(read: Callable[[Page], Page]) -> None:
    """Read an empty page, so that the pipelines import their readers before the first real page waits for them."""
    page = Page(QueuedUrl(0, "http://localhost/", 0), Observation(0, datetime.now(UTC), status=200))
    page.observation.content_type, page.body = "text/html", b"<title></title><p>"
    read(page)
