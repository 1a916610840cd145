"""Set-up of this process: garbage collection, standard streams, end with the parent process."""

from __future__ import annotations

import gc
import os
import sys
from enum import Enum, auto
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from sitemap_crawler.utils.text import escape_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import Console
    from rich.text import Text

GARBAGE_THRESHOLDS = (20_000, 10, 10)
"""New objects, and collections of each younger generation, that start a collection during a crawl.

Python's defaults cost a quarter of a crawl's time. With larger numbers the reference cycles that a crawl makes would
show in the memory of a long one.
"""
_PR_SET_PDEATHSIG = 1
"""Option of prctl(2): https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html"""


class Phase(Enum):
    """Phase of a process. It decides how garbage is collected."""

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


class PrintableStream:
    """Standard stream that escapes the characters that could control a terminal: the gate for all text of the program.

    Only rich writes to `unescaped`, because it has sequences of its own; it gets its text from `plain`.
    """

    def __init__(self, stream: TextIO) -> None:
        self.unescaped = stream
        if isinstance(stream, TextIOWrapper):
            # A character that the encoding lacks is escaped, too: the output may be ASCII or Latin-1.
            stream.reconfigure(errors="backslashreplace")

    def write(self, text: str) -> int:
        return self.unescaped.write(escape_controls(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unescaped, name)


def open_standard_streams() -> None:
    """Have the standard streams escape their text, and replace missing ones.

    A process started with `2>&-` has None there, which no library expects.
    """
    sys.stdout, sys.stderr = (_printable_stream(stream) for stream in (sys.stdout, sys.stderr))


def _printable_stream(stream: TextIO | None) -> Any:
    # An opened file stays open as long as the process.
    return (
        stream
        if isinstance(stream, PrintableStream)
        else PrintableStream(stream or Path(os.devnull).open("w", encoding="utf-8"))
    )


def echo(text: str, *, err: bool = False) -> None:
    """Write a line to standard output or standard error. click's function replaces streams that are ASCII."""
    stream = sys.stderr if err else sys.stdout
    stream.write(f"{text}\n")
    stream.flush()


def console(*, stderr: bool = False, **options: Any) -> Console:
    """Return rich's console for a standard stream. All text that it gets must come from `plain`."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=getattr(stream, "unescaped", stream), highlight=False, emoji=False, **options)


def plain(text: str) -> Text:
    """Return text for a console, escaped and without markup."""
    from rich.text import Text

    return Text(escape_controls(text))


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
