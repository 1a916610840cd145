from __future__ import annotations

from typing import Any

from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.defer import ensure_awaitable

from sitemap_crawler.items import Page


class PagePipelineManager(ItemPipelineManager):
    """Calls the pipelines one after another, and awaits only those that ask for it.

    Scrapy's wraps every call in a coroutine and looks up its name for a warning, which costs more than what most of our
    pipelines do.
    """

    async def process_item_async(self, item: Any) -> Any:
        for process_item in self.methods["process_item"]:
            item = process_item(item)  # type: ignore[misc]  # Scrapy's type is that of all methods
            if not isinstance(item, Page):
                item = await ensure_awaitable(item)
        return item
