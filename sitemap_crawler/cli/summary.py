"""The summary of a run: its report as tables and lines for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from sitemap_crawler.policy.reasons import Reason, ReasonGroup
from sitemap_crawler.policy.warning_kinds import KINDS, WarningKind
from sitemap_crawler.report.url_groups.groups import shorten
from sitemap_crawler.utils.runtime import console, plain
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from sitemap_crawler.report.report import Report
    from sitemap_crawler.report.url_groups.exclusion import UrlShape

MAX_GROUPS_LISTED = 6
"""Maximum number of URL groups shown for listed URLs."""
MAX_GROUPS_EXCLUDED = 3
"""Maximum number of URL groups shown for each reason of exclusion."""
INDENT = 4 * " "
"""Indentation of a part of the row above."""
MAX_HOSTS = 50
"""Maximum number of hosts shown."""
MAX_LIST_WARNINGS = 6
"""Maximum number of warnings about lists shown: each is of another fault. Of the other kinds one is an example."""
MAX_REFUSED_HOSTS = 3
"""Maximum number of hosts shown to which requests of scripts were refused, those with the most first."""
WIDTH = 120
"""Columns of the summary where standard output is no terminal."""
BORDERS = 7
"""Columns that the table needs next to its cells."""
MIN_CELL = 20
"""Minimum width of a group of URLs, even on a terminal that is narrower."""


def print_summary(report: Report) -> None:
    """Print the numbers, the notices, the hints, and the first warnings of each kind."""
    output = console(soft_wrap=True)
    if not output.is_terminal:
        output = console(soft_wrap=True, width=WIDTH)
    output.print(_numbers(report, width=output.width))
    for notice in report.notices:
        output.print(plain(notice))
    for hint in report.hints:
        output.print(plain(f"Few pages were found: {hint}"))
    for line in _warnings(report):
        output.print(plain(line))
    if report.submission is not None:
        output.print(plain(f"Search engines: {report.submission['message']}"))


def _numbers(report: Report, *, width: int) -> Table:
    changes = report.changes
    changed = f"{changes.added:,}, {changes.changed:,}, {changes.removed:,}"
    left = max(MIN_CELL, width - BORDERS - max(len(changed), len(f"{report.requests:,}"), len(f"{report.listed:,}")))
    table = Table(title=plain(f"Sitemap of {report.start_url}"), title_justify="left", show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_row("listed", f"{report.listed:,}")
    if report.kept:
        table.add_row("    kept while their server fails", f"{report.kept:,}")
    _add_groups(table, report.shapes.get(Reason.LISTED, []), limit=MAX_GROUPS_LISTED, width=left)
    _add_reasons(table, report, width=left)
    table.add_row("added, changed, removed", plain(changed))
    for row in report.hosts[:MAX_HOSTS]:
        table.add_row(plain(f"{row['host']}: {row['outcome']}"), f"{row['listed']:,}")
    if len(report.hosts) > MAX_HOSTS:
        table.add_row("(other hosts)", f"{len(report.hosts) - MAX_HOSTS:,}")
    written = sum(file["written"] for file in report.files)
    table.add_row("files (written anew)", f"{len(report.files):,} ({written:,})")
    table.add_row("requests", f"{report.requests:,}")
    if report.rendering is not None:
        _add_renderings(table, report.rendering)
    table.add_row("seconds", f"{report.seconds:,.1f}")
    if report.other_hosts:
        table.add_row("links to other hosts", f"{report.other_hosts:,}", style="dim")
    return table


def _add_renderings(table: Table, numbers: dict[str, Any]) -> None:
    """Add the pages that a browser rendered, those that gained nothing, and what was refused to their scripts."""
    table.add_row("rendered in a browser", f"{numbers['rendered']:,}")
    if numbers["rendered"]:
        table.add_row("    with links or content by scripts", f"{numbers['useful']:,}")
        table.add_row("    seconds of all renderings together", f"{numbers['seconds']:,.1f}")
    if numbers["failed"]:
        table.add_row("    failed: the page counts as the server sends it", f"{numbers['failed']:,}")
    if numbers["confirmed"]:
        table.add_row("renderings of earlier runs that stand", f"{numbers['confirmed']:,}")
    refused: dict[str, int] = numbers["refused"]
    if refused:
        table.add_row("requests of scripts refused", f"{sum(refused.values()):,}")
        for host, count in list(refused.items())[:MAX_REFUSED_HOSTS]:
            table.add_row(plain(f"{INDENT}{printable(host)}"), f"{count:,}")
        if others := sum(list(refused.values())[MAX_REFUSED_HOSTS:]):
            table.add_row(plain(f"{INDENT}(others)"), f"{others:,}")


def _add_reasons(table: Table, report: Report, *, width: int) -> None:
    """Add the reasons of URLs that are not listed, by group. What needs a person comes first."""
    counts = {reason: report.excluded[reason] for reason in Reason if reason in report.excluded}
    if Reason.OUT_OF_SCOPE in counts:
        counts[Reason.OUT_OF_SCOPE] -= report.other_hosts
    for group in ReasonGroup:
        of_group = [(reason, count) for reason, count in counts.items() if count and reason.traits.group is group]
        # The name of a group with a single reason stands before the reason.
        before = INDENT if len(of_group) > 1 else f"{_in_line(group.label)}: "
        if len(of_group) > 1:
            total = sum(count for _, count in of_group)
            table.add_row(plain(_in_line(group.label)), f"{total:,}")
        for reason, count in sorted(of_group, key=lambda item: -item[1]):
            table.add_row(plain(f"{before}{_in_line(reason.traits.title)} ({reason})"), f"{count:,}")
            if reason is not Reason.OUT_OF_SCOPE or not report.other_hosts:
                groups = report.shapes.get(reason, [])
                _add_groups(table, groups, limit=MAX_GROUPS_EXCLUDED, width=width, indent=2 * INDENT)


def _in_line(title: str) -> str:
    """Return a title as it is written within a line."""
    return title[0].lower() + title[1:]


def _add_groups(table: Table, shapes: list[UrlShape], *, limit: int, width: int, indent: str = INDENT) -> None:
    """Add a row for each group of URLs. A single group adds nothing: the row above has its number.

    Patterns that are longer than a cell of `width` columns are cut, and stay different.
    """
    if len(shapes) > 1:
        patterns = shorten([printable(shape.pattern) for shape in shapes[:limit]], width - len(indent))
        for shape, pattern in zip(shapes[:limit], patterns, strict=True):
            table.add_row(plain(f"{indent}{pattern}"), f"{shape.urls:,}")
        if others := sum(shape.urls for shape in shapes[limit:]):
            table.add_row(plain(f"{indent}(others)"), f"{others:,}")


def _warnings(report: Report) -> list[str]:
    """Return the first warnings of each kind as lines, in the order of the report: the most useful first."""
    by_kind: dict[str, list[dict[str, str]]] = {}
    for warning in report.warnings:
        by_kind.setdefault(warning["kind"], []).append(warning)
    lines = []
    for kind, found in by_kind.items():
        shown = found[: MAX_LIST_WARNINGS if kind == WarningKind.URL_LIST else 1]
        title = _in_line(KINDS[kind].traits.title)
        lines += [f"Warning, {title} ({kind}): {warning['url']}: {warning['message']}" for warning in shown]
        if others := report.warning_counts[kind] - len(shown):
            lines[-1] += f" (and {others:,} more warning{'' if others == 1 else 's'} of this kind)"
    return lines
