"""A static server with every file in memory, for machines without nginx: `python benchmarks/server.py DIRECTORY`.

Prints its port on the first line of its output. Answers GET and HEAD with HTTP/1.1 keep-alive, nothing conditional.
"""

from __future__ import annotations

import asyncio
import mimetypes
import sys
from email.utils import formatdate
from pathlib import Path
from urllib.parse import unquote

MAX_HEAD = 65_536


def load(root: Path) -> dict[str, tuple[bytes, bytes]]:
    """Return head and body of the answer by path."""
    answers: dict[str, tuple[bytes, bytes]] = {}
    for file in root.rglob("*"):
        if not file.is_file():
            continue
        answer = _answer(file)
        path = "/" + file.relative_to(root).as_posix()
        answers[path] = answer
        if file.name == "index.html":
            answers[path.removesuffix("index.html")] = answer
    return answers


def _answer(file: Path) -> tuple[bytes, bytes]:
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    charset = "; charset=utf-8" if kind == "text/html" else ""
    modified = formatdate(file.stat().st_mtime, usegmt=True)
    body = file.read_bytes()
    return _head("200 OK", f"{kind}{charset}", len(body), f"Last-Modified: {modified}\r\n"), body


def _head(status: str, kind: str, length: int, more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n".encode()


class Server(asyncio.Protocol):
    def __init__(self, answers: dict[str, tuple[bytes, bytes]]) -> None:
        self.answers = answers
        self.received = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        assert self.transport is not None
        *heads, self.received = (self.received + data).split(b"\r\n\r\n")
        for head in heads:
            self.transport.write(self._respond(head))
            if b"\r\nconnection: close" in head.lower():
                self.transport.close()
        if len(self.received) > MAX_HEAD:
            self.transport.abort()

    def _respond(self, head: bytes) -> bytes:
        method, _, rest = head.decode("latin-1").partition(" ")
        path = unquote(rest.partition(" ")[0].partition("?")[0])
        if path in self.answers:
            answer, body = self.answers[path]
        elif f"{path}/" in self.answers:
            answer, body = _head("301 Moved Permanently", "text/html", 0, f"Location: {path}/\r\n"), b""
        else:
            body = b"Not found"
            answer = _head("404 Not Found", "text/plain", len(body))
        return answer if method == "HEAD" else answer + body


async def serve(root: Path) -> None:
    answers = load(root)
    server = await asyncio.get_running_loop().create_server(lambda: Server(answers), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
