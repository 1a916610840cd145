"""The middleware that retries requests that failed, but for the URLs of a shape that keeps failing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.retry import RetryMiddleware

from sitemap_crawler.crawl.keys import Meta
from sitemap_crawler.traps.failing_shapes import FailingShapes

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

TOO_MANY_REQUESTS = 429
"""Status that says nothing about a page, only that it was asked for too soon."""


class PageRetryMiddleware(RetryMiddleware):
    """Scrapy's retry middleware, which also counts the pages that fail at every attempt."""

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        self._shapes = FailingShapes()

    # Scrapy's methods have a deprecated argument, and warn of methods that take it.
    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        if Meta.QUEUED not in request.meta or response.status == TOO_MANY_REQUESTS:
            return super().process_response(request, response)
        if response.status not in self.retry_http_codes:
            self._shapes.answered(request.url)
            return response
        self._limit(request)
        result = super().process_response(request, response)
        if result is response:
            self._shapes.failed(request.url)
        return result

    def process_exception(  # type: ignore[override]
        self, request: Request, exception: Exception
    ) -> Request | Response | None:
        is_failure = Meta.QUEUED in request.meta and isinstance(exception, self.exceptions_to_retry)
        if is_failure:
            self._limit(request)
        result = super().process_exception(request, exception)
        if is_failure and result is None:
            self._shapes.failed(request.url)
        return result

    def _limit(self, request: Request) -> None:
        if self._shapes.gives_up(request.url):
            request.meta[Meta.MAX_RETRIES] = 0
