"""The inventory in PostgreSQL compared with SQLite: time of a crawl and of its end, bytes of a URL."""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from machine import HERE, RunError, median_ratio, print_progress, run_process
from private_server import private_server, server_programs
from serving import serving
from sites import document_tree
from table import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plan import Plan
    from private_server import PrivateServer

PROGRAM = [sys.executable, "-m", "sitemap_crawler"]
SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"


@dataclass(frozen=True, slots=True)
class Spent:
    """The time and the memory of a command."""

    seconds: float
    """Elapsed time."""
    client: float
    """Processor time of the command."""
    server: float
    """Processor time of the server meanwhile."""
    memory: str


def measure(plan: Plan) -> Iterator[Row]:
    programs = server_programs()
    if programs is None:
        raise RunError("PostgreSQL (initdb, pg_ctl) is not installed")
    for site in plan.sites[:1]:
        with private_server(programs) as server, tempfile.TemporaryDirectory() as temporary:
            yield from _crawls(server, Path(temporary), site, plan)
    for pages in plan.stored_pages:
        with private_server(programs) as server, tempfile.TemporaryDirectory() as temporary:
            yield from _ends(server, Path(temporary), pages)


def _crawls(server: PrivateServer, directory: Path, site: str, plan: Plan) -> Iterator[Row]:
    cases = ("first crawl", "second crawl")
    spent: dict[tuple[str, str], list[Spent]] = {(case, name): [] for case in cases for name in (SQLITE, POSTGRESQL)}
    with document_tree(site, pages=plan.site_pages) as tree, serving(tree.root) as served:
        print_progress(tree.title)
        for turn in range(plan.runs):
            places = {SQLITE: str(directory / f"{turn}.sqlite"), POSTGRESQL: server.state(f"turn_{turn}")}
            # Each goes first in turn, as the second one finds the pages in the cache.
            for name in sorted(places, reverse=bool(turn % 2)):
                for case in cases:
                    output = str(directory / f"{name}-{turn}")
                    command = ["crawl", served.url, "--state", places[name], "-o", output, "-q"]
                    spent[case, name].append(_spend(server, directory, *command))
            _same_files(directory, turn)
    for case in cases:
        yield from _compared(f"{case} of {tree.title}", spent[case, SQLITE], spent[case, POSTGRESQL])


def _ends(server: PrivateServer, directory: Path, pages: int) -> Iterator[Row]:
    """Insert pages without a crawl, then decide and write."""
    states = {SQLITE: str(directory / "state.sqlite"), POSTGRESQL: server.state("made")}
    written = {}
    for name, state in states.items():
        made = [sys.executable, str(HERE / "made_inventory.py"), state, str(pages), "1"]
        run_process(made, directory)
        output = str(directory / f"{name}-0")
        written[name] = _spend(server, directory, "write", "--state", state, "-o", output, "-q")
    _same_files(directory, 0)
    subject = f"write of {pages:,} URLs that were never decided"
    yield from _compared(subject, [written[SQLITE]], [written[POSTGRESQL]])
    sizes = {
        SQLITE: sum(file.stat().st_size for file in directory.glob("state.sqlite*")),
        POSTGRESQL: server.schema_bytes("made"),
    }
    for name, size in sizes.items():
        ratio = f"{size / sizes[SQLITE]:.2f} times SQLite" if name != SQLITE else ""
        yield Row("postgresql", f"bytes of {pages:,} URLs", name, [size / pages], "B/URL", ratio, "with indexes")


def _spend(server: PrivateServer, directory: Path, *arguments: str) -> Spent:
    before = server.cpu_seconds()
    cost = run_process([*PROGRAM, *arguments], directory)
    spent = Spent(cost.seconds, cost.cpu_seconds, server.cpu_seconds() - before, cost.memory)
    print_progress(f"  {arguments[0]} {arguments[arguments.index('--state') + 1]}: {spent}")
    return spent


def _compared(subject: str, file: list[Spent], server: list[Spent]) -> Iterator[Row]:
    for name, spent in ((SQLITE, file), (POSTGRESQL, server)):
        both = [one.client + one.server for one in spent]
        ratio = ""
        if name != SQLITE:
            times = median_ratio([one.seconds for one in server], [one.seconds for one in file])
            work = median_ratio(both, [one.client for one in file])
            ratio = f"{work:.2f} times the processor time, {times:.2f} times the time"
        client = sorted(one.client for one in spent)[len(spent) // 2]
        remarks = f"{client:.1f} s of them in the command, {spent[-1].memory}"
        yield Row("postgresql", subject, name, both, "CPU s", ratio, remarks)


def _same_files(directory: Path, turn: int) -> None:
    """Raise RunError if the two have written different URLs or dates."""
    found = []
    for name in (SQLITE, POSTGRESQL):
        files = sorted((directory / f"{name}-{turn}").glob("*.xml"))
        # The index has the time of writing.
        found.append({file.name: re.sub(rb"<sitemap>.*", b"", file.read_bytes()) for file in files})
    if not found[0] or found[0] != found[1]:
        raise RunError("the files of the two databases differ")
