"""Operations that are repeated while a server cannot be used: it restarts, a connection is lost, or in a deadlock."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy.exc import DBAPIError

from sitemap_crawler.inventory.server_errors import server_message

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.1, 5.0
"""Pauses between two attempts. Each is twice the one before."""
PASSING_CLASSES = ("08", "25P03", "40", "53300", "55P03", "57P")
"""Beginnings of the server's codes for failures that pass: of the connection, of a suspended process, deadlocks, too
many connections, locks of others that last too long, restart.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""


def repeated(work: Callable[[], _T], *, seconds: float, failed: Callable[[], None] = lambda: None) -> _T:
    """Return the result of `work`, which is repeated after failures that pass, for this time after the first one.

    `failed` is called after each failure. Raises DBAPIError.
    """
    pause, since = MIN_PAUSE_SECONDS, None
    while True:
        try:
            result = work()
        except DBAPIError as error:
            failed()
            now = time.monotonic()
            if not is_passing(error) or (since is not None and now > since + seconds):
                raise
            if since is None:
                logger.warning("the inventory cannot be used at the moment, trying again: %s", server_message(error))
                since = now
            time.sleep(pause)
            pause = min(MAX_PAUSE_SECONDS, 2 * pause)
        else:
            if since is not None:
                logger.warning("the inventory can be used again, after %.0f s", time.monotonic() - since)
            return result


def is_passing(error: DBAPIError) -> bool:
    """Return whether an operation may succeed when it is repeated."""
    code = getattr(error.orig, "sqlstate", None)
    if code is None:
        return error.connection_invalidated or type(error.orig).__name__ in ("OperationalError", "ConnectionTimeout")
    return str(code).startswith(PASSING_CLASSES)
