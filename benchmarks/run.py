"""Measures everything and prints one table: `python benchmarks/run.py`. benchmarks/README.md says what, and how."""

from __future__ import annotations

import argparse
import platform
import shlex
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import latency
import memory
import recrawl
import startup
import throughput
import writer
from crawlers import CRAWLERS, versions
from machine import HERE, RunFailedError, describe_machine, tell
from plan import SMOKE, Plan
from serving import server_name
from sites import GENERATED, PACKAGED, installed_sites
from table import Row, markdown, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GROUPS: dict[str, Callable[[Plan], Iterator[Row]]] = {
    "throughput": throughput.measure,
    "latency": latency.measure,
    "memory": memory.measure,
    "recrawl": recrawl.measure,
    "writer": writer.measure,
    "startup": startup.measure,
}
DOCUMENT = HERE.parent / "docs" / "development" / "benchmarks.md"
BEGIN, END = "<!-- the last run -->\n", "<!-- end of the last run -->\n"


def main() -> None:
    options = parse_arguments()
    plan = plan_of(options)
    rows = list(measured_rows(options.only or list(GROUPS), plan))
    if not rows:
        raise SystemExit("nothing could be measured")
    remarks = [
        f"{datetime.now(UTC):%Y-%m-%d}, {describe_machine()}",
        ", ".join([f"Python {platform.python_version()}", server_name(), *versions()]),
    ]
    section = "\n".join([*(f"{line}  " for line in remarks), f"`{command_line()}`", "", markdown(rows), ""])
    if options.quick:
        section = f"**A smoke run: these figures show the form, and will be replaced.**\n\n{section}"
    if options.write:
        replace_section(DOCUMENT, section)
    print(section if options.markdown else "\n".join([*remarks, "", text(rows)]))


def measured_rows(groups: list[str], plan: Plan) -> Iterator[Row]:
    for group in groups:
        tell(f"== {group}")
        try:
            yield from GROUPS[group](plan)
        except RunFailedError as error:
            tell(f"{group} failed: {error}")


def command_line() -> str:
    given = [argument for argument in sys.argv[1:] if argument not in ("--write", "--markdown")]
    return shlex.join(["python", "benchmarks/run.py", *given])


def replace_section(document: Path, section: str) -> None:
    """Put `section` between the two markers."""
    before, begin, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{document} lacks {BEGIN.strip()} or {END.strip()}: put both back")
    document.write_text(f"{before}{BEGIN}\n{section}\n{END}{after}", encoding="utf-8")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--only", action="append", choices=GROUPS, help="this part alone (repeatable)")
    parser.add_argument("--quick", action="store_true", help="a smoke run of a minute or two")
    parser.add_argument("--markdown", action="store_true", help="print what --write writes")
    parser.add_argument("--write", action="store_true", help="replace the last run in docs/development/benchmarks.md")
    parser.add_argument("--runs", type=int, help="of each crawler, interleaved (default: 3)")
    parser.add_argument("--limit", type=float, help="seconds after which a crawler is stopped (default: 900)")
    names = "|".join((*PACKAGED, GENERATED))
    parser.add_argument("--site", action="append", help=f"{names} or a directory (repeatable; default: all installed)")
    parser.add_argument("--crawler", action="append", choices=CRAWLERS, help="(repeatable; default: all installed)")
    parser.add_argument("--pages", type=int, action="append", help="a size for memory (default: 10000 and 100000)")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write replaces the whole table: leave --only out")
    return options


def plan_of(options: argparse.Namespace) -> Plan:
    chosen: dict[str, Any] = dict(SMOKE) if options.quick else {}
    sites = options.site or installed_sites()
    chosen["sites"] = tuple(sites[:1] if options.quick else sites)
    if options.runs:
        chosen["runs"] = options.runs
    if options.limit:
        chosen["limit"] = options.limit
    if options.crawler:
        chosen["crawlers"] = frozenset(options.crawler)
    if options.pages:
        chosen["memory_pages"] = tuple(options.pages)
    return Plan(**chosen)


if __name__ == "__main__":
    main()
