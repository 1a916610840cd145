"""Makes a sorted stream of entries the live set of files, at no instant leaving it broken.

Everything is first staged in temporary files and on the disk; then only renames are left, in an order in which the
entry file never names a file that is missing and a URL stands in its new shard before it leaves the old one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from sitemap_crawler.sitemap import files
from sitemap_crawler.sitemap.entry import serialise
from sitemap_crawler.sitemap.index import read_index, serialise_index
from sitemap_crawler.sitemap.layout import Layout, LiveShard, read_live_shard
from sitemap_crawler.sitemap.limits import MAX_BYTES, MAX_URLS
from sitemap_crawler.sitemap.names import Names
from sitemap_crawler.sitemap.shard import EMPTY_SIZE
from sitemap_crawler.sitemap.stage import StagedFile, Stager

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sitemap_crawler.sitemap.entry import Entry


class NothingToPublish(Exception):  # noqa: N818 - an outcome that the caller reports, not a defect
    """No entry can be written; a live set stays as it is."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a set is written; the limits are those of one file, `max_bytes` counts uncompressed bytes."""

    directory: Path
    sitemap_url: str
    max_urls: int = MAX_URLS
    max_bytes: int = MAX_BYTES
    gzip: bool = False


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """`urls` counts pages, an index has none; `bytes` is the size on the disk; `modified`: when the bytes changed;
    `first`: the first URL of a shard, which holds those from there to the first one of the next."""

    name: str
    url: str
    urls: int
    bytes: int
    sha256: str
    modified: datetime
    first: str


@dataclass(frozen=True, slots=True)
class OutputFile(PublishedFile):
    """`written` is False for a file that already had these bytes and was not touched."""

    written: bool


@dataclass(frozen=True, slots=True)
class Publication:
    """`files` begins with the entry file; `omitted`: URLs too long, or whose entry alone is too large for a file."""

    files: tuple[OutputFile, ...]
    listed: int
    omitted: tuple[str, ...]
    removed: tuple[str, ...]


def publish(
    entries: Iterable[Entry],
    target: Target,
    previous: Sequence[PublishedFile],
    now: datetime,
    *,
    announce: Callable[[Sequence[PublishedFile]], None] = lambda _: None,
) -> Publication:
    """Write the set of `entries`, which come sorted by loc, each loc once. `previous`: the files of the last call.

    `announce` is told of the files that `previous` lacks before any of them is live: a caller who remembers them as
    previous ones leaves no stray file behind when the process is killed.
    Raises NothingToPublish, EntryNameError, IndexOverflowError, OSError and whatever `entries` raises. The live set is
    then untouched or, after a failure while renaming, a mixture of old and new files of which each is whole.
    """
    if any(moment.tzinfo is None for moment in (now, *(file.modified for file in previous))):
        raise ValueError("now and the times of the previous files need a time zone")
    names = Names.of(target.sitemap_url, gzip=target.gzip)
    omitted: list[str] = []
    writable = _writable(entries, target, omitted)
    first = next(writable, None)
    if first is None:
        raise NothingToPublish("there is no URL to list: the published files are left as they are")
    target.directory.mkdir(parents=True, exist_ok=True)
    with files.locked(target.directory), files.Staging() as staging:
        publisher = _Publisher(target, names, previous, now.astimezone(UTC).replace(microsecond=0), staging)
        outputs = publisher.publish(chain([first], writable), announce)
        removed = publisher.remove_stale({output.name for output in outputs})
    return Publication(outputs, sum(output.urls for output in outputs), tuple(omitted), removed)


def _writable(entries: Iterable[Entry], target: Target, omitted: list[str]) -> Iterator[tuple[str, bytes]]:
    largest = target.max_bytes - EMPTY_SIZE
    for entry in entries:
        data = b"" if entry.too_long else serialise(entry)
        if entry.too_long or len(data) > largest:
            omitted.append(entry.loc)
        else:
            yield entry.loc, data


class _Publisher:
    def __init__(
        self, target: Target, names: Names, previous: Sequence[PublishedFile], now: datetime, staging: files.Staging
    ) -> None:
        self._directory = target.directory
        self._names = names
        self._previous = {file.name: file for file in previous}
        self._now = now
        self._staging = staging
        self._stager = Stager(target.directory, names, staging, max_urls=target.max_urls, max_bytes=target.max_bytes)
        self._live = self._read_live()
        self._layout = Layout(self._live.values(), max_urls=target.max_urls, max_bytes=target.max_bytes)

    def publish(
        self, entries: Iterable[tuple[str, bytes]], announce: Callable[[Sequence[PublishedFile]], None]
    ) -> tuple[OutputFile, ...]:
        self._remove_leftovers()
        shards = self._stager.shards(entries, self._layout)
        if self._stager.fit_one_file(shards):
            entry, shards = self._stager.join_into_entry(shards), []
        else:
            shards = self._stager.join_small_neighbours(shards)
            rows = {shard.number: (shard.first, self._modified(shard)) for shard in shards}
            entry = self._stager.write_entry(self._index(rows))
        changed = self._find_changed([*shards, entry])
        growing = self._stage_growing(shards, changed) if entry in changed else []
        for file in [*changed, *growing]:
            files.make_durable(file.path, file.destination)
        in_order = sorted([entry, *shards], key=lambda file: file.number)
        outputs = tuple(self._output(file, written=file in changed) for file in in_order)
        announce([output for output in outputs if output.name not in self._previous])
        self._move(shard for shard in shards if shard in changed and shard.number not in self._live)
        self._move(growing)
        # Backwards, as a live shard only ever takes pages from those before it: see Layout.
        self._move(shard for shard in reversed(shards) if shard in changed and shard.number in self._live)
        self._move([entry] if entry in changed else [])
        return outputs

    def remove_stale(self, names: set[str]) -> tuple[str, ...]:
        """Remove the shards that we recorded and that are not among `names`; nothing else in the directory is ours."""
        stale = [name for name in self._previous if name not in names and self._names.number(name) is not None]
        for name in stale:
            (self._directory / name).unlink(missing_ok=True)
        return tuple(stale)

    def _read_live(self) -> dict[int, LiveShard]:
        """The shards that are live now. After a publish that was killed these are not just those on record."""
        live: dict[int, LiveShard] = {}
        for name in self._live_names() if self._previous else ():
            number = self._names.number(name)
            if number is not None and name == self._names.shard(number):
                # What is on no record counts as full: it takes no page from another shard.
                urls = self._previous[name].urls if name in self._previous else MAX_URLS
                path = self._directory / name
                shard = read_live_shard(path, number=number, urls=urls, gzip=self._names.gzip)
                if shard is not None:
                    live[number] = shard
        return live

    def _live_names(self) -> Iterable[str]:
        path = self._directory / self._names.entry
        if not path.is_file():
            return self._previous
        with path.open("rb") as file:
            return map(self._names.name, read_index(file))

    def _remove_leftovers(self) -> None:
        files.remove_leftovers(self._directory, self._names.derives)
        for name in sorted({self._names.entry, *filter(self._names.derives, self._previous)}):
            path = self._directory / name
            if path.is_symlink() and (target := files.destination_of(path)).parent.is_dir():
                files.remove_leftovers(target.parent, target.name.__eq__)

    def _find_changed(self, staged: Sequence[StagedFile]) -> set[StagedFile]:
        """Those whose bytes are not live; the others' temporary files are removed, as the live ones are not touched."""
        changed = set()
        for file in staged:
            if files.has_bytes(file.destination, size=file.file_bytes, sha256=file.sha256):
                self._staging.remove(file.path)
            else:
                changed.add(file)
        return changed

    def _stage_growing(self, shards: Sequence[StagedFile], changed: set[StagedFile]) -> list[StagedFile]:
        """An index of the live shards and the new ones: live while URLs leave the former for the latter."""
        new = [shard for shard in shards if shard.number not in self._live]
        if not new or all(shard.number not in self._live for shard in changed if shard.number):
            return []
        recorded = {shard: self._previous.get(self._names.shard(shard.number)) for shard in self._live.values()}
        rows = {shard.number: (shard.first, file.modified if file else self._now) for shard, file in recorded.items()}
        rows |= {shard.number: (shard.first, self._modified(shard)) for shard in new}
        return [self._stager.write_entry(self._index(rows))]

    def _move(self, staged: Iterable[StagedFile]) -> None:
        directories = set()
        for file in staged:
            self._staging.move(file.path, file.destination)
            directories.add(file.destination.parent)
        for directory in sorted(directories):
            files.sync_directory(directory)

    def _index(self, rows: Mapping[int, tuple[str, datetime]]) -> bytes:
        """The shards in the order of their pages, which move to later ones only: who reads them in turn misses none."""
        return serialise_index(
            [
                (self._names.url(self._names.shard(number)), f"{modified.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}")
                for number, (_, modified) in sorted(rows.items(), key=lambda row: row[1][0])
            ]
        )

    def _modified(self, file: StagedFile) -> datetime:
        recorded = self._previous.get(file.name)
        if recorded is None or recorded.sha256 != file.sha256:
            return self._now
        return recorded.modified.astimezone(UTC)

    def _output(self, file: StagedFile, *, written: bool) -> OutputFile:
        return OutputFile(
            name=file.name,
            url=self._names.url(file.name),
            urls=file.urls,
            bytes=file.file_bytes,
            sha256=file.sha256,
            modified=self._modified(file),
            first=file.first,
            written=written,
        )
