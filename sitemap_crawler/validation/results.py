"""The check of one file as values: the file, its name and place, and the result."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.findings import Collector, FileReport, Kind
from sitemap_crawler.validation.statistics import Statistics

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from sitemap_crawler.validation.values import Place, Url

MAX_ITEMS = 4 * protocol.MAX_ENTRIES
"""Maximum number of entries or lines that are read of one file."""


class FileTask(NamedTuple):
    """A file that has to be checked."""

    path: Path
    name: str
    """Name in the report: that of the file, or its URL."""
    group: str
    """Name of a set of files in which a URL must be unique."""
    now: datetime
    place: Place | None = None
    """Location of the file on the web, if it is known."""
    is_decoded: bool = False
    """Whether a server has sent the file with a content encoding that was removed."""
    log: Path | None = None
    """New file for all findings."""


class Child(NamedTuple):
    """A sitemap that an index lists."""

    url: Url
    loc: str
    line: int
    lastmod: str


@dataclass(slots=True)
class FileResult:
    """Result of the check of one file. It is sent from one process to another."""

    task: FileTask
    kind: Kind = "unknown"
    entries: int = 0
    """Number of entries; for an index, the number of sitemaps."""
    bytes: int = 0
    findings: Collector = field(default_factory=Collector)
    children: list[Child] = field(default_factory=list)
    statistics: Statistics = field(default_factory=Statistics)
    origin: str = ""
    """Origin of the URLs of the file, by which each of them is judged; "" without a URL."""
    group: str = ""
    """Group of the task and content of the file. One page may be in the files of several groups: XML, text, news
    sitemap, image sitemap and video sitemap. Each feed is a group of its own."""
    keys: array[int] = field(default_factory=lambda: array("q"))
    """Hash of the key of each listed URL: see `keys`."""
    pairs: array[int] = field(default_factory=lambda: array("q"))
    """Three hashes for each alternate: of page and target, of target and page, and of the target's key."""

    def report(self) -> FileReport:
        return FileReport(self.task.name, self.kind, self.entries, self.bytes)
