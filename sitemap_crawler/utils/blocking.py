"""Iterators that may block for ever, such as one over a named pipe without a writer, in an event loop that goes on."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

CHECK_SECONDS = 0.2
"""Time between two looks whether the caller stops."""
_T = TypeVar("_T")


async def unblocked(items: Iterable[_T], *, is_stopping: Callable[[], bool]) -> AsyncIterator[_T]:
    """Yield the items, each of which is made in a thread, until `is_stopping` returns True.

    A thread that blocks is left behind. It does not keep the process from ending. Raises what the iterator raises.
    """
    iterator = iter(items)
    loop = asyncio.get_running_loop()
    while not is_stopping():
        made: asyncio.Future[tuple[_T] | None] = loop.create_future()
        threading.Thread(target=_make, args=(iterator, loop, made), daemon=True).start()
        while not (await asyncio.wait({made}, timeout=CHECK_SECONDS))[0]:
            if is_stopping():
                made.cancel()
                return
        item = made.result()
        if item is None:
            return
        yield item[0]


def _make(iterator: Iterator[_T], loop: asyncio.AbstractEventLoop, made: asyncio.Future[tuple[_T] | None]) -> None:
    """Make the next item in this thread, and set it as the result; None after the last one."""
    try:
        item = (next(iterator),)
    except StopIteration:
        _settle(loop, made.set_result, made, None)
    except Exception as error:
        _settle(loop, made.set_exception, made, error)
    else:
        _settle(loop, made.set_result, made, item)


def _settle(
    loop: asyncio.AbstractEventLoop, settle: Callable[[Any], None], made: asyncio.Future[Any], value: object
) -> None:
    """Give the future its value in its own thread, unless nobody waits for it any more."""
    # The loop may be closed.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(lambda: None if made.done() else settle(value))
