"""Fixtures: a loopback site, and the program run on it as a user runs it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.support.both_databases import FILE_ONLY, POSTGRESQL, SQLITE, is_chosen, name_of
from tests.support.inventories import InventoriesOnServer
from tests.support.postgres_server import PostgresServer, needs_postgres
from tests.support.program import Program, forks
from tests.support.webserver import WebServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def pytest_configure() -> None:
    """Let the programs under test receive the signals that nohup and background jobs of a shell ignore.

    A process inherits ignored signals from its parent, while handlers become the default again in a child program.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def pytest_unconfigure() -> None:
    if forks.cache_info().currsize:
        forks().close()


def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: most tests wait for a process or a server of theirs."""
    return 2 * (os.cpu_count() or 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--inventory",
        choices=[SQLITE, POSTGRESQL],
        help="run the tests of the program with inventories in this database only (default: SQLite, some in both)",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Choose the databases of each test that runs the program."""
    if "inventories" not in metafunc.fixturenames:
        return
    name = name_of(metafunc.definition)
    wanted = metafunc.config.getoption("inventory")
    server = pytest.param(POSTGRESQL, marks=needs_postgres)
    if name in FILE_ONLY and wanted == POSTGRESQL:
        skipped = pytest.mark.skip(reason=f"SQLite only: {FILE_ONLY[name]}")
        metafunc.parametrize("inventories", [pytest.param(POSTGRESQL, marks=skipped)], indirect=True)
    elif wanted == POSTGRESQL:
        metafunc.parametrize("inventories", [server], indirect=True)
    elif wanted is None and name not in FILE_ONLY and is_chosen(name):
        server = pytest.param(POSTGRESQL, marks=[needs_postgres, pytest.mark.slow])
        metafunc.parametrize("inventories", [SQLITE, server], indirect=True)


@pytest.fixture
def inventories(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where the inventories of the program are: in files, or in a PostgreSQL database."""
    if getattr(request, "param", SQLITE) == SQLITE:
        yield
        return
    with InventoriesOnServer(request.getfixturevalue("postgres")):
        yield


@pytest.fixture
def program(tmp_path: Path, inventories: None) -> Program:
    return Program(tmp_path)


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server of this worker. Tests that stop it take one of their own."""
    with PostgresServer() as server:
        yield server
