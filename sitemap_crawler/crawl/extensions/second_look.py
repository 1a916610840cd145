"""The extension that asks for some changed pages again, to recognise those that show something else at each request.

It does so at the end of a crawl, and only if many pages have changed since the last run.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from sitemap_crawler.crawl.extensions.probing import Probing
from sitemap_crawler.inventory.observed_changes import changed_pages, has_earlier_run, keep_dates
from sitemap_crawler.policy.common_changes import CommonChanges
from sitemap_crawler.policy.second_looks import SecondLooks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from sitemap_crawler.policy.second_looks import ChangedPage

logger = logging.getLogger(__name__)


class SecondLook(Probing):
    """Extension that asks for pages again."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._looks = SecondLooks()
        self._common = CommonChanges()

    def requests(self) -> Iterator[Request]:
        job, connection = self.job, self.job.store.connection
        if has_earlier_run(connection, job.run.id):
            # Pages in the buffer have no row yet.
            job.queue.flush()
            with connection.begin():
                for _, page in changed_pages(connection, job.run.id):
                    self._common.add(page.section, page.step)
                for shape, page in changed_pages(connection, job.run.id):
                    if not self._common.has(page.section, page.step):
                        self._looks.add(shape, page)
        for shape, page in self._looks.choose():
            yield self.request(page.url, partial(self._parse, shape, page))

    def conclude(self) -> None:
        shapes, pages, common = self._looks.unstable, self._looks.unstable_pages, self._common
        if shapes or pages or common.found:
            job = self.job
            job.kept_dates = keep_dates(job.store.connection, job.run.id, shapes=shapes, pages=pages, common=common)

    def _parse(self, shape: str, page: ChangedPage, response: Response) -> None:
        self.count()
        seen = self.fingerprint(response) if response.status == 200 and response.body else None
        differs = seen is not None and self._looks.compare(shape, page, seen)
        logger.info("second look at %s: %s", page.url, "another content" if differs else "no other content")
