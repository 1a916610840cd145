"""The helpers of `--processes`: further processes of this machine that join the run.

Each gets the checked settings of the crawl by its standard input, as they may hold secrets, and ends with the crawl. A
helper that dies costs nothing: the others fetch what it had leased.
"""

from __future__ import annotations

import logging
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from sitemap_crawler.exceptions import INTERRUPTED
from sitemap_crawler.utils.runtime import parent_death_signal

if TYPE_CHECKING:
    from types import TracebackType

    from sitemap_crawler.crawl.startup import Start

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 60.0
"""Time in which a helper has to end after it was asked to, before it is killed."""
_OF_HELPER = {
    "processes": 1,
    "join": True,
    "progress": False,
    "report": None,
    "html_report": None,
    "status": None,
    "submit": False,
}
"""Options of a helper that differ from those of the crawl: only the main process writes files and talks to others."""


class Helpers:
    """The helper processes of a crawl, as a context: they are started on entry and have ended after the exit."""

    def __init__(self, start: Start, *, verbosity: int) -> None:
        self._number = start.options.processes - 1
        self._start = start
        self._verbosity = verbosity
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        if self._number:
            options = self._start.options.model_copy(update=_OF_HELPER)
            given = pickle.dumps((self._start._replace(options=options), self._verbosity))
            for _ in range(self._number):
                self._begin(given)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._running:
            with suppress(ProcessLookupError):
                process.terminate()
                # One that is suspended could not end.
                process.send_signal(signal.SIGCONT)
        for process in self._running:
            try:
                code = process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
            if code not in (0, INTERRUPTED, -signal.SIGTERM):
                logger.warning("a helper process ended with code %d; the others have crawled its pages", code)
        self._running = []

    def _begin(self, given: bytes) -> None:
        try:
            process = subprocess.Popen(
                # -P: no module comes from the working directory.
                [sys.executable, "-P", "-m", "sitemap_crawler", "helper"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                # Ctrl-C reaches only this process, whose run the helpers leave then.
                process_group=0,
                # Nobody would stop the helpers of a process that was killed.
                preexec_fn=parent_death_signal(signal.SIGTERM) if sys.platform == "linux" else None,
            )
        except OSError as error:
            logger.warning("cannot start a helper process (%s): the crawl goes on without it", error.strerror or error)
            return
        self._running.append(process)
        with suppress(BrokenPipeError), cast("BinaryIO", process.stdin) as pipe:
            pipe.write(given)


def read_start(stream: BinaryIO) -> tuple[Start, int]:
    """Return the settings that the main process has written, and its verbosity."""
    start, verbosity = pickle.load(stream)  # noqa: S301 - from the process that started this one
    return start, verbosity
