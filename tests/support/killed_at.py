"""Lets this process kill itself just before the given one of its commits and renames.

A commit that has nothing to write does not count.
"""

from __future__ import annotations

import os
import signal
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine


def arm(number: int) -> None:
    left = number
    replace = os.replace

    def count() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(source: Any, target: Any, **directories: int) -> None:
        count()
        replace(source, target, **directories)

    def committed(connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        if driver.in_transaction:
            count()

    os.replace = counted  # type: ignore[assignment]
    event.listen(Engine, "commit", committed)
