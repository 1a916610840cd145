"""The report of a run as a person reads it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from sitemap_crawler.report import Report

MAX_WARNINGS = 5
WIDTH = 120


def print_summary(report: Report) -> None:
    """What was listed and what was not, the files, the time, and the five most useful warnings."""
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
    for reason, count in sorted(report.excluded.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(f"not listed: {reason}", f"{count:,}")
    changes = report.changes
    table.add_row("added, changed, removed", f"{changes.added:,}, {changes.changed:,}, {changes.removed:,}")
    written = sum(file["written"] for file in report.files)
    table.add_row("files (written anew)", f"{len(report.files):,} ({written:,})")
    table.add_row("requests", f"{report.requests:,}")
    table.add_row("seconds", f"{(report.finished - report.started).total_seconds():,.1f}")
    return table


def _warnings(report: Report) -> list[str]:
    """One line for each kind of warning, the most frequent first."""
    kinds: dict[str, list[dict[str, str]]] = {}
    for warning in report.warnings:
        kinds.setdefault(warning["kind"], []).append(warning)
    ranked = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    lines = []
    for kind, found in ranked[:MAX_WARNINGS]:
        more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
        lines.append(f"Warning, {kind}: {found[0]['url']}: {found[0]['message']}{more}")
    return lines
