"""The lists of the owner (`--urls`): their URLs are queued in slices, their values stored, and their faults counted."""

from __future__ import annotations

import asyncio
import logging
from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.crawl.list_files import is_url, name_of, pieces_of_source
from sitemap_crawler.extract.url_lists import UrlList
from sitemap_crawler.inventory.seed_sitemaps import URLS, Seed
from sitemap_crawler.publish.list_entries import ListEntries
from sitemap_crawler.utils.blocking import unblocked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.inventory.seed_sitemaps import SeedQueue

logger = logging.getLogger(__name__)

QUEUED_AT_ONCE = 5_000
"""Number of entries that are queued and stored between two turns of the event loop."""


class ListReader:
    """Reader of all lists of a run. Each is settled in the inventory, so that a resumed run reads the rest."""

    def __init__(self, job: Job, seeds: SeedQueue, *, is_stopping: Callable[[], bool]) -> None:
        self._job = job
        self._seeds = seeds
        self._is_stopping = is_stopping
        self._resolver = job.rules.resolver()
        self._verbatim = job.rules.resolver(tracking=True)

    @property
    def unread(self) -> list[tuple[str, str]]:
        """The lists that are left to read: each as the option names it, and its name in the inventory."""
        named = [(source, self._name(source)) for source in self._job.options.urls]
        return [(source, name) for source, name in dict.fromkeys(named) if not self._seeds.knows(name)]

    def _name(self, source: str) -> str:
        return (self._verbatim.normalise(source) or source) if is_url(source) else name_of(source)

    async def read_file(self, source: str, name: str) -> None:
        """Read a file or the standard input, and settle it."""
        try:
            problems, complete = await self.take(pieces_of_source(source, self._job.store), name)
        except OSError as error:
            reason = error.strerror or error
            problems, complete = (f"cannot be read: {reason}; the crawl goes on without the rest of it",), False
        self.settle(name, problems, complete=complete)

    def settle(self, name: str, problems: Iterable[str], *, complete: bool) -> None:
        """Write that a list needs no reading any more. One that is not `complete` proves no absence."""
        if not self._is_stopping():
            seed = Seed(name, URLS, 0, done=True, problems=tuple(problems), transient=not complete)
            self._seeds.write(seed)

    async def take(self, pieces: Iterable[bytes], name: str) -> tuple[tuple[str, ...], bool]:
        """Queue the URLs of a list. Return its problems, and whether it was read to its end. Raises OSError."""
        options = self._job.options
        entries = UrlList(
            pieces,
            columns=options.columns_of_lists,
            max_lines=options.max_list_lines,
            max_bytes=options.max_seed_bytes,
        )
        checked = ListEntries(self._job.rules)
        async for batch in unblocked(entries, is_stopping=self._is_stopping):
            some = iter(batch)
            while slice_ := list(islice(some, QUEUED_AT_ONCE)):
                await asyncio.sleep(0)
                if self._is_stopping():
                    return (), False
                usable = checked.check(slice_)
                usable.store(self._job.store.connection, self._job.queue, run=self._job.run.id, name=name)
        if self._is_stopping():
            return (), False
        self._seeds.spent = self._seeds.spent.plus(size=entries.lines.size)
        logger.info("%s: %d URLs, %d of them out of scope", name, checked.urls_read, checked.outside)
        checked.count_unread(entries.lines)
        problems = list(checked.problems())
        if entries.lines.damage is not None:
            problems.append(f"{entries.lines.damage}; URLs may be missing")
        elif not entries.lines.number:
            problems.append("is empty")
        return tuple(problems), entries.lines.damage is None
