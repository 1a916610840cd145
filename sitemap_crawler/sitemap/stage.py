"""The files of a set before they are live: complete temporary files, which are then moved to their destination."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.sitemap.names import NEWS_SECTION
from sitemap_crawler.sitemap.news import MAX_ARTICLES, NEWS_FRAME
from sitemap_crawler.sitemap.records import StagedFile
from sitemap_crawler.sitemap.shard import EMPTY_SIZE, URLSET, Frame, Shard, read_body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sitemap_crawler.sitemap.layout import Layout
    from sitemap_crawler.sitemap.names import Names
    from sitemap_crawler.sitemap.serialiser import EntryBatch
    from sitemap_crawler.utils.directories import Directory
    from sitemap_crawler.utils.replace import NewFile, Staging


class OpenShard(NamedTuple):
    """A shard that is being written, and the file that it becomes: see StagedFile."""

    name: str
    section: str
    number: int
    file: NewFile
    first: str
    shard: Shard

    def finalise(self) -> StagedFile:
        shard = self.shard
        shard.finalise()
        return StagedFile(
            self.name,
            self.section,
            self.number,
            self.file,
            self.first,
            shard.urls,
            shard.size,
            shard.file_bytes,
            shard.sha256,
        )


class Stager:
    """Writer of the temporary files of a set, which it moves to their destination when all are complete."""

    def __init__(self, names: Names, staging: Staging, *, max_urls: int, max_bytes: int) -> None:
        self._names = names
        self._staging = staging
        self._max_urls = max_urls
        self._max_bytes = max_bytes

    @property
    def directory(self) -> Directory:
        """The directory of the set."""
        return self._staging.directory

    def write_shards(
        self, batches: Iterable[EntryBatch], layout_of: Callable[[str], Layout]
    ) -> dict[str, list[StagedFile]]:
        """Write all batches into shards. Return the shards by section. One file of each section is open at a time."""
        writers: dict[str, SectionWriter] = {}
        for batch in batches:
            writer = writers.get(batch.section)
            if writer is None:
                writer = writers[batch.section] = SectionWriter(self, batch.section, layout_of(batch.section))
            writer.add(batch)
        return {section: writer.finish() for section, writer in writers.items()}

    def write_news(self, articles: Iterable[tuple[str, bytes]]) -> list[StagedFile]:
        """Write files of (loc, serialised entry), newest first. Within a file they are sorted by loc."""
        staged = []
        for number, batch in enumerate(self._news_batches(articles), 1):
            batch.sort()
            open_shard = self.open_shard(NEWS_SECTION, number, batch[0][0], frame=NEWS_FRAME)
            for _, data in batch:
                open_shard.shard.add(data)
            staged.append(open_shard.finalise())
        return staged

    def fit_one_file(self, shards: Sequence[StagedFile], *, share: int = 1) -> bool:
        """Return whether the entries of the shards fit together into one `share`-th of a file."""
        size = EMPTY_SIZE + sum(shard.size - EMPTY_SIZE for shard in shards)
        return self.fits(urls=sum(shard.urls for shard in shards), size=size, share=share)

    def fits(self, *, urls: int, size: int, share: int = 1) -> bool:
        """Return whether a file of `urls` entries and `size` uncompressed bytes is at most one `share`-th of a file."""
        return urls * share <= self._max_urls and size * share <= self._max_bytes

    def join_small_neighbours(self, shards: Sequence[StagedFile]) -> list[StagedFile]:
        """Join neighbours that together fill at most half a file. Otherwise a site that shrinks would end with many
        small shards."""
        groups: list[list[StagedFile]] = []
        for shard in shards:
            if groups and self.fit_one_file([*groups[-1], shard], share=2):
                groups[-1].append(shard)
            else:
                groups.append([shard])
        return [self._join(group, group[0].number) if len(group) > 1 else group[0] for group in groups]

    def join_into_entry(self, shards: Sequence[StagedFile]) -> StagedFile:
        """Join all shards into the entry file, which is never compressed."""
        return self._join(shards, 0)

    def write_file(self, name: str, data: bytes, *, section: str = "", urls: int = 0) -> StagedFile:
        """Write a file with these bytes."""
        with self.create(name) as file:
            file.write(data)
        digest = hashlib.sha256(data).hexdigest()
        return StagedFile(name, section, 0, file, "", urls, len(data), len(data), digest)

    def create(self, name: str) -> NewFile:
        """Open a temporary file for the file called `name`."""
        return self._staging.create(name)

    def open_shard(self, section: str, number: int, first: str, *, frame: Frame = URLSET) -> OpenShard:
        """Open a shard; with number 0 the entry file, which is never compressed."""
        gzip = self._names.gzip and number != 0
        name = self._names.shard(number, section) if number else self._names.entry
        file = self.create(name)
        shard = Shard(file, max_urls=self._max_urls, max_bytes=self._max_bytes, gzip=gzip, frame=frame)
        return OpenShard(name, section, number, file, first, shard)

    def find_changed(self, staged: Iterable[StagedFile]) -> set[StagedFile]:
        """Return the files whose bytes differ from the live ones. Remove the temporary files of all others."""
        changed = set()
        for file in staged:
            if file.file.replaces_same_bytes(size=file.file_bytes, sha256=file.sha256):
                self._staging.remove(file.file)
            else:
                changed.add(file)
        return changed

    def move(self, staged: Iterable[StagedFile]) -> None:
        """Make files live, in their order."""
        directories = {}
        for file in staged:
            self._staging.move(file.file)
            directories[file.file.directory.path] = file.file.directory
        for path in sorted(directories):
            directories[path].sync()

    def remove(self, name: str) -> None:
        """Remove a live file, if it exists."""
        self._staging.directory.remove(name)

    def remove_leftovers(self, recorded: Iterable[str]) -> None:
        """Remove the temporary files of a killed publication. `recorded` are the names of the last published files."""
        own_names = sorted({self._names.entry, *filter(self._names.derives, recorded)})
        self._staging.remove_leftovers(self._names.derives, own_names)

    def _news_batches(self, articles: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
        """Yield the articles of each file."""
        max_articles = min(MAX_ARTICLES, self._max_urls)
        batch: list[tuple[str, bytes]] = []
        size = NEWS_FRAME.size
        for loc, data in articles:
            if batch and (len(batch) == max_articles or size + len(data) > self._max_bytes):
                yield batch
                batch, size = [], NEWS_FRAME.size
            batch.append((loc, data))
            size += len(data)
        if batch:
            yield batch

    def _join(self, shards: Sequence[StagedFile], number: int) -> StagedFile:
        joined = self.open_shard(shards[0].section, number, shards[0].first)
        for shard in shards:
            with shard.file.reopen() as file:
                for block in read_body(file, size=shard.size, gzip=self._names.gzip):
                    joined.shard.add(block, urls=0)
            joined.shard.add(b"", urls=shard.urls)
            self._staging.remove(shard.file)
        return joined.finalise()


class SectionWriter:
    """Writer of the shards of one section, one after the other."""

    def __init__(self, stager: Stager, section: str, layout: Layout) -> None:
        self._stager = stager
        self._section = section
        self._layout = layout
        self._staged: list[StagedFile] = []
        self._open: OpenShard | None = None

    def add(self, batch: EntryBatch) -> None:
        data = b"".join(batch.data)
        # The locs are sorted: if the last one stays before the next live shard, all of them do.
        if self._open is not None and not self._layout.begins(batch.locs[-1]):
            shard = self._open.shard
            if shard.has_room(len(data), urls=len(batch.data)):
                shard.add(data, urls=len(batch.data))
                return
        for loc, entry in zip(batch.locs, batch.data, strict=True):
            self._add_entry(loc, entry)

    def _add_entry(self, loc: str, data: bytes) -> None:
        if self._open is None or self._layout.begins(loc) or not self._open.shard.fits(len(data)):
            self.finish()
            self._open = self._stager.open_shard(self._section, self._layout.next_number(loc, len(data)), loc)
        self._open.shard.add(data)

    def finish(self) -> list[StagedFile]:
        """Finalise the open shard. Return all shards."""
        if self._open is not None:
            self._staged.append(self._open.finalise())
            self._open = None
        return self._staged
