"""A PostgreSQL server of the tests: a cluster in a temporary directory, reached by a socket only."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from sitemap_crawler.config.state_location import ServerLocation, parse_server
from tests.support.tools import MUST_RUN

if TYPE_CHECKING:
    from types import TracebackType

USER = "tester"
LOCKED, LOCKED_PASSWORD = "locked", "right-Password-1"
"""The only user that has to give a password. It has no rights."""
ICU, C = "icu", "c"
"""Databases whose default order of texts is that of a language, and that of bytes."""


@cache
def programs() -> Path | None:
    """Return the directory of initdb and pg_ctl, or None. Debian keeps them out of the PATH."""
    found = shutil.which("initdb")
    directories = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name.split(".")[0])
    )
    candidates = [Path(found).parent] if found else []
    candidates += reversed(directories)
    return next((path for path in candidates if (path / "pg_ctl").exists()), None)


needs_postgres = pytest.mark.skipif(
    programs() is None and not MUST_RUN, reason="PostgreSQL (initdb, pg_ctl) is not installed"
)


class PostgresServer:
    """A running server with the databases ICU and C."""

    def __enter__(self) -> Self:
        # The path of a socket has at most 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        if os.getuid() == 0:
            shutil.chown(self.directory, unprivileged())
        self._run("initdb", "-D", str(self._data), "-A", "trust", "-U", USER, "-E", "UTF8", "--locale=C", "--no-sync")
        rules = self._data / "pg_hba.conf"
        rules.write_text(f"local all {LOCKED} scram-sha-256\n{rules.read_text()}")
        self.start()
        self.execute("postgres", f"CREATE ROLE {LOCKED} LOGIN PASSWORD '{LOCKED_PASSWORD}'")
        self._create_database(C)
        provider = "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'"
        self.execute("postgres", f"CREATE DATABASE {ICU} TEMPLATE template0 {provider}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self) -> None:
        options = f"-k {self.directory} -c listen_addresses='' -c fsync=off -c max_connections=50"
        self._run("pg_ctl", "-D", str(self._data), "-w", "-l", str(self.directory / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop the server as a crash would."""
        self._run("pg_ctl", "-D", str(self._data), "-w", "-m", "immediate", "stop")

    def url(self, database: str = ICU, *, schema: str | None = None, user: str = USER) -> str:
        """Return the URL of a schema, by default of one that nobody has used."""
        schema = schema or f"s{uuid.uuid4().hex}"
        return f"postgresql://{user}@/{database}?host={self.directory}&schema={schema}"

    def new_database(self) -> str:
        """Create a database for a test that looks at all inventories of one, and return its name."""
        name = f"d{uuid.uuid4().hex}"
        self._create_database(name)
        return name

    def new_user(self) -> str:
        """Create a user without rights, and return its name."""
        name = f"u{uuid.uuid4().hex}"
        self.execute("postgres", f"CREATE ROLE {name} LOGIN")
        return name

    def location(self, database: str = ICU) -> ServerLocation:
        return parse_server(self.url(database))

    def execute(self, database: str, statement: str) -> list[tuple[Any, ...]]:
        """Execute a statement as another client, and return the rows of its result."""
        import psycopg

        address = f"host={self.directory} user={USER} dbname={database}"
        with closing(psycopg.connect(address, autocommit=True)) as connection:
            # The statements are those of the tests.
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def drop_schemas(self, database: str) -> None:
        """Drop all schemas of a database, and end the connections with it."""
        clients = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        self.execute(database, f"{clients} AND pid <> pg_backend_pid()")
        names = self.execute(
            database, "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$|^public$'"
        )
        for (name,) in names:
            self.execute(database, f'DROP SCHEMA "{name}" CASCADE')

    def _create_database(self, name: str) -> None:
        self.execute("postgres", f"CREATE DATABASE {name} TEMPLATE template0 LOCALE 'C'")

    @property
    def _data(self) -> Path:
        return self.directory / "data"

    def _run(self, name: str, *arguments: str) -> None:
        directory = programs()
        assert directory is not None
        command = [str(directory / name), *arguments]
        if os.getuid() == 0:
            command = ["runuser", "-u", unprivileged(), "--", *command]
        # The server keeps its output open: a pipe would not end.
        subprocess.run(command, check=True, cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def unprivileged() -> str:
    """Return a user for the server, which refuses to run as root."""
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
