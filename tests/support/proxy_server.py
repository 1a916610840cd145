"""An HTTP proxy on loopback: plain requests and tunnels."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping


class ProxyServer:
    """Proxy that forwards requests for every host to 127.0.0.1; with `login`, only requests that have it."""

    def __init__(self, login: str | None = None) -> None:
        self.login = login
        self.asked: list[tuple[str, str, Mapping[str, str]]] = []
        """Method, target and headers of every request."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients go away
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _handler_of(proxy: ProxyServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def _admitted(self) -> bool:
            headers = {name.lower(): value for name, value in self.headers.items()}
            proxy.asked.append((self.command, self.path, headers))
            if proxy.login is None or headers.get("proxy-authorization") == proxy.login:
                return True
            self._answer(407, b"", {"Proxy-Authenticate": "Basic"})
            return False

        def _answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if not self._admitted():
                return
            target = urlsplit(self.path)
            path = f"{target.path}?{target.query}" if target.query else target.path
            del self.headers["Proxy-Authorization"]
            with contextlib.closing(HTTPConnection("127.0.0.1", target.port, timeout=30)) as upstream:
                upstream.request(self.command, path, body or None, headers=dict(self.headers.items()))
                answer = upstream.getresponse()
                content_type = answer.headers.get("Content-Type", "")
                self._answer(answer.status, answer.read(), {"Content-Type": content_type})

        do_GET = do_POST = do_PUT = do_DELETE = _forward  # noqa: N815 - http.server's names

        def do_CONNECT(self) -> None:
            if not self._admitted():
                return
            port = int(self.path.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port)) as upstream:
                self.send_response_only(200)
                self.end_headers()
                self.wfile.flush()
                ends = {self.connection: upstream, upstream: self.connection}
                while True:
                    for end in select.select(list(ends), [], [], 30)[0]:
                        data = end.recv(65536)
                        if not data:
                            self.close_connection = True
                            return
                        ends[end].sendall(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
            """Keep the log off the terminal."""

    return Handler
