"""Scrapy's cookies, for sites that need them, without its download of the public suffix list."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from sitemap_crawler.crawl.keys import Meta
from sitemap_crawler.urls.normalise import host_of, origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
    from scrapy.http import Response

logger = logging.getLogger(__name__)


class LocalCookies:
    """Factory of Scrapy's cookies middleware. It imports the middleware only if COOKIES_ENABLED: the import is slow."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CookiesMiddleware:
        if not crawler.settings.getbool("COOKIES_ENABLED"):
            raise NotConfigured
        from scrapy.downloadermiddlewares import cookies
        from tldextract import TLDExtract

        cookies._split_domain = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)

        class CookiesOfPort(cookies.CookiesMiddleware):
            """Cookies with a jar for each port. The standard has one for all ports, which may be other servers."""

            def process_request(self, request: Request, spider: Spider | None = None) -> Request | Response | None:
                request.meta.setdefault(Meta.COOKIE_JAR, _port_of(request.url))
                return super().process_request(request)

            def _debug_cookie(self, request: Request) -> None:
                """Log the names of the sent cookies. Their values are secrets."""
                if self.debug:
                    logger.debug("sending cookies to %s: %s", request, _names(request.headers.getlist("Cookie")))

            def _debug_set_cookie(self, response: Response) -> None:
                """Log the names of the received cookies."""
                if self.debug:
                    first = [value.partition(b";")[0] for value in response.headers.getlist("Set-Cookie")]
                    logger.debug("received cookies from %s: %s", response, _names(first))

        return CookiesOfPort.from_crawler(crawler)


def _names(headers: Iterable[bytes]) -> str:
    """Return the names of the cookies in headers."""
    cookies = [cookie for header in headers for cookie in header.split(b";")]
    return ", ".join(cookie.partition(b"=")[0].strip().decode("latin-1") for cookie in cookies) or "none"


def _port_of(url: str) -> str:
    """Return the port of a normalised URL; "" for the default ports, because http and https are one site."""
    authority = origin_of(url).partition("://")[2]
    return authority.removeprefix(host_of(url))
