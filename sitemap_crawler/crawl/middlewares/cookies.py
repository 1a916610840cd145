"""Scrapy's cookies, for sites that need them, without its download of the public suffix list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.downloadermiddlewares.cookies import CookiesMiddleware


class LocalCookies:
    """Factory of Scrapy's cookies middleware. It imports the middleware only if COOKIES_ENABLED: the import is slow."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CookiesMiddleware:
        if not crawler.settings.getbool("COOKIES_ENABLED"):
            raise NotConfigured
        from scrapy.downloadermiddlewares import cookies
        from tldextract import TLDExtract

        cookies._split_domain = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
        return cookies.CookiesMiddleware.from_crawler(crawler)
