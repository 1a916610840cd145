"""Set-up of this process: garbage collection, standard streams, end with the parent process."""

from __future__ import annotations

import gc
import os
import sys
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

GARBAGE_THRESHOLDS = (20_000, 10, 10)
"""New objects, and collections of each younger generation, that start a collection during a crawl.

Python's defaults cost a quarter of a crawl's time. With larger numbers the reference cycles that a crawl makes would
show in the memory of a long one.
"""
_PR_SET_PDEATHSIG = 1
"""Option of prctl(2): https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html"""


class Phase(Enum):
    """What a process does next, as far as its garbage collection depends on it."""

    IMPORTS = auto()
    WORK = auto()
    EXIT = auto()


def set_garbage_collection(phase: Phase) -> None:
    """Set the garbage collector for the next phase of the process.

    Imports make no garbage, and the search for it takes a third of the start-up time. All that is loaded when the work
    begins, or when the process ends, is left out of later collections.
    """
    if phase is Phase.IMPORTS:
        gc.disable()
        return
    gc.freeze()
    if phase is Phase.WORK:
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        gc.enable()


def open_standard_streams() -> None:
    """Replace missing standard streams: a process started with `2>&-` has None there, which no library expects."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115 - it stays open as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115


def flush_standard_streams() -> None:
    """Write buffered output. Output that cannot be written is dropped: Python would report a second error at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def parent_death_signal(signal_number: int) -> Callable[[], object]:
    """Return a function that a forked child calls to get this signal when its parent ends. Linux only.

    The function imports nothing, as the child may have been forked next to threads that hold import locks.
    """
    import ctypes

    return partial(ctypes.CDLL(None, use_errno=True).prctl, _PR_SET_PDEATHSIG, signal_number)
