"""No test of a client uses the proxies of the environment in which the tests run, or leaves this machine."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.utils.addresses import is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a test that looks up a name or connects to another machine."""
    left: list[str] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def watched_connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(address[0]):
            left.append(address[0])
            raise ConnectionRefusedError
        connect(self, address)

    def watched_look_up(host: Any, *args: Any, **options: Any) -> Any:
        if not is_loopback(str(host)):
            left.append(str(host))
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return look_up(host, *args, **options)

    monkeypatch.setattr(socket.socket, "connect", watched_connect)
    monkeypatch.setattr(socket, "getaddrinfo", watched_look_up)
    yield
    assert left == []
