"""The HTTP client: a Scrapy download handler on aiohttp that does once what middlewares would do for every request.

Default headers, time-out and decompression are properties of its session. The body is bounded, after decompression, and
kept as far as it was read.
"""

from __future__ import annotations

import os
import ssl
import sys
from dataclasses import replace
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

from sitemap_crawler.crawl.download.content_coding import Unpacker
from sitemap_crawler.crawl.download.proxies import Proxies, Proxy
from sitemap_crawler.crawl.download.tls import load_client_certificate, trust_authorities
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import Meta
from sitemap_crawler.exceptions import CodingError
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from sitemap_crawler.config.options import Options

MAX_HEADER = 65_536
"""Bytes of one header: security policies pass aiohttp's 8 kB."""
TRUNCATED = "truncated"
"""Flag of a response whose body goes on after what was read."""
BOMB = "decompression-bomb"
"""Flag of one that is too long only because so few bytes became so many."""
PROXY = "the proxy"
"""Begins the message of an error that is the proxy's, not the host's."""
BOMB_RATIO = 200
"""Pages of markup that repeats itself come to 100 bytes from one, deflate can come to 1,000."""


class BoundedDownloadHandler:
    """Keeps the meaning of DOWNLOAD_MAXSIZE (of the decompressed body), DOWNLOAD_TIMEOUT, DOWNLOAD_BIND_ADDRESS,
    DOWNLOAD_VERIFY_CERTIFICATES, DOWNLOAD_TLS_*, DEFAULT_REQUEST_HEADERS, USER_AGENT, COMPRESSION_ENABLED and
    HTTPPROXY_ENABLED, and of the request metadata download_timeout, proxy and verbatim_url; max_body is a bound instead
    of the option's.

    What lets the crawl in (`Access`, the client certificate) is added here, past everything that could log it.
    """

    # One handler for each scheme, made when the first URL of it comes.
    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._job = job_of(crawler)
        options = self._job.options
        self._max_body = options.max_body
        self._access = options.access
        self._unpacks = settings.getbool("COMPRESSION_ENABLED")
        self._max_size = settings.getint("DOWNLOAD_MAXSIZE") or sys.maxsize
        self._timeout = aiohttp.ClientTimeout(total=settings.getfloat("DOWNLOAD_TIMEOUT"))
        self._ssl = _ssl_context(settings, options)
        """For all hosts; the site's own gets the client certificate."""
        self._own_ssl = _own_ssl_context(settings, options) or self._ssl
        self._guarded = self._access is not None or self._own_ssl is not self._ssl
        self._proxies = Proxies.of_environment(os.environ) if settings.getbool("HTTPPROXY_ENABLED") else None
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                local_addr=_bind_address(settings["DOWNLOAD_BIND_ADDRESS"]),
                limit=settings.getint("CONCURRENT_REQUESTS"),
                limit_per_host=settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"),
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_default_headers(settings),
            skip_auto_headers=("Content-Type",),
            # It knows one coding of one name, and takes a body without its end for whole.
            auto_decompress=False,
            max_line_size=MAX_HEADER,
            max_field_size=MAX_HEADER,
        )
        # Else it asks a second time by itself when a connection that was kept breaks: uncounted, and before its turn.
        self._session._retry_connection = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BoundedDownloadHandler:
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """Raises Scrapy's download errors, as Scrapy's own handlers do."""
        own_timeout = request.meta.get(Meta.TIMEOUT_SECONDS)
        timeout = aiohttp.ClientTimeout(total=own_timeout) if own_timeout else self._timeout
        own = self._guarded and self._is_own(request.url)
        proxy = self._proxy_of(request)
        headers = self._headers_of(request, proxy, own=own)
        try:
            async with self._session.request(
                request.method,
                yarl.URL(request.url, encoded=Meta.VERBATIM_URL in request.meta),
                data=request.body or None,
                headers=headers or None,
                timeout=timeout,
                ssl=self._own_ssl if own else self._ssl,
                allow_redirects=False,
                proxy=proxy.url if proxy else None,
                proxy_headers=_tunnel_headers(request, proxy),
            ) as response:
                return await self._read(response, request)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"no answer in {timeout.total} seconds") from error
        except (aiohttp.InvalidUrlClientError, aiohttp.NonHttpUrlClientError) as error:
            raise UnsupportedURLSchemeError(str(error)) from error
        except aiohttp.ClientConnectorDNSError as error:
            raise CannotResolveHostError(_told_of(proxy, error)) from error
        except aiohttp.ClientConnectorError as error:
            raise DownloadConnectionRefusedError(_told_of(proxy, error)) from error
        except (aiohttp.ClientPayloadError, CodingError) as error:
            raise ResponseDataLossError(str(error)) from error
        except aiohttp.ClientError as error:
            raise DownloadFailedError(_told_of(proxy, error)) from error

    def _is_own(self, url: str) -> bool:
        """Whether `url` is of the start URL's origin, or of the one that the start page has moved to."""
        origin = origin_of(url)
        return origin in (origin_of(self._job.options.start_url), origin_of(self._job.start_url))

    def _proxy_of(self, request: Request) -> Proxy | None:
        if Meta.PROXY not in request.meta:
            return self._proxies.proxy_for(request.url) if self._proxies else None
        if not request.meta[Meta.PROXY]:
            return None
        proxy = Proxy.of(request.meta[Meta.PROXY])
        given = request.headers.get(b"Proxy-Authorization")
        return proxy if given is None else replace(proxy, authorization=given.decode("latin-1"))

    def _headers_of(self, request: Request, proxy: Proxy | None, *, own: bool) -> list[tuple[str, str]]:
        headers = request.headers.to_tuple_list() if request.headers else []
        if own and self._access is not None:
            headers = self._access.added_to(headers)
        if b"Proxy-Authorization" in request.headers:
            headers = [(name, value) for name, value in headers if name.lower() != "proxy-authorization"]
        if proxy is not None and proxy.authorization and request.url.startswith("http:"):
            headers = [*headers, ("Proxy-Authorization", proxy.authorization)]
        return headers

    async def _read(self, response: aiohttp.ClientResponse, request: Request) -> Response:
        """Unlike Scrapy's, sends no signal for the headers and each chunk: nothing here listens."""
        chunks: list[bytes] = []
        size = 0
        flags = None
        bound = min(request.meta.get(Meta.MAX_BODY_BYTES, self._max_body), self._max_size)
        unpacker = Unpacker(response.headers.get("Content-Encoding", "")) if self._unpacks else None
        async for packed in response.content.iter_any():
            chunk = unpacker.unpack(packed, bound + 1 - size) if unpacker else packed
            # Without a copy of all that came, later.
            chunks.append(chunk if size + len(chunk) <= bound else chunk[: bound - size])
            size += len(chunk)
            if size > bound:
                flags = [BOMB if unpacker and size >= BOMB_RATIO * unpacker.packed else TRUNCATED]
                response.close()
                break
        else:
            if unpacker:
                unpacker.end()
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
    headers["Accept-Encoding"] = "gzip, deflate, br, zstd" if settings.getbool("COMPRESSION_ENABLED") else "identity"
    headers["User-Agent"] = settings["USER_AGENT"]
    return headers


def _bind_address(setting: str | tuple[str, int] | None) -> tuple[str, int] | None:
    return (setting, 0) if isinstance(setting, str) else setting


def _tunnel_headers(request: Request, proxy: Proxy | None) -> dict[str, str] | None:
    """For the proxy alone, where the request itself goes through it encrypted."""
    if proxy is None or proxy.authorization is None or request.url.startswith("http:"):
        return None
    return {"Proxy-Authorization": proxy.authorization}


def _told_of(proxy: Proxy | None, error: aiohttp.ClientError) -> str:
    """A download error's message; of a proxy that failed the words that `failures.py` tells the user."""
    if proxy is not None and isinstance(error, aiohttp.ClientHttpProxyError):
        return f"{PROXY} {proxy.url} answers {error.status} {error.message}"
    at_proxy = (aiohttp.ClientProxyConnectionError, aiohttp.ClientConnectorDNSError)
    return f"{PROXY} {proxy.url}" if proxy is not None and isinstance(error, at_proxy) else str(error)


def _ssl_context(settings: BaseSettings, options: Options) -> ssl.SSLContext | bool:
    """aiohttp's own verifying context, which is made already, unless a setting asks for another."""
    if not _is_special(settings) and options.ca_file is None:
        return True
    context = _new_ssl_context(settings)
    if options.ca_file is not None:
        trust_authorities(context, options.ca_file)
    return context


def _own_ssl_context(settings: BaseSettings, options: Options) -> ssl.SSLContext | None:
    """With the client certificate, if there is one."""
    if options.client_certificate is None:
        return None
    context = _ssl_context(settings, options)
    if isinstance(context, bool):
        context = _new_ssl_context(settings)
    load_client_certificate(context, options.client_certificate, options.client_key)
    return context


def _new_ssl_context(settings: BaseSettings) -> ssl.SSLContext:
    if not _is_special(settings):
        return ssl.create_default_context()
    # Imports Twisted's TLS.
    from scrapy.utils.ssl import _make_ssl_context

    return _make_ssl_context(settings)


def _is_special(settings: BaseSettings) -> bool:
    """Whether Scrapy's settings ask for another context than Python's default."""
    if not settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES") or settings["DOWNLOADER_CLIENT_TLS_CIPHERS"] != "DEFAULT":
        return True
    return any(settings[name] for name in ("DOWNLOAD_TLS_MIN_VERSION", "DOWNLOAD_TLS_MAX_VERSION"))
