"""An inventory on a server with one run, and processes of it that exist as rows and connections only."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import text

from sitemap_crawler.inventory.postgresql import server_engine
from sitemap_crawler.inventory.store import open_store
from tests.support.postgres_server import C

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from tests.support.postgres_server import PostgresServer

RUN = 1
_JOIN = text(
    "INSERT INTO processes (id, run, is_main, name) OVERRIDING SYSTEM VALUE VALUES (:id, :run, false, 'a test')"
)


class SharedInventory:
    """The inventory, and how many processes have joined its run."""

    def __init__(self, server: PostgresServer, stack: ExitStack) -> None:
        location = server.location(C)
        open_store(location).close()
        self._engine = server_engine(location)
        self._stack = stack
        self.processes = 0
        stack.callback(self._engine.dispose)
        self.execute(
            "INSERT INTO runs (id, requested_url, start_url, sitemap_url, started) VALUES (1, '', '', '', 0); "
            "INSERT INTO shared_runs (run) VALUES (1)"
        )

    def join(self) -> tuple[int, Connection]:
        """Return the number and the connection of a new process."""
        self.processes += 1
        connection = self._engine.connect()
        self._stack.callback(connection.close)
        with connection.begin():
            connection.execute(_JOIN, {"id": self.processes, "run": RUN})
        return self.processes, connection

    def reap(self, process: int) -> None:
        """Take a process for dead."""
        self.execute(f"UPDATE processes SET ended = true WHERE id = {process}")

    def execute(self, statements: str) -> None:
        """Execute statements as another client."""
        with self._engine.begin() as connection:
            for statement in statements.split(";"):
                connection.execute(text(statement))


@contextmanager
def shared_inventory(server: PostgresServer) -> Iterator[SharedInventory]:
    with ExitStack() as stack:
        yield SharedInventory(server, stack)
