"""Pages per second of one crawl by several processes when every answer takes 50 ms, and where their time goes."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from latency import LATENCY_SECONDS
from machine import RunError, in_turn, median_ratio, print_progress, run_process
from private_server import private_server, server_programs
from serving import serving_endless
from table import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plan import Plan
    from private_server import PrivateServer
    from serving import Served

CONCURRENCY = 8
"""Requests at a time of each process. The limit holds for all processes of a crawl together."""
PROCESSES = (1, 2, 3)
ALONE, FIRST = "SQLite, 1 process", "PostgreSQL, 1 process"


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl."""

    rate: float
    """Pages per second from the first to the last request."""
    process_rate: float
    """Pages per second from start to exit."""
    server_share: float
    """Processor time of the database, as a share of the elapsed time."""

    def __str__(self) -> str:
        return f"{self.rate:.0f} pages/s, whole process {self.process_rate:.0f} pages/s"


def measure(plan: Plan) -> Iterator[Row]:
    programs = server_programs()
    if programs is None:
        raise RunError("PostgreSQL (initdb, pg_ctl) is not installed")
    pages = plan.shared_pages
    subject = f"{LATENCY_SECONDS * 1e3:.0f} ms an answer, {CONCURRENCY} at a time and process, {pages:,} pages"
    print_progress(subject)
    with private_server(programs) as server, serving_endless(pages, delay=LATENCY_SECONDS) as served:
        crawls = _Crawls(served, server, pages)
        contestants = {ALONE: partial(crawls.run, 1, shared=False)}
        for processes in PROCESSES:
            name = f"PostgreSQL, {processes} process{'es' if processes > 1 else ''}"
            contestants[name] = partial(crawls.run, processes, shared=True)
        measured = in_turn(contestants, plan.runs)
    one = [run.rate for run in measured.get(FIRST, [])]
    for name, runs in measured.items():
        rates = [run.rate for run in runs]
        ratio = f"{median_ratio(rates, one):.2f} times one process" if one and name != FIRST else ""
        whole = median(run.process_rate for run in runs)
        remarks = f"whole process {whole:,.0f} pages/s"
        if name != ALONE:
            remarks += f"; the database takes {median(run.server_share for run in runs):.0%} of a processor"
        yield Row("processes", subject, name, rates, "pages/s", ratio, remarks)


class _Crawls:
    def __init__(self, served: Served, server: PrivateServer, pages: int) -> None:
        self._served, self._server, self._pages = served, server, pages
        self._count = 0

    def run(self, processes: int, *, shared: bool) -> Run:
        """Crawl the site once. Raises RunError if a page is requested twice or not at all."""
        self._count += 1
        self._served.forget()
        with tempfile.TemporaryDirectory(prefix="benchmark-run-") as temporary:
            directory = Path(temporary)
            state = self._server.state(f"run_{self._count}") if shared else str(directory / "state.sqlite")
            command = [sys.executable, "-m", "sitemap_crawler", "crawl", self._served.url, "-q", "--state", state]
            command += ["-o", str(directory / "sitemaps"), "--concurrency", str(CONCURRENCY * processes)]
            command += ["--processes", str(processes)] if processes > 1 else []
            before = self._server.cpu_seconds()
            cost = run_process(command, directory)
            spent = self._server.cpu_seconds() - before
        hits = list(self._served.hits())
        paths = [hit.path for hit in hits if hit.is_page]
        if len(paths) != self._pages or len(set(paths)) != self._pages:
            raise RunError(f"{len(paths):,} answers for {len(set(paths)):,} of {self._pages:,} pages")
        arrivals = [hit.arrived for hit in hits]
        seconds = max(arrivals) - min(arrivals)
        return Run(self._pages / seconds, self._pages / cost.seconds, spent / cost.seconds)
