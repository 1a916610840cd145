"""One validation: its temporary files, the checked files, the findings that need all of them, and the report."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sitemap_crawler.utils.addresses import is_local
from sitemap_crawler.validation.finding_log import FindingLog
from sitemap_crawler.validation.findings import Collector, FileReport, Kind, Site, ValidationReport, issue
from sitemap_crawler.validation.listing import ListedUrl, listings, media_of
from sitemap_crawler.validation.parallel import check_files
from sitemap_crawler.validation.reading.spool import Spool
from sitemap_crawler.validation.recommendations import recommendations
from sitemap_crawler.validation.sets import (
    CheckedFile,
    find_duplicates,
    find_one_sided_alternates,
    index_date_issue,
)
from sitemap_crawler.validation.statistics import Dated, Statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from sitemap_crawler.validation.listing import Listing
    from sitemap_crawler.validation.results import Child, FileResult, FileTask


@dataclass(frozen=True, slots=True)
class Outcome:
    """Properties of a checked file on which further checks depend."""

    kind: Kind
    children: tuple[Child, ...] = ()
    newest: Dated | None = None


class Validation:
    """State of a validation, and the temporary files that it needs."""

    def __init__(self, targets: Sequence[str], *, logs_all: bool = False) -> None:
        """With `logs_all`, `log` has all findings."""
        self._targets = tuple(targets)
        self.now = datetime.now(UTC)
        self.collector = Collector()
        self.directory = ""
        """Directory of the local files, if they are named without it."""
        self.sites: list[Site] = []
        self.statistics: dict[str, Any] = {}
        self._numbers = Statistics()
        self.spool = Spool()
        self._stack = ExitStack()
        self._reports: list[FileReport] = []
        self._files: list[CheckedFile] = []
        self._local_origins: dict[str, str] = {}
        """Origin of the URLs of each file that was not downloaded, by the name of the file."""
        self._logs_all = logs_all
        self.log: FindingLog | None = None

    def __enter__(self) -> Validation:
        self._stack.enter_context(self.spool)
        self._keys, self._pairs = self.spool.numbers(), self.spool.numbers()
        if self._logs_all:
            self.log = FindingLog(self.spool.new_path())
            self._stack.callback(self.log.close)
            self.collector.sink = self.log.add
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def check(self, tasks: Sequence[FileTask]) -> list[Outcome]:
        """Check files and add their findings."""
        outcomes = []
        if self.log is not None:
            tasks = [task._replace(log=self.spool.new_path()) for task in tasks]
        for result in check_files(tasks):
            self.collector.merge(result.findings)
            self._take_log(result)
            self._numbers.add(result.statistics)
            self._reports.append(result.report())
            self._files.append(CheckedFile(result.task, result.kind, result.group, len(self._files)))
            if "://" not in result.task.name:
                self._local_origins[result.task.name] = result.origin
            self._keys.append(result.keys)
            self._pairs.append(result.pairs)
            outcomes.append(Outcome(result.kind, tuple(result.children), result.statistics.newest))
        return outcomes

    def _take_log(self, result: FileResult) -> None:
        """Add the findings of a file to the log, if there is one."""
        log, path = self.log, result.task.log
        if log is None or path is None:
            return
        if path.exists():
            log.take(path)
        else:
            # The process that was to write it has died.
            for finding in result.findings.findings:
                log.add(finding)

    def check_child(self, index: str, child: Child, outcome: Outcome, *, is_same: bool) -> None:
        """Compare an entry of an index with the file that it lists. With `is_same` that is the index itself."""
        if is_same:
            self.collector.add(index, issue("index-names-itself", "the index lists itself", child.line), child.loc)
        elif outcome.kind == "sitemapindex":
            self.collector.add(
                index, issue("nested-index", "the listed file is an index itself", child.line), child.loc
            )
        elif problem := index_date_issue(child, outcome.newest):
            self.collector.add(index, problem, child.loc)

    def compare(self) -> None:
        """Add the findings that need all files, and the statistics."""
        numbers = self._numbers
        numbers.duplicate_urls += find_duplicates(self._files, self._keys, self.collector)
        find_one_sided_alternates(self._files, self._keys, self._pairs, self.collector)
        self.statistics |= numbers.to_json()

    def judge_hosts(self) -> None:
        """Add a finding for each local file whose URLs lie on a host that search engines cannot reach.

        Whoever downloads sitemaps or requests their URLs means that host.
        """
        for name, origin in self._local_origins.items():
            if origin and is_local(urlsplit(origin).hostname or ""):
                message = f"its URLs are on {origin}, which no search engine can reach"
                self.collector.add(name, issue("loc-local", message))

    def report(self) -> ValidationReport:
        """Return the report of all that was found so far."""
        collector, found = self.collector, self.collector.result()
        return ValidationReport(
            self._targets,
            tuple(self._reports),
            found,
            collector.counts.copy(),
            dict(self.statistics),
            recommendations(collector.counts, collector.urls, found),
            self.directory,
            tuple(self.sites),
        )

    def listed_urls(self) -> Iterator[ListedUrl]:
        """Yield the URLs that all files list, in their order. Each call reads the files again."""
        for file, listing in self._listings():
            if listing.loc:
                yield ListedUrl(file.task.name, listing.line, listing.loc, listing.lastmod)

    def media_urls(self) -> Iterator[ListedUrl]:
        """Yield the files of the images and videos that all files list."""
        for file, listing in self._listings():
            for line, url in media_of(listing):
                yield ListedUrl(file.task.name, line, url, None)

    def _listings(self) -> Iterator[tuple[CheckedFile, Listing]]:
        for file in self._files:
            if file.kind != "sitemapindex":
                for listing in listings(file.task.path, file.kind):
                    yield file, listing
