"""A made site whose pages are not answered before a number of processes crawl it together."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.support.postgres_server import ICU
from tests.support.webserver import Answer, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.postgres_server import PostgresServer
    from tests.support.webserver import LoggedRequest, WebServer

PAGES = 600
PATIENCE = 120
"""Seconds after which a test gives up: far more than a loaded machine needs."""


class Star:
    """A start page with links to all others. Those wait until the helpers have joined the run."""

    def __init__(self, server: WebServer) -> None:
        self.url = server.url()
        self.requested: Counter[str] = Counter()
        self.is_shared = threading.Event()
        self._lock = threading.Lock()
        server.pages["/"] = page(*(f"/{number}" for number in range(1, PAGES)))
        server.pages.update({f"/{number}": self._answer for number in range(1, PAGES)})

    def _answer(self, request: LoggedRequest) -> Answer:
        with self._lock:
            self.requested[request.path] += 1
        self.is_shared.wait(PATIENCE)
        return Answer(page("/", title=request.path), headers={"Last-Modified": "Tue, 07 May 2024 08:09:10 GMT"})


def answer_when_shared(
    star: Star, postgres: PostgresServer, state: str, *, processes: int, before: Callable[[], None] = lambda: None
) -> None:
    """Answer requests as soon as all processes have joined, after a call of `before`."""
    schema = state.rpartition("schema=")[2]
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        living = 0
        with suppress(Exception):
            [(living,)] = postgres.execute(ICU, f'SELECT count(*) FROM "{schema}".processes WHERE NOT ended')
        if living == processes:
            before()
            star.is_shared.set()
            return
        time.sleep(0.1)
    pytest.fail("the helpers have not joined")
