"""Processes that take work off this one: forked, so that they are there at once with all that was imported and set up.

Each takes its tasks in order, and ends with this process, however that ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import pickle
import signal
import socket
import sys
import traceback
from collections import deque
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, NoReturn, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

logger = logging.getLogger(__name__)

MOST = 4
"""Workers by default at most: more than that one crawling process can't keep busy."""
CAN_FORK = sys.platform == "linux"
"""The libraries of other systems don't survive it, or it does not exist."""

ENOUGH = 4
"""Tasks that one worker has before another one is woken."""
_LOAD = attrgetter("load")
_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_LENGTH = 8
"""Bytes before each answer that say how long it is."""
_PR_SET_PDEATHSIG = 1
_SIGNALS = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
_CHUNK = 1 << 20
MAX_WORDS, MAX_TRACEBACK = 1_000, 10_000
"""Characters of an exception."""


class WorkFailed(Exception):  # noqa: N818 - it says what happened
    """The work raised an exception in its process; the message names it, the cause has its traceback."""


class WorkerDied(Exception):  # noqa: N818 - it says what happened
    """The process ended over the task, which is not given to another one."""


class _Traceback(Exception):  # noqa: N818 - no error: the cause of one, as text
    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class _Failure(NamedTuple):
    words: str
    traceback: str


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

    @property
    def is_open(self) -> bool:
        return bool(self._workers)

    async def open(self, count: int) -> None:
        """Start so many workers, or as many as the system allows."""
        loop = asyncio.get_running_loop()
        for _ in range(count if CAN_FORK else 0):
            try:
                pid, connection = _fork(self._work, self._prepare)
            except OSError as error:
                logger.warning("only %d processes beside this one: %s", len(self._workers), error.strerror)
                break
            _, worker = await loop.create_unix_connection(partial(_Worker, pid), sock=connection)
            self._workers.append(worker)

    async def run(self, task: _Task, *, alone: bool = False) -> _Result:
        """`alone`: one such task at a time, for it takes much memory. Raises WorkFailed, WorkerDied.

        Without any worker that lives, the work is done here.
        """
        while alive := [worker for worker in self._workers if worker.alive]:
            worker = alive[0] if alone else next((one for one in alive if one.load < ENOUGH), min(alive, key=_LOAD))
            with contextlib.suppress(_NotBegun):
                answer = await worker.send(task)
                if isinstance(answer, _Failure):
                    raise WorkFailed(answer.words) from _Traceback(answer.traceback)
                result: _Result = answer
                return result
        return self._work(task)

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
        self._workers = []


class _NotBegun(Exception):  # noqa: N818 - it says what happened
    """The worker died before it came to the task."""


class _Worker(asyncio.Protocol):
    """Our end of a worker."""

    _transport: asyncio.Transport

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._asked: deque[asyncio.Future[Any]] = deque()
        self._tasks: list[bytes] = []
        """Not sent yet, in pieces."""
        self._received = bytearray()
        self.alive = True

    @property
    def load(self) -> int:
        """Tasks that it has."""
        return len(self._asked)

    def send(self, task: Any) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        self._asked.append(answer)
        if not self._tasks:
            # To wake a process that sleeps costs as much as a page: what comes at the same time goes together.
            loop.call_soon(self._flush)
        self._tasks += _framed(task)
        return answer

    def _flush(self) -> None:
        self._transport.write(b"".join(self._tasks))
        self._tasks.clear()

    def end(self) -> None:
        self._transport.abort()
        self._reap()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        for result in _taken_from(self._received):
            answer = self._asked.popleft()
            if not answer.done():
                answer.set_result(result)

    def connection_lost(self, error: Exception | None) -> None:
        asked, self._asked = self._asked, deque()
        status = self._reap()
        why: Exception = WorkerDied(f"the process that read it ended with {_told(status)}")
        for answer in asked:
            if not answer.done():
                answer.set_exception(why)
            why = _NotBegun()

    def _reap(self) -> int | None:
        """Its exit code, if it has not been asked for yet; negative for a signal."""
        if not self.alive:
            return None
        self.alive = False
        # One that ends by itself has done so before this.
        os.kill(self._pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def _told(status: int | None) -> str:
    return f"signal {-status}" if status is not None and status < 0 else f"status {status}"


def _fork(work: Callable[[Any], Any], prepare: Callable[[], None]) -> tuple[int, socket.socket]:
    ours, theirs = socket.socketpair()
    # A signal that comes before the child ignores it would be handled there by what the parent has installed.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        pid = os.fork()
        if not pid:
            _be_worker(theirs, mask, work, prepare)
    except OSError:
        ours.close()
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()
    return pid, ours


def _be_worker(
    connection: socket.socket, mask: Any, work: Callable[[Any], Any], prepare: Callable[[], None]
) -> NoReturn:
    status = 1
    try:
        # Whoever stops the crawl, by Ctrl-C or for all processes of a service, means the parent to do so.
        signal.set_wakeup_fd(-1)
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _let_go_of_files(connection.fileno())
        prepare()
        _serve(connection, work)
        status = 0
    finally:
        # Nothing of the parent's may be flushed, closed or told here.
        os._exit(status)


def _let_go_of_files(kept: int) -> None:
    """Locks, files and pipes would live as long as the worker does."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def _serve(connection: socket.socket, work: Callable[[Any], Any]) -> None:
    received = bytearray()
    try:
        while data := connection.recv(_CHUNK):
            received += data
            del data
            for task in _taken_from(received):
                # One by one: of a process that dies, the first task without an answer is the one that it died over.
                connection.sendall(b"".join(_answer(work, task)))
    except ConnectionError:
        # The parent has gone.
        return


def _answer(work: Callable[[Any], Any], task: Any) -> tuple[bytes, bytes]:
    try:
        return _framed(work(task))
    except Exception as error:
        words = f"{type(error).__name__}: {error}"[:MAX_WORDS]
        return _framed(_Failure(words, traceback.format_exc()[-MAX_TRACEBACK:]))


def _framed(message: Any) -> tuple[bytes, bytes]:
    pickled = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(pickled).to_bytes(_LENGTH, "little"), pickled


def _taken_from(received: bytearray) -> Iterator[Any]:
    """The messages that are there as a whole; each is removed before it is looked at, for it may be long."""
    while len(received) >= _LENGTH:
        end = _LENGTH + int.from_bytes(received[:_LENGTH], "little")
        if end > len(received):
            break
        with memoryview(received) as view:
            message = pickle.loads(view[_LENGTH:end])  # noqa: S301 - it is from a process of our own
        del received[:end]
        yield message
        del message
