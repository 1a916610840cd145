"""Processes that take work off this one: forked, so that they are there at once with all that was imported and set up.

Each takes its tasks in order, and ends with this process, however that ends.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, TypeVar

from sitemap_crawler.crawl.workers.connection import Worker
from sitemap_crawler.crawl.workers.process import Failure, start_worker
from sitemap_crawler.exceptions import SitemapCrawlerError, WorkerDiedError, WorkerStartError, WorkFailedError

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
DEATHS = 2
"""Workers that a task may cost."""
_LOAD = attrgetter("load")
_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class _WorkerTracebackError(SitemapCrawlerError):
    """The traceback of another process as text: the cause of a WorkFailedError."""

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
        self._workers: list[Worker] = []
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
        """`alone`: one such task at a time, for it takes much memory. Raises WorkFailedError, WorkerDiedError.

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
            except WorkerStartError:
                continue
            except WorkerDiedError:
                # Somebody else may have ended it. Two that die over the same task die of it.
                deaths += 1
                if deaths == DEATHS:
                    raise
                continue
            if isinstance(answer, Failure):
                raise WorkFailedError(answer.words) from _WorkerTracebackError(answer.traceback)
            result: _Result = answer
            return result

    def close(self) -> None:
        workers, self._workers, self._missing = self._workers, [], 0
        for worker in workers:
            worker.end()
        # They leave at the same time.
        for worker in workers:
            worker.wait()

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
                make = partial(Worker, pid, on_end=self._ended)
                _, worker = await loop.create_unix_connection(make, sock=connection)
                self._workers.append(worker)
                # Not before: meanwhile others would find no worker, and do the work here. Closed, none is missing.
                self._missing = max(0, self._missing - 1)

    def _ended(self, worker: Worker, how: str) -> None:
        if worker not in self._workers:
            return
        self._workers.remove(worker)
        if worker.ready:
            logger.warning("a process that reads pages %s: another one takes its place", how)
            self._missing += 1
        else:
            logger.warning("a process that was to read pages %s before it had begun: there is one less", how)


def _choice(workers: Sequence[Worker]) -> Worker:
    """One that has a little to do, so that few have to be woken; but none that is long at one task."""
    before = time.monotonic() - PATIENCE
    quick = [worker for worker in workers if not worker.load or worker.since > before]
    return next((worker for worker in quick if worker.load < ENOUGH), None) or min(quick or workers, key=_LOAD)
