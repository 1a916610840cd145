"""Base class of the extensions that send requests of their own at the end of a crawl.

The inventory stores no observation of the answers, and the requests count for no limit.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.download.errors import describe_failure
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta, Stat
from sitemap_crawler.exceptions import PatternTimeoutError
from sitemap_crawler.extract.document import parse_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)


class Probing:
    """Base of an extension that sends requests once nothing is left to fetch, and concludes from their answers."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.job = job_of(crawler)
        self._has_asked = self._is_done = False
        crawler.signals.connect(self._spider_idle, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @property
    def is_due(self) -> bool:
        """Whether the spider, which is idle, has anything to ask for."""
        return True

    def requests(self) -> Iterable[Request]:
        """Return the requests."""
        raise NotImplementedError

    def conclude(self) -> None:
        """Use what the answers have shown. All of them are there."""

    def request(self, url: str, callback: Callable[..., Any]) -> Request:
        """Return a request for a URL as it is written. One that fails is not worth a retry."""
        meta = {Meta.VERBATIM_URL: True, Meta.NO_RETRY: True}
        return Request(url, callback=callback, errback=self.failed, meta=meta)

    def count(self) -> None:
        """Count a request that was sent."""
        self.crawler.stats.inc_value(Stat.PROBE_REQUESTS)

    def failed(self, failure: Failure) -> None:
        """Count a request without an answer. One that robots.txt forbids, or the end of the crawl, was not sent."""
        if not isinstance(failure.value, IgnoreRequest):
            self.count()
            request = failure.request  # type: ignore[attr-defined]
            logger.info("probe %s: %s", request.url, describe_failure(failure.value))

    def fingerprint(self, response: Response) -> bytes | None:
        """Return the fingerprint of a page, as its observation would have it; None if it is no document."""
        # Imported here: most crawls send no such request.
        from sitemap_crawler.extract.content.fingerprint import fingerprint

        spider: Any = self.crawler.spider
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        document = parse_document(response.body, url=response.url, content_type=content_type, resolver=spider.resolver)
        return None if document is None else fingerprint(document)

    def inventory_failed(self, error: Exception) -> CloseSpider:
        """Note that the inventory has failed. Return the exception that ends the crawl."""
        self.job.inventory_failed(error)
        return CloseSpider(CloseReason.INVENTORY_FAILED)

    def _spider_idle(self) -> None:
        """Send the requests, and conclude once they are answered.

        Raises DontCloseSpider while requests are in flight; otherwise Scrapy closes the spider after this.
        """
        ending = self.job.ending
        if self._is_done or self.job.is_helper or ending.failure is not None or ending.refusal is not None:
            return
        try:
            if not self._has_asked:
                if not self.is_due:
                    return
                self._has_asked = True
                requests = list(self.requests())
                for request in requests:
                    self.crawler.engine.crawl(request)
                if requests:
                    raise DontCloseSpider
            self._is_done = True
            self.conclude()
        except (SQLAlchemyError, PatternTimeoutError) as error:
            raise self.inventory_failed(error) from error
