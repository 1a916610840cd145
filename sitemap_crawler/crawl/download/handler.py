"""The HTTP client: a Scrapy download handler on aiohttp.

Default headers, timeout and decompression are properties of its session, where Scrapy has a middleware for each that is
called for every request. The decompressed body is limited; a longer one is cut and flagged.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import sys
import time
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import aiohttp
import yarl
from aiohttp.http import RawResponseMessage
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers, Response

from sitemap_crawler.crawl.download.connections import Asked, Connections, asked
from sitemap_crawler.crawl.download.content_coding import BodyDecoder
from sitemap_crawler.crawl.download.proxies import PROXY, Proxies, Proxy
from sitemap_crawler.crawl.download.tls import site_ssl_context, ssl_context
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import Meta
from sitemap_crawler.exceptions import AddressError, CodingError, SitemapCrawlerError
from sitemap_crawler.items import QueuedUrl
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from sitemap_crawler.utils.addresses import Passage, Root

MAX_HEADER_BYTES = 65_536
"""Maximum size of one header. Some security policies exceed the 8 kB of aiohttp."""
TRUNCATED = "truncated"
"""Flag of a response whose body was cut at the limit."""
BOMB = "decompression-bomb"
"""Flag of a response that exceeds the limit because few bytes decompress to many."""
BOMB_RATIO = 200
"""Decoded bytes for each encoded byte from which on a long body is a bomb. Pages of repetitive markup reach 100,
deflate can reach 1,000."""


_passage: ContextVar[Passage | None] = ContextVar("_passage")
"""Permission of the request that opens a connection; None if a proxy resolves the name of the host."""


class RequestRefusedError(SitemapCrawlerError, IgnoreRequest):
    """The gate lets the request not pass; the message names the host and the reason."""


class BoundedDownloadHandler:
    """Download handler that limits the size of bodies.

    It keeps the meaning of Scrapy's settings DOWNLOAD_MAXSIZE (of the decompressed body), DOWNLOAD_TIMEOUT,
    DOWNLOAD_BIND_ADDRESS, DOWNLOAD_VERIFY_CERTIFICATES, DOWNLOAD_TLS_*, DEFAULT_REQUEST_HEADERS, USER_AGENT,
    COMPRESSION_ENABLED and HTTPPROXY_ENABLED, and of the request metadata download_timeout, proxy and verbatim_url. The
    metadata max_body replaces the option `max_body`.

    Credentials (`Access`, the client certificate) are added here, after every component that could log them.
    """

    lazy = True
    """Scrapy makes one handler for each scheme, with the first URL of that scheme."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._job = job_of(crawler)
        options = self._job.options
        self._max_body = options.max_body
        self._access = options.access
        self._decodes = settings.getbool("COMPRESSION_ENABLED")
        self._max_size = settings.getint("DOWNLOAD_MAXSIZE") or sys.maxsize
        self._timeout = aiohttp.ClientTimeout(total=settings.getfloat("DOWNLOAD_TIMEOUT"))
        self._settings = settings
        self._has_credentials = self._access is not None or options.client_certificate is not None
        self._proxies = Proxies.from_environment(os.environ) if settings.getbool("HTTPPROXY_ENABLED") else None
        self._gate = self._job.gate
        connections = Connections(
            doubt=self._doubt,
            local_addr=_bind_address(settings["DOWNLOAD_BIND_ADDRESS"]),
            limit=settings.getint("CONCURRENT_REQUESTS"),
            limit_per_host=settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"),
            socket_factory=_checked_socket,
        )
        self._job.quiet_times.append(connections.quiet_time)
        self._session = aiohttp.ClientSession(
            connector=connections,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_default_headers(settings),
            skip_auto_headers=("Content-Type",),
            # aiohttp decodes one coding only, and takes a body that is cut off for complete.
            auto_decompress=False,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        # Else it asks a second time by itself when a connection that was kept breaks: uncounted, and before its turn.
        self._session._retry_connection = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BoundedDownloadHandler:
        return cls(crawler)

    @cached_property
    def _ssl(self) -> ssl.SSLContext | bool:
        # Not made in __init__: what it raises there, Scrapy takes for an unknown scheme.
        return ssl_context(self._settings, self._job.options)

    @cached_property
    def _site_ssl(self) -> ssl.SSLContext | bool:
        """TLS context with the client certificate, which only the site's own host gets."""
        return site_ssl_context(self._settings, self._job.options) or self._ssl

    async def download_request(self, request: Request) -> Response:
        """Raises Scrapy's download errors, as Scrapy's own handlers do, and RequestRefusedError."""
        own_timeout = request.meta.get(Meta.TIMEOUT_SECONDS)
        timeout = aiohttp.ClientTimeout(total=own_timeout) if own_timeout else self._timeout
        is_site = self._has_credentials and self._is_site(request.url)
        proxy = self._proxy_for(request)
        headers = self._request_headers(request, proxy, is_site=is_site)
        try:
            passage = self._gate.passage(origin_of(request.url))
        except AddressError as error:
            raise RequestRefusedError(str(error)) from error
        if proxy is None and passage.root.is_public is None:
            await _look_up(passage.root)
        _passage.set(passage if proxy is None else None)
        asked.set(Asked(request.url, request.meta.get(Meta.QUEUED)))
        sent_at = time.monotonic()
        try:
            async with self._session.request(
                request.method,
                yarl.URL(request.url, encoded=Meta.VERBATIM_URL in request.meta),
                data=request.body or None,
                headers=headers or None,
                timeout=timeout,
                ssl=self._site_ssl if is_site else self._ssl,
                allow_redirects=False,
                proxy=proxy.url if proxy else None,
                proxy_headers=_tunnel_headers(request, proxy),
            ) as response:
                result = await self._read(response, request)
                request.meta[Meta.LATENCY_SECONDS] = time.monotonic() - sent_at
                return result
        except TimeoutError as error:
            raise DownloadTimeoutError(f"no answer in {timeout.total} seconds") from error
        except (aiohttp.InvalidUrlClientError, aiohttp.NonHttpUrlClientError) as error:
            raise UnsupportedURLSchemeError(str(error)) from error
        except aiohttp.ClientConnectorDNSError as error:
            raise CannotResolveHostError(_error_message(proxy, error)) from error
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, AddressError):
                raise RequestRefusedError(str(error.os_error)) from error
            raise DownloadConnectionRefusedError(_error_message(proxy, error)) from error
        except (aiohttp.ClientPayloadError, CodingError) as error:
            raise ResponseDataLossError(str(error)) from error
        except aiohttp.ClientError as error:
            raise DownloadFailedError(_error_message(proxy, error)) from error

    def _doubt(self, requests: Sequence[Asked]) -> None:
        """Have the pages requested again whose answers may be those of others."""
        pages = [request.target for request in requests[1:] if isinstance(request.target, QueuedUrl)]
        message = (
            "the server sent an answer that nobody had asked for: pages read on the same connection "
            f"({len(pages)}) are requested again, and each further request has a connection of its own"
        )
        self._job.warn(WarningKind.OUT_OF_TURN, requests[-1].url, message)
        self._job.doubt(pages)

    def _is_site(self, url: str) -> bool:
        """Return whether `url` has the origin of the start URL, as given or as redirected."""
        origin = origin_of(url)
        return origin in (origin_of(self._job.options.start_url), origin_of(self._job.start_url))

    def _proxy_for(self, request: Request) -> Proxy | None:
        if Meta.PROXY not in request.meta:
            return self._proxies.proxy_for(request.url) if self._proxies else None
        if not request.meta[Meta.PROXY]:
            return None
        proxy = Proxy.parse(request.meta[Meta.PROXY])
        authorization = request.headers.get(b"Proxy-Authorization")
        return proxy if authorization is None else replace(proxy, authorization=authorization.decode("latin-1"))

    def _request_headers(self, request: Request, proxy: Proxy | None, *, is_site: bool) -> list[tuple[str, str]]:
        headers = request.headers.to_tuple_list() if request.headers else []
        if is_site and self._access is not None:
            headers = self._access.merge_into(headers)
        if b"Proxy-Authorization" in request.headers:
            headers = [(name, value) for name, value in headers if name.lower() != "proxy-authorization"]
        if proxy is not None and proxy.authorization and request.url.startswith("http:"):
            headers = [*headers, ("Proxy-Authorization", proxy.authorization)]
        return headers

    async def _read(self, response: aiohttp.ClientResponse, request: Request) -> Response:
        """Read the body. Unlike Scrapy's handlers, send no signal for the headers and each chunk: nothing listens."""
        chunks: list[bytes] = []
        size_bytes = 0
        flags = None
        max_bytes = min(request.meta.get(Meta.MAX_BODY_BYTES, self._max_body), self._max_size)
        decoder = BodyDecoder(",".join(response.headers.getall("Content-Encoding", ()))) if self._decodes else None
        async for encoded in response.content.iter_any():
            chunk = decoder.decode(encoded, max_bytes + 1 - size_bytes) if decoder else encoded
            # Cut here: later the whole body would have to be copied.
            chunks.append(chunk if size_bytes + len(chunk) <= max_bytes else chunk[: max_bytes - size_bytes])
            size_bytes += len(chunk)
            if size_bytes > max_bytes:
                flags = [BOMB if decoder and size_bytes >= BOMB_RATIO * decoder.encoded_bytes else TRUNCATED]
                response.close()
                break
        else:
            if decoder:
                decoder.finish()
        body = b"".join(chunks)
        chunks.clear()
        result = Response(request.url, status=response.status, body=body, flags=flags)
        result.headers = _response_headers(response)
        return result

    async def close(self) -> None:
        await self._session.close()


async def _look_up(root: Root) -> None:
    """Have `root` learn its addresses. Without an answer the request itself fails, too."""
    with contextlib.suppress(OSError, UnicodeError):
        infos = await asyncio.get_running_loop().getaddrinfo(root.host, root.port, type=socket.SOCK_STREAM)
        root.learn(str(info[4][0]) for info in infos)


def _checked_socket(address: tuple[Any, Any, int, str, tuple[Any, ...]]) -> socket.socket:
    """Return a socket for the address, of a request or of its proxy. Raises AddressError, which aiohttp wraps."""
    family, kind, protocol, _, socket_address = address
    passage = _passage.get()
    if passage is not None:
        passage.check(socket_address[0])
    return _Socket(family, kind, protocol)


class _Socket(socket.socket):
    """Socket whose EADDRNOTAVAIL means only that this machine has no port left."""

    def connect(self, address: Any) -> None:
        try:
            super().connect(address)
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL or _has_own_address(self.family, address):
                raise
            # Linux says so, too, if IPv6 is off. The site has no other address then, or the next one is tried.
            raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH)) from None


def _has_own_address(family: int, address: Any) -> bool:
    """Return whether this machine has an address from which it can reach the other one. Nothing is sent."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as datagrams:
            datagrams.connect(address)
    except OSError as error:
        return error.errno != errno.EADDRNOTAVAIL
    return True


def _response_headers(response: aiohttp.ClientResponse) -> Headers:
    """Return the headers in the form of Scrapy.

    They are stored without Scrapy's normalising, which is slow: the bytes of a response are normal already.
    """
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
    """Return the credentials for the proxy if the request goes through it encrypted; otherwise they are its headers."""
    if proxy is None or proxy.authorization is None or request.url.startswith("http:"):
        return None
    return {"Proxy-Authorization": proxy.authorization}


def _error_message(proxy: Proxy | None, error: aiohttp.ClientError) -> str:
    """Return the message of a download error; if the proxy failed, the description for users (`errors.py`)."""
    if isinstance(error, aiohttp.ServerDisconnectedError):
        # Its message may be an object of the parser.
        is_cut = isinstance(error.message, RawResponseMessage)
        return "the answer broke off in its headers" if is_cut else "the server closed the connection without an answer"
    if proxy is not None and isinstance(error, aiohttp.ClientHttpProxyError):
        return f"{PROXY} {proxy.url} answers {error.status} {error.message}"
    if isinstance(error, aiohttp.ClientResponseError):
        # The status is not that of the answer. After the fault, the message of the parser shows the bytes.
        fault = error.message.partition("\n")[0].partition(": b'")[0].rstrip(":")
        return f"the answer is no valid HTTP: {fault[:1].lower()}{fault[1:]}"
    proxy_errors = (aiohttp.ClientProxyConnectionError, aiohttp.ClientConnectorDNSError)
    return f"{PROXY} {proxy.url}" if proxy is not None and isinstance(error, proxy_errors) else str(error)
