"""Output of a crawl of several sites: progress while it runs, and table, report and message at the end."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from sitemap_crawler.cli.common import PROGRAM
from sitemap_crawler.cli.sites.plan import combined_message, combined_report, worst
from sitemap_crawler.exceptions import FAILED
from sitemap_crawler.utils.files import write_json
from sitemap_crawler.utils.runtime import console, echo, plain
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rich.live import Live

    from sitemap_crawler.cli.sites.plan import SitePlan, SiteResult

WIDE = 200
"""Columns of the table where standard output is no terminal, so that long names fit."""


class ProgressOutput:
    """Printer of log lines, failures and, unless quiet, other outcomes. A terminal also gets a live progress line."""

    def __init__(self, total: int, *, quiet: bool, live: bool) -> None:
        self._total = total
        self._quiet = quiet
        self._running: list[str] = []
        self._done = 0
        self._live: Live | None = None
        if live:
            from rich.live import Live

            self._live = Live(console=console(stderr=True), auto_refresh=False, transient=True)

    def __enter__(self) -> None:
        if self._live is not None:
            self._live.start()

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def log(self, plan: SitePlan, line: str) -> None:
        self._print(f"{printable(plan.name)}: {line}")

    def started(self, plan: SitePlan) -> None:
        self._running.append(plan.name)
        self._refresh()

    def finished(self, result: SiteResult) -> None:
        if result.plan.name in self._running:
            self._running.remove(result.plan.name)
        self._done += 1
        if result.exit_code:
            self._print(f"{PROGRAM}: {printable(str(result.plan.config))}: {result.message}")
        elif not self._quiet:
            self._print(f"{printable(result.plan.name)}: {result.message}")
        self._refresh()

    def _print(self, line: str) -> None:
        # The reader of the output may be gone. The crawls continue.
        with suppress(OSError):
            if self._live is not None:
                self._live.console.print(plain(line), soft_wrap=True)
            else:
                echo(line, err=True)

    def _refresh(self) -> None:
        if self._live is not None:
            names = ", ".join(printable(name) for name in self._running)
            self._live.update(plain(f"{self._done:,} of {self._total:,} sites done; {names}"), refresh=True)


def print_outcome(results: Sequence[SiteResult], report: Path | None, *, quiet: bool, as_json: bool) -> int:
    """Write the report of all sites, print table or JSON, and return the exit code of the command."""
    code = worst(result.exit_code for result in results)
    whole = combined_report(results)
    if report is not None:
        try:
            private = any(result.plan.options is not None and result.plan.options.has_secrets for result in results)
            write_json(report, whole, private=private)
        except OSError as error:
            echo(f"{PROGRAM}: cannot write the report {report}: {error.strerror or error}", err=True)
            code = FAILED
    with suppress(OSError, SystemExit):
        if as_json:
            echo(json.dumps(whole, indent=2))
        elif not quiet:
            _print_table(results)
            echo(combined_message(results))
    return code


def _print_table(results: Iterable[SiteResult]) -> None:
    from rich.box import HEAVY_HEAD
    from rich.table import Table

    terminal = sys.stdout.isatty()
    table = Table(box=HEAVY_HEAD if terminal else None)
    table.add_column("site", no_wrap=not terminal)
    table.add_column("outcome", no_wrap=True)
    for name in ("listed", "added", "changed", "removed", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in results:
        table.add_row(
            plain(printable(result.plan.name)), plain(result.outcome), *_numbers(result), f"{result.seconds:,.1f}"
        )
    output = console(soft_wrap=True) if terminal else console(width=WIDE)
    output.print(table)


def _numbers(result: SiteResult) -> list[str]:
    if result.report is None:
        return ["-"] * 4
    changes = result.report["changes"]
    return [f"{result.report['listed']:,}", *(f"{changes[kind]:,}" for kind in ("added", "changed", "removed"))]
