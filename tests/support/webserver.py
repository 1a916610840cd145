"""A web site on loopback for tests: a dictionary of pages and a log of the requests.

    with WebServer({"/": page("a.html"), "/a.html": Answer("<h1>A</h1>")}) as server:
        fetch(server.url("/"))
        assert server.paths() == ["/"]

`pages` may be changed while the server runs. A request is answered by the entry for its path and query, else by the
one for its path alone, else with 404.
"""

from __future__ import annotations

import contextlib
import html
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

Headers = Mapping[str, str] | Iterable[tuple[str, str]]

IDLE_TIMEOUT_SECONDS = 30
"""Time after which a forgotten keep-alive connection is closed, so that its thread ends."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of the server. `headers` are added to Content-Type and Content-Length, and replace them."""

    body: str | bytes = ""
    status: int = 200
    headers: Headers = ()
    content_type: str | None = "text/html; charset=utf-8"
    drop: bool = False  # close the connection without an answer

    def payload(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body

    def header_pairs(self) -> list[tuple[str, str]]:
        pairs = self.headers.items() if isinstance(self.headers, Mapping) else self.headers
        return [(name, value) for name, value in pairs]


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    method: str
    path: str  # with the query, as sent
    headers: Mapping[str, str]  # names in lower case
    time: float  # time.monotonic() when the request had been read
    body: bytes = b""


Page = str | bytes | Answer | Callable[[LoggedRequest], Answer]


class WebServer:
    """Server of `pages` during a `with` block. `host` is "127.0.0.1" or "::1"; port 0 takes a free port."""

    def __init__(self, pages: Mapping[str, Page] | None = None, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.pages: dict[str, Page] = dict(pages or {})
        self.host = host
        self.scheme = "http"
        self._log: list[LoggedRequest] = []
        self._lock = threading.Lock()
        self._server = _Server(self, (host, port))
        self._running = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        # On a busy machine the thread may begin many seconds later.
        assert self._running.wait(60)
        return self

    def _serve(self) -> None:
        self._running.set()
        self._server.serve_forever(0.02)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def url(self, path: str = "/") -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{path}"

    def secure(self, certificate: Path) -> None:
        """Serve https, with a certificate and its key in one file. Call it before the `with` block."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.scheme = "https"

    @property
    def requests(self) -> list[LoggedRequest]:
        """Return a copy of the log, in order of arrival."""
        with self._lock:
            return list(self._log)

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def clear_log(self) -> None:
        with self._lock:
            self._log.clear()

    def answer(self, request: LoggedRequest) -> Answer:
        with self._lock:
            self._log.append(request)
        return self.respond(request)

    def respond(self, request: LoggedRequest) -> Answer:
        """Return the page of a request. Servers that are no dictionary of pages override this method."""
        answer = self.pages.get(request.path)
        if answer is None:
            answer = self.pages.get(request.path.partition("?")[0], Answer("Not found", status=404))
        if callable(answer):
            answer = answer(request)
        return answer if isinstance(answer, Answer) else Answer(answer)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, site: WebServer, address: tuple[str, int]) -> None:
        self.site = site
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._connections = _Connections()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        # HTTPServer's own method looks up the name of the host, which may use the network.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        self._connections.shut_down()
        super().server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that have gone. The handler answers 500 for an error in a page's function."""


@dataclass(slots=True)
class _Connections:
    """The open connections, to close those that wait for another request when the server closes."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    sockets: set[socket.socket] = field(default_factory=set)

    def add(self, connection: socket.socket) -> None:
        with self.lock:
            self.sockets.add(connection)

    def discard(self, connection: socket.socket) -> None:
        with self.lock:
            self.sockets.discard(connection)

    def shut_down(self) -> None:
        with self.lock:
            for connection in self.sockets:
                with contextlib.suppress(OSError):  # the client may be faster
                    connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_TIMEOUT_SECONDS
    disable_nagle_algorithm = True
    server: _Server

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = LoggedRequest(self.command, self.path, headers, time.monotonic(), body)
        try:
            answer = self.server.site.answer(request)
        except Exception as error:  # every error of a page function must reach the test
            answer = Answer(f"{type(error).__name__}: {error}", status=500, content_type="text/plain; charset=utf-8")
        if answer.drop:
            self.close_connection = True
        else:
            self._send(answer)

    def _send(self, answer: Answer) -> None:
        pairs = answer.header_pairs()
        given = {name.lower() for name, _ in pairs}
        payload = answer.payload()
        bodiless = answer.status in (204, 304) or answer.status < 200
        self.send_response_only(answer.status)
        if "date" not in given:
            self.send_header("Date", self.date_time_string())
        if not bodiless and not given & {"content-length", "transfer-encoding"}:
            self.send_header("Content-Length", str(len(payload)))
        if not bodiless and answer.content_type is not None and "content-type" not in given:
            self.send_header("Content-Type", answer.content_type)
        for name, value in pairs:
            self.send_header(name, value)  # also ends the connection after "Connection: close"
        self.end_headers()
        if not bodiless and self.command != "HEAD":
            self.wfile.write(payload)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = _serve  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Print nothing."""


def page(*hrefs: str, title: str = "Page", head: str = "", body: str = "") -> str:
    """Return a small HTML page with links to `hrefs`. `head` and `body` are inserted as markup."""
    links = "".join(f'<p><a href="{html.escape(href)}">{html.escape(href)}</a></p>\n' for href in hrefs)
    name = html.escape(title)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{name}</title>{head}</head>\n'
        f"<body>\n<h1>{name}</h1>\n{body}\n{links}</body>\n</html>\n"
    )
