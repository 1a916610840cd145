"""The report of a run as a person reads it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sitemap_crawler.policy.rules import Reason
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from sitemap_crawler.report.report import Report
    from sitemap_crawler.report.url_groups.groups import UrlGroup

SHAPES = 6
SHAPES_NOT_LISTED = 3
HOSTS = 50
WIDTH = 120


def print_summary(report: Report) -> None:
    """What was listed and what was not, the files, the time, and an example of each kind of warning."""
    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console = Console(highlight=False, soft_wrap=True, width=WIDTH)
    console.print(_numbers(report))
    for hint in report.hints:
        console.print(Text(f"Few pages were found: {hint}"))
    for line in _warnings(report):
        console.print(Text(line))


def _numbers(report: Report) -> Table:
    table = Table(title=Text(f"Sitemap of {report.start_url}"), title_justify="left", show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_row("listed", f"{report.listed:,}")
    if report.kept:
        table.add_row("    kept while their server fails", f"{report.kept:,}")
    _add_shapes(table, report.shapes.get(Reason.LISTED, []), limit=SHAPES)
    for reason, count in sorted(report.excluded.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(f"not listed: {reason}", f"{count:,}")
        _add_shapes(table, report.shapes.get(reason, []), limit=SHAPES_NOT_LISTED)
    changes = report.changes
    table.add_row("added, changed, removed", f"{changes.added:,}, {changes.changed:,}, {changes.removed:,}")
    for row in report.hosts[:HOSTS]:
        table.add_row(Text(f"{row['host']}: {row['outcome']}"), f"{row['listed']:,}")
    if len(report.hosts) > HOSTS:
        table.add_row("(other hosts)", f"{len(report.hosts) - HOSTS:,}")
    written = sum(file["written"] for file in report.files)
    table.add_row("files (written anew)", f"{len(report.files):,} ({written:,})")
    table.add_row("requests", f"{report.requests:,}")
    table.add_row("seconds", f"{(report.finished - report.started).total_seconds():,.1f}")
    return table


def _add_shapes(table: Table, shapes: list[UrlGroup], *, limit: int) -> None:
    """The groups of URLs, when there is more than one: what they all are is said already."""
    if len(shapes) > 1:
        for shape in shapes[:limit]:
            table.add_row(Text(f"    {printable(shape.pattern)}"), f"{shape.urls:,}")
        if others := sum(shape.urls for shape in shapes[limit:]):
            table.add_row("    (others)", f"{others:,}")


def _warnings(report: Report) -> list[str]:
    """One line for each kind of warning, in the report's order: the most useful first."""
    examples: dict[str, dict[str, str]] = {}
    for warning in report.warnings:
        examples.setdefault(warning["kind"], warning)
    lines = []
    for kind, example in examples.items():
        others = report.warning_counts[kind] - 1
        more = f" (and {others:,} more)" if others else ""
        lines.append(f"Warning, {kind}: {example['url']}: {example['message']}{more}")
    return lines
