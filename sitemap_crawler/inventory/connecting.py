"""Attempts to connect to a server: one that took long is not repeated at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class ConnectionAttempts:
    """The attempts of one engine. After one that failed, others fail at once for as long as it took.

    An attempt stops the event loop until it succeeds or fails. A crawl asks its server several times a second, and
    would do nothing else while packets to the server are lost: it could neither stop nor end.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._error: Exception | None = None
        self._not_before = 0.0

    def connect(self, attempt: Callable[[], _T]) -> _T:
        """Return the result of an attempt. Raises its exception, or that of the last one if it was a moment ago."""
        began = self._clock()
        if self._error is not None and began < self._not_before:
            raise self._error.with_traceback(None)
        try:
            connection = attempt()
        except Exception as error:
            now = self._clock()
            self._error, self._not_before = error, now + (now - began)
            raise
        self._error = None
        return connection
