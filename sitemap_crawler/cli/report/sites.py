"""The reports of all sites of a directory of site files, and the page that leads to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.cli.report.single import Target, check_target, write_report
from sitemap_crawler.cli.sites.plan import names_of
from sitemap_crawler.config.paths import REPORT_INDEX
from sitemap_crawler.config.sources import find_site_files
from sitemap_crawler.exceptions import OptionError, OutputError, SitemapCrawlerError
from sitemap_crawler.inventory.location import find_inventory
from sitemap_crawler.report.html.site_index import SiteLine, render_index
from sitemap_crawler.utils.replace import real_path, replacing
from sitemap_crawler.utils.runtime import echo

if TYPE_CHECKING:
    from pathlib import Path


def write_site_reports(config: Path, directory: Path, *, rows: int, force: bool, quiet: bool) -> Path:
    """Write a report for each site file and the index of them into a directory. Return the path of the index.

    A site without a usable inventory gets a line that says so. Raises OptionError, OutputError.
    """
    files = find_site_files([config])
    try:
        index = real_path(directory / REPORT_INDEX, create=True)
    except OSError as error:
        raise OptionError(
            f"cannot create the directory {directory}: {error.strerror or error}; give another one"
        ) from error
    lines: list[SiteLine] = []
    for file, name in names_of(files).items():
        report_name = f"{name.replace('/', '-').lstrip('-.')}.html"
        if report_name == REPORT_INDEX:
            report_name = f"site-{REPORT_INDEX}"
        try:
            target = Target(find_inventory(state=None, config=file, start_url=None), directory / report_name)
            check_target(target, force=force)
            page = write_report(target, rows=rows, quiet=quiet)
        except OutputError:
            raise
        except SitemapCrawlerError as error:
            lines.append(SiteLine(name, None, None, str(error)))
        else:
            lines.append(SiteLine(name, report_name, page.overview, ""))
    try:
        with replacing(index) as written:
            written.write(render_index(lines).encode("utf-8", "backslashreplace"))
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"cannot write {index}: {reason}; free disk space or give another directory") from error
    if not quiet:
        echo(f"index: {index} ({len(lines):,} sites)")
    return index
