"""The spider that Scrapy's tutorial leads to: a `CrawlSpider` that follows every link of one host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class StockSpider(CrawlSpider):
    name = "stock"
    allowed_domains = ("127.0.0.1",)
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def __init__(self, url: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [url]

    def parse_page(self, response: Response) -> Iterator[dict[str, str | None]]:
        modified = response.headers.get("Last-Modified")
        yield {"url": response.url, "last-modified": modified.decode() if modified else None}

    def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[dict[str, str | None]]:
        return self.parse_page(response)
