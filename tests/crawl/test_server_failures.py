"""A PostgreSQL server that fails during a crawl: full disk, locks, limits of time, lost sessions."""

from __future__ import annotations

import os
import subprocess
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.crawl.test_postgresql import serve, sitemap, stop_at
from tests.support.postgres_server import ICU, USER, needs_postgres, unprivileged
from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from tests.support.postgres_server import PostgresServer
    from tests.support.program import Program

pytestmark = [needs_postgres, pytest.mark.slow]
SMALL, LARGE = "2m", "40m"


@pytest.fixture
def small_disk(postgres: PostgresServer) -> Iterator[Path]:
    """A file system of SMALL bytes that the server can write."""
    directory = postgres.directory / "small"
    directory.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SMALL},uid={unprivileged()},mode=700", "tmpfs", str(directory)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip(f"a file system cannot be mounted: {mounted.stderr.decode().strip()}")
    yield directory
    subprocess.run(["umount", "-l", str(directory)], check=True)
    directory.rmdir()


@pytest.mark.skipif(os.getuid() != 0, reason="only root mounts a small file system")
def test_a_full_disk_of_the_server_ends_the_crawl_which_the_same_command_resumes(
    program: Program, site: WebServer, postgres: PostgresServer, small_disk: Path
) -> None:
    serve(site)
    assert program.crawl(site.url(), "--state", "state.sqlite", "-o", "file").code == 0
    user = postgres.new_user()
    postgres.execute("postgres", f"CREATE TABLESPACE t_{user} OWNER {user} LOCATION '{small_disk}'")
    postgres.execute("postgres", f"ALTER ROLE {user} SET default_tablespace = t_{user}")
    postgres.execute(ICU, f"CREATE SCHEMA s_{user} AUTHORIZATION {user}")
    state = postgres.url(schema=f"s_{user}", user=user)
    # The tables take most of the disk, and a file of another program the rest.
    assert program.crawl(site.url(), "--state", state, "--max-pages", "1", "--dry-run").code == 0
    (small_disk / "other").write_bytes(bytes(_free(small_disk)))
    result = program.crawl(site.url(), "--state", state)
    assert result.code == 1
    assert result.last_line.startswith("cannot use the inventory postgresql://")
    assert "No space left on device" in result.last_line
    assert result.last_line.endswith("free disk space on the server, then run the same command")
    subprocess.run(["mount", "-o", f"remount,size={LARGE}", str(small_disk)], check=True)
    result = program.crawl(site.url(), "--state", state)
    assert result.code == 0, result.err
    assert sitemap(program) == sitemap(program, "file")
    postgres.execute(ICU, f"DROP SCHEMA s_{user} CASCADE")
    postgres.execute("postgres", f"DROP TABLESPACE t_{user}")


def _free(directory: Path) -> int:
    status = os.statvfs(directory)
    return status.f_bavail * status.f_frsize


@pytest.mark.parametrize("at", [40, 290])
def test_lost_sessions_end_the_crawl_which_the_same_command_resumes(
    program: Program, site: WebServer, postgres: PostgresServer, at: int
) -> None:
    serve(site)
    assert program.crawl(site.url(), "--state", "state.sqlite", "-o", "file").code == 0
    state = postgres.url()
    clients = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sitemap-crawler'"
    stop_at(site, at, lambda: postgres.execute(ICU, clients))
    result = program.crawl(site.url(), "--state", state)
    if result.code:
        assert result.code in (1, 4)
        assert result.last_line.endswith("make the server available, then run the same command")
        assert program.crawl(site.url(), "--state", state).code == 0
    assert sitemap(program) == sitemap(program, "file")
    assert program.run("check-inventory", "--state", state).code == 0


def test_a_limit_of_time_for_statements_is_one_line(
    program: Program, site: WebServer, postgres: PostgresServer
) -> None:
    site.pages["/"] = page()
    state = postgres.url()
    schema = state.rpartition("=")[2]
    assert program.crawl(site.url(), "--state", state).code == 0
    user = postgres.new_user()
    postgres.execute(ICU, f"ALTER ROLE {user} SET statement_timeout = 500")
    postgres.execute(ICU, f"GRANT USAGE ON SCHEMA {schema} TO {user}")
    postgres.execute(ICU, f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {user}")
    with closing(_locked(postgres, f"LOCK TABLE {schema}.urls IN ACCESS EXCLUSIVE MODE")):
        result = program.run("pages", "--state", postgres.url(schema=schema, user=user))
    assert result.code == 1
    assert "canceling statement due to statement timeout" in result.last_line
    assert result.last_line.endswith("raise statement_timeout of the user, then run the same command")


def test_a_lock_of_another_client_is_waited_for_and_then_named(
    program: Program, site: WebServer, postgres: PostgresServer
) -> None:
    site.pages["/"] = page()
    state = postgres.url()
    schema = state.rpartition("=")[2]
    assert program.crawl(site.url(), "--state", state).code == 0
    lock = _locked(postgres, f"LOCK TABLE {schema}.urls IN ACCESS EXCLUSIVE MODE")
    timer = threading.Timer(1, lock.close)
    timer.start()
    assert program.crawl(site.url(), "--state", state).code == 0
    timer.join()
    user = postgres.new_user()
    postgres.execute(ICU, f"ALTER ROLE {user} SET lock_timeout = 100")
    postgres.execute(ICU, f"GRANT USAGE ON SCHEMA {schema} TO {user}")
    postgres.execute(ICU, f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {user}")
    with closing(_locked(postgres, f"LOCK TABLE {schema}.urls IN ACCESS EXCLUSIVE MODE")):
        result = program.run("pages", "--state", postgres.url(schema=schema, user=user))
    assert result.code == 1
    assert "canceling statement due to lock timeout" in result.last_line
    assert result.last_line.endswith(
        "end the transaction of another client that holds the lock, then run the same command"
    )


def _locked(postgres: PostgresServer, statement: str) -> psycopg.Connection[tuple[Any, ...]]:
    """Return a connection with a transaction that has executed a statement."""
    connection = psycopg.connect(f"host={postgres.directory} user={USER} dbname={ICU}")
    connection.execute(statement.encode())
    return connection
