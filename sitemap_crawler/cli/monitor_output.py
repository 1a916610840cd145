"""The report of `monitor` for people: a table of the sitemaps, and what is known of the pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.table import Table

from sitemap_crawler.utils.runtime import console, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.inventory.inspections import Coverage
    from sitemap_crawler.inventory.sitemap_answers import SitemapAnswer
    from sitemap_crawler.search_engines.monitor_report import MonitorReport, SitemapRow

MAX_CHILDREN = 20
"""Maximum number of sitemaps of an index that are shown: those with errors or warnings."""
MAX_CANONICALS = 5
"""Maximum number of pages with another canonical URL that are shown."""
PLAIN_WIDTH = 4_000
"""Columns where standard output is no terminal. No text is wrapped or cut there."""


def print_monitor_report(report: MonitorReport) -> None:
    """Print the table of the sitemaps, and lines on coverage and quota."""
    output = console()
    if not output.is_terminal:
        output = console(width=PLAIN_WIDTH)
    if report.sitemaps:
        table = _table(report, has_lines=output.is_terminal)
        output.print(table)
    else:
        output.print(plain("No answer is kept yet: run monitor without --offline."))
    for line in _lines(report):
        output.print(plain(line), soft_wrap=True)


def _table(report: MonitorReport, *, has_lines: bool) -> Table:
    table = Table() if has_lines else Table(box=None, pad_edge=False)
    for name in ("engine", "sitemap", "state", "last read", "pages", "errors", "warnings"):
        is_number = name in ("pages", "errors", "warnings")
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in report.sitemaps:
        _add_row(table, row.kept.service, row.kept.url, _state(row), row.kept.answer)
        flawed = [child for child in row.children if child.answer.errors or child.answer.warnings]
        for child in flawed[:MAX_CHILDREN]:
            _add_row(table, "", f"  {child.url}", "", child.answer)
        if len(flawed) > MAX_CHILDREN:
            table.add_row("", f"  and {len(flawed) - MAX_CHILDREN:,} more with errors or warnings")
    return table


def _add_row(table: Table, engine: str, url: str, state: str, answer: SitemapAnswer) -> None:
    read = _minute(answer.last_downloaded) if answer.last_downloaded else "-"
    pages, errors, warnings = map(_count, (answer.submitted, answer.errors, answer.warnings))
    table.add_row(plain(engine), plain(url), plain(state), plain(read), plain(pages), plain(errors), plain(warnings))


def _count(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def _state(row: SitemapRow) -> str:
    """Return how far the service is with what is published, in words."""
    answer = row.kept.answer
    if not answer.known:
        return "not submitted: run submit"
    if row.read_since_publication is None:
        return f"asked {_minute(row.kept.asked)}, before the publication"
    if row.pending_since is not None:
        return f"pending since {_minute(row.pending_since)}"
    return "has read what is published"


def _lines(report: MonitorReport) -> Iterator[str]:
    if report.coverage is not None:
        yield from _coverage_lines(report.coverage)
    if report.quota is not None and report.quota.used:
        quota = report.quota
        anew = f"counted anew from {_minute(quota.resets_at)} UTC on"
        yield f"Inspections today: {quota.used:,} of {quota.limit:,}; {anew}."


def _coverage_lines(found: Coverage) -> Iterator[str]:
    if found.oldest is None:
        yield f"Pages: 0 of {found.of:,} inspected; --inspect N asks Google about N of them."
        return
    oldest = datetime.fromtimestamp(found.oldest, UTC)
    yield f"Pages: {found.inspected:,} of {found.of:,} inspected, oldest {oldest:%Y-%m-%d}; {_indexed(found)}"
    for state, count in found.by_state.items():
        yield f"{count:>9,}  {state}"
    if found.canonicals_differing:
        count = found.canonicals_differing
        yield f"Google has chosen another canonical URL for {count:,} page{'' if count == 1 else 's'}:"
        for url, canonical in found.canonical_differs[:MAX_CANONICALS]:
            yield f"  {url} -> {canonical}"
        if count > MAX_CANONICALS:
            yield f"  and {count - MAX_CANONICALS:,} more (--json names them)"


def _indexed(found: Coverage) -> str:
    percent = found.indexed_percent
    words = f"{found.indexed:,} of these indexed"
    return f"{words}, too few inspected for a percentage." if percent is None else f"{words} ({percent:g} %)."


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"
