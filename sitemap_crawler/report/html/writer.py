"""The way of a report from an inventory to its files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from sitemap_crawler.config.paths import REPORT_INDEX, hosts_directory
from sitemap_crawler.exceptions import SitemapCrawlerError
from sitemap_crawler.inventory.dialects import begin_snapshot
from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.report.html.facts import DEFAULT_ROWS, collect, run_results
from sitemap_crawler.report.html.host_reports import MARK, host_files, several_hosts
from sitemap_crawler.report.html.page import Page, page_of
from sitemap_crawler.report.html.render import OtherPage
from sitemap_crawler.report.html.site_index import MARK_OF_INDEX
from sitemap_crawler.report.report import Outcome
from sitemap_crawler.utils.directories import open_directory
from sitemap_crawler.utils.replace import Staging, is_private, replacing

if TYPE_CHECKING:
    from collections.abc import Container

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.report.html.host_reports import ReportFile
    from sitemap_crawler.report.report import Report
    from sitemap_crawler.utils.directories import Directory
    from sitemap_crawler.utils.replace import NewFile

_START_BYTES = 1_000
"""Bytes of a page in which its tag `generator` stands."""
_MARKS = tuple(f'<meta name="generator" content="{mark}">'.encode() for mark in (MARK, MARK_OF_INDEX))


def make_page(inventory_path: StateLocation, *, rows: int = DEFAULT_ROWS, ascii_only: bool = False) -> Page:
    """Return the HTML report of an inventory, that of all hosts of a domain. Raises InventoryError."""
    with open_inventory(inventory_path) as inventory:
        # One snapshot, so that all numbers agree while a crawl writes.
        begin_snapshot(inventory.connection)
        return page_of(collect(inventory, inventory_path, rows=rows), ascii_only=ascii_only)


def write_reports(
    path: Path,
    inventory_path: StateLocation,
    *,
    rows: int = DEFAULT_ROWS,
    report: Report | None = None,
    refresh_seconds: int | None = None,
    has_secrets: bool | None = None,
) -> Page:
    """Replace the file by the report of an inventory, and return the report. `report` is that of a run just ended.

    With several hosts, replace the directory next to the file by a report for each host and their index, too. Reports
    of hosts that were there before are removed. With `refresh_seconds` browsers load all pages again after that time,
    as long as the run is open.

    Only this user may read the files if that is so for the inventory. The rights of a server are not those of files:
    there `has_secrets` decides, and without it the files are private. Raises InventoryError, OSError.
    """
    private = is_private(inventory_path) if isinstance(inventory_path, Path) else has_secrets is None
    private = private or bool(has_secrets)
    with _HostsDirectory(hosts_directory(path), private=private) as directory:
        with open_inventory(inventory_path) as inventory:
            # One snapshot, so that all numbers of all pages agree while a crawl writes.
            begin_snapshot(inventory.connection)
            results = run_results(inventory, report)
            hosts = several_hosts(inventory, results)
            link = None
            if hosts is not None:
                href = f"./{quote(hosts_directory(path).name)}/{REPORT_INDEX}"
                link = OtherPage(href, f"reports of {len(hosts.reported):,} hosts")
            facts = collect(inventory, inventory_path, rows=rows, report=report)
            number = 0 if hosts is None else len(hosts.reported)
            page = page_of(facts, refresh_seconds=refresh_seconds, other_page=link, hosts=number)
            if hosts is not None:
                whole = f"../{quote(path.name)}"
                for file in host_files(
                    inventory, inventory_path, hosts, results, rows=rows, refresh_seconds=refresh_seconds, whole=whole
                ):
                    directory.add(file)
        # The inventory is checked when it is closed. Before that no file is replaced.
        with replacing(path, private=private) as written:
            written.write(page.data)
        directory.publish()
    return page


class _HostsDirectory:
    """Context manager of the new files in the directory of hosts, which becomes these files by `publish`."""

    def __init__(self, path: Path, *, private: bool) -> None:
        self._path = path
        self._private = private
        self._staging: Staging | None = None
        self._files: dict[str, NewFile] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._staging is not None:
            self._staging.__exit__(*_)

    def add(self, file: ReportFile) -> None:
        """Write a temporary file. The directory is created for the first one. Raises OSError."""
        if self._staging is None:
            self._staging = Staging(self._path).__enter__()
        new = self._files[file.name] = self._staging.create(file.name, private=self._private)
        new.write(file.data)
        new.close()
        new.sync()

    def publish(self) -> None:
        """Make the files live, the index last. Remove the reports of hosts, and the index, that are not among them."""
        if self._staging is not None:
            for file in self._files.values():
                self._staging.move(file)
            _remove_old(self._staging.directory, kept=self._files)
            self._staging.remove_leftovers(lambda name: name.endswith(".html"), self._files)
            self._staging.directory.sync()
            return
        with suppress(FileNotFoundError, NotADirectoryError), open_directory(self._path) as directory:
            _remove_old(directory, kept=())


def _remove_old(directory: Directory, *, kept: Container[str]) -> None:
    """Remove the files of this program that are not kept."""
    for name in directory.names():
        if name.endswith(".html") and name not in kept and _is_own(directory, name):
            directory.remove(name)


def _is_own(directory: Directory, name: str) -> bool:
    try:
        with directory.open_file(name) as file:
            start = file.read(_START_BYTES)
    except OSError:
        return False
    return any(mark in start for mark in _MARKS)


def deliver(report: Report, options: Options, inventory: StateLocation) -> None:
    """Write the HTML report of a run to the path of --html-report, if any. A failure becomes the outcome of the run."""
    path = options.html_report
    if path is None or not report.run:
        return
    try:
        write_reports(path, inventory, report=report, has_secrets=options.has_secrets)
    except (OSError, SitemapCrawlerError) as error:
        report.outcome = Outcome.FAILED
        reason = getattr(error, "strerror", None) or error
        report.message += f"; but cannot write the HTML report {path}: {reason}"


def deliver_unstarted(report: Report, options: Options, inventory: StateLocation) -> None:
    """Say in the HTML report of the runs before that a crawl could not begin.

    Without an inventory that can be read there is none to write, and the message names an old file that stays.
    """
    path = options.html_report
    if path is None:
        return
    try:
        write_reports(path, inventory, report=report, has_secrets=options.has_secrets)
    except (OSError, SitemapCrawlerError):
        if path.exists():
            report.message += f"; the HTML report {path} is that of an earlier run"
