"""This machine, and what a process costs on it."""

from __future__ import annotations

import os
import platform
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, TypeVar

from process_memory import PeakOfAll

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE = Path(__file__).resolve().parent
NOT_KEPT = ("SCRAPY_", "SITEMAP_", "PYTHONDONTWRITEBYTECODE")
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes; getrusage(2) of macOS and of the others

Measured = TypeVar("Measured")


class RunFailedError(Exception):
    """A measured process ended as it should not; the message says how."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a whole process, start-up included."""

    seconds: float  # by the clock
    cpu: float  # seconds of processors
    peak: int  # bytes: resident set of the one process, or what all together had
    stopped: bool  # it was killed at the time limit

    @property
    def memory(self) -> str:
        # A process begins with the peak of the one that started it: less than that can't be seen.
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT
        return f"{self.peak / 1e6:.0f} MB" if self.peak > own else f"less than {own / 1e6:.0f} MB"


def environment() -> dict[str, str]:
    """This checkout's package, its bytecode kept as an installed one's is, and no settings or proxies of the user."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(NOT_KEPT) and not name.lower().endswith("_proxy")
    }
    return {**kept, "PYTHONPATH": str(HERE.parent)}


def run_process(
    command: Sequence[str], directory: Path, *, limit: float | None = None, codes: Sequence[int] = (0,)
) -> Cost:
    """Run in `directory`, where no scrapy.cfg can change anything.

    Raises RunFailedError for an exit code not in `codes`.
    """
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
        raise RunFailedError(f"{' '.join(command)}\nended with exit code {process.returncode}:\n{tail}")
    peak = max(usage.ru_maxrss * MAXRSS_UNIT, together.bytes)
    return Cost(seconds, usage.ru_utime + usage.ru_stime, peak, killed.is_set())


def _kill(pid: int, killed: threading.Event) -> None:
    killed.set()
    # Not by Popen, which would take the status that wait4 waits for.
    os.kill(pid, signal.SIGKILL)


def in_turn(
    contestants: Mapping[str, Callable[[], Measured]], runs: int, *, warm_up: Callable[[str], object] = lambda _: None
) -> dict[str, list[Measured]]:
    """Measure one after another, `runs` times, so that whatever else the machine does meets all alike. One that fails
    is told of and left out from then on."""
    measured: dict[str, list[Measured]] = {name: [] for name in contestants}
    failed = set()
    for turn in range(runs + 1):
        for name, measure in contestants.items():
            if name in failed:
                continue
            try:
                if turn:
                    measured[name].append(measure())
                    tell(f"  run {turn} {name}: {measured[name][-1]}")
                else:
                    warm_up(name)
            except RunFailedError as error:
                failed.add(name)
                tell(f"  {name} failed: {error}")
    return {name: found for name, found in measured.items() if found}


def tell(message: str) -> None:
    """What goes on, beside the table."""
    print(message, file=sys.stderr, flush=True)


def middle_ratio(these: Sequence[float], those: Sequence[float]) -> float:
    """The median of the ratios of what was measured in the same turn."""
    return median(this / that for this, that in zip(these, those, strict=False))


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
