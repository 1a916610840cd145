"""A made site whose answers a test can hold back, to interrupt a crawl at a known place."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tests.support.webserver import Answer, page

if TYPE_CHECKING:
    from tests.support.webserver import LoggedRequest, WebServer

PAGES = 400


class Gate:
    """Gate that lets `limit` pages through, then holds every request until it is opened."""

    def __init__(self, limit: int) -> None:
        self.reached = threading.Event()
        self._open = threading.Event()
        self._left = limit
        self._lock = threading.Lock()

    def open(self) -> None:
        self._open.set()

    def pass_through(self) -> None:
        with self._lock:
            self._left -= 1
            held = self._left < 0
        if held:
            self.reached.set()
            self._open.wait(60)


def build(site: WebServer, gate: Gate | None = None) -> None:
    """Make the site a tree of PAGES pages, each with links to the next three: the queue fills during the crawl."""

    def answer(request: LoggedRequest) -> Answer:
        if gate is not None:
            gate.pass_through()
        number = int(request.path.removeprefix("/") or 0)
        below = [f"/{child}" for child in range(number * 3 + 1, number * 3 + 4) if child < PAGES]
        return Answer(page(*below, "/"))

    site.pages.update({"/": answer, **{f"/{number}": answer for number in range(1, PAGES)}})
