"""Check of many files, in several processes if that is faster."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import WorkerDiedError
from sitemap_crawler.validation.files import check_file
from sitemap_crawler.validation.finding_log import discard_log
from sitemap_crawler.validation.findings import issue
from sitemap_crawler.validation.results import FileResult, FileTask

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator, Sequence

    from sitemap_crawler.utils.workers.pool import WorkerPool

MIN_LARGE_BYTES = 1_000_000
"""Size of a file from which on a process of its own can pay: its check takes longer than the start of the process."""
_GZIP_RATIO = 10
"""Approximate size of a sitemap divided by the size of its gzip file."""
_MAX_WAITING = 16
"""Maximum number of results that wait for one of an earlier file."""


def check_files(tasks: Sequence[FileTask]) -> Iterator[FileResult]:
    """Check files and yield their results in the same order."""
    workers = _worker_count(tasks)
    if workers:
        yield from _check_in_workers(tasks, workers)
    else:
        yield from map(check_file, tasks)


def _worker_count(tasks: Sequence[FileTask]) -> int:
    """Return the number of processes that pay; 0 for this process alone."""
    large = sum(_size(task) >= MIN_LARGE_BYTES for task in tasks)
    if large < 2:
        return 0
    # Imported here, because most validations need no other process.
    from sitemap_crawler.utils.workers.pool import default_workers

    return min(default_workers(), large)


def _size(task: FileTask) -> int:
    try:
        size = task.path.stat().st_size
    except (OSError, ValueError):
        return 0
    return size * _GZIP_RATIO if task.name.lower().endswith(".gz") else size


def _check_in_workers(tasks: Sequence[FileTask], workers: int) -> Iterator[FileResult]:
    import asyncio
    from collections import deque

    from sitemap_crawler.utils.workers.pool import WorkerPool

    # One file for each worker at a time: files take seconds, so none waits behind another one.
    free = asyncio.Semaphore(workers)
    with asyncio.Runner() as runner:
        pool: WorkerPool[FileTask, FileResult] = WorkerPool(check_file, prepare=gc.freeze, busy_load=1)
        try:
            runner.run(pool.open(workers))
            waiting: deque[asyncio.Task[FileResult]] = deque()
            for task in tasks:
                waiting.append(runner.get_loop().create_task(_check(pool, free, task)))
                if len(waiting) >= _MAX_WAITING:
                    yield runner.run(_result(waiting.popleft()))
            while waiting:
                yield runner.run(_result(waiting.popleft()))
        finally:
            pool.close()


async def _check(pool: WorkerPool[FileTask, FileResult], free: asyncio.Semaphore, task: FileTask) -> FileResult:
    async with free:
        try:
            return await pool.run(task)
        except WorkerDiedError as exc:
            if task.log is not None:
                discard_log(task.log)
            result = FileResult(task)
            result.findings.add(task.name, issue("unreadable", f"the file can't be checked: {exc}"))
            return result


async def _result(waiting: asyncio.Task[FileResult]) -> FileResult:
    return await waiting
