"""A proxy before the PostgreSQL server of the tests. It loses the answers to commits, and stops to forward."""

from __future__ import annotations

import shutil
import socket
import struct
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.support.postgres_server import ICU, USER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from tests.support.postgres_server import PostgresServer

PORT = 5432
_QUERY, _PARSE, _SYNC = b"Q", b"P", b"S"
"""Kinds of messages: two with a statement, and the end of those that belong to the second one.

https://www.postgresql.org/docs/current/protocol-message-formats.html
"""
_READY = b"Z"
_MAX_GATE_SECONDS = 300


class PostgresProxy:
    """A running proxy. It understands the protocol, so that it knows commits and the answers to them."""

    def __init__(self, server: PostgresServer, *, host: str | None = None) -> None:
        """With a `host` it listens at this address, else at a socket in a directory of its own."""
        self._server = server
        self._host = host
        self.loses: Callable[[str], bool] = lambda _statements: False
        """Whether the answer to a commit is lost, and the connection with it.

        It is called with the statements of the transaction when the server is about to get the commit. The server has
        committed before the client can notice anything.
        """
        self.stops_after: Callable[[str], bool] = lambda _statement: False
        """Whether nothing is forwarded any more after a statement: the server has got it, and its answer is lost."""
        self.lost: list[str] = []
        """Statements of the transactions whose commits the server has answered in vain."""
        self.is_open = threading.Event()
        """While it is not set, nothing is forwarded, and no connection is closed."""
        self.is_open.set()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()

    def __enter__(self) -> Self:
        # The path of a socket has at most 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="proxy-", dir="/tmp"))
        if self._host is None:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(self.directory / f".s.PGSQL.{PORT}"))
        else:
            self._listener = socket.socket(socket.AF_INET)
            self._listener.bind((self._host, 0))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.is_open.set()
        with self._lock:
            for one in (self._listener, *self._sockets):
                _shut_down(one)
        shutil.rmtree(self.directory, ignore_errors=True)

    def url(self, state: str) -> str:
        """Return the URL of a schema of the server, through the proxy."""
        place, parameters = f"/{ICU}", f"host={self.directory}"
        if self._host is not None:
            place = f"{self._host}:{self._listener.getsockname()[1]}/{ICU}"
            parameters = "sslmode=disable&gssencmode=disable"
        return f"postgresql://{USER}@{place}?{parameters}&schema={state.rpartition('=')[2]}"

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._host is not None:
                # Each message is sent by itself, and must not wait for the confirmation of the one before.
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(f"{self._server.directory}/.s.PGSQL.{PORT}")
            except OSError:
                client.close()
                continue
            with self._lock:
                self._sockets |= {client, server}
            session = _Session(self, client, server)
            for work in (session.forward, session.answer):
                threading.Thread(target=self._run, args=(work, client, server), daemon=True).start()

    def _run(self, work: Callable[[], None], client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError, EOFError):
            work()
        # The other thread ends with its sockets.
        for one in (client, server):
            _shut_down(one)
        with self._lock:
            self._sockets -= {client, server}


class _Session:
    """One connection of a client. Each direction has a thread."""

    def __init__(self, proxy: PostgresProxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy = proxy
        self._client, self._server = client, server
        self._lost: str | None = None
        """Statements of the transaction whose commit gets no answer."""

    def forward(self) -> None:
        """Forward the messages of the client."""
        (size,) = struct.unpack("!I", first := _read(self._client, 4))
        self._pass(self._server, first + _read(self._client, size - 4))
        statements: list[str] = []
        stops = False
        for kind, content in _messages(self._client):
            statement = _statement(kind, content)
            if statement == "COMMIT":
                told = "\n".join(statements)
                if self._proxy.loses(told):
                    # The client waits for no other answer: what comes from now on is that to the commit.
                    self._lost = told
            elif statement == "BEGIN":
                statements = []
            elif statement:
                statements.append(statement)
            stops = stops or (statement is not None and self._proxy.stops_after(statement))
            self._pass(self._server, _message(kind, content))
            if stops and kind in (_QUERY, _SYNC):
                self._proxy.is_open.clear()
                stops = False

    def answer(self) -> None:
        """Forward the messages of the server until an answer is lost."""
        for kind, content in _messages(self._server):
            if self._lost is None:
                self._pass(self._client, _message(kind, content))
            elif kind == _READY:
                self._proxy.lost.append(self._lost)
                return

    def _pass(self, target: socket.socket, message: bytes) -> None:
        assert self._proxy.is_open.wait(_MAX_GATE_SECONDS)
        target.sendall(message)


def _messages(source: socket.socket) -> Iterator[tuple[bytes, bytes]]:
    while True:
        kind, (size,) = _read(source, 1), struct.unpack("!I", _read(source, 4))
        yield kind, _read(source, size - 4)


def _message(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("!I", len(content) + 4) + content


def _statement(kind: bytes, content: bytes) -> str | None:
    """Return the SQL of a message, if it has any."""
    if kind == _QUERY:
        return content[:-1].decode()
    # Before the SQL stands the name of a prepared statement.
    return content.split(b"\0", 2)[1].decode() if kind == _PARSE else None


def _read(source: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = source.recv(size - len(parts))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


def _shut_down(one: socket.socket) -> None:
    # The other side may be faster.
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
