"""Our end of a worker: what goes to it and comes back, and its end, whoever brings it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections import deque
from typing import TYPE_CHECKING, Any, cast

from sitemap_crawler.crawl.workers.process import framed, taken_from
from sitemap_crawler.exceptions import WorkerDiedError, WorkerStartError

if TYPE_CHECKING:
    from collections.abc import Callable

TOO_LONG = 180.0
"""Seconds for which a worker may be at one task."""


class Worker(asyncio.Protocol):
    _transport: asyncio.Transport

    def __init__(self, pid: int, *, on_end: Callable[[Worker, str], None]) -> None:
        self._pid = pid
        self._on_end = on_end
        self._asked: deque[asyncio.Future[Any]] = deque()
        self._tasks: list[bytes] = []
        """Not sent yet, in pieces."""
        self._received = bytearray()
        self._watch: asyncio.TimerHandle | None = None
        self._late = False
        self.ready = False
        self.since = 0.0
        """Since when it is at the task that it is at, by time.monotonic()."""

    @property
    def load(self) -> int:
        """Tasks that it has."""
        return len(self._asked)

    def send(self, task: Any) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        if not self._asked:
            self.since = time.monotonic()
        self._asked.append(answer)
        if not self._tasks:
            # To wake a process that sleeps costs as much as a page: what comes at the same time goes together.
            loop.call_soon(self._flush)
        self._tasks += framed(task)
        if self._watch is None:
            self._watch = loop.call_later(TOO_LONG, self._look)
        return answer

    def _flush(self) -> None:
        if len(self._tasks) == 2:
            # One message, which may be long: without a copy of it.
            self._transport.write(self._tasks[0])
            self._transport.write(self._tasks[1])
        else:
            self._transport.write(b"".join(self._tasks))
        self._tasks.clear()

    def _look(self) -> None:
        """End it when it is at one task for too long."""
        self._watch = None
        if not self._asked:
            return
        left = self.since + TOO_LONG - time.monotonic()
        if left > 0:
            self._watch = asyncio.get_running_loop().call_later(left, self._look)
        else:
            self._late = True
            self._kill()

    def end(self) -> None:
        self._transport.abort()
        self._kill()

    def wait(self) -> str:
        """How it has ended, once it has."""
        pid, self._pid = self._pid, 0
        if not pid:
            return "has ended"
        try:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        except ChildProcessError:
            return "has ended"
        if self._late:
            return f"took longer than {TOO_LONG:.0f} s"
        return f"ended with signal {-status}" if status < 0 else f"ended with status {status}"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        for message in taken_from(self._received):
            if not self.ready:
                self.ready = True
                continue
            self.since = time.monotonic()
            answer = self._asked.popleft()
            if not answer.done():
                answer.set_result(message)

    def connection_lost(self, error: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._kill()
        how = self.wait()
        asked, self._asked = self._asked, deque()
        why: Exception = WorkerDiedError(f"the process that read it {how}") if self.ready else WorkerStartError()
        for answer in asked:
            if not answer.done():
                answer.set_exception(why)
            why = WorkerStartError()
        self._on_end(self, how)

    def _kill(self) -> None:
        # Of one that has ended by itself this changes nothing.
        if self._pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
