"""Scrapy's floor: its fastest configuration, without middlewares and with an empty callback.

The spider follows no links, so it gets the list of URLs. `FLOOR_SETTINGS` in crawlers.py are its settings.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response


class FloorSpider(Spider):
    name = "floor"

    def __init__(self, urls: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._urls = Path(urls)

    async def start(self) -> AsyncIterator[Request]:
        for url in self._urls.read_text(encoding="utf-8").splitlines():
            yield Request(url, meta={"verbatim_url": True})

    def parse(self, response: Response) -> None:
        pass
