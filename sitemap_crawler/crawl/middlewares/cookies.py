"""Scrapy's cookies, for sites that need them, without its look-up of public suffixes on the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.downloadermiddlewares.cookies import CookiesMiddleware


class LocalCookies:
    """Makes Scrapy's middleware, if COOKIES_ENABLED; only then, as its import is slow."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CookiesMiddleware:
        if not crawler.settings.getbool("COOKIES_ENABLED"):
            raise NotConfigured
        from scrapy.downloadermiddlewares import cookies
        from tldextract import TLDExtract

        cookies._split_domain = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
        return cookies.CookiesMiddleware.from_crawler(crawler)
