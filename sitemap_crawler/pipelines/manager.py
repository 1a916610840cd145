from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem
from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.misc import load_object

from sitemap_crawler.items import Page
from sitemap_crawler.pipelines.inventory import InventoryPipeline

if TYPE_CHECKING:
    from scrapy.settings import Settings

logger = logging.getLogger(__name__)


class PagePipelineManager(ItemPipelineManager):
    """Calls the pipelines one after another, and awaits only those that ask for it.

    Scrapy's wraps every call in a coroutine and looks up its name for a warning, which costs more than what most of our
    pipelines do. A page at which a pipeline fails goes on to the last one, which stores it as one that can't be read.
    """

    @classmethod
    def _get_mwlist_from_settings(cls, settings: Settings) -> list[Any]:
        pipelines = super()._get_mwlist_from_settings(settings)
        if not pipelines or load_object(pipelines[-1]) is not InventoryPipeline:
            raise ValueError(f"the last of ITEM_PIPELINES has to be {InventoryPipeline.__qualname__}")
        return pipelines

    async def process_item_async(self, item: Any) -> Any:
        *collectors, store = self.methods["process_item"]
        try:
            for process_item in collectors:
                item = await _call(process_item, item)
        except DropItem:
            raise
        except Exception as error:
            if not isinstance(item, Page):
                raise
            logger.exception("cannot read %s", item.queued.url)
            item.give_up(f"{type(error).__name__}: {error}")
        return await _call(store, item)


async def _call(process_item: Any, item: Any) -> Any:
    result = process_item(item)
    return result if isinstance(result, Page) else await ensure_awaitable(result)
