"""The access logs of the owner (`--access-log`): pages that visitors have seen are queued, and their visits counted."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sitemap_crawler.crawl.list_files import name_of, pieces_of_source
from sitemap_crawler.extract.access_logs import AccessLog, Visit
from sitemap_crawler.inventory.seed_sitemaps import ACCESS_LOG, Seed
from sitemap_crawler.inventory.supplied import add_visits, reset_visits
from sitemap_crawler.urls.normalise import MAX_STORED_URL, host_of, origin_of
from sitemap_crawler.utils.blocking import unblocked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.inventory.seed_sitemaps import SeedQueue

logger = logging.getLogger(__name__)

MAX_COUNTED = 5_000
"""Number of different addresses whose visits are counted in memory before they are stored."""


class LogReader:
    """Reader of all access logs of a run. If it is interrupted, the resumed run counts all of them anew."""

    def __init__(self, job: Job, seeds: SeedQueue, *, is_stopping: Callable[[], bool]) -> None:
        self._job = job
        self._seeds = seeds
        self._is_stopping = is_stopping
        self._resolver = job.rules.resolver()
        self._origin = origin_of(job.rules.to_public(job.start_url))
        self._scheme = self._origin.partition(":")[0]

    @property
    def has_unread(self) -> bool:
        return not all(self._seeds.knows(name_of(source)) for source in self._job.options.access_log)

    async def read(self) -> None:
        """Read all logs, and settle each."""
        if self.has_unread:
            # Visits of a log that was read in part cannot be told from those of another one.
            reset_visits(self._job.store.connection, self._job.run.id)
            for source in dict.fromkeys(self._job.options.access_log):
                if not self._is_stopping():
                    await self._read_log(source)

    async def _read_log(self, source: str) -> None:
        options = self._job.options
        name = name_of(source)
        log = AccessLog(
            pieces_of_source(source, self._job.store), max_lines=options.max_log_lines, max_bytes=options.max_seed_bytes
        )
        counted: Counter[Visit] = Counter()
        problems: list[str] = []
        try:
            async for visits in unblocked(log, is_stopping=self._is_stopping):
                counted.update(visits)
                if len(counted) >= MAX_COUNTED:
                    self._store(counted)
                    counted.clear()
        except OSError as error:
            problems.append(f"cannot be read: {error.strerror or error}; the crawl goes on without the rest of it")
        if self._is_stopping():
            return
        self._store(counted)
        complete = log.lines.damage is None and not problems
        problems += _problems_of(log)
        self._seeds.write(Seed(name, ACCESS_LOG, 0, done=True, problems=tuple(problems), transient=not complete))

    def _store(self, counted: Counter[Visit]) -> None:
        """Queue the pages of the site, and add their visits."""
        rules = self._job.rules
        visits: Counter[str] = Counter()
        for visit, count in counted.items():
            url = self._url_of(visit)
            # At depth 0 the checks for traps apply, and the limit of the depth does not.
            if url is not None and len(url) <= MAX_STORED_URL and rules.fetch_refusal(url, 0) is None:
                visits[url] += count
        if visits:
            ids = self._job.queue.add_from_sitemap(visits, is_list=True)
            by_id = {ids[url]: count for url, count in visits.items()}
            add_visits(self._job.store.connection, self._job.run.id, by_id)

    def _url_of(self, visit: Visit) -> str | None:
        """Return the URL of a visit; None for other hosts, for which the scope decides as well."""
        if not visit.target.startswith("/"):
            return self._resolver.normalise(visit.target)
        if visit.host is None or visit.host.lower() == urlsplit(self._origin).hostname:
            return self._resolver.normalise(self._origin + visit.target)
        url = self._resolver.normalise(f"{self._scheme}://{visit.host}{visit.target}")
        return url if url is not None and host_of(url) else None


def _problems_of(log: AccessLog) -> Iterator[str]:
    if log.unreadable:
        are = "is no line" if log.unreadable == 1 else "are no lines"
        shown = f"{log.unreadable:,} of its {log.lines.number:,} lines {are} of the common or combined format"
        yield f"{shown}, the first is line {log.first_unreadable:,}: give such a log"
    if log.lines.too_long:
        yield f"{log.lines.too_long:,} of its {log.lines.number:,} lines are too long to be read"
    if log.lines.damage is not None:
        yield f"{log.lines.damage}; visits may be missing"
    elif not log.lines.number:
        yield "is empty"
