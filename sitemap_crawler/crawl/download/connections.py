"""The connections that the HTTP client keeps: none is used again on which the server has said anything out of turn.

aiohttp takes what arrives on a kept connection for the answer to the next request. One answer too many would shift all
later ones, so that each page got the content of the one before.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler

from sitemap_crawler.crawl.download.tls import has_ended

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

MAX_REQUESTS = 1_000
"""Maximum number of requests on one connection, which is also what nginx allows."""
MAX_QUIET_SECONDS = 5.0
"""Longest time for which an answer out of turn is awaited when nothing else is left to do."""
_REQUEST_TIMEOUT = 408
"""Status with which a server closes an idle connection: https://www.rfc-editor.org/rfc/rfc9110#section-15.5.9"""
_ANSWER = b"HTTP/"


class Asked(NamedTuple):
    """A request on a connection."""

    url: str
    target: object
    """What the caller knows the request by."""


asked: ContextVar[Asked] = ContextVar("asked")
"""The request that the current task makes."""


class Connections(aiohttp.TCPConnector):
    """The connections of one client.

    `doubt` is called with the requests of a connection on which the server has said something out of turn. Their
    answers may be those of other requests, except that of the first one. From then on every request to this server has
    a connection of its own.
    """

    def __init__(self, *, doubt: Callable[[Sequence[Asked]], None], **options: Any) -> None:
        super().__init__(**options)
        self._doubt = doubt
        self._distrusted: set[object] = set()
        self._open: WeakSet[_Connection] = WeakSet()
        # aiohttp has no public way to choose the class.
        self._factory = cast("partial[ResponseHandler]", partial(_Connection, self._loop, self))

    def add(self, connection: _Connection) -> None:
        self._open.add(connection)

    def trusts(self, server: object) -> bool:
        """Return whether connections to this server may be used again."""
        return server not in self._distrusted

    def distrust(self, server: object, requests: Sequence[Asked]) -> None:
        """Learn that a server has said something out of turn after the answers to these requests."""
        self._distrusted.add(server)
        self._doubt(requests)

    def quiet_time(self) -> float:
        """Return the time until which an answer out of turn may still come, on the clock of time.monotonic().

        The answer to the last request on a connection comes that late if an earlier one was taken for it.
        """
        return max((connection.quiet_time() for connection in self._open), default=0.0)


class _Connection(ResponseHandler):
    """One connection. It may be idle, or wait for the answer to one request."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connections: Connections) -> None:
        super().__init__(loop)
        self._connections = connections
        self._requests: list[Asked] = []
        self._is_idle = True
        self._body: aiohttp.StreamReader | None = None
        self._changed = time.monotonic()
        """Time of the last request, or of the end of its answer."""
        self._slowest = 0.0
        """Longest time between a request and the end of its answer, in seconds."""
        connections.add(self)

    @property
    def _server(self) -> object:
        return None if self.transport is None else self.transport.get_extra_info("peername")

    def set_response_params(self, **params: Any) -> None:
        """Begin a request. aiohttp calls this before it sends one."""
        if (request := asked.get(None)) is not None:
            self._requests.append(request)
        self._is_idle, self._changed = False, time.monotonic()
        if len(self._requests) >= MAX_REQUESTS or not self._connections.trusts(self._server):
            self.force_close()
        super().set_response_params(**params)

    def feed_data(self, data: tuple[Any, Any], size: int = 0) -> None:
        """Take the head of an answer and the stream of its body."""
        message, body = data
        if self._is_idle:
            # It follows the answer in the same packet.
            self.force_close()
            if message.code != _REQUEST_TIMEOUT:
                self._report()
        elif message.code >= 200:
            if message.code == _REQUEST_TIMEOUT:
                # It may have been sent before the request arrived, whose own answer follows then.
                self.force_close()
            self._body = body
            body.on_eof(self._end)
        super().feed_data(data, size)

    def _end(self) -> None:
        """Note that an answer has been received whole."""
        self._body = None
        now = time.monotonic()
        self._slowest = max(self._slowest, now - self._changed)
        self._is_idle, self._changed = True, now

    def data_received(self, data: bytes) -> None:
        if self._is_idle and data:
            if _is_answer(data):
                self._report()
            self.close()
            return
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Let a body whose length is not given be whole only if nothing but its end has ended the connection.

        The rule is https://www.rfc-editor.org/rfc/rfc9112#section-8, which aiohttp does not know.
        """
        if self._body is not None and (exc is not None or not has_ended(self.transport)):
            self._body.set_exception(aiohttp.ClientPayloadError("the connection broke before the end of the body"))
        super().connection_lost(exc)

    def _report(self) -> None:
        requests, self._requests = self._requests, []
        if requests:
            self._connections.distrust(self._server, requests)

    def quiet_time(self) -> float:
        """Return the time until which an answer out of turn may come, on the clock of time.monotonic()."""
        if not self._is_idle or len(self._requests) < 2 or not self.is_connected():
            return 0.0
        return self._changed + min(2 * self._slowest, MAX_QUIET_SECONDS)


def _is_answer(data: bytes) -> bool:
    """Return whether data on an idle connection could be taken for an answer. What ends idle connections is none."""
    status = data[:12].partition(b" ")[2]
    return data[: len(_ANSWER)] == _ANSWER[: len(data)] and status != b"%d" % _REQUEST_TIMEOUT
