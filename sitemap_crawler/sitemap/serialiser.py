"""Entries as the bytes that the shards take: many at a time, without those that fit no file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.sitemap.entry import SURELY_SHORT, PlainEntries, is_too_long, serialise, serialise_plain
from sitemap_crawler.sitemap.names import MEDIA_SECTIONS
from sitemap_crawler.sitemap.shard import EMPTY_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.sitemap.entry import Entry

RUN_BYTES = 1 << 17


class Run(NamedTuple):
    """Entries of one section that follow each other there: their locs, and each serialised."""

    section: str
    locs: list[str]
    data: list[bytes]


class Serialiser:
    """Counts as listed the pages that it has serialised; `omitted` are those that fit no file, `omitted_extras` those
    whose images or videos do not."""

    def __init__(self, max_bytes: int) -> None:
        self.omitted: list[str] = []
        self.omitted_extras: list[str] = []
        self.listed = 0
        self._largest = max_bytes - EMPTY_SIZE
        self._runs: dict[str, Run] = {}
        self._size = 0

    def runs(self, entries: Iterable[Entry | PlainEntries]) -> Iterator[Run]:
        for item in entries:
            if isinstance(item, PlainEntries):
                yield from self._taken()
                yield from self._plain_runs(item)
            else:
                self._add(item)
                if self._size >= RUN_BYTES:
                    yield from self._taken()
        yield from self._taken()

    def _plain_runs(self, entries: PlainEntries) -> Iterator[Run]:
        data = serialise_plain(entries)
        short = max(map(len, entries.locs)) <= SURELY_SHORT or not any(map(is_too_long, entries.locs))
        if not short or max(map(len, data)) > self._largest:
            for entry in entries.entries():
                self._add(entry)
            yield from self._taken()
        else:
            self.listed += len(data)
            yield Run("", list(entries.locs), data)

    def _add(self, entry: Entry) -> None:
        section, loc = entry.section, entry.loc
        extra = section in MEDIA_SECTIONS
        if extra and self.omitted and self.omitted[-1] == loc:
            return
        data = b"" if entry.too_long else serialise(entry)
        if not data or len(data) > self._largest:
            (self.omitted_extras if extra else self.omitted).append(loc)
            return
        run = self._runs.get(section)
        if run is None:
            run = self._runs[section] = Run(section, [], [])
        run.locs.append(loc)
        run.data.append(data)
        self._size += len(data)
        self.listed += not extra

    def _taken(self) -> Iterator[Run]:
        runs, self._runs, self._size = self._runs, {}, 0
        yield from runs.values()
