"""One report: the check of its file, and the writing, once or as long as a run is open."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.config.paths import REPORT_INDEX, check_hosts_directory, check_writable, hosts_directory
from sitemap_crawler.exceptions import InventoryError, OptionError, OutputError
from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.inventory.store import was_killed
from sitemap_crawler.report.html.writer import write_reports
from sitemap_crawler.utils.runtime import echo
from sitemap_crawler.utils.shortage import advice_for

if TYPE_CHECKING:
    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.report.html.page import Page


class Target(NamedTuple):
    """An inventory and the file of its report."""

    inventory: StateLocation
    file: Path


def check_target(target: Target, *, force: bool) -> None:
    """Raise OptionError if the file cannot be written, or if it would be public."""
    check_writable("report", target.file)
    with open_inventory(target.inventory) as inventory:
        options = inventory.run.options
    published_in = options.get("output")
    if options.get("subdomains"):
        check_hosts_directory("report", target.file, output=Path(published_in) if published_in and not force else None)
    if force:
        return
    if published_in and Path(published_in).resolve() in target.file.resolve().parents:
        raise OptionError(
            f"the report {target.file} would lie in the directory of the sitemaps {published_in}, which is public, and "
            "it names what robots.txt hides: give another file, or --force"
        )


def write_report(target: Target, *, rows: int, watch: int | None = None, quiet: bool) -> Page:
    """Write the report; with `watch` again and again until no run is open, or its process was killed.

    Raises OutputError, InventoryError.
    """
    while True:
        try:
            page = _write(target, rows=rows, watch=watch)
        except InventoryError:
            # A crawl may have begun to write just now.
            if watch is None:
                raise
            time.sleep(watch)
            page = _write(target, rows=rows, watch=watch)
        if watch is None or not page.is_open:
            break
        if was_killed(target.inventory):
            # Browsers need not load the report again.
            page = _write(target, rows=rows, watch=None)
            if page.is_open:
                echo("the crawl was killed: run the same crawl command to continue, then watch again", err=True)
            break
        time.sleep(watch)
    if not quiet:
        echo(f"report: {target.file} ({page.summary})")
        if page.hosts:
            echo(f"index: {hosts_directory(target.file) / REPORT_INDEX} ({page.hosts:,} hosts)")
    return page


def _write(target: Target, *, rows: int, watch: int | None) -> Page:
    try:
        return write_reports(target.file, target.inventory, rows=rows, refresh_seconds=watch)
    except OSError as error:
        reason = error.strerror or error
        remedy = advice_for(error, otherwise="free disk space or give another file")
        raise OutputError(f"cannot write the report {target.file}: {reason}; {remedy}") from error
