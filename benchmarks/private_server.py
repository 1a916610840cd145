"""A PostgreSQL server of a benchmark, reached by a socket, with the settings that it is installed with."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "benchmark"
_TICKS = os.sysconf("SC_CLK_TCK")


class PrivateServer:
    """A running server. It syncs its files as a server of users does."""

    def __init__(self, directory: Path, programs: Path) -> None:
        self.directory = directory
        self._programs = programs
        self._unprivileged = "postgres" if "postgres" in {entry.pw_name for entry in pwd.getpwall()} else "nobody"
        if os.getuid() == 0:
            shutil.chown(directory, self._unprivileged)
        data = str(directory / "data")
        self._run("initdb", "-D", data, "-A", "trust", "-U", USER, "-E", "UTF8", "--locale=C")
        options = f"-k {directory} -c listen_addresses=''"
        self._run("pg_ctl", "-D", data, "-w", "-l", str(directory / "log"), "-o", options, "start")

    def state(self, schema: str) -> str:
        """Return the value of `--state` for a schema."""
        return f"postgresql://{USER}@/postgres?host={self.directory}&schema={schema}"

    def schema_bytes(self, schema: str) -> int:
        """Return the size of the tables of a schema with their indexes."""
        size = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = "
        return int(self._psql(f"{size}'{schema}'::regnamespace"))

    def cpu_seconds(self) -> float:
        """Return the processor time of all processes of the server so far."""
        main = int((self.directory / "data" / "postmaster.pid").read_text().split()[0])
        spent = sum(_times(main, ended=True))
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if _parent(int(entry.name)) == main:
                    spent += sum(_times(int(entry.name)))
        return spent / _TICKS

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.directory / "data"), "-w", "-m", "immediate", "stop")

    def _psql(self, query: str) -> str:
        command = [str(self._programs / "psql"), "-h", str(self.directory), "-U", USER, "-d", "postgres", "-Atc", query]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd="/").stdout

    def _run(self, name: str, *arguments: str) -> None:
        command = [str(self._programs / name), *arguments]
        if os.getuid() == 0:
            command = ["runuser", "-u", self._unprivileged, "--", *command]
        # The server keeps its output open: a pipe would not end.
        subprocess.run(command, check=True, cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def server_programs() -> Path | None:
    """Return the directory of initdb, or None. Debian keeps it out of the PATH."""
    found = shutil.which("initdb")
    directories = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return Path(found).resolve().parent if found else next(reversed(directories), None)


@contextmanager
def private_server(programs: Path) -> Iterator[PrivateServer]:
    # The path of a socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp", ignore_cleanup_errors=True) as temporary:
        server = PrivateServer(Path(temporary), programs)
        try:
            yield server
        finally:
            server.stop()


def _fields(process: int) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _times(process: int, *, ended: bool = False) -> list[int]:
    """Return user and system time in ticks; with `ended` also those of its children that have ended."""
    return [int(field) for field in _fields(process)[11 : 15 if ended else 13]]


def _parent(process: int) -> int:
    return int(_fields(process)[1])
