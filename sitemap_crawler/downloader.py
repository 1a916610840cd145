"""The HTTP client: Scrapy's aiohttp handler, with what its middlewares do for every request done once for all.

Default headers, time-out and decompression cost a call for every request and response as middlewares; here they are a
property of the session. The body is bounded, after decompression, and kept as far as it was read.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

import aiohttp
from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler, _ClientResponse
from scrapy.core.downloader.handlers._base_streaming import BaseStreamingDownloadHandler
from scrapy.http import Headers, Response
from scrapy.utils.ssl import _make_ssl_context

if TYPE_CHECKING:
    import ssl

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

TRUNCATED = "truncated"
"""Flag of a response whose body goes on after what was read."""


class BoundedDownloadHandler(AiohttpDownloadHandler):
    """Reads the settings DOWNLOAD_MAXSIZE (of the decompressed body), DOWNLOAD_TIMEOUT, DEFAULT_REQUEST_HEADERS,
    USER_AGENT and COMPRESSION_ENABLED; a request's own headers and `download_timeout` go before them."""

    # Scrapy 2.19 calls its handler experimental and logs that at every start; the pin on 2.19 is our answer.
    experimental: ClassVar[bool] = False
    # One handler for each scheme, made when the first URL of it comes.
    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        # Not super(): its session has none of the defaults below.
        BaseStreamingDownloadHandler.__init__(self, crawler)
        settings = crawler.settings
        self._max_body = settings.getint("DOWNLOAD_MAXSIZE")
        self._timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._ssl_context = _ssl_context(settings)  # type: ignore[assignment]  # aiohttp takes True for its default
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                local_addr=self._bind_address, limit=self._pool_size_total, limit_per_host=self._pool_size_per_host
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_default_headers(settings),
            skip_auto_headers=("Content-Type",),
            response_class=_ClientResponse,
        )

    async def download_request(self, request: Request) -> Response:
        async with self._make_request(request, request.meta.get("download_timeout", self._timeout)) as response:
            return await self._read_response(response, request)

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
        headers = _headers(response)
        return Response(request.url, status=response.status, headers=headers, body=body, flags=flags)


def _headers(response: _ClientResponse) -> Headers:
    """As Scrapy keeps them, put in past its normalising: the bytes of a response are normal already."""
    headers = Headers()
    for name, value in response.raw_headers:
        dict.setdefault(headers, name.title(), []).append(value)
    return headers


def _default_headers(settings: BaseSettings) -> dict[str, str]:
    headers = {name: value for name, value in settings["DEFAULT_REQUEST_HEADERS"].items() if value is not None}
    encodings = "gzip, deflate, br" + (", zstd" if _knows_zstd() else "")
    headers["Accept-Encoding"] = encodings if settings.getbool("COMPRESSION_ENABLED") else "identity"
    headers["User-Agent"] = settings["USER_AGENT"]
    return headers


def _knows_zstd() -> bool:
    """Whether aiohttp can decompress it: from Python 3.14, or with the backport."""
    return sys.version_info >= (3, 14) or (
        find_spec("backports") is not None and find_spec("backports.zstd") is not None
    )


def _ssl_context(settings: BaseSettings) -> ssl.SSLContext | bool:
    """aiohttp's own verifying context, which is made already, unless a setting asks for another."""
    asked = ("DOWNLOAD_TLS_MIN_VERSION", "DOWNLOAD_TLS_MAX_VERSION")
    default_ciphers = settings["DOWNLOADER_CLIENT_TLS_CIPHERS"] == "DEFAULT"
    if settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES") and default_ciphers and not any(settings[n] for n in asked):
        return True
    return _make_ssl_context(settings)
