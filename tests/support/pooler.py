"""pgbouncer before the PostgreSQL server of the tests. Each transaction gets another session of the server."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.support.postgres_server import ICU, USER, unprivileged
from tests.support.tools import find_tool

if TYPE_CHECKING:
    from types import TracebackType

    from tests.support.postgres_server import PostgresServer

PORT = 6432
START_SECONDS = 60
_SETTINGS = """\
[databases]
* = host={server} user={user}
[pgbouncer]
unix_socket_dir = {directory}
listen_addr =
listen_port = {port}
auth_type = any
admin_users = {user}
pool_mode = transaction
default_pool_size = 5
# Or else a client with no other next to it would have the same session again and again.
server_round_robin = 1
logfile = {directory}/log
"""


class Pooler:
    """A running pgbouncer in transaction mode."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server

    def __enter__(self) -> Self:
        # The path of a socket has at most 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="pool-", dir="/tmp"))
        values = {"server": self._server.directory, "directory": self.directory, "port": PORT, "user": USER}
        settings = self.directory / "pgbouncer.ini"
        settings.write_text(_SETTINGS.format(**values))
        command = [str(find_tool("pgbouncer")), "-q", str(settings)]
        if os.getuid() == 0:
            shutil.chown(self.directory, unprivileged())
            # It refuses to run as root.
            command[1:1] = ["-u", unprivileged()]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        socket = self.directory / f".s.PGSQL.{PORT}"
        end = time.monotonic() + START_SECONDS
        while not socket.exists():
            assert self._process.poll() is None, "pgbouncer has ended"
            assert time.monotonic() < end, "pgbouncer does not listen"
            time.sleep(0.02)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def url(self, database: str = ICU) -> str:
        """Return the URL of a schema that nobody has used, through the pooler."""
        schema = self._server.url(database).rpartition("=")[2]
        return f"postgresql://{USER}@/{database}?host={self.directory}&port={PORT}&schema={schema}"

    def sessions(self, database: str = ICU) -> int:
        """Return the number of sessions of the server that the pooler has open for a database."""
        clients = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        return int(self._server.execute(database, f"{clients} AND pid <> pg_backend_pid()")[0][0])
