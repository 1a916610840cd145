"""The extension that requests URLs that no site has, to recognise pages that are errors in spite of their status 200.

It does so at the end of a crawl that saw the whole site, and only if a page with status 200 says that it is not found.
"""

from __future__ import annotations

import logging
import re
import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.extensions.probing import Probing
from sitemap_crawler.crawl.keys import Stat
from sitemap_crawler.inventory.diagnostics import error_pages, note_same_content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

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


class Soft404Probe(Probing):
    """Extension that sends probes."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._body_hashes: set[bytes] = set()
        """Hashes of the responses so far; equal responses are compared with the inventory once."""

    @property
    def is_due(self) -> bool:
        return self.job.shared.budget != 0 and self.job.total_done >= MIN_FETCHED_URLS

    def requests(self) -> Iterator[Request]:
        job = self.job
        # Pages in the buffer have no row yet.
        job.queue.flush()
        pages = error_pages(job.store.connection, job.run.id, MAX_ERROR_PAGES)
        for url in probe_urls(pages):
            if job.rules.fetch_refusal(url, 0) is None:
                yield self.request(url, self._parse)

    async def _parse(self, response: Response) -> None:
        self.count()
        logger.info("probe %s: status %d", response.url, response.status)
        if response.status != 200 or not response.body:
            return
        seen = await self._read(response)
        if seen is None or seen.body_hash in self._body_hashes:
            return
        self._body_hashes.add(seen.body_hash)
        note = f"the same content as an address that cannot exist: {response.url}"
        try:
            noted_pages = note_same_content(
                self.job.store.connection,
                self.job.run.id,
                note,
                body_hash=seen.body_hash,
                fingerprint=seen.fingerprint,
                start_url=self.job.start_url,
            )
        except SQLAlchemyError as error:
            raise self.inventory_failed(error) from error
        self.crawler.stats.inc_value(Stat.PROBE_SAME_PAGES, noted_pages)

    async def _read(self, response: Response) -> _Content | None:
        """Return what is stored of a page with this response; None if it has to be rendered and cannot be.

        Every address of a site whose scripts make its pages has the same response, and not the same content.
        """
        if self.job.read_probe is not None:
            read = await self.job.read_probe(response)
            return None if read is None or read.body_hash is None else _Content(read.body_hash, read.fingerprint)
        # The same hash as the spider stores of a page.
        return _Content(blake2b(response.body, digest_size=16).digest(), self.fingerprint(response))


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
