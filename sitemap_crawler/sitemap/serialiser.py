"""Serialisation of entries, in batches for the shards, without the entries that fit no file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.sitemap.entry import MAX_UNCHECKED_LOC, PlainEntries, is_too_long, serialise, serialise_plain
from sitemap_crawler.sitemap.names import MEDIA_SECTIONS
from sitemap_crawler.sitemap.shard import EMPTY_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.sitemap.entry import Entry

BATCH_BYTES = 1 << 17
"""Size of the serialised entries, over all sections, from which they are passed on."""


class EntryBatch(NamedTuple):
    """Consecutive entries of one section, serialised."""

    section: str
    locs: list[str]
    data: list[bytes]
    """One `<url>` element for each loc."""


class Serialiser:
    """Converter of a stream of entries into batches. It counts the listed pages and records the omitted entries."""

    def __init__(self, max_bytes: int) -> None:
        """`max_bytes` is the limit of one file, uncompressed."""
        self.listed = 0
        """Number of serialised pages. Entries of MEDIA_SECTIONS do not count: their pages have entries of their own."""
        self.omitted: list[str] = []
        """URLs of the pages that fit no file."""
        self.omitted_extras: list[str] = []
        """URLs of the pages whose images or videos, in files of their own, fit no file."""
        self._max_entry_bytes = max_bytes - EMPTY_SIZE
        self._batches: dict[str, EntryBatch] = {}
        self._size = 0

    def batches(self, entries: Iterable[Entry | PlainEntries]) -> Iterator[EntryBatch]:
        """Yield the entries in batches. Within a section the order stays."""
        for item in entries:
            if isinstance(item, PlainEntries):
                yield from self._take_batches()
                yield from self._plain_batches(item)
            else:
                self._add(item)
                if self._size >= BATCH_BYTES:
                    yield from self._take_batches()
        yield from self._take_batches()

    def _plain_batches(self, entries: PlainEntries) -> Iterator[EntryBatch]:
        data = serialise_plain(entries)
        short = max(map(len, entries.locs)) <= MAX_UNCHECKED_LOC or not any(map(is_too_long, entries.locs))
        if not short or max(map(len, data)) > self._max_entry_bytes:
            for entry in entries.entries():
                self._add(entry)
            yield from self._take_batches()
        else:
            self.listed += len(data)
            yield EntryBatch("", list(entries.locs), data)

    def _add(self, entry: Entry) -> None:
        section, loc = entry.section, entry.loc
        is_media = section in MEDIA_SECTIONS
        # The media of a page follow the page itself. The media of an omitted page are not reported again.
        if is_media and self.omitted and self.omitted[-1] == loc:
            return
        data = b"" if entry.too_long else serialise(entry)
        if not data or len(data) > self._max_entry_bytes:
            (self.omitted_extras if is_media else self.omitted).append(loc)
            return
        batch = self._batches.get(section)
        if batch is None:
            batch = self._batches[section] = EntryBatch(section, [], [])
        batch.locs.append(loc)
        batch.data.append(data)
        self._size += len(data)
        self.listed += not is_media

    def _take_batches(self) -> Iterator[EntryBatch]:
        batches, self._batches, self._size = self._batches, {}, 0
        yield from batches.values()
