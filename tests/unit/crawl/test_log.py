"""The log: what asyncio says of connections that this machine could not serve."""

from __future__ import annotations

import asyncio
import logging
import socket

import pytest

from sitemap_crawler.crawl.log import quieten_asyncio


class _Failing(asyncio.Protocol):
    """Protocol that fails when data arrive."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure
        self.lost = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        raise self.failure

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(exc)


async def _fail_with(failure: Exception) -> None:
    near, far = socket.socketpair()
    with near, far:
        near.setblocking(False)
        _, protocol = await asyncio.get_running_loop().connect_accepted_socket(lambda: _Failing(failure), near)
        far.sendall(b"x")
        assert await protocol.lost is failure


@pytest.mark.parametrize(("failure", "lines"), [(MemoryError(), 0), (ValueError(), 1)])
def test_a_connection_that_ends_for_lack_of_memory_is_no_line_of_asyncio(
    caplog: pytest.LogCaptureFixture, failure: Exception, lines: int
) -> None:
    quieten_asyncio()
    with caplog.at_level(logging.ERROR, "asyncio"):
        asyncio.run(_fail_with(failure))
    assert len([record for record in caplog.records if record.name == "asyncio"]) == lines
