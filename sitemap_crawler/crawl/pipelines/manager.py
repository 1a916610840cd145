from __future__ import annotations

import logging
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem
from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.misc import load_object

from sitemap_crawler.crawl.download.errors import MAX_TEXT
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.pipelines.inventory import InventoryPipeline
from sitemap_crawler.crawl.pipelines.reading import ReadingPipeline
from sitemap_crawler.crawl.pipelines.transfer import Findings, Unread, findings, take
from sitemap_crawler.crawl.workers.pool import WorkerPool, default_workers
from sitemap_crawler.exceptions import WorkerDiedError, WorkFailedError
from sitemap_crawler.items import Observation, Page, QueuedUrl
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.settings import Settings

logger = logging.getLogger(__name__)

LONG_BODY = 2_000_000
"""Bytes. The tree of a page takes up to twenty times as much, so of such pages one is read at a time."""


class PagePipelineManager(ItemPipelineManager):
    """Calls the pipelines one after another, those that read a page in other processes, and awaits only what must be.

    Scrapy's wraps every call in a coroutine and looks up its name for a warning, which costs more than what most of our
    pipelines do. A page at which a pipeline fails goes on to the last one, which stores it as one that can't be read,
    and so does one that a pipeline drops, as one that is not to be listed.
    """

    @classmethod
    def _get_mwlist_from_settings(cls, settings: Settings) -> list[Any]:
        pipelines = super()._get_mwlist_from_settings(settings)
        if not pipelines or load_object(pipelines[-1]) is not InventoryPipeline:
            raise ValueError(f"the last of ITEM_PIPELINES has to be {InventoryPipeline.__qualname__}")
        return pipelines

    def __init__(self, *middlewares: Any, **kwargs: Any) -> None:
        super().__init__(*middlewares, **kwargs)
        readers = list(takewhile(_is_reader, middlewares))
        others = middlewares[len(readers) :]
        self._rest = [pipeline.process_item for pipeline in others[:-1]]
        """What is left to do with a page that was read elsewhere."""
        self._may_share = not any(map(_may_need_document, others))
        read = _reader(readers)
        self._pool: WorkerPool[Unread, Findings] = WorkerPool(
            lambda unread: findings(read(unread.page())), prepare=lambda: _import_all(read)
        )

    async def open_spider_async(self) -> None:
        await super().open_spider_async()
        if self._may_share and self.crawler is not None:
            options = job_of(self.crawler).options
            # With a delay this process has the time to read every page.
            default = 0 if options.delay else default_workers()
            await self._pool.open(default if options.workers is None else options.workers)

    async def close_spider_async(self) -> None:
        try:
            await super().close_spider_async()
        finally:
            self._pool.close()

    async def process_item_async(self, item: Any) -> Any:
        *collectors, store = self.methods["process_item"]
        try:
            if self._pool.is_open and isinstance(item, Page) and item.body is not None:
                take(item, await self._pool.run(Unread.of(item), alone=len(item.body) > LONG_BODY))
                collectors = self._rest
            for process_item in collectors:
                item = await _call(process_item, item)
        except DropItem as error:
            if isinstance(item, Page):
                item.leave_out(printable(f"DropItem: {error}")[:MAX_TEXT])
                await _call(store, item)
            raise
        except WorkerDiedError as error:
            logger.error("cannot read %s: %s", item.queued.url, error)
            item.give_up(str(error))
        except Exception as error:
            if not isinstance(item, Page):
                raise
            logger.exception("cannot read %s", item.queued.url)
            words = str(error) if isinstance(error, WorkFailedError) else f"{type(error).__name__}: {error}"
            item.give_up(printable(words)[:MAX_TEXT])
        return await _call(store, item)


async def _call(process_item: Any, item: Any) -> Any:
    result = process_item(item)
    return result if isinstance(result, Page) else await ensure_awaitable(result)


def _is_reader(pipeline: Any) -> bool:
    return isinstance(pipeline, ReadingPipeline)


def _may_need_document(pipeline: Any) -> bool:
    """Whether it reads, or is one of which we know nothing."""
    return _is_reader(pipeline) or not type(pipeline).__module__.startswith("sitemap_crawler.")


def _reader(pipelines: Sequence[ReadingPipeline]) -> Callable[[Page], Page]:
    def read(page: Page) -> Page:
        for pipeline in pipelines:
            page = pipeline.process_item(page)
        # Nobody needs it any more.
        page.document = None
        return page

    return read


def _import_all(read: Callable[[Page], Page]) -> None:
    """Have the readers import what they do at their first page, which would have to wait for it."""
    page = Page(QueuedUrl(0, "http://localhost/", 0), Observation(0, datetime.now(UTC), status=200))
    page.observation.content_type, page.body = "text/html", b"<title></title><p>"
    read(page)
