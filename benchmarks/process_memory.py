"""The memory of a process together with all processes that it has started."""

from __future__ import annotations

import contextlib
import threading
import time
from bisect import bisect
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

INTERVAL_SECONDS = 0.25


class PeakOfAll:
    """Thread that measures the memory four times a second. `bytes` is the peak; 0 on systems without Linux' /proc.

    It sums up the proportional set size: each process has its part of a page of memory that several of them share.
    """

    def __init__(self, pid: int) -> None:
        self.bytes = 0
        self.samples: list[tuple[float, int]] = []
        """Time in seconds since 1970 and memory in bytes of each measurement."""
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)

    def __enter__(self) -> PeakOfAll:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _measure(self) -> None:
        # The first measurement is made at once: a fast machine may end the process before the second one.
        while True:
            size = sum(map(_proportional_set, _tree(self._pid)))
            if size:
                self.samples.append((time.time(), size))
            self.bytes = max(self.bytes, size)
            if self._ended.wait(INTERVAL_SECONDS):
                return


def mean_memory(samples: Sequence[tuple[float, int]], moments: Sequence[float]) -> float:
    """Return the mean memory in bytes at these times, each with the sample nearest to it.

    Both sequences are in ascending order of time, in seconds, and not empty. All moments may lie between two samples:
    on a fast machine many pages are answered between them, and on a busy one the thread that measures is late.
    """
    times = [moment for moment, _ in samples]
    sizes = []
    for moment in moments:
        after = bisect(times, moment)
        nearest = min(samples[max(0, after - 1) : after + 1], key=lambda sample: abs(sample[0] - moment))
        sizes.append(nearest[1])
    return fmean(sizes)


def _tree(pid: int) -> Iterator[int]:
    yield pid
    # The process may end at any time.
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _tree(int(child))


def _proportional_set(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    return 0
