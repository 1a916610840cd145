"""Duration of short commands, and the time from the start of a crawl to its first request."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers import OURS, STOCK, Crawl, ours, stock
from machine import HERE, RunError, environment, in_turn, median_ratio, run_process
from table import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plan import Plan

YARDSTICK = "scrapy version"
EXPLAIN_PAGES = 100
"""Number of pages in the inventory that `explain` reads."""
TIMEOUT_SECONDS = 60.0
"""Time within which the first request has to come."""


@dataclass(frozen=True, slots=True)
class Start:
    seconds: float
    cpu_seconds: float


def measure(plan: Plan) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="benchmark-startup-") as temporary:
        directory = Path(temporary)
        state = directory / "made.sqlite"
        run_process([sys.executable, str(HERE / "made_inventory.py"), str(state), str(EXPLAIN_PAGES), "0"], directory)
        program = [sys.executable, "-m", "sitemap_crawler"]
        explain = [*program, "explain", "https://www.example.com/", "--state", str(state)]
        contestants: dict[str, Callable[[], Start]] = {
            YARDSTICK: lambda: _whole([sys.executable, "-m", "scrapy", "version"], directory),
            f"{OURS} --help": lambda: _whole([*program, "--help"], directory),
            f"{OURS} explain": lambda: _whole(explain, directory),
            f"{OURS} crawl, to the first request": lambda: _to_first_request(ours),
            f"{STOCK}, to the first request": lambda: _to_first_request(stock),
        }
        measured = in_turn(contestants, plan.startup_runs, warm_up=lambda name: contestants[name]())
    for subject, value in (("elapsed time", _seconds), ("processor time", _cpu)):
        yardstick = value(measured[YARDSTICK])
        for name, starts in measured.items():
            ratio = f"{median_ratio(value(starts), yardstick):.2f} times {YARDSTICK}" if name != YARDSTICK else ""
            yield Row("startup", subject, name, value(starts), "s", ratio)


def _seconds(starts: Sequence[Start]) -> list[float]:
    return [start.seconds for start in starts]


def _cpu(starts: Sequence[Start]) -> list[float]:
    return [start.cpu_seconds for start in starts]


def _whole(command: list[str], directory: Path) -> Start:
    cost = run_process(command, directory)
    return Start(cost.seconds, cost.cpu_seconds)


def _to_first_request(command: Callable[[Crawl], list[str]]) -> Start:
    """Measure until a server has the first byte of a request, also for robots.txt; then kill the process."""
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as temporary:
        server.settimeout(TIMEOUT_SECONDS)
        directory = Path(temporary)
        arguments = command(Crawl(f"http://127.0.0.1:{server.getsockname()[1]}/", 32, directory))
        log = (directory / "log.txt").open("wb")
        started = time.perf_counter()
        with log, subprocess.Popen(arguments, cwd=directory, env=environment(), stdout=log, stderr=log) as process:
            try:
                connection, _ = server.accept()
                with connection:
                    connection.settimeout(TIMEOUT_SECONDS)
                    connection.recv(1)
                    return Start(time.perf_counter() - started, _cpu_clock(process.pid))
            except TimeoutError:
                raise RunError(f"no request within {TIMEOUT_SECONDS:.0f} s: {' '.join(arguments)}") from None
            finally:
                process.kill()


def _cpu_clock(pid: int) -> float:
    """Return the processor seconds of another process so far, by its clock of clock_getcpuclockid(3) on Linux."""
    return time.clock_gettime(~pid << 3 | 2) if sys.platform == "linux" else float("nan")
