"""The commands that show past runs: runs and diff. Heavy modules are imported only when a command runs."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from sitemap_crawler.cli.common import flushed_output, inventory_options
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection

    from sitemap_crawler.inventory.history import Difference, Differences, PastRun

UNFINISHED = "unfinished"
"""Outcome of a run that is in progress or was interrupted. The inventory does not tell the two apart."""
MAX_DIGITS = 18
"""Maximum number of digits of a run's number, which fits the 64 bits of the database."""
_LIKE_A_URL = re.compile(r"[./:]|^localhost$")
"""Characters that tell a host or URL from the number of a run and from a word."""
NUMERIC = frozenset({"run", "seconds", "added", "changed", "removed"})
"""Columns of the table that are right-aligned."""


@click.command()
@click.argument("start_url", required=False)
@inventory_options
@click.option("--json", "as_json", is_flag=True, help="print the runs as JSON")
def runs(start_url: str | None, state: str | None, config: Path | None, *, as_json: bool) -> int:
    """Past runs, the newest first: how each ended, and how many pages it added, changed and removed."""
    from sitemap_crawler.inventory.history import past_runs

    with _history(state, config, start_url) as connection:
        rows = [_run_row(run) for run in past_runs(connection)]
    with flushed_output():
        if as_json:
            sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        else:
            sys.stdout.writelines(f"{line}\n" for line in _table(rows))
    return 0


@click.command()
@click.argument("which", nargs=-1, metavar="[START_URL] [RUN [RUN]]")
@inventory_options
@click.option("--json", "as_json", is_flag=True, help="print the differences as JSON")
def diff(which: tuple[str, ...], state: str | None, config: Path | None, *, as_json: bool) -> int:
    """What was added to, changed in and removed from the sitemap: by the last publication, by one run, or from the end
    of one run to the end of another."""
    from sitemap_crawler.inventory.history import find_differences

    start_url, numbers = _parse_arguments(which)
    with _history(state, config, start_url) as connection:
        differences = find_differences(connection, *numbers)
        with flushed_output():
            if as_json:
                sys.stdout.writelines(_json_parts(differences))
            else:
                sys.stdout.writelines(f"{line}\n" for line in _lines(differences))
    return 0


@contextmanager
def _history(state: str | None, config: Path | None, start_url: str | None) -> Iterator[Connection]:
    from sitemap_crawler.inventory.location import find_inventory
    from sitemap_crawler.inventory.lookup import open_inventory

    path = find_inventory(state=state, config=config, start_url=start_url, any_page=True)
    with open_inventory(path) as inventory:
        yield inventory.connection


def _parse_arguments(which: tuple[str, ...]) -> tuple[str | None, list[int]]:
    """Return the start URL and the run numbers in the arguments of diff. Raises click.UsageError."""
    numbers = [int(word) for word in which if _is_number(word)]
    others = [word for word in which if not _is_number(word)]
    if len(numbers) > 2 or len(others) > 1:
        raise click.UsageError("give at most one start URL and two runs", click.get_current_context())
    for word in others:
        if not _LIKE_A_URL.search(word):
            message = f"{word!r} is neither a start URL nor the number of a run: `runs` shows the numbers"
            raise click.UsageError(message, click.get_current_context())
    return (others[0] if others else None), numbers


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) <= MAX_DIGITS


def _run_row(run: PastRun) -> dict[str, Any]:
    changes = run.changes
    return {
        "run": run.id,
        "started": _time(run.started),
        "finished": None if run.finished is None else _time(run.finished),
        "outcome": run.outcome or UNFINISHED,
        "ended_by": run.ended_by,
        "seconds": run.seconds,
        "added": changes and changes.added,
        "changed": changes and changes.changed,
        "removed": changes and changes.removed,
        "sitemap_url": run.sitemap_url,
    }


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    shown = [{name: "-" if value is None else printable(str(value)) for name, value in row.items()} for row in rows]
    header = {name: name.replace("_", " ") for name in shown[0]}
    widths = {name: max(len(row[name]) for row in (header, *shown)) for name in header}
    for row in (header, *shown):
        cells = (f"{text:{'>' if name in NUMERIC else '<'}{widths[name]}}" for name, text in row.items())
        yield "  ".join(cells).rstrip()


def _lines(differences: Differences) -> Iterator[str]:
    from sitemap_crawler.inventory.publications import Change

    for difference in differences.of_kinds(*Change):
        yield f"{difference.kind} {printable(difference.url)}{_dates(difference)}"
    counts = differences.counts()
    runs_compared = f"before run {differences.end}"
    if differences.start == differences.end and any(counts):
        # A later publication of the same run, by `update` or `write`.
        runs_compared = f"after the end of run {differences.end}"
    elif differences.start is not None:
        runs_compared = f"from run {differences.start} to run {differences.end}"
    yield f"{counts.added:,} added, {counts.changed:,} changed, {counts.removed:,} removed, {runs_compared}"


def _dates(difference: Difference) -> str:
    from sitemap_crawler.report.report import w3c_moment

    before, after = w3c_moment(difference.before) or "-", w3c_moment(difference.after) or "-"
    return {"added": f" {after}", "changed": f" {before} -> {after}"}.get(difference.kind, "")


def _json_parts(differences: Differences) -> Iterator[str]:
    """Yield one JSON object in pieces, one line for each URL: there may be a million."""
    from sitemap_crawler.inventory.publications import Change
    from sitemap_crawler.report.report import change_row

    yield f'{{"from": {json.dumps(differences.start)}, "to": {differences.end}'
    for kind in Change:
        yield f', "{kind}": ['
        separator = "\n"
        for difference in differences.of_kinds(kind):
            yield separator + json.dumps(
                change_row(difference.kind, difference.url, difference.before, difference.after)
            )
            separator = ",\n"
        yield "]"
    yield "}\n"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
