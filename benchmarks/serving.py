"""Serves a site on loopback in a process of its own, and reads the requests from its log.

nginx serves a directory if it is installed, otherwise server.py.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from machine import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator

START_TIMEOUT_SECONDS = 30.0

# Without the header LinkChecker makes at most ten requests per second, despite its configuration.
NGINX_CONF = """\
{user}
daemon off;
worker_processes 1;
pid nginx.pid;
error_log error.log;
events {{ worker_connections 1024; }}
http {{
    log_format hits '$msec\\t$request_time\\t$request_method\\t$status\\t$sent_http_content_type\\t$request_uri';
    access_log {log} hits;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    absolute_redirect off;
    add_header LinkChecker allowed;
    charset utf-8;
    types {{
        text/html html htm;
        text/css css;
        text/plain txt;
        application/javascript js;
        image/svg+xml svg;
        image/png png;
        image/jpeg jpg jpeg;
        image/gif gif;
    }}
    default_type application/octet-stream;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {{
        listen 127.0.0.1:{port} backlog=512;
        root "{root}";
        index index.html;
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """One request in the log of the server."""

    arrived: float
    """Time when the server read the first byte of the request, in seconds since 1970."""
    answered: float
    """Time when the answer had been sent, in seconds since 1970."""
    method: str
    status: int
    kind: str
    path: str
    """Decoded path, without the query."""

    @property
    def is_page(self) -> bool:
        return self.method == "GET" and self.status == 200 and self.kind.startswith("text/html")


class Served:
    """A served site and the log of its server."""

    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self._log = log.open(encoding="utf-8", errors="replace")

    def hits(self) -> Iterator[Hit]:
        """Yield the requests that were answered since the last call."""
        for line in self._log:
            moment, seconds, method, status, kind, path = line.rstrip("\n").split("\t")
            answered = float(moment)
            yield Hit(answered - float(seconds), answered, method, int(status), kind, unquote(path.partition("?")[0]))

    def forget(self) -> None:
        """Skip the requests that are in the log."""
        self._log.seek(0, os.SEEK_END)


def server_name() -> str:
    nginx = _find_nginx()
    if nginx is None:
        return "the bundled asyncio server"
    return subprocess.run([nginx, "-v"], capture_output=True, text=True, check=True).stderr.strip().rpartition(" ")[2]


@contextmanager
def serving(root: Path) -> Iterator[Served]:
    nginx = _find_nginx()
    with _nginx(nginx, root) if nginx else _python("server.py", str(root)) as served:
        yield served


@contextmanager
def serving_endless(pages: int, *, delay: float = 0.0) -> Iterator[Served]:
    with _python("endless.py", str(pages), str(delay)) as served:
        yield served


@contextmanager
def serving_faulty(pages: int) -> Iterator[Served]:
    with _python("faulty.py", str(pages)) as served:
        yield served


def _find_nginx() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")


@contextmanager
def _nginx(nginx: str, root: Path) -> Iterator[Served]:
    port = _free_port()
    # Without it the worker of a server run as root is nobody, who cannot read a temporary directory.
    user = "user root;" if os.geteuid() == 0 else ""
    with tempfile.TemporaryDirectory(prefix="benchmark-nginx-") as prefix:
        log = Path(prefix, "access.log")
        config = Path(prefix, "nginx.conf")
        config.write_text(NGINX_CONF.format(user=user, port=port, root=root, log=log), encoding="utf-8")
        command = [nginx, "-p", prefix, "-c", str(config), "-e", str(Path(prefix, "error.log"))]
        with _running(subprocess.Popen(command, text=True)) as process:
            _wait_for(port, process)
            yield Served(f"http://127.0.0.1:{port}/", log)


@contextmanager
def _python(script: str, *arguments: str) -> Iterator[Served]:
    with tempfile.TemporaryDirectory(prefix="benchmark-server-") as directory:
        log = Path(directory, "access.log")
        command = [sys.executable, str(HERE / script), str(log), *arguments]
        with _running(subprocess.Popen(command, stdout=subprocess.PIPE, text=True)) as process:
            assert process.stdout is not None
            yield Served(f"http://127.0.0.1:{int(process.stdout.readline())}/", log)


@contextmanager
def _running(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    with process:
        try:
            yield process
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise SystemExit("The web server did not start.")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
