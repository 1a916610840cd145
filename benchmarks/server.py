"""A web server for the benchmarks: serves every file of a directory from memory.

`python benchmarks/server.py LOG DIRECTORY` prints its port on the first line of its output. It knows GET, HEAD and
keep-alive, and no conditional requests. `endless.py` serves a made site with it.
"""

from __future__ import annotations

import asyncio
import mimetypes
import os
import sys
import time
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

MAX_HEAD = 65_536
UNTHROTTLED = "LinkChecker: allowed\r\n"
"""Header without which LinkChecker makes at most ten requests per second, despite its configuration."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: str
    kind: str
    body: bytes = b""
    headers: str = ""

    def head(self) -> bytes:
        length = "" if self.status.startswith("304") else f"Content-Length: {len(self.body)}\r\n"
        return f"HTTP/1.1 {self.status}\r\nContent-Type: {self.kind}\r\n{length}{self.headers}\r\n".encode()


NOT_FOUND = Answer("404 Not Found", "text/plain", b"Not found")


class Site(Protocol):
    def answer(self, path: str, headers: dict[str, str]) -> Answer:
        """Answer a request. `path` is as sent, without its query; names and values of `headers` are in lower case."""


class Files:
    def __init__(self, root: Path) -> None:
        self._answers = {f"/{file.relative_to(root).as_posix()}": _answer(file) for file in root.rglob("*.*")}
        for path in list(self._answers):
            if path.endswith("/index.html"):
                directory = path.removesuffix("index.html")
                self._answers[directory] = self._answers[path]
                moved = Answer("301 Moved Permanently", "text/html", headers=f"Location: {directory}\r\n")
                self._answers.setdefault(directory.removesuffix("/"), moved)

    def answer(self, path: str, headers: dict[str, str]) -> Answer:
        return self._answers.get(unquote(path), NOT_FOUND)


def _answer(file: Path) -> Answer:
    if not file.is_file():
        return NOT_FOUND
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    modified = formatdate(file.stat().st_mtime, usegmt=True)
    charset = "; charset=utf-8" if kind == "text/html" else ""
    return Answer("200 OK", f"{kind}{charset}", file.read_bytes(), f"Last-Modified: {modified}\r\n{UNTHROTTLED}")


class Connection(asyncio.Protocol):
    def __init__(self, site: Site, log: int, delay: float) -> None:
        self._site = site
        self._log = log
        self._delay = delay
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *heads, self._received = (self._received + data).split(b"\r\n\r\n")
        for head in heads:
            arrived = time.time()
            if self._delay:
                asyncio.get_running_loop().call_later(self._delay, self._respond, head, arrived)
            else:
                self._respond(head, arrived)
        if len(self._received) > MAX_HEAD:
            self._end()

    def _respond(self, head: bytes, arrived: float) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        method, _, rest = first.partition(" ")
        path = rest.partition(" ")[0]
        headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
        answer = self._site.answer(path.partition("?")[0], headers)
        assert self._transport is not None
        self._transport.write(answer.head() + (b"" if method == "HEAD" else answer.body))
        if headers.get("connection") == "close":
            self._transport.close()
        answered = time.time()
        line = f"{answered:.3f}\t{answered - arrived:.3f}\t{method}\t{answer.status[:3]}\t{answer.kind}\t{path}\n"
        os.write(self._log, line.encode())

    def _end(self) -> None:
        assert self._transport is not None
        self._transport.abort()


async def serve(site: Site, log: Path, *, delay: float = 0.0) -> None:
    """Serve forever. Each answer takes `delay` seconds. serving.py reads the log."""
    file = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(site, file, delay), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Files(Path(sys.argv[2])), Path(sys.argv[1])))
