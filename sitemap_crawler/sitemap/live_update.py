"""Publication of some changed pages: only the shards that hold them are rewritten, and the index.

The files are the same, byte for byte, as `publish` writes them from all entries: the shards are assigned by the same
Layout, filled by the same SectionWriter and made live in the same order. Only the entries of the touched shards are
read, from the live files. Whatever else a whole publication might do (join small shards, remove one, give pages
another section) raises NotLocalError before anything is live, and so does a live file that is not the recorded one.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from bisect import bisect_right
from collections import deque
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.exceptions import NotLocalError
from sitemap_crawler.sitemap.escaping import unescape
from sitemap_crawler.sitemap.index import IndexedFile
from sitemap_crawler.sitemap.live_set import LiveSetWriter
from sitemap_crawler.sitemap.names import MEDIA_SECTIONS, NEWS_SECTION, RESERVED_SECTIONS, Names
from sitemap_crawler.sitemap.records import Publication, Records
from sitemap_crawler.sitemap.serialiser import EntryBatch, Serialiser
from sitemap_crawler.sitemap.shard import EMPTY_SIZE, GZIP_WBITS, HEAD, TAIL
from sitemap_crawler.sitemap.stage import SectionWriter, Stager
from sitemap_crawler.utils.replace import Staging

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from sitemap_crawler.sitemap.entry import Entry, PlainEntries
    from sitemap_crawler.sitemap.layout import LiveShard
    from sitemap_crawler.sitemap.records import OutputFile, PublishedFile, StagedFile, Target

ENTRIES_AT_ONCE = 1_000
"""Number of entries of a live shard that are copied at a time."""
_ENTRY_START = re.compile(rb"<url><loc>([^<]*)</loc>")


class PageChange(NamedTuple):
    """A page whose entry may have changed."""

    loc: str
    """Public URL, as the entry has it."""
    section: str
    was_live: bool
    """Whether the last publication has the page."""


class _Row(NamedTuple):
    """A shard of the new set."""

    section: str
    number: int
    first: str
    urls: int
    size: int
    """Uncompressed bytes."""
    staged: StagedFile | None
    """None for a live shard that stays as it is."""


def publish_changes(
    changes: Sequence[PageChange],
    entries: Iterable[Entry | PlainEntries],
    target: Target,
    previous: Sequence[PublishedFile],
    now: datetime,
    *,
    announce: Callable[[Sequence[PublishedFile]], None] = lambda _: None,
    section_signature: str = "",
    approve: Callable[[int], None] = lambda _: None,
) -> Publication:
    """Publish the set of `previous` with these changes. `entries` are those of the changed pages that are listed.

    The other arguments and exceptions are those of `publish`. Raises NotLocalError: nothing is published then.
    """
    names = Names.for_sitemap(target.sitemap_url, gzip=target.gzip)
    records = Records(names, previous, now, section_signature)
    serialiser = Serialiser(target.max_bytes)
    new = _by_section(serialiser.batches(entries))
    if serialiser.omitted or serialiser.omitted_extras:
        raise NotLocalError("an entry fits no file")
    before = sum(file.urls for file in previous if file.section not in RESERVED_SECTIONS)
    listed = before + serialiser.listed - sum(change.was_live for change in changes)
    with Staging(target.directory) as staging:
        stager = Stager(names, staging, max_urls=target.max_urls, max_bytes=target.max_bytes)
        updater = _LiveSetUpdater(target, names, records, stager)

        def before_live(files: Sequence[PublishedFile]) -> None:
            approve(listed)
            announce(files)

        outputs = updater.update(changes, new, before_live)
    return Publication(outputs, listed)


def _by_section(batches: Iterable[EntryBatch]) -> dict[str, dict[str, bytes]]:
    """Return the serialised entries by section and loc."""
    entries: dict[str, dict[str, bytes]] = {}
    for batch in batches:
        entries.setdefault(batch.section, {}).update(zip(batch.locs, batch.data, strict=True))
    return entries


class _LiveSetUpdater(LiveSetWriter):
    """Writer of a publication of some pages."""

    def update(
        self,
        changes: Iterable[PageChange],
        new: Mapping[str, Mapping[str, bytes]],
        before_live: Callable[[Sequence[PublishedFile]], None],
    ) -> tuple[OutputFile, ...]:
        """Make the changed files live. Return all files of the set, the entry file first."""
        self._check_live_files()
        self._stager.remove_leftovers(self._records.files)
        # Without shards the pages are in the entry file, which is read whatever the section of a new page is.
        of_section: dict[str, list[PageChange]] = {} if self._live else {"": []}
        for change in changes:
            # The media of a page may or may not have entries of their own.
            media = [section for section in MEDIA_SECTIONS if section in new or self._shards_of(section)]
            for section in (change.section, *media):
                of_section.setdefault(section, []).append(change)
        staged = {name: self._rewrite(name, of_section[name], new.get(name, {})) for name in sorted(of_section)}
        rows = self._rows(staged)
        has_default_section_only = {row.section for row in rows} == {""}
        files = [row.staged for row in rows if row.staged is not None]
        if has_default_section_only and self._fit(rows):
            if self._live:
                raise NotLocalError("the pages fit one file")
            return self._make_live(self._stager.join_into_entry(files), [], before_live)
        self._check_sizes(rows)
        entry = self._write_index(map(self._indexed_row, rows))
        names = (self._names.shard(row.number, row.section) for row in rows if row.staged is None)
        return self._make_live(entry, files, before_live, untouched=map(self._records.files.__getitem__, names))

    def _check_live_files(self) -> None:
        """Raise NotLocalError unless the live files are those that the inventory records, made by today's options."""
        files = self._records.files
        shards = {name: file for name, file in files.items() if name != self._names.entry}
        if self._names.entry not in files or shards.keys() != self._live.keys():
            raise NotLocalError("the live files are not those of the last publication")
        if any(file.rules != self._records.rules for file in files.values()):
            raise NotLocalError("the rules for sections have changed")
        for name, live in self._live.items():
            if live.section == NEWS_SECTION or live.urls > self._target.max_urls or live.size > self._target.max_bytes:
                raise NotLocalError(f"{name} is not as the options demand")
            if not self._target.gzip and live.size != files[name].bytes:
                raise NotLocalError(f"{name} has changed since it was published")
        self._read(self._names.entry)

    def _shards_of(self, section: str) -> list[LiveShard]:
        """Return the live shards of a section, in the order of their pages."""
        live = [shard for shard in self._live.values() if shard.section == section]
        return sorted(live, key=lambda shard: shard.first)

    def _rewrite(self, section: str, changes: Iterable[PageChange], new: Mapping[str, bytes]) -> list[StagedFile]:
        """Stage the shards of a section that hold changed pages, and those that take pages from them."""
        shards = self._shards_of(section)
        layout = self._layout(section)
        writer = SectionWriter(self._stager, section, layout)
        pending = deque(sorted(changes))
        if not shards:
            name = None if self._live or section else self._names.entry
            self._feed(writer, section, name, pending, new)
            return writer.finish()
        read: set[int] = set()
        firsts = [shard.first for shard in shards]
        index = 0
        while pending:
            index = max(index, bisect_right(firsts, pending[0].loc) - 1)
            # A shard that overflows passes entries on to the next one.
            while index < len(shards):
                below = deque[PageChange]()
                while pending and (index + 1 == len(shards) or pending[0].loc < firsts[index + 1]):
                    below.append(pending.popleft())
                read.add(shards[index].number)
                self._feed(writer, section, self._names.shard(shards[index].number, section), below, new)
                index += 1
                if index < len(shards) and layout.is_next(shards[index].number):
                    break
        staged = writer.finish()
        if read - {file.number for file in staged}:
            raise NotLocalError("a file loses all its pages")
        return staged

    def _feed(
        self,
        writer: SectionWriter,
        section: str,
        name: str | None,
        changes: Iterable[PageChange],
        new: Mapping[str, bytes],
    ) -> None:
        """Add the entries of the live file `name`, with the changes, to the writer."""
        batch = EntryBatch(section, [], [])
        entries = () if name is None else self._entries(name)
        last = ""
        for loc, data in _merged(entries, changes, new, section):
            if loc <= last:
                raise NotLocalError(f"the entries of {name} are not in the order of their URLs")
            last = loc
            batch.locs.append(loc)
            batch.data.append(data)
            if len(batch.locs) == ENTRIES_AT_ONCE:
                writer.add(batch)
                batch = EntryBatch(section, [], [])
        if batch.locs:
            writer.add(batch)

    def _entries(self, name: str) -> Iterator[tuple[str, bytes]]:
        """Yield loc and bytes of each entry of a live file."""
        data = self._read(name)
        if self._target.gzip and name != self._names.entry:
            data = zlib.decompress(data, GZIP_WBITS)
        if not data.startswith(HEAD) or not data.endswith(TAIL):
            raise NotLocalError(f"{name} has another form")
        starts = [match.start() for match in _ENTRY_START.finditer(data)]
        if len(starts) != self._records.files[name].urls or (starts and starts[0] != len(HEAD)):
            raise NotLocalError(f"{name} has other entries than the last publication")
        last = ""
        for start, end in zip(starts, [*starts[1:], len(data) - len(TAIL)], strict=True):
            loc = _loc_at(data, start)
            if loc < last:
                raise NotLocalError(f"{name} has another order")
            last = loc
            yield loc, data[start:end]

    def _read(self, name: str) -> bytes:
        """Return the bytes of a live file. Raises NotLocalError if they are not the published ones."""
        try:
            with self._stager.directory.open_linked_file(name) as file:
                data = file.read()
        except (FileNotFoundError, FileExistsError) as error:
            raise NotLocalError(f"{name} is missing") from error
        if hashlib.sha256(data).hexdigest() != self._records.files[name].sha256:
            raise NotLocalError(f"{name} has changed since it was published")
        return data

    def _rows(self, staged: Mapping[str, Sequence[StagedFile]]) -> list[_Row]:
        """Return the shards of the new set, by section and in the order of their pages."""
        rows = [
            _Row(file.section, file.number, file.first, file.urls, file.size, file)
            for file in chain.from_iterable(staged.values())
        ]
        replaced = {(row.section, row.number) for row in rows}
        rows += [
            _Row(live.section, live.number, live.first, live.urls, live.size, None)
            for live in self._live.values()
            if (live.section, live.number) not in replaced
        ]
        return sorted(rows, key=lambda row: (row.section, row.first))

    def _check_sizes(self, rows: Sequence[_Row]) -> None:
        """Raise NotLocalError if a whole publication joins shards: see Stager.join_small_neighbours."""
        for before, row in pairwise(rows):
            if before.section == row.section and self._fit([before, row], share=2):
                raise NotLocalError("small files are joined")

    def _fit(self, rows: Sequence[_Row], *, share: int = 1) -> bool:
        return self._stager.fits(
            urls=sum(row.urls for row in rows),
            size=EMPTY_SIZE + sum(row.size - EMPTY_SIZE for row in rows),
            share=share,
        )

    def _indexed_row(self, row: _Row) -> IndexedFile:
        if row.staged is not None:
            return self._indexed(row.staged)
        recorded = self._records.kept(self._records.files[self._names.shard(row.number, row.section)])
        return IndexedFile(row.section, row.number, row.first, recorded.url, recorded.modified)


def _loc_at(data: bytes, start: int) -> str:
    begin = start + len(b"<url><loc>")
    return unescape(data[begin : data.index(b"<", begin)].decode())


def _merged(
    entries: Iterable[tuple[str, bytes]], changes: Iterable[PageChange], new: Mapping[str, bytes], section: str
) -> Iterator[tuple[str, bytes]]:
    """Yield the entries of a file with the changes, in the order of their URLs.

    Raises NotLocalError if a page is in the file, or not in it, against the record of the last publication.
    """
    waiting = deque(changes)
    for loc, data in entries:
        while waiting and waiting[0].loc < loc:
            yield from _missing(waiting.popleft(), new, section)
        if not waiting or waiting[0].loc != loc:
            yield loc, data
            continue
        change = waiting.popleft()
        if not change.was_live:
            raise NotLocalError(f"{loc} is in a file already")
        if loc in new:
            yield loc, new[loc]
    for change in waiting:
        yield from _missing(change, new, section)


def _missing(change: PageChange, new: Mapping[str, bytes], section: str) -> Iterator[tuple[str, bytes]]:
    """Yield the entry of a page that the file does not have."""
    if change.was_live and section not in MEDIA_SECTIONS:
        raise NotLocalError(f"{change.loc} is in another file")
    if change.loc in new:
        yield change.loc, new[change.loc]
