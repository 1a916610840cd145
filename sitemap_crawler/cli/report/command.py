"""The command `report`: the HTML report of an inventory, or of all sites of a directory of site files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sitemap_crawler.cli.common import STATE_HELP, flushed_output
from sitemap_crawler.exceptions import OptionError
from sitemap_crawler.utils.runtime import Phase, echo, set_garbage_collection

if TYPE_CHECKING:
    from sitemap_crawler.config.state_location import StateLocation

DEFAULT_FILE, DEFAULT_DIRECTORY = Path("sitemap-report.html"), Path("sitemap-reports")
STANDARD_OUTPUT = Path("-")
MIN_WATCH_SECONDS, MAX_WATCH_SECONDS = 1, 3600
MAX_ROWS = 100_000
"""Maximum number of rows of the table. The report has at most 2 MB anyway."""


@click.command()
@click.argument("start_url", required=False)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE|DIR",
    help="TOML site file whose inventory is meant; a directory of them: a report for each site, and an index.html",
)
@click.option(
    "--state",
    metavar="PATH|URL",
    help=STATE_HELP,
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE|DIR",
    help=f"file of the report, - for the standard output; of a directory of site files: the directory of the reports"
    f"  [default: {DEFAULT_FILE}, {DEFAULT_DIRECTORY}]",
)
@click.option(
    "--rows",
    type=click.IntRange(0, MAX_ROWS),
    metavar="N",
    default=10_000,
    show_default=True,
    help="at most N URLs in the table of all URLs",
)
@click.option(
    "--watch",
    type=click.IntRange(MIN_WATCH_SECONDS, MAX_WATCH_SECONDS),
    metavar="SECONDS",
    help="write the report again every SECONDS while a run is open; browsers load it again by themselves",
)
@click.option("--open", "opens", is_flag=True, help="open the report in a browser")
@click.option("--force", is_flag=True, help="write it even into the directory of the sitemaps, which is public")
@click.option("-q", "--quiet", is_flag=True, help="print errors only")
def report(
    start_url: str | None,
    config: Path | None,
    state: str | None,
    output: Path | None,
    *,
    rows: int,
    watch: int | None,
    opens: bool,
    force: bool,
    quiet: bool,
) -> int:
    """The HTML report of an inventory: what is listed and why, what is wrong, what changed, in one file."""
    # Each report leaves reference cycles: with many hosts, or while it watches, the memory would grow without end.
    set_garbage_collection(Phase.WORK)
    if config is not None and config.is_dir() and state is None and start_url is None:
        from sitemap_crawler.cli.report.sites import write_site_reports

        if output == STANDARD_OUTPUT or watch is not None:
            raise OptionError("--config DIR writes several files: give -o DIR, and no --watch")
        written = write_site_reports(config, output or DEFAULT_DIRECTORY, rows=rows, force=force, quiet=quiet)
    else:
        from sitemap_crawler.cli.report.single import Target, check_target, write_report
        from sitemap_crawler.inventory.location import find_inventory

        path = find_inventory(state=state, config=config, start_url=start_url, any_page=True)
        if output == STANDARD_OUTPUT:
            return _print(path, rows=rows)
        target = Target(path, output or DEFAULT_FILE)
        check_target(target, force=force)
        write_report(target, rows=rows, watch=watch, quiet=quiet)
        written = target.file
    if opens:
        click.launch(str(written.resolve()))
    return 0


def _print(path: StateLocation, *, rows: int) -> int:
    """Write the report to the standard output, as ASCII: its encoding may be any."""
    from sitemap_crawler.report.html.writer import make_page

    page = make_page(path, rows=rows, ascii_only=True)
    with flushed_output():
        echo(page.text)
    return 0
