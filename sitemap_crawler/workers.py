"""Processes that take work off this one: forked, so that they are there at once with all that was imported and set up.

Each takes its tasks in order, and ends with this process, however that ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections import deque
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from sitemap_crawler.worker_process import Failure, framed, start_worker, taken_from

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

logger = logging.getLogger(__name__)

MOST = 4
"""Workers by default at most: more than that one crawling process can't keep busy."""
CAN_FORK = sys.platform == "linux"
"""The libraries of other systems don't survive it, or it does not exist."""

ENOUGH = 4
"""Tasks that one worker has before another one is woken,"""
PATIENCE = 0.05
"""and seconds for which it may be at one of them meanwhile."""
TOO_LONG = 180.0
"""Seconds for which a worker may be at one task."""
DEATHS = 2
"""Workers that a task may cost."""
_LOAD = attrgetter("load")
_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class WorkFailed(Exception):  # noqa: N818 - it says what happened
    """The work raised an exception in its process; the message names it, the cause has its traceback."""


class WorkerDied(Exception):  # noqa: N818 - it says what happened
    """Processes ended over the task; the message says how the last one did."""


class _Traceback(Exception):  # noqa: N818 - no error: the cause of one, as text
    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def default_workers() -> int:
    """One for each processor that this process may use, if there is more than one."""
    processors = len(os.sched_getaffinity(0)) if CAN_FORK else 1
    return min(MOST, processors) if processors > 1 else 0


class WorkerPool(Generic[_Task, _Result]):
    """`work` is called in the workers; tasks and results are copied by pickle."""

    def __init__(self, work: Callable[[_Task], _Result], *, prepare: Callable[[], None]) -> None:
        """`prepare` is called first in each worker, while this process does something else."""
        self._work, self._prepare = work, prepare
        self._workers: list[_Worker] = []
        self._missing = 0
        """Workers that have died and whose places are empty."""
        self._alone, self._filling = asyncio.Lock(), asyncio.Lock()

    @property
    def is_open(self) -> bool:
        return bool(self._workers or self._missing)

    async def open(self, count: int) -> None:
        """Start so many workers, or as many as the system allows."""
        if not CAN_FORK or not count:
            return
        if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
            # Some supervisors leave it so: nobody would know how a worker has ended, or whose its number is by now.
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._missing = count
        await self._fill()

    async def run(self, task: _Task, *, alone: bool = False) -> _Result:
        """`alone`: one such task at a time, for it takes much memory. Raises WorkFailed, WorkerDied.

        Without any worker that can be had, the work is done here.
        """
        if not alone:
            return await self._run(task)
        async with self._alone:
            return await self._run(task, last=True)

    async def _run(self, task: _Task, *, last: bool = False) -> _Result:
        deaths = 0
        while True:
            if self._missing:
                await self._fill()
            if not self._workers:
                return self._work(task)
            worker = self._workers[-1] if last else _choice(self._workers)
            try:
                answer = await worker.send(task)
            except _NotBegun:
                continue
            except WorkerDied:
                # Somebody else may have ended it. Two that die over the same task die of it.
                deaths += 1
                if deaths == DEATHS:
                    raise
                continue
            if isinstance(answer, Failure):
                raise WorkFailed(answer.words) from _Traceback(answer.traceback)
            result: _Result = answer
            return result

    def close(self) -> None:
        workers, self._workers, self._missing = self._workers, [], 0
        for worker in workers:
            worker.end()

    async def _fill(self) -> None:
        """Start what is missing."""
        loop = asyncio.get_running_loop()
        async with self._filling:
            while self._missing:
                try:
                    pid, connection = start_worker(self._work, self._prepare)
                except OSError as error:
                    logger.warning("only %d processes beside this one: %s", len(self._workers), error.strerror)
                    self._missing = 0
                    return
                make = partial(_Worker, pid, on_end=self._ended)
                _, worker = await loop.create_unix_connection(make, sock=connection)
                self._workers.append(worker)
                # Not before: meanwhile others would find no worker, and do the work here. Closed, none is missing.
                self._missing = max(0, self._missing - 1)

    def _ended(self, worker: _Worker, how: str) -> None:
        if worker not in self._workers:
            return
        self._workers.remove(worker)
        if worker.ready:
            logger.warning("a process that reads pages %s: another one takes its place", how)
            self._missing += 1
        else:
            logger.warning("a process that was to read pages %s before it had begun: there is one less", how)


def _choice(workers: Sequence[_Worker]) -> _Worker:
    """One that has a little to do, so that few have to be woken; but none that is long at one task."""
    before = time.monotonic() - PATIENCE
    quick = [worker for worker in workers if not worker.load or worker.since > before]
    return next((worker for worker in quick if worker.load < ENOUGH), None) or min(quick or workers, key=_LOAD)


class _NotBegun(Exception):  # noqa: N818 - it says what happened
    """The worker died before it came to the task."""


class _Worker(asyncio.Protocol):
    """Our end of a worker."""

    _transport: asyncio.Transport

    def __init__(self, pid: int, *, on_end: Callable[[_Worker, str], None]) -> None:
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
        self._wait()

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
        how = self._wait()
        asked, self._asked = self._asked, deque()
        why: Exception = WorkerDied(f"the process that read it {how}") if self.ready else _NotBegun()
        for answer in asked:
            if not answer.done():
                answer.set_exception(why)
            why = _NotBegun()
        self._on_end(self, how)

    def _kill(self) -> None:
        # Of one that has ended by itself this changes nothing.
        if self._pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def _wait(self) -> str:
        """How it has ended."""
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
