"""The files of a set as values: their place, the published files and the recorded files."""

from __future__ import annotations

from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.sitemap.limits import MAX_BYTES, MAX_URLS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sitemap_crawler.sitemap.names import Names
    from sitemap_crawler.utils.replace import NewFile


class Target(NamedTuple):
    """Where a set is written, and the limits of one file."""

    directory: Path
    sitemap_url: str
    """Public URL of the entry file."""
    max_urls: int = MAX_URLS
    max_bytes: int = MAX_BYTES
    """Uncompressed bytes."""
    gzip: bool = False
    """Whether the shards are compressed."""


class StagedFile(NamedTuple):
    """A finished file that is not live yet."""

    name: str
    section: str
    number: int
    """Number of the shard; 0 for the entry file."""
    file: NewFile
    """The temporary file."""
    first: str
    """First URL in the file; "" for an index or a feed."""
    urls: int
    """Number of entries; 0 for an index."""
    size: int
    """Uncompressed bytes."""
    file_bytes: int
    """Bytes on disk."""
    sha256: str


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A live file as the inventory remembers it."""

    name: str
    url: str
    """Public URL."""
    urls: int
    """Number of entries; 0 for an index."""
    bytes: int
    """Bytes on disk."""
    sha256: str
    modified: datetime
    """Time when the bytes changed."""
    first: str
    """First URL of a shard. The shard holds the URLs of its section up to the first one of the next shard."""
    section: str = ""
    rules: str = ""
    """Signature of the rules that gave the pages their sections."""


@dataclass(frozen=True, slots=True)
class OutputFile(PublishedFile):
    """A file of a publication."""

    written: bool = field(kw_only=True)
    """False for a live file that already had these bytes and was not touched."""


class Publication(NamedTuple):
    """The result of publishing a set."""

    files: tuple[OutputFile, ...]
    """The live files. The entry file comes first."""
    listed: int
    """Number of pages."""
    omitted: tuple[str, ...] = ()
    """URLs of the pages that are too long, or whose entry is too large for a file."""
    removed: tuple[str, ...] = ()
    """Names of the removed files."""
    omitted_extras: tuple[str, ...] = ()
    """URLs of the pages whose images, videos or news, in files of their own, are too large for a file."""


class Records:
    """The files of the last publication, and the records of the next one."""

    def __init__(self, names: Names, previous: Sequence[PublishedFile], now: datetime, rules: str = "") -> None:
        """`rules` is the signature of the current section rules. Raises ValueError for a time without a zone."""
        if any(moment.tzinfo is None for moment in (now, *(file.modified for file in previous))):
            raise ValueError("now and the times of the previous files need a time zone")
        self.files = {file.name: file for file in previous}
        self.now = now.astimezone(UTC).replace(microsecond=0)
        self.rules = rules
        self._names = names

    def modified(self, file: StagedFile) -> datetime:
        """Return the time when the bytes of the file changed: now, unless the record has the same bytes."""
        recorded = self.files.get(file.name)
        if recorded is None or recorded.sha256 != file.sha256:
            return self.now
        # The clock may have been ahead at the last publication.
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

    def kept(self, file: PublishedFile) -> OutputFile:
        """Return the record of a live file that the publication leaves as it is."""
        modified = min(file.modified.astimezone(UTC), self.now)
        fields = {field.name: getattr(file, field.name) for field in fields_of(PublishedFile)}
        return OutputFile(**{**fields, "modified": modified}, written=False)

    def has_current_rules(self, name: str) -> bool:
        """Return whether a live shard was written with the current section rules. A file without a record counts as
        written by the last publication."""
        files = [self.files[name]] if name in self.files else self.files.values()
        return all(file.rules == self.rules for file in files)
