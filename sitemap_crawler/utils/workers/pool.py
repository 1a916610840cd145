"""A pool of worker processes, seen from the parent: which worker gets a task, and what happens when a worker dies.

Workers are forked, so they start with everything that the parent has imported and set up. A worker does its tasks in
order and ends with the parent, however the parent ends.
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

from sitemap_crawler.exceptions import SitemapCrawlerError, WorkerDiedError, WorkerStartError, WorkFailedError
from sitemap_crawler.utils.shortage import Shortage, ShortageError
from sitemap_crawler.utils.workers.process import Failure, encode, received_messages, start_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

logger = logging.getLogger(__name__)

CAN_FORK = sys.platform == "linux"
"""Whether workers are used: the libraries of other systems do not survive a fork, or there is no fork."""
MAX_DEFAULT_WORKERS = 4
"""Maximum number of workers by default: one crawling process cannot keep more of them busy."""
BUSY_LOAD = 4
"""Number of short tasks of one worker from which on another worker is woken."""
SLOW_TASK_SECONDS = 0.05
"""Time after which a task counts as slow: a worker with a slow task gets no further task while another one is free."""
MAX_TASK_SECONDS = 180.0
"""Time after which a worker that is still at the same task is killed, unless the pool has a limit of its own."""
CHECK_SECONDS = 1.0
"""Time between two looks at a worker that is at a task."""
MAX_DEATHS = 2
"""Number of workers that may die over a task before the task fails."""

_LOAD = attrgetter("load")
_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class _WorkerTracebackError(SitemapCrawlerError):
    """The traceback of another process as text: the cause of a WorkFailedError."""

    def __init__(self, traceback: str, shortage: Shortage | None) -> None:
        super().__init__(traceback)
        self.__cause__ = None if shortage is None else ShortageError(shortage)

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def default_workers() -> int:
    """Return one worker for each processor that this process may use, and none with a single processor."""
    processors = len(os.sched_getaffinity(0)) if CAN_FORK else 1
    return min(MAX_DEFAULT_WORKERS, processors) if processors > 1 else 0


class WorkerPool(Generic[_Task, _Result]):
    """Worker processes that call `work` with a task. Pickle copies tasks and results."""

    def __init__(
        self,
        work: Callable[[_Task], _Result],
        *,
        prepare: Callable[[], None],
        busy_load: int = BUSY_LOAD,
        max_task_seconds: Callable[[], float] = lambda: MAX_TASK_SECONDS,
    ) -> None:
        """Each worker calls `prepare` before its first task, while the parent continues.

        `max_task_seconds` returns the time after which a worker that is still at the same task is killed, from now on.
        """
        self._work, self._prepare = work, prepare
        self._max_task_seconds = max_task_seconds
        self._busy_load = busy_load
        self._workers: list[Worker] = []
        self._missing = 0
        """Number of workers that have to be started, or have died and have to be replaced."""
        self._alone, self._filling = asyncio.Lock(), asyncio.Lock()

    @property
    def is_open(self) -> bool:
        return bool(self._workers or self._missing)

    async def open(self, count: int) -> None:
        """Start `count` workers, or as many as the system allows."""
        if not CAN_FORK or not count:
            return
        if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
            # Some supervisors leave it so. The exit status of a worker would be lost, and its process id be reused.
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._missing = count
        await self._fill()

    async def run(self, task: _Task, *, alone: bool = False) -> _Result:
        """Return the result of a task. Raises WorkFailedError and WorkerDiedError.

        At most one task with `alone` runs at a time, as such tasks take much memory. Without any worker the parent does
        the work itself.
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
            # After a death the newest one: what has stopped a worker may have stopped all of that time.
            worker = self._workers[-1] if last or deaths else _choose(self._workers, self._busy_load)
            try:
                answer = await worker.send(task)
            except WorkerStartError:
                continue
            except WorkerDiedError:
                # Something else than the task may have ended the worker. After a second death the task is the cause.
                deaths += 1
                if deaths == MAX_DEATHS:
                    raise
                continue
            if isinstance(answer, Failure):
                raise WorkFailedError(answer.message) from _WorkerTracebackError(answer.traceback, answer.shortage)
            result: _Result = answer
            return result

    def close(self) -> None:
        """Kill all workers and wait for their exit."""
        workers, self._workers, self._missing = self._workers, [], 0
        for worker in workers:
            worker.close()
        # All of them exit at the same time.
        for worker in workers:
            worker.wait()

    async def _fill(self) -> None:
        """Start the missing workers."""
        loop = asyncio.get_running_loop()
        async with self._filling:
            while self._missing:
                try:
                    pid, connection = start_worker(self._work, self._prepare)
                except OSError as error:
                    logger.warning("cannot start more than %d worker processes: %s", len(self._workers), error.strerror)
                    self._missing = 0
                    return
                make = partial(Worker, pid, on_exit=self._worker_exited, max_task_seconds=self._max_task_seconds)
                _, worker = await loop.create_unix_connection(make, sock=connection)
                self._workers.append(worker)
                # Not earlier: other tasks would find no worker and do the work in this process. A pool that was closed
                # meanwhile lacks none.
                self._missing = max(0, self._missing - 1)

    def _worker_exited(self, worker: Worker, how: str) -> None:
        if worker not in self._workers:
            return
        self._workers.remove(worker)
        if worker.ready:
            logger.warning("a worker process %s: another one takes its place", how)
            self._missing += 1
        else:
            logger.warning("a worker process %s before its first task: it is not replaced", how)


def _choose(workers: Sequence[Worker], busy_load: int) -> Worker:
    """Return a worker with a few tasks, so that few sleeping workers are woken, but no worker with a slow task."""
    before = time.monotonic() - SLOW_TASK_SECONDS
    quick = [worker for worker in workers if not worker.load or worker.task_started > before]
    return next((worker for worker in quick if worker.load < busy_load), None) or min(quick or workers, key=_LOAD)


class Worker(asyncio.Protocol):
    """Connection to one worker process: sends tasks, receives results in the same order, and notices its exit."""

    _transport: asyncio.Transport

    def __init__(
        self, pid: int, *, on_exit: Callable[[Worker, str], None], max_task_seconds: Callable[[], float]
    ) -> None:
        self._pid = pid
        self._on_exit = on_exit
        self._max_task_seconds = max_task_seconds
        self._answers: deque[asyncio.Future[Any]] = deque()
        self._unsent: list[bytes] = []
        self._received = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._spent_seconds = 0.0
        """Time that the current task may take, if it has taken longer."""
        self.ready = False
        self.task_started = 0.0
        """Time when the worker began its current task, on the clock of time.monotonic()."""

    @property
    def load(self) -> int:
        """Number of tasks without an answer."""
        return len(self._answers)

    def send(self, task: Any) -> asyncio.Future[Any]:
        """Return a future for the answer. It fails with WorkerDiedError, or WorkerStartError for a task not begun."""
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        if not self._answers:
            self.task_started = time.monotonic()
        self._answers.append(answer)
        if not self._unsent:
            # Waking a sleeping process costs as much as reading a page: tasks of the same moment are sent together.
            loop.call_soon(self._flush)
        self._unsent += encode(task)
        if self._timer is None:
            self._timer = loop.call_later(CHECK_SECONDS, self._check_time)
        return answer

    def _flush(self) -> None:
        if len(self._unsent) == 2:
            # One message, which may be long: it is not copied.
            self._transport.write(self._unsent[0])
            self._transport.write(self._unsent[1])
        else:
            self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def _check_time(self) -> None:
        """Kill the worker if its current task takes too long."""
        self._timer = None
        if not self._answers:
            return
        limit = self._max_task_seconds()
        if time.monotonic() - self.task_started < limit:
            self._timer = asyncio.get_running_loop().call_later(CHECK_SECONDS, self._check_time)
        else:
            self._spent_seconds = limit
            self._kill()

    def close(self) -> None:
        """Drop the connection and kill the process."""
        self._transport.abort()
        self._kill()

    def wait(self) -> tuple[str, bool]:
        """Wait for the exit of the process.

        Return how it ended, as the predicate of a sentence, and whether another process or the kernel has killed it.
        """
        pid, self._pid = self._pid, 0
        if not pid:
            return "has ended", False
        try:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        except ChildProcessError:
            return "has ended", False
        if self._spent_seconds:
            return f"took longer than {self._spent_seconds:g} s", False
        if status >= 0:
            return f"ended with status {status}", False
        return f"ended with signal {-status}", -status == signal.SIGKILL

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        for message in received_messages(self._received):
            if not self.ready:
                self.ready = True
                continue
            self.task_started = time.monotonic()
            answer = self._answers.popleft()
            if not answer.done():
                answer.set_result(message)

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._kill()
        how, is_killed = self.wait()
        answers, self._answers = self._answers, deque()
        # Only the first task had begun.
        reason: Exception = WorkerDiedError(f"the process that read it {how}") if self.ready else WorkerStartError()
        # No page can have a process killed, except by the memory that it takes.
        reason.__cause__ = ShortageError(Shortage.MEMORY) if is_killed else None
        for answer in answers:
            if not answer.done():
                answer.set_exception(reason)
            reason = WorkerStartError()
        self._on_exit(self, how)

    def _kill(self) -> None:
        # A process that has already exited ignores the signal.
        if self._pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
