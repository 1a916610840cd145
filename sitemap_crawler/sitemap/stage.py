"""A set's files before they are live: each shard whole in a temporary file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitemap_crawler.sitemap.files import destination_of
from sitemap_crawler.sitemap.shard import EMPTY_SIZE, Shard, read_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from sitemap_crawler.sitemap.files import Staging
    from sitemap_crawler.sitemap.layout import Layout
    from sitemap_crawler.sitemap.names import Names


@dataclass(frozen=True, slots=True)
class StagedFile:
    """`size` is uncompressed, `file_bytes` on the disk; the entry file has number 0."""

    name: str
    number: int
    path: Path
    destination: Path
    first: str
    urls: int
    size: int
    file_bytes: int
    sha256: str


class Stager:
    def __init__(self, directory: Path, names: Names, staging: Staging, *, max_urls: int, max_bytes: int) -> None:
        self._directory = directory
        self._names = names
        self._staging = staging
        self._max_urls = max_urls
        self._max_bytes = max_bytes

    def shards(self, entries: Iterable[tuple[str, bytes]], layout: Layout) -> list[StagedFile]:
        """Stream (loc, serialised entry) pairs into shards."""
        staged: list[StagedFile] = []
        open_shard: _OpenShard | None = None
        for loc, data in entries:
            if open_shard is None or layout.begins(loc) or not open_shard.shard.fits(len(data)):
                if open_shard is not None:
                    staged.append(open_shard.finalise())
                number = layout.next_number(loc, len(data))
                open_shard = self._open(number, loc, gzip=self._names.gzip)
            open_shard.shard.add(data)
        if open_shard is not None:
            staged.append(open_shard.finalise())
        return staged

    def fit_one_file(self, shards: Sequence[StagedFile], *, share: int = 1) -> bool:
        """Whether the shards' entries fit together into one file, or into one `share`-th of a file."""
        size = EMPTY_SIZE + sum(shard.size - EMPTY_SIZE for shard in shards)
        return sum(shard.urls for shard in shards) * share <= self._max_urls and size * share <= self._max_bytes

    def join_small_neighbours(self, shards: Sequence[StagedFile]) -> list[StagedFile]:
        """Join what fills no more than half a file: a site that shrinks must not end with many small shards."""
        groups: list[list[StagedFile]] = []
        for shard in shards:
            if groups and self.fit_one_file([*groups[-1], shard], share=2):
                groups[-1].append(shard)
            else:
                groups.append([shard])
        return [self._join(group, group[0].number) if len(group) > 1 else group[0] for group in groups]

    def join_into_entry(self, shards: Sequence[StagedFile]) -> StagedFile:
        """The entry file as one sitemap, never compressed, of all entries."""
        return self._join(shards, 0)

    def write_entry(self, data: bytes) -> StagedFile:
        """The entry file with these bytes, an index."""
        destination = destination_of(self._directory / self._names.entry)
        path, file = self._staging.create(destination)
        with file:
            file.write(data)
        digest = hashlib.sha256(data).hexdigest()
        return StagedFile(self._names.entry, 0, path, destination, "", 0, len(data), len(data), digest)

    def _open(self, number: int, first: str, *, gzip: bool) -> _OpenShard:
        name = self._names.shard(number) if number else self._names.entry
        destination = destination_of(self._directory / name)
        path, file = self._staging.create(destination)
        shard = Shard(file, max_urls=self._max_urls, max_bytes=self._max_bytes, gzip=gzip)
        return _OpenShard(name, number, path, destination, first, shard)

    def _join(self, shards: Sequence[StagedFile], number: int) -> StagedFile:
        joined = self._open(number, shards[0].first, gzip=self._names.gzip and number != 0)
        for shard in shards:
            with shard.path.open("rb") as file:
                for block in read_body(file, size=shard.size, gzip=self._names.gzip):
                    joined.shard.add(block, urls=0)
            joined.shard.add(b"", urls=shard.urls)
            self._staging.remove(shard.path)
        return joined.finalise()


@dataclass(frozen=True, slots=True)
class _OpenShard:
    name: str
    number: int
    path: Path
    destination: Path
    first: str
    shard: Shard

    def finalise(self) -> StagedFile:
        shard = self.shard
        shard.finalise()
        return StagedFile(
            self.name,
            self.number,
            self.path,
            self.destination,
            self.first,
            shard.urls,
            shard.size,
            shard.file_bytes,
            shard.sha256,
        )
