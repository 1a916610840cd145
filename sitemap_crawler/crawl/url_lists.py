"""The lists of the owner (`--urls`): their URLs are queued in slices, their values stored, and their faults counted."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from sitemap_crawler.crawl.list_files import is_url, name_of, pieces_of_source
from sitemap_crawler.crawl.seed_entries import MAX_EXAMPLE_LENGTH, EntryUrls
from sitemap_crawler.extract.page_dates import credible
from sitemap_crawler.extract.url_lists import ListEntry, UrlList, is_text
from sitemap_crawler.extract.videos.supplied import supplied_video
from sitemap_crawler.inventory.named_dates import store_named_dates
from sitemap_crawler.inventory.seed_sitemaps import URLS, Seed
from sitemap_crawler.inventory.supplied import Supplied, store_supplied
from sitemap_crawler.policy.lastmod import SUPPLIED, Dated
from sitemap_crawler.sitemap.names import RESERVED_SECTIONS, is_section_name
from sitemap_crawler.sitemap.sections import MAX_RULES
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
        intake = _Intake(self._job, name)
        for batch in entries:
            some = iter(batch)
            while slice_ := list(islice(some, QUEUED_AT_ONCE)):
                await asyncio.sleep(0)
                if self._is_stopping():
                    return (), False
                intake.take(slice_)
        self._seeds.spent = self._seeds.spent.plus(size=entries.size)
        logger.info("%s: %d URLs, %d of them out of scope", name, intake.urls_read, intake.outside)
        intake.count_unread(entries.too_long)
        problems = list(intake.problems())
        if entries.damage is not None:
            problems.append(f"{entries.damage}; URLs may be missing")
        elif not entries.number:
            problems.append("is empty")
        return tuple(problems), entries.damage is None


class _Intake:
    """What one list has given so far, and its faults."""

    def __init__(self, job: Job, name: str) -> None:
        self._job = job
        self._name = name
        self._now = datetime.now(UTC)
        resolver = job.rules.resolver()
        self._urls = EntryUrls(
            "entries", "absolute http or https URL", lambda text: resolver.normalise(text) if is_text(text) else None
        )
        self._media = job.rules.resolver(tracking=True).normalise
        self._sections: set[str] = set()
        self._faults: dict[str, tuple[int, str]] = {}
        """By the words of a fault, the number of entries that have it, and the first example."""
        self.urls_read = self.outside = 0

    def take(self, entries: Iterable[ListEntry]) -> None:
        """Queue and store some entries."""
        named: dict[str, Supplied] = {}
        dates: dict[str, Dated] = {}
        for entry in entries:
            url = self._urls.accept(entry.url)
            if url is None:
                continue
            self.urls_read += 1
            if not self._job.rules.scope.may_lead_inside(url):
                self.outside += 1
                self._note("out of the scope, neither requested nor listed", url)
                continue
            supplied = self._supplied(entry)
            named.setdefault(url, supplied)
            if entry.lastmod is not None:
                date = credible(entry.lastmod, SUPPLIED, self._now)
                if date is not None:
                    dates.setdefault(url, Dated(date.moment.timestamp(), SUPPLIED, not date.has_time))
        if not named:
            return
        ids = self._job.queue.add_from_sitemap(named, is_list=True)
        connection, run = self._job.store.connection, self._job.run.id
        store_supplied(connection, run, {ids[url]: supplied for url, supplied in named.items()})
        if dates:
            store_named_dates(connection, run, self._name, {ids[url]: date for url, date in dates.items()})

    def _supplied(self, entry: ListEntry) -> Supplied:
        extras: dict[str, Any] = {}
        if entry.images:
            images = [self._media(image) for image in entry.images if is_text(image)]
            if usable := list(dict.fromkeys(filter(None, images))):
                extras["images"] = usable
            if len(images) < len(entry.images) or None in images:
                self._note("names an image without an absolute http or https URL", entry.url)
        if entry.videos:
            videos = [supplied_video(video, self._media) for video in entry.videos]
            if usable_videos := [video.fields() for video in videos if video is not None]:
                extras["videos"] = usable_videos
            if None in videos:
                self._note("names a video without thumbnail, title, description, and file or player", entry.url)
        section = self._section(entry) if entry.section else None
        return Supplied(section, extras or None)

    def _section(self, entry: ListEntry) -> str | None:
        section = entry.section or ""
        if not is_section_name(section) or section in RESERVED_SECTIONS:
            self._note(
                "names a section by other characters than a-z, 0-9 and single hyphens, or a reserved one", entry.url
            )
            return None
        if section not in self._sections and len(self._sections) >= MAX_RULES:
            self._note(f"names one section more than {MAX_RULES}", entry.url)
            return None
        self._sections.add(section)
        return section

    def _note(self, fault: str, url: str) -> None:
        count, example = self._faults.get(fault, (0, url))
        self._faults[fault] = count + 1, example

    def count_unread(self, too_long: int) -> None:
        self._urls.count_unread(too_long)

    def problems(self) -> Iterator[str]:
        yield from self._urls.problems()
        for fault, (count, example) in self._faults.items():
            shown = example if len(example) <= MAX_EXAMPLE_LENGTH else example[:MAX_EXAMPLE_LENGTH] + "…"
            entries = "entry" if count == 1 else "entries"
            yield f"{count:,} {entries}, for example '{printable(shown)}': {fault}"
