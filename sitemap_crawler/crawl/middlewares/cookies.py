"""Scrapy's cookies, for sites that need them, without its download of the public suffix list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from sitemap_crawler.crawl.keys import Meta
from sitemap_crawler.urls.normalise import host_of, origin_of

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
    from scrapy.http import Response


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

        return CookiesOfPort.from_crawler(crawler)


def _port_of(url: str) -> str:
    """Return the port of a normalised URL; "" for the default ports, because http and https are one site."""
    authority = origin_of(url).partition("://")[2]
    return authority.removeprefix(host_of(url))
