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
        if _has_written(connection.connection.driver_connection, connection.dialect.name):
            count()

    os.replace = counted  # type: ignore[assignment]
    event.listen(Engine, "commit", committed)


def _has_written(driver: Any, database: str) -> bool:
    if database == "sqlite":
        return bool(driver.in_transaction)
    return driver.execute("SELECT pg_current_xact_id_if_assigned()").fetchone() != (None,)
