"""Attempts to connect to a server that cannot be reached."""

from __future__ import annotations

import pytest

from sitemap_crawler.inventory.connecting import ConnectionAttempts


class Server:
    """A server and a clock: an attempt to connect takes its time."""

    def __init__(self) -> None:
        self.now = 100.0
        self.seconds = 3.0
        self.is_reachable = False
        self.attempts = 0

    def connect(self) -> str:
        self.attempts += 1
        self.now += self.seconds
        if not self.is_reachable:
            raise OSError(f"attempt {self.attempts}")
        return "connection"


def test_an_attempt_that_took_long_is_not_repeated_for_as_long() -> None:
    server = Server()
    attempts = ConnectionAttempts(lambda: server.now)
    for _ in range(5):
        with pytest.raises(OSError, match="attempt 1"):
            attempts.connect(server.connect)
    assert server.now == 103.0
    server.now = 105.9
    with pytest.raises(OSError, match="attempt 1"):
        attempts.connect(server.connect)
    server.now = 106.0
    with pytest.raises(OSError, match="attempt 2"):
        attempts.connect(server.connect)


def test_a_server_that_refuses_at_once_is_asked_again_at_once() -> None:
    server = Server()
    server.seconds = 0.0
    attempts = ConnectionAttempts(lambda: server.now)
    for number in (1, 2):
        with pytest.raises(OSError, match=f"attempt {number}"):
            attempts.connect(server.connect)
    server.is_reachable = True
    assert attempts.connect(server.connect) == "connection"


def test_further_connections_are_made_after_one_that_took_long() -> None:
    server = Server()
    server.is_reachable = True
    attempts = ConnectionAttempts(lambda: server.now)
    assert [attempts.connect(server.connect) for _ in range(2)] == ["connection"] * 2
