"""Tasks for a pool of worker processes, and pools to run them in."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitemap_crawler.utils.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable

PREPARED: list[int] = []


def prepare() -> None:
    PREPARED.append(os.getpid())


def work(task: Any) -> Any:
    """Do in a worker what the task says."""
    kind, *rest = task
    if kind == "die":
        os.kill(os.getpid(), rest[0])
    elif kind == "leave":
        os._exit(rest[0])
    elif kind == "fail":
        raise LookupError(*rest)
    elif kind == "sleep":
        time.sleep(rest[0])
    elif kind == "strange":
        return lambda: None
    elif kind == "files":
        return sorted(str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink())
    return os.getpid(), PREPARED, rest


def with_workers(count: int, use: Callable[[WorkerPool[Any, Any]], Any]) -> Any:
    async def main() -> Any:
        pool: WorkerPool[Any, Any] = WorkerPool(work, prepare=prepare)
        await pool.open(count)
        try:
            return await use(pool)
        finally:
            pool.close()

    return asyncio.run(main())


async def all_of(pool: WorkerPool[Any, Any], *tasks: Any) -> list[Any]:
    return await asyncio.gather(*(pool.run(task) for task in tasks), return_exceptions=True)
