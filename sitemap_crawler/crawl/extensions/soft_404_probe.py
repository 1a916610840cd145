"""The extension that asks a site for what it can't have, to tell its real pages from what it answers to any address.

Only when a page answered 200 and says that it is not found, and at the end of a crawl that saw the whole site.
"""

from __future__ import annotations

import logging
import re
import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.download.errors import failure_words
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta, Stat
from sitemap_crawler.extract.document import parse_document
from sitemap_crawler.inventory.diagnostics import error_pages, note_same_content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

MIN_FETCHED = 50
"""URLs that a run must have fetched: on a small site a person sees what is an error."""
MAX_PROBES = 3
MAX_SUSPECTS = 10_000
"""Error pages whose directories are looked at."""
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")


class Probes:
    """A probe is a request, but no page: it has no row, and counts against no limit."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._done = False
        self._bodies: set[bytes] = set()
        crawler.signals.connect(self._idle, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Probes:
        return cls(crawler)

    def _idle(self) -> None:
        """Nothing is left to fetch: Scrapy closes the spider now, unless this raises DontCloseSpider."""
        if self._done or not self._saw_enough():
            return
        self._done = True
        addresses = [url for url in probe_addresses(self._suspects()) if self._may_fetch(url)]
        for url in addresses:
            # What is not answered at once is not worth another try.
            meta = {Meta.VERBATIM_URL: True, Meta.NO_RETRY: True}
            self._crawler.engine.crawl(Request(url, callback=self._answered, errback=self._unanswered, meta=meta))
        if addresses:
            raise DontCloseSpider

    def _saw_enough(self) -> bool:
        job = self._job
        ended = job.failure is not None or job.refusal is not None or job.budget == 0
        return not ended and job.fetched >= MIN_FETCHED

    def _suspects(self) -> list[str]:
        job = self._job
        try:
            # What is buffered has no row yet.
            job.queue.flush()
            return error_pages(job.store.connection, job.run.id, MAX_SUSPECTS)
        except SQLAlchemyError as error:
            raise self._inventory_failed(error) from error

    def _may_fetch(self, url: str) -> bool:
        return self._job.rules.fetch_refusal(url, 0) is None

    def _answered(self, response: Response) -> None:
        self._crawler.stats.inc_value(Stat.PROBE_REQUESTS)
        logger.info("probe %s: status %d", response.url, response.status)
        if response.status != 200 or not response.body:
            return
        # The hash that the spider stores of a page.
        body_hash = blake2b(response.body, digest_size=16).digest()
        if body_hash in self._bodies:
            return
        self._bodies.add(body_hash)
        job = self._job
        note = f"the same content as an address that cannot exist: {response.url}"
        try:
            noted = note_same_content(
                job.store.connection,
                job.run.id,
                note,
                body_hash=body_hash,
                fingerprint=self._fingerprint(response),
                start_url=job.start_url,
            )
        except SQLAlchemyError as error:
            raise self._inventory_failed(error) from error
        self._crawler.stats.inc_value(Stat.PROBE_SAME_PAGES, noted)

    def _fingerprint(self, response: Response) -> bytes | None:
        # Most crawls make no probe.
        from sitemap_crawler.extract.content.fingerprint import fingerprint

        spider: Any = self._crawler.spider
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        resolver = spider.resolver
        document = parse_document(response.body, url=response.url, content_type=content_type, resolver=resolver)
        return None if document is None else fingerprint(document)

    def _unanswered(self, failure: Failure) -> None:
        if isinstance(failure.value, IgnoreRequest):
            # robots.txt forbids it, or the crawl ends: it was not made.
            return
        self._crawler.stats.inc_value(Stat.PROBE_REQUESTS)
        request = failure.request  # type: ignore[attr-defined]
        logger.info("probe %s: %s", request.url, failure_words(failure.value))

    def _inventory_failed(self, error: SQLAlchemyError) -> CloseSpider:
        self._job.inventory_failed(error)
        return CloseSpider(CloseReason.INVENTORY_FAILED)


def probe_addresses(suspects: Iterable[str]) -> Iterator[str]:
    """For the first suspect of each directory depth an address beside it that no site has, at most three."""
    met: set[int] = set()
    for url in suspects:
        parts = urlsplit(url)
        directory, _, name = parts.path.rpartition("/")
        depth = directory.count("/")
        if depth in met:
            continue
        met.add(depth)
        suffix = _SUFFIX.search(name)
        yield f"{parts.scheme}://{parts.netloc}{directory}/{secrets.token_hex(16)}{suffix[0] if suffix else ''}"
        if len(met) == MAX_PROBES:
            return
