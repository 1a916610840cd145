"""Serves a directory on loopback in a process of its own: with nginx where there is one, else with server.py."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

START_TIMEOUT = 30.0  # seconds

NGINX_CONF = """\
{user}
daemon off;
worker_processes 1;
pid nginx.pid;
error_log error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    absolute_redirect off;
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


@contextmanager
def serving(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the site's URL and the server's name while it is served."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")
    with _nginx(nginx, root) if nginx else _bundled(root) as served:
        yield served


@contextmanager
def _nginx(nginx: str, root: Path) -> Iterator[tuple[str, str]]:
    port = _free_port()
    user = "user root;" if os.geteuid() == 0 else ""  # else its worker is nobody, who can't read a temporary directory
    with tempfile.TemporaryDirectory(prefix="benchmark-nginx-") as prefix:
        config = Path(prefix, "nginx.conf")
        config.write_text(NGINX_CONF.format(user=user, port=port, root=root), encoding="utf-8")
        command = [nginx, "-p", prefix, "-c", str(config), "-e", str(Path(prefix, "error.log"))]
        with _running(subprocess.Popen(command, text=True)) as process:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}/", _version(nginx)


@contextmanager
def _bundled(root: Path) -> Iterator[tuple[str, str]]:
    command = [sys.executable, str(Path(__file__).with_name("server.py")), str(root)]
    with _running(subprocess.Popen(command, stdout=subprocess.PIPE, text=True)) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/", "the bundled asyncio server"


@contextmanager
def _running(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    with process:
        try:
            yield process
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + START_TIMEOUT
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


def _version(nginx: str) -> str:
    return subprocess.run([nginx, "-v"], capture_output=True, text=True, check=True).stderr.strip().rpartition(" ")[2]
