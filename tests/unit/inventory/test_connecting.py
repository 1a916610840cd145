"""Attempts to connect to a server that cannot be reached."""

from __future__ import annotations

import pytest
from psycopg import OperationalError as NoServer
from sqlalchemy.exc import OperationalError

from sitemap_crawler.config.state_location import parse_server
from sitemap_crawler.inventory import postgresql
from sitemap_crawler.inventory.connecting import ConnectionAttempts


class Server:
    """A server and a clock: an attempt to connect takes its time."""

    def __init__(self) -> None:
        self.now = 100.0
        self.seconds = 3.0
        self.is_reachable = False
        self.attempts = 0

    def connect(self, error: type[Exception] = OSError) -> str:
        self.attempts += 1
        self.now += self.seconds
        if not self.is_reachable:
            raise error(f"attempt {self.attempts}")
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


def test_the_engine_of_a_server_does_not_repeat_an_attempt_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    monkeypatch.setattr(postgresql, "ConnectionAttempts", lambda: ConnectionAttempts(lambda: server.now))
    engine = postgresql.server_engine(parse_server("postgresql://127.0.0.1/crawls?schema=site"))
    monkeypatch.setattr(engine.dialect, "connect", lambda *_, **__: server.connect(NoServer))
    for _ in range(3):
        with pytest.raises(OperationalError, match="attempt 1"):
            engine.connect()
    assert server.attempts == 1
