"""The extension that requests URLs that no site has, to recognise pages that are errors in spite of their status 200.

It does so at the end of a crawl that saw the whole site, and only if a page with status 200 says that it is not found.
"""

from __future__ import annotations

import logging
import re
import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.download.errors import describe_failure
from sitemap_crawler.crawl.extensions.probing import read_fingerprint
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Meta, Stat
from sitemap_crawler.exceptions import PatternTimeoutError
from sitemap_crawler.inventory.diagnostics import error_pages, note_same_content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

MIN_FETCHED_URLS = 50
"""URLs that a run must have fetched before it probes. On a smaller site a person sees the errors."""
MAX_PROBES = 3
MAX_ERROR_PAGES = 10_000
"""Error pages whose directories are considered."""
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")


class _Content(NamedTuple):
    """The content of a response, as the inventory holds it of a page."""

    body_hash: bytes
    fingerprint: bytes | None


class Soft404Probe:
    """Extension that sends probes. A probe is not a page: it has no row in the inventory and counts for no limit."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._is_done = False
        self._body_hashes: set[bytes] = set()
        """Hashes of the responses so far; equal responses are compared with the inventory once."""
        crawler.signals.connect(self._spider_idle, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Soft404Probe:
        return cls(crawler)

    def _spider_idle(self) -> None:
        """Send the probes once nothing is left to fetch.

        Raises DontCloseSpider while probes are in flight; otherwise Scrapy closes the spider after this.
        """
        if self._is_done or self._job.is_helper or not self._saw_enough():
            return
        self._is_done = True
        urls = self._urls_to_probe()
        for url in urls:
            # A probe that fails is not worth a retry.
            meta = {Meta.VERBATIM_URL: True, Meta.NO_RETRY: True}
            self._crawler.engine.crawl(Request(url, callback=self._parse, errback=self._failed, meta=meta))
        if urls:
            raise DontCloseSpider

    def _saw_enough(self) -> bool:
        job = self._job
        was_ended = job.ending.failure is not None or job.ending.refusal is not None or job.shared.budget == 0
        return not was_ended and job.total_done >= MIN_FETCHED_URLS

    def _urls_to_probe(self) -> list[str]:
        job = self._job
        try:
            # Pages in the buffer have no row yet.
            job.queue.flush()
            pages = error_pages(job.store.connection, job.run.id, MAX_ERROR_PAGES)
            return [url for url in probe_urls(pages) if job.rules.fetch_refusal(url, 0) is None]
        except (SQLAlchemyError, PatternTimeoutError) as error:
            raise self._inventory_failed(error) from error

    async def _parse(self, response: Response) -> None:
        self._crawler.stats.inc_value(Stat.PROBE_REQUESTS)
        logger.info("probe %s: status %d", response.url, response.status)
        if response.status != 200 or not response.body:
            return
        seen = await self._read(response)
        if seen is None or seen.body_hash in self._body_hashes:
            return
        self._body_hashes.add(seen.body_hash)
        job = self._job
        note = f"the same content as an address that cannot exist: {response.url}"
        try:
            noted_pages = note_same_content(
                job.store.connection,
                job.run.id,
                note,
                body_hash=seen.body_hash,
                fingerprint=seen.fingerprint,
                start_url=job.start_url,
            )
        except SQLAlchemyError as error:
            raise self._inventory_failed(error) from error
        self._crawler.stats.inc_value(Stat.PROBE_SAME_PAGES, noted_pages)

    async def _read(self, response: Response) -> _Content | None:
        """Return what is stored of a page with this response; None if it has to be rendered and cannot be.

        Every address of a site whose scripts make its pages has the same response, and not the same content.
        """
        if self._job.read_probe is not None:
            read = await self._job.read_probe(response)
            return None if read is None or read.body_hash is None else _Content(read.body_hash, read.fingerprint)
        # The same hash as the spider stores of a page.
        spider: Any = self._crawler.spider
        return _Content(blake2b(response.body, digest_size=16).digest(), read_fingerprint(response, spider.resolver))

    def _failed(self, failure: Failure) -> None:
        if isinstance(failure.value, IgnoreRequest):
            # The probe was not sent: robots.txt forbids it, or the crawl closes.
            return
        self._crawler.stats.inc_value(Stat.PROBE_REQUESTS)
        request = failure.request  # type: ignore[attr-defined]
        logger.info("probe %s: %s", request.url, describe_failure(failure.value))

    def _inventory_failed(self, error: Exception) -> CloseSpider:
        self._job.inventory_failed(error)
        return CloseSpider(CloseReason.INVENTORY_FAILED)


def probe_urls(error_pages: Iterable[str]) -> Iterator[str]:
    """Yield a random URL next to the first error page of each directory depth, three at most. No site has the URLs."""
    seen_depths: set[int] = set()
    for url in error_pages:
        parts = urlsplit(url)
        directory, _, name = parts.path.rpartition("/")
        depth = directory.count("/")
        if depth in seen_depths:
            continue
        seen_depths.add(depth)
        suffix = _SUFFIX.search(name)
        yield f"{parts.scheme}://{parts.netloc}{directory}/{secrets.token_hex(16)}{suffix[0] if suffix else ''}"
        if len(seen_depths) == MAX_PROBES:
            return
