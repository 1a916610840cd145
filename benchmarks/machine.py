"""This machine, and the cost of a process on it."""

from __future__ import annotations

import os
import platform
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, TypeVar

from process_memory import PeakOfAll

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE = Path(__file__).resolve().parent
DROPPED_VARIABLES = ("SCRAPY_", "SITEMAP_", "PYTHONDONTWRITEBYTECODE")
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes; getrusage(2) of macOS and of the others

Measured = TypeVar("Measured")


class RunError(Exception):
    """A measured process has failed. The message has its exit code and its last output."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a whole process, its start included."""

    seconds: float
    """Elapsed time."""
    cpu_seconds: float
    peak_bytes: int
    """Peak of the resident set of one process, or of all its processes together, whichever is larger."""
    stopped: bool
    """Whether the process was killed at the time limit."""
    samples: Sequence[tuple[float, int]] = field(default=(), repr=False)
    """Time in seconds since 1970, and memory of all processes together in bytes, four times a second."""

    @property
    def memory(self) -> str:
        # A process starts with the peak of its parent, so a smaller peak cannot be measured.
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT
        return f"{self.peak_bytes / 1e6:.0f} MB" if self.peak_bytes > own else f"less than {own / 1e6:.0f} MB"


def environment() -> dict[str, str]:
    """Return the environment of a measured process: this checkout on the path, no settings or proxies of the user.

    Bytecode is cached, as for an installed package.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(DROPPED_VARIABLES) and not name.lower().endswith("_proxy")
    }
    return {**kept, "PYTHONPATH": str(HERE.parent)}


def run_process(
    command: Sequence[str], directory: Path, *, limit: float | None = None, codes: Sequence[int] = (0,)
) -> Cost:
    """Run a command in a directory without scrapy.cfg. Raises RunError for an exit code that is not in `codes`."""
    log = directory / "log.txt"
    with log.open("wb") as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=directory, env=environment(), stdout=output, stderr=subprocess.STDOUT)
        killed = threading.Event()
        timer = threading.Timer(limit or threading.TIMEOUT_MAX, _kill, (process.pid, killed))
        timer.daemon = True
        timer.start()
        with PeakOfAll(process.pid) as together:
            _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes and not killed.is_set():
        tail = log.read_text(encoding="utf-8", errors="replace")[-2_000:]
        raise RunError(f"{' '.join(command)}\nended with exit code {process.returncode}:\n{tail}")
    peak = max(usage.ru_maxrss * MAXRSS_UNIT, together.bytes)
    return Cost(seconds, usage.ru_utime + usage.ru_stime, peak, killed.is_set(), together.samples)


def _kill(pid: int, killed: threading.Event) -> None:
    killed.set()
    # Popen.kill would consume the exit status that wait4 waits for.
    os.kill(pid, signal.SIGKILL)


def in_turn(
    contestants: Mapping[str, Callable[[], Measured]], runs: int, *, warm_up: Callable[[str], object] = lambda _: None
) -> dict[str, list[Measured]]:
    """Measure all contestants in turn, `runs` times, so that other load on the machine affects all of them alike.

    A contestant that fails is reported and left out of later rounds.
    """
    measured: dict[str, list[Measured]] = {name: [] for name in contestants}
    failed = set()
    for turn in range(runs + 1):
        for name, measure in contestants.items():
            if name in failed:
                continue
            try:
                if turn:
                    measured[name].append(measure())
                    print_progress(f"  run {turn} {name}: {measured[name][-1]}")
                else:
                    warm_up(name)
            except RunError as error:
                failed.add(name)
                print_progress(f"  {name} failed: {error}")
    return {name: results for name, results in measured.items() if results}


def print_progress(message: str) -> None:
    """Print a line of progress on standard error; the table goes to standard output."""
    print(message, file=sys.stderr, flush=True)


def median_ratio(values: Sequence[float], references: Sequence[float]) -> float:
    """Return the median of the ratios of values that were measured in the same round."""
    return median(value / reference for value, reference in zip(values, references, strict=False))


def describe_machine() -> str:
    cpu = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), ""
    )
    memory = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    parts = [f"{platform.system()} {platform.release()} {platform.machine()}", f"{os.cpu_count()} cores {cpu}".strip()]
    return ", ".join([*parts, f"{memory / 1e6:.0f} GB"] if memory else parts)


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
