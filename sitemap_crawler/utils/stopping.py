"""Handlers of SIGINT, SIGTERM and SIGHUP for the time before a crawl has its own, and for commands without a crawl.

This module imports next to nothing, because it is the first to run.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 4
"""Exit code of an interrupted command, as in `exceptions.py`."""
_noted: set[int] = set()
"""Signals that have arrived during the block of `noting_signals`."""
MESSAGE = "interrupted; run the same command to continue"


def exit_at_signals() -> None:
    """Have a signal end the process at once, with one line.

    An exception would be lost in places: Python drops one that is raised while it calls a destructor, and imports have
    many of them. Nothing has to be cleaned up: a process may also be killed at any instant.
    """
    _handle(_exit)


def interrupt_at_signals() -> None:
    """Have a signal raise KeyboardInterrupt, so that a command removes its temporary files."""
    _handle(_interrupt)


def ignore_signals() -> None:
    """Have signals change nothing any more: the exit code of the command is known.

    The interpreter gives the signals back in its last moments, and the process would end by them.
    """
    _handle(signal.SIG_IGN)


@contextmanager
def noting_signals() -> Iterator[None]:
    """Have `interruptible` know of signals that arrived earlier in a block, beside what their handlers do.

    The handlers of an event loop only leave a word for the loop, which does not turn before the block has ended.
    """
    replaced = {}
    for number in SIGNALS if _is_main_thread() else ():
        handler = signal.getsignal(number)
        if callable(handler):
            replaced[number] = (noting := _noting(handler)), handler
            signal.signal(number, noting)
    try:
        yield
    finally:
        _noted.clear()
        for number, (noting, handler) in replaced.items():
            # The handler may have put another one in its place.
            if signal.getsignal(number) is noting:
                signal.signal(number, handler)


@contextmanager
def interruptible() -> Iterator[None]:
    """Have a signal raise KeyboardInterrupt during a block that waits, whatever it does before and after.

    Within `noting_signals` one that arrived earlier raises it, too.
    """
    if not _is_main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    interrupt_at_signals()
    try:
        if _noted:
            raise KeyboardInterrupt
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def _handle(handler: Callable[[int, Any], None] | signal.Handlers) -> None:
    for number in SIGNALS:
        # nohup ignores SIGHUP, and a shell without job control ignores SIGINT for jobs in the background.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _noting(handler: Callable[[int, Any], Any]) -> Callable[[int, Any], None]:
    def note(number: int, frame: Any) -> None:
        _noted.add(number)
        handler(number, frame)

    return note


def _exit(_number: int, _frame: Any) -> NoReturn:
    try:
        # A helper of a crawl is ended by the crawl, which tells of itself.
        if sys.argv[1:2] != ["helper"]:
            os.write(2, f"sitemap-crawler: {MESSAGE}\n".encode())
    except OSError:
        # Standard error is closed or full.
        pass
    finally:
        # Not sys.exit: it raises an exception.
        os._exit(INTERRUPTED)


def _interrupt(_number: int, _frame: Any) -> NoReturn:
    raise KeyboardInterrupt
