"""The HTTP client: Scrapy's aiohttp handler with a body that is bounded, and kept as far as it was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler, _ClientResponse
from scrapy.http import Response

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

TRUNCATED = "truncated"
"""Flag of a response whose body goes on after what was read."""


class BoundedDownloadHandler(AiohttpDownloadHandler):
    # Scrapy 2.19 calls its handler experimental and logs that at every start; the pin on 2.19 is our answer.
    experimental: ClassVar[bool] = False
    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._max_body = crawler.settings.getint("DOWNLOAD_MAXSIZE")

    async def _read_response(self, response: _ClientResponse, request: Request) -> Response:
        """Unlike Scrapy's, sends no signal for the headers and each chunk: nothing here listens."""
        chunks: list[bytes] = []
        size = 0
        flags = None
        async for chunk in response.content.iter_any():
            chunks.append(chunk)
            size += len(chunk)
            if size > self._max_body:
                flags = [TRUNCATED]
                response.close()
                break
        body = b"".join(chunks)[: self._max_body]
        headers = self._extract_headers(response)
        return Response(request.url, status=response.status, headers=headers, body=body, flags=flags)
