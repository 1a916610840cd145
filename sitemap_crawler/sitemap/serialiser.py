"""Entries as the bytes that the shards take: many at a time, without those that fit no file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.sitemap.entry import SURELY_SHORT, PlainEntries, is_too_long, serialise, serialise_plain
from sitemap_crawler.sitemap.names import MEDIA_SECTIONS
from sitemap_crawler.sitemap.shard import EMPTY_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.sitemap.entry import Entry

BATCH_BYTES = 1 << 17


class EntryBatch(NamedTuple):
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
        self._batches: dict[str, EntryBatch] = {}
        self._size = 0

    def batches(self, entries: Iterable[Entry | PlainEntries]) -> Iterator[EntryBatch]:
        for item in entries:
            if isinstance(item, PlainEntries):
                yield from self._taken()
                yield from self._plain_batches(item)
            else:
                self._add(item)
                if self._size >= BATCH_BYTES:
                    yield from self._taken()
        yield from self._taken()

    def _plain_batches(self, entries: PlainEntries) -> Iterator[EntryBatch]:
        data = serialise_plain(entries)
        short = max(map(len, entries.locs)) <= SURELY_SHORT or not any(map(is_too_long, entries.locs))
        if not short or max(map(len, data)) > self._largest:
            for entry in entries.entries():
                self._add(entry)
            yield from self._taken()
        else:
            self.listed += len(data)
            yield EntryBatch("", list(entries.locs), data)

    def _add(self, entry: Entry) -> None:
        section, loc = entry.section, entry.loc
        extra = section in MEDIA_SECTIONS
        if extra and self.omitted and self.omitted[-1] == loc:
            return
        data = b"" if entry.too_long else serialise(entry)
        if not data or len(data) > self._largest:
            (self.omitted_extras if extra else self.omitted).append(loc)
            return
        batch = self._batches.get(section)
        if batch is None:
            batch = self._batches[section] = EntryBatch(section, [], [])
        batch.locs.append(loc)
        batch.data.append(data)
        self._size += len(data)
        self.listed += not extra

    def _taken(self) -> Iterator[EntryBatch]:
        batches, self._batches, self._size = self._batches, {}, 0
        yield from batches.values()
