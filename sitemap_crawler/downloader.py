"""The HTTP client: a Scrapy download handler on aiohttp that does once what middlewares would do for every request.

Default headers, time-out and decompression are properties of its session. The body is bounded, after decompression, and
kept as far as it was read.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import aiohttp
import yarl
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers, Response

from sitemap_crawler.job import job_of

if TYPE_CHECKING:
    import ssl

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

MAX_HEADER = 65_536
"""Bytes of one header: security policies pass aiohttp's 8 kB."""
TRUNCATED = "truncated"
"""Flag of a response whose body goes on after what was read."""
BOMB = "decompression-bomb"
"""Flag of one that is too long only because so few bytes became so many."""
BOMB_RATIO = 200
"""Pages of markup that repeats itself come to 100 bytes from one, deflate can come to 1,000."""
MAX_DRAINED = 8
"""Bounds of a body that are unpacked, and thrown away, to see whether it is a bomb."""


class BoundedDownloadHandler:
    """Keeps the meaning of DOWNLOAD_MAXSIZE (of the decompressed body), DOWNLOAD_TIMEOUT, DOWNLOAD_BIND_ADDRESS,
    DOWNLOAD_VERIFY_CERTIFICATES, DOWNLOAD_TLS_*, DEFAULT_REQUEST_HEADERS, USER_AGENT and COMPRESSION_ENABLED, and of
    the request metadata download_timeout, proxy and verbatim_url; max_body is a bound instead of the option's."""

    # One handler for each scheme, made when the first URL of it comes.
    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._max_body = job_of(crawler).options.max_body
        self._max_size = settings.getint("DOWNLOAD_MAXSIZE") or sys.maxsize
        self._timeout = aiohttp.ClientTimeout(total=settings.getfloat("DOWNLOAD_TIMEOUT"))
        self._ssl = _ssl_context(settings)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                local_addr=_bind_address(settings["DOWNLOAD_BIND_ADDRESS"]),
                limit=settings.getint("CONCURRENT_REQUESTS"),
                limit_per_host=settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"),
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_default_headers(settings),
            skip_auto_headers=("Content-Type",),
            max_line_size=MAX_HEADER,
            max_field_size=MAX_HEADER,
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BoundedDownloadHandler:
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """Raises Scrapy's download errors, as Scrapy's own handlers do."""
        own_timeout = request.meta.get("download_timeout")
        timeout = aiohttp.ClientTimeout(total=own_timeout) if own_timeout else self._timeout
        authorization = request.headers.pop(b"Proxy-Authorization", None)
        try:
            async with self._session.request(
                request.method,
                yarl.URL(request.url, encoded="verbatim_url" in request.meta),
                data=request.body or None,
                headers=request.headers.to_tuple_list() if request.headers else None,
                timeout=timeout,
                ssl=self._ssl,
                allow_redirects=False,
                proxy=request.meta.get("proxy"),
                proxy_auth=aiohttp.BasicAuth.decode(authorization[0].decode("latin-1")) if authorization else None,
            ) as response:
                return await self._read(response, request)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"no answer in {timeout.total} seconds") from error
        except (aiohttp.InvalidUrlClientError, aiohttp.NonHttpUrlClientError) as error:
            raise UnsupportedURLSchemeError(str(error)) from error
        except aiohttp.ClientConnectorDNSError as error:
            raise CannotResolveHostError(str(error)) from error
        except aiohttp.ClientConnectorError as error:
            raise DownloadConnectionRefusedError(str(error)) from error
        except aiohttp.ClientPayloadError as error:
            raise ResponseDataLossError(str(error)) from error
        except aiohttp.ClientError as error:
            raise DownloadFailedError(str(error)) from error

    async def _read(self, response: aiohttp.ClientResponse, request: Request) -> Response:
        """Unlike Scrapy's, sends no signal for the headers and each chunk: nothing here listens."""
        chunks: list[bytes] = []
        size = 0
        flags = None
        bound = min(request.meta.get("max_body", self._max_body), self._max_size)
        async for chunk in response.content.iter_any():
            if size < bound:
                # Without a copy of all that came, later.
                chunks.append(chunk if size + len(chunk) <= bound else chunk[: bound - size])
            size += len(chunk)
            if size > bound:
                bomb_size = BOMB_RATIO * response.content.total_raw_bytes
                # What has come may be much more than what is unpacked of it.
                if size < bomb_size <= MAX_DRAINED * bound:
                    continue
                flags = [TRUNCATED if size < bomb_size else BOMB]
                response.close()
                break
        else:
            flags = [TRUNCATED] if size > bound else None
        body = b"".join(chunks)
        chunks.clear()
        answer = Response(request.url, status=response.status, body=body, flags=flags)
        answer.headers = _headers(response)
        return answer

    async def close(self) -> None:
        await self._session.close()


def _headers(response: aiohttp.ClientResponse) -> Headers:
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


def _bind_address(setting: str | tuple[str, int] | None) -> tuple[str, int] | None:
    return (setting, 0) if isinstance(setting, str) else setting


def _ssl_context(settings: BaseSettings) -> ssl.SSLContext | bool:
    """aiohttp's own verifying context, which is made already, unless a setting asks for another."""
    asked = ("DOWNLOAD_TLS_MIN_VERSION", "DOWNLOAD_TLS_MAX_VERSION")
    default_ciphers = settings["DOWNLOADER_CLIENT_TLS_CIPHERS"] == "DEFAULT"
    if settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES") and default_ciphers and not any(settings[n] for n in asked):
        return True
    from scrapy.utils.ssl import _make_ssl_context

    return _make_ssl_context(settings)
