"""Scrapy's own floor: its fastest set-up, no middleware, an empty callback. As it reads nothing, it is given the URLs.

The settings are those of `FLOOR` in crawlers.py.
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
