"""The entries of one list of the owner, checked: URL, date, images, videos and section. Faults are counted."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sitemap_crawler.exceptions import OptionError
from sitemap_crawler.extract.dates import EARLIEST
from sitemap_crawler.extract.entry_urls import MAX_EXAMPLE_LENGTH, EntryUrls
from sitemap_crawler.extract.lines import pieces_of
from sitemap_crawler.extract.page_dates import credible
from sitemap_crawler.extract.url_lists import ListEntry, is_text, problem_of
from sitemap_crawler.extract.videos.supplied import supplied_video
from sitemap_crawler.inventory.named_dates import store_named_dates
from sitemap_crawler.inventory.supplied import Supplied, store_supplied
from sitemap_crawler.policy.lastmod import SUPPLIED, Dated
from sitemap_crawler.sitemap.names import RESERVED_SECTIONS, is_section_name
from sitemap_crawler.sitemap.sections import MAX_RULES
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sqlalchemy import Connection

    from sitemap_crawler.extract.lines import Lines
    from sitemap_crawler.inventory.queue import Queue
    from sitemap_crawler.policy.rules import Rules

_NO_DATE = (
    f"has a date that is not believed: it is no W3C date, before {EARLIEST.year}, in the future, or the moment at "
    "which the list is read"
)


def check_columns(source: str, columns: Mapping[str, str]) -> None:
    """Raise OptionError if the columns of a list are not found in its file.

    A pipe, whose first line could be read only once, is judged when it is read.
    """
    path = Path(source)
    with suppress(OSError):
        # The reading says what is wrong with a file that cannot be read.
        if path.is_file() and (problem := problem_of(pieces_of(path), columns)) is not None:
            raise OptionError(f"the list {source} {problem}")


class Slice(NamedTuple):
    """Usable entries of a list by their URLs. The first entry of a URL counts."""

    supplied: dict[str, Supplied]
    dates: dict[str, Dated]

    def store(self, connection: Connection, queue: Queue, *, run: int, name: str) -> None:
        """Add the URLs to the queue, which may refuse to request them, and store the values of the list `name`."""
        if not self.supplied:
            return
        ids = queue.add_from_sitemap(self.supplied, is_list=True)
        store_supplied(connection, run, {ids[url]: supplied for url, supplied in self.supplied.items()})
        if self.dates:
            store_named_dates(connection, run, name, {ids[url]: date for url, date in self.dates.items()})


class ListEntries:
    """Check of the entries of one list."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._now = datetime.now(UTC)
        resolver = rules.resolver()
        self._urls = EntryUrls(
            "entries", "absolute http or https URL", lambda text: resolver.normalise(text) if is_text(text) else None
        )
        self._media = rules.resolver(tracking=True).normalise
        self._sections: set[str] = set()
        self._faults: dict[str, tuple[int, ListEntry]] = {}
        """By the words of a fault, the number of entries that have it, and the first of them."""
        self._first_not_utf_8: int | None = None
        self.urls_read = self.outside = 0

    def check(self, entries: Iterable[ListEntry]) -> Slice:
        """Return the usable ones of some entries."""
        usable = Slice({}, {})
        for entry in entries:
            if entry.fault is not None:
                self._note(entry.fault, entry)
                continue
            url = self._urls.accept(entry.url, entry.line)
            if url is None:
                continue
            self.urls_read += 1
            if not self._rules.scope.may_lead_inside(url):
                self.outside += 1
                self._note("out of the scope, neither requested nor listed", entry)
                continue
            for note in entry.notes:
                self._note(note, entry)
            usable.supplied.setdefault(url, self._supplied(entry))
            if entry.lastmod is not None:
                date = credible(entry.lastmod, SUPPLIED, self._now)
                if date is None:
                    self._note(_NO_DATE, entry)
                else:
                    usable.dates.setdefault(url, Dated(date.moment.timestamp(), SUPPLIED, not date.has_time))
        return usable

    def _supplied(self, entry: ListEntry) -> Supplied:
        extras: dict[str, Any] = {}
        if entry.images:
            images = [self._media(image) for image in entry.images if is_text(image)]
            if usable := list(dict.fromkeys(filter(None, images))):
                extras["images"] = usable
            if len(images) < len(entry.images) or None in images:
                self._note("names an image without an absolute http or https URL", entry)
        if entry.videos:
            videos = [supplied_video(video, self._media) for video in entry.videos]
            if usable_videos := [video.fields() for video in videos if video is not None]:
                extras["videos"] = usable_videos
            if None in videos:
                self._note("names a video without thumbnail, title, description, and file or player", entry)
        section = self._section(entry) if entry.section else None
        return Supplied(section, extras or None)

    def _section(self, entry: ListEntry) -> str | None:
        section = entry.section or ""
        if not is_section_name(section) or section in RESERVED_SECTIONS:
            self._note("names a section by other characters than a-z, 0-9 and single hyphens, or a reserved one", entry)
            return None
        if section not in self._sections and len(self._sections) >= MAX_RULES:
            self._note(f"names one section more than {MAX_RULES}", entry)
            return None
        self._sections.add(section)
        return section

    def _note(self, fault: str, entry: ListEntry) -> None:
        count, first = self._faults.get(fault, (0, entry))
        self._faults[fault] = count + 1, first

    def count_unread(self, lines: Lines) -> None:
        """Count what the reader of the file has not read, when it has read the file."""
        self._urls.count_unread(lines.too_long)
        self._first_not_utf_8 = lines.first_not_utf_8

    def problems(self) -> Iterator[str]:
        if self._first_not_utf_8 is not None:
            yield f"is not UTF-8, first in line {self._first_not_utf_8:,}: save the list as UTF-8"
        yield from self._urls.problems()
        for fault, (count, first) in self._faults.items():
            example = first.url
            shown = example if len(example) <= MAX_EXAMPLE_LENGTH else example[:MAX_EXAMPLE_LENGTH] + "…"
            entries = "entry" if count == 1 else "entries"
            yield f"{count:,} {entries}, for example '{printable(shown)}' in line {first.line:,}: {fault}"
