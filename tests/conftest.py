"""Fixtures: a loopback site, and the program run on it as a user runs it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

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


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server
