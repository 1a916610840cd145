"""Measures everything and prints one table: `python benchmarks/run.py`. benchmarks/README.md describes them."""

from __future__ import annotations

import argparse
import platform
import shlex
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import html_report
import latency
import memory
import postgresql
import processes
import recrawl
import rendering
import soak
import startup
import throughput
import update
import validation
import writer
from crawlers import CRAWLERS, versions
from machine import HERE, RunError, describe_machine, print_progress
from plan import SMOKE, Plan
from rendering_rivals import PLAYWRIGHT
from serving import server_name
from sites import GENERATED, PACKAGED, SMALL_PAGES, installed_sites
from table import Row, markdown, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GROUPS: dict[str, Callable[[Plan], Iterator[Row]]] = {
    "throughput": throughput.measure,
    "latency": latency.measure,
    "memory": memory.measure,
    "recrawl": recrawl.measure,
    "rendering": rendering.measure,
    "writer": writer.measure,
    "update": update.measure,
    "validation": validation.measure,
    "report": html_report.measure,
    "postgresql": postgresql.measure,
    "processes": processes.measure,
    "startup": startup.measure,
    "soak": soak.measure,
}
ONLY_IF_ASKED = ("soak",)
"""Parts that take long, and do not belong to the table in the page."""
DOCUMENT = HERE.parent / "docs" / "development" / "benchmarks.md"
BEGIN, END = "<!-- the last run -->\n", "<!-- end of the last run -->\n"


def main() -> None:
    options = parse_arguments()
    plan = plan_of(options)
    rows = list(measured_rows(options.only or [name for name in GROUPS if name not in ONLY_IF_ASKED], plan))
    if not rows:
        raise SystemExit("nothing could be measured")
    remarks = [
        f"{datetime.now(UTC):%Y-%m-%d}, {describe_machine()}",
        ", ".join([f"Python {platform.python_version()}", server_name(), *versions()]),
    ]
    section = "\n".join([*(f"{line}  " for line in remarks), f"`{command_line()}`", "", markdown(rows), ""])
    if options.quick:
        section = f"**A smoke run: these figures show the form only and will be replaced.**\n\n{section}"
    if options.write:
        replace_section(DOCUMENT, section)
    print(section if options.markdown else "\n".join([*remarks, "", text(rows)]))


def measured_rows(groups: list[str], plan: Plan) -> Iterator[Row]:
    for group in groups:
        print_progress(f"== {group}")
        try:
            yield from GROUPS[group](plan)
        except RunError as error:
            print_progress(f"{group} failed: {error}")


def command_line() -> str:
    given = [argument for argument in sys.argv[1:] if argument not in ("--write", "--markdown")]
    return shlex.join(["python", "benchmarks/run.py", *given])


def replace_section(document: Path, section: str) -> None:
    """Replace the text between the two markers of the document."""
    before, begin, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{document} lacks {BEGIN.strip()} or {END.strip()}: restore both lines")
    document.write_text(f"{before}{BEGIN}\n{section}\n{END}{after}", encoding="utf-8")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--only", action="append", choices=GROUPS, help="measure this part alone (repeatable)")
    parser.add_argument("--quick", action="store_true", help="smoke run of one or two minutes")
    parser.add_argument("--markdown", action="store_true", help="print the table as --write stores it")
    parser.add_argument("--write", action="store_true", help="replace the table in docs/development/benchmarks.md")
    parser.add_argument("--runs", type=int, help="number of runs of each crawler, interleaved (default: 3)")
    parser.add_argument("--limit", type=float, help="seconds after which a crawler is stopped (default: 900)")
    names = "|".join((SMALL_PAGES, *PACKAGED, GENERATED))
    parser.add_argument("--site", action="append", help=f"{names} or a directory (repeatable; default: all installed)")
    crawlers = [*CRAWLERS, PLAYWRIGHT]
    parser.add_argument("--crawler", action="append", choices=crawlers, help="(repeatable; default: all installed)")
    sizes = "number of pages for memory and soak (repeatable; default: 10000 and 100000, soak: 1000000)"
    parser.add_argument("--pages", type=int, action="append", help=sizes)
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write replaces the whole table: remove --only")
    return options


def plan_of(options: argparse.Namespace) -> Plan:
    chosen: dict[str, Any] = dict(SMOKE) if options.quick else {}
    sites = options.site or installed_sites()
    chosen["sites"] = tuple(sites[:1] if options.quick else sites)
    if options.runs:
        chosen["runs"] = options.runs
    if options.limit:
        chosen["limit_seconds"] = options.limit
    if options.crawler:
        chosen["crawlers"] = frozenset(options.crawler)
    if options.pages:
        chosen["memory_pages"] = chosen["soak_pages"] = tuple(options.pages)
    return Plan(**chosen)


if __name__ == "__main__":
    main()
