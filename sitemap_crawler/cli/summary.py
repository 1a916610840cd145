"""The summary of a run: its report as tables and lines for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.utils.runtime import console, plain
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from sitemap_crawler.report.report import Report
    from sitemap_crawler.report.url_groups.groups import UrlGroup

MAX_GROUPS_LISTED = 6
"""Maximum number of URL groups shown for listed URLs."""
MAX_GROUPS_EXCLUDED = 3
"""Maximum number of URL groups shown for each reason of exclusion."""
MAX_HOSTS = 50
"""Maximum number of hosts shown."""
WIDTH = 120
"""Columns of the summary where standard output is no terminal."""


def print_summary(report: Report) -> None:
    """Print the counts by decision, the files, the duration, the hints, and one example of each kind of warning."""
    output = console(soft_wrap=True)
    if not output.is_terminal:
        output = console(soft_wrap=True, width=WIDTH)
    output.print(_numbers(report))
    for hint in report.hints:
        output.print(plain(f"Few pages were found: {hint}"))
    for line in _warnings(report):
        output.print(plain(line))


def _numbers(report: Report) -> Table:
    table = Table(title=plain(f"Sitemap of {report.start_url}"), title_justify="left", show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_row("listed", f"{report.listed:,}")
    if report.kept:
        table.add_row("    kept while their server fails", f"{report.kept:,}")
    _add_groups(table, report.shapes.get(Reason.LISTED, []), limit=MAX_GROUPS_LISTED)
    for reason, count in sorted(report.excluded.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(plain(f"not listed: {reason}"), f"{count:,}")
        _add_groups(table, report.shapes.get(reason, []), limit=MAX_GROUPS_EXCLUDED)
    changes = report.changes
    table.add_row("added, changed, removed", f"{changes.added:,}, {changes.changed:,}, {changes.removed:,}")
    for row in report.hosts[:MAX_HOSTS]:
        table.add_row(plain(f"{row['host']}: {row['outcome']}"), f"{row['listed']:,}")
    if len(report.hosts) > MAX_HOSTS:
        table.add_row("(other hosts)", f"{len(report.hosts) - MAX_HOSTS:,}")
    written = sum(file["written"] for file in report.files)
    table.add_row("files (written anew)", f"{len(report.files):,} ({written:,})")
    table.add_row("requests", f"{report.requests:,}")
    table.add_row("seconds", f"{(report.finished - report.started).total_seconds():,.1f}")
    return table


def _add_groups(table: Table, shapes: list[UrlGroup], *, limit: int) -> None:
    """Add a row for each group of URLs. A single group adds nothing: the row above has its number."""
    if len(shapes) > 1:
        for shape in shapes[:limit]:
            table.add_row(plain(f"    {printable(shape.pattern)}"), f"{shape.urls:,}")
        if others := sum(shape.urls for shape in shapes[limit:]):
            table.add_row("    (others)", f"{others:,}")


def _warnings(report: Report) -> list[str]:
    """Return one line for each kind of warning, in the order of the report: the most useful first."""
    examples: dict[str, dict[str, str]] = {}
    for warning in report.warnings:
        examples.setdefault(warning["kind"], warning)
    lines = []
    for kind, example in examples.items():
        others = report.warning_counts[kind] - 1
        more = f" (and {others:,} more)" if others else ""
        lines.append(f"Warning, {kind}: {example['url']}: {example['message']}{more}")
    return lines
