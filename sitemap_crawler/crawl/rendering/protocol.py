"""The DevTools protocol over the pipe of a browser: calls, their results, and events.

A message is a JSON object that ends with a NUL byte: https://chromedevtools.github.io/devtools-protocol/. No port is
opened, so no other program can control the browser.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from typing import TYPE_CHECKING, Any, cast

from sitemap_crawler.exceptions import SitemapCrawlerError
from sitemap_crawler.utils.nesting import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Handler = Callable[[str, dict[str, Any]], None]

MAX_MESSAGE_BYTES = 128 << 20
"""Maximum size of a message of the browser. The longest one holds a DOM, which is shorter."""
CALL_SECONDS = 60.0
"""Maximum time of a call that no page can delay."""
MAX_ERROR = 300
"""Maximum number of characters of a message of the browser that is shown."""


class BrowserError(SitemapCrawlerError):
    """The browser does not do what it is asked to."""


class BrowserDiedError(BrowserError):
    """The browser has ended, or its pipe is closed."""


class MessageBuffer:
    """The bytes of the pipe, cut into messages."""

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._received = bytearray()
        self._searched = 0
        self._max_bytes = max_bytes

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the messages that are complete now. Raises BrowserError for one that is too long."""
        self._received += data
        while (end := self._received.find(0, self._searched)) >= 0:
            message = bytes(self._received[:end])
            del self._received[: end + 1]
            self._searched = 0
            yield message
        self._searched = len(self._received)
        if self._searched > self._max_bytes:
            raise BrowserError(f"the browser sends a message of more than {self._max_bytes:,} bytes")


class DevTools(asyncio.Protocol):
    """The crawl's end of the pipe."""

    def __init__(self) -> None:
        self._buffer = MessageBuffer()
        self._calls: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._handlers: dict[str | None, Handler] = {}
        self._last_id = 0
        self._reader: asyncio.BaseTransport | None = None
        self._writer: asyncio.WriteTransport | None = None
        self.is_lost = False

    @classmethod
    async def open(cls, reads: int, writes: int) -> DevTools:
        """Take over both descriptors: messages come from `reads` and go to `writes`."""
        loop, connection = asyncio.get_running_loop(), cls()
        try:
            connection._reader, _ = await loop.connect_read_pipe(lambda: connection, os.fdopen(reads, "rb", 0))
        except BaseException:
            os.close(writes)
            raise
        transport, _ = await loop.connect_write_pipe(lambda: _Writing(connection), os.fdopen(writes, "wb", 0))
        connection._writer = transport
        return connection

    def listen(self, session: str | None, handler: Handler) -> None:
        """Call `handler` with the name and the parameters of each event of a session; None: of the browser."""
        self._handlers[session] = handler

    def forget(self, session: str) -> None:
        self._handlers.pop(session, None)

    def send(self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None) -> None:
        """Call a method whose result does not matter."""
        if not self.is_lost:
            self._write(method, params, session)

    async def call(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        session: str | None = None,
        timeout: float = CALL_SECONDS,
    ) -> dict[str, Any]:
        """Return the result of a method. Raises BrowserError and BrowserDiedError."""
        if self.is_lost:
            raise BrowserDiedError("the browser has ended")
        number = self._write(method, params, session)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._calls[number] = answer
        try:
            async with asyncio.timeout(timeout):
                return await answer
        except TimeoutError:
            raise BrowserError(f"the browser does not answer {method} in {timeout:g} s") from None
        finally:
            self._calls.pop(number, None)

    def close(self) -> None:
        """Close the pipe. A browser ends then."""
        self.lost(BrowserDiedError("the browser was closed"))

    def data_received(self, data: bytes) -> None:
        try:
            for message in self._buffer.feed(data):
                self._receive(read_json(message))
        except (BrowserError, ValueError) as error:
            self.lost(BrowserDiedError(str(error)))

    def connection_lost(self, error: Exception | None) -> None:
        self.lost(BrowserDiedError("the browser has ended"))

    def lost(self, error: BrowserDiedError) -> None:
        """Have all calls fail, and tell the handlers. Only the first call has an effect."""
        if self.is_lost:
            return
        self.is_lost = True
        if self._reader is not None:
            self._reader.close()
        if self._writer is not None and not self._writer.is_closing():
            self._writer.abort()
        calls, self._calls = self._calls, {}
        for answer in calls.values():
            if not answer.done():
                answer.set_exception(error)
        handlers, self._handlers = self._handlers, {}
        for handler in handlers.values():
            handler(BROWSER_LOST, {})

    def _write(self, method: str, params: dict[str, Any] | None, session: str | None) -> int:
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = session
        cast("asyncio.WriteTransport", self._writer).write(json.dumps(message).encode() + b"\0")
        return self._last_id

    def _receive(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            handler = self._handlers.get(message.get("sessionId"))
            if handler is not None:
                handler(message["method"], message.get("params", {}))
            return
        answer = self._calls.get(message["id"])
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(BrowserError(str(message["error"].get("message"))[:MAX_ERROR]))
        else:
            answer.set_result(message.get("result", {}))


class _Writing(asyncio.BaseProtocol):
    """Notices that the browser reads no more."""

    def __init__(self, connection: DevTools) -> None:
        self._connection = connection

    def connection_lost(self, error: Exception | None) -> None:
        self._connection.lost(BrowserDiedError("the browser has ended"))


BROWSER_LOST = "lost"
"""Name of the event that a handler gets when the browser has ended. No event of the protocol has this form."""


@contextlib.contextmanager
def ignoring_browser_errors() -> Iterator[None]:
    """Ignore what a browser that ends, or a tab that is gone, can't do any more."""
    with contextlib.suppress(BrowserError):
        yield
