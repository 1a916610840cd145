"""The memory of a process and of all that it has started, together."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

INTERVAL = 0.25


class PeakOfAll:
    """Looks four times a second, in a thread: `bytes` is the most that was seen, 0 where Linux' /proc is not.

    A page of memory that several processes share counts once, in parts (proportional set size).
    """

    def __init__(self, pid: int) -> None:
        self.bytes = 0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> PeakOfAll:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(INTERVAL):
            self.bytes = max(self.bytes, sum(map(_proportional_set, _tree(self._pid))))


def _tree(pid: int) -> Iterator[int]:
    yield pid
    # It may end at any time.
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
