"""What is known of the files of a set: where they are written, what was published, what is to be recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.sitemap.limits import MAX_BYTES, MAX_URLS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sitemap_crawler.sitemap.names import Names


class Target(NamedTuple):
    """Where a set is written; the limits are those of one file, `max_bytes` counts uncompressed bytes."""

    directory: Path
    sitemap_url: str
    max_urls: int = MAX_URLS
    max_bytes: int = MAX_BYTES
    gzip: bool = False


class StagedFile(NamedTuple):
    """`size` is uncompressed, `file_bytes` on the disk; the entry file has number 0."""

    name: str
    section: str
    number: int
    path: Path
    destination: Path
    first: str
    urls: int
    size: int
    file_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """`urls` counts entries, an index has none; `bytes` is the size on the disk; `modified`: when the bytes changed;
    `first`: the first URL of a shard, which holds those of its section from there to the first one of the next;
    `rules`: the signature of the rules that gave the pages their sections."""

    name: str
    url: str
    urls: int
    bytes: int
    sha256: str
    modified: datetime
    first: str
    section: str = ""
    rules: str = ""


@dataclass(frozen=True, slots=True)
class OutputFile(PublishedFile):
    """`written` is False for a file that already had these bytes and was not touched."""

    written: bool = field(kw_only=True)


class Publication(NamedTuple):
    """`files` begins with the entry file; `listed` counts pages; `omitted`: URLs too long, or whose entry alone is too
    large for a file; `omitted_extras`: those whose images, videos or news alone are, in files of their own."""

    files: tuple[OutputFile, ...]
    listed: int
    omitted: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    omitted_extras: tuple[str, ...] = ()


class Records:
    """What is on record of a set's files, and what is to be recorded. Raises ValueError for a time without a zone."""

    def __init__(self, names: Names, previous: Sequence[PublishedFile], now: datetime, rules: str = "") -> None:
        if any(moment.tzinfo is None for moment in (now, *(file.modified for file in previous))):
            raise ValueError("now and the times of the previous files need a time zone")
        self.files = {file.name: file for file in previous}
        self.now = now.astimezone(UTC).replace(microsecond=0)
        self.rules = rules
        self._names = names

    def modified(self, file: StagedFile) -> datetime:
        recorded = self.files.get(file.name)
        if recorded is None or recorded.sha256 != file.sha256:
            return self.now
        # A clock may have been wrong then.
        return min(recorded.modified.astimezone(UTC), self.now)

    def output(self, file: StagedFile, *, written: bool) -> OutputFile:
        return OutputFile(
            name=file.name,
            url=self._names.url(file.name),
            urls=file.urls,
            bytes=file.file_bytes,
            sha256=file.sha256,
            modified=self.modified(file),
            first=file.first,
            section=file.section,
            rules=self.rules,
            written=written,
        )

    def has_current_rules(self, name: str) -> bool:
        """Whether the pages of a live shard have their section by the rules of now. What is on no record is taken for
        a file of the last publication."""
        files = [self.files[name]] if name in self.files else self.files.values()
        return all(file.rules == self.rules for file in files)
