"""A site of any size, made while it is served: `python benchmarks/endless.py PAGES`.

Prints its port on the first line of its output. Page n links to ten pages further down a tree and to three others,
has an ETag and answers a conditional request with 304. `/times` tells when each thousandth page was asked for.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

FAN_OUT = 10
STEP = 1_000
WORDS = ("the", "crawler", "reads", "every", "page", "once", "and", "keeps", "what", "it", "saw", "in", "a", "table")


class Site:
    def __init__(self, pages: int) -> None:
        self.pages = pages
        self.answered = 0
        self.times: list[float] = []

    def answer(self, path: str, etag: str) -> bytes:
        if path == "/times":
            return _answer("200 OK", json.dumps(self.times).encode(), "application/json")
        number = _number(path)
        if number is None or number >= self.pages:
            return _answer("404 Not Found", b"Not found", "text/plain")
        if self.answered % STEP == 0:
            self.times.append(time.time())
        self.answered += 1
        current = f'"{number:x}"'
        if etag == current:
            return f"HTTP/1.1 304 Not Modified\r\nETag: {current}\r\n\r\n".encode()
        return _answer("200 OK", self._page(number), "text/html; charset=utf-8", f"ETag: {current}\r\n")

    def _page(self, number: int) -> bytes:
        below = range(number * FAN_OUT + 1, min((number + 1) * FAN_OUT + 1, self.pages))
        others = (number // FAN_OUT, (number * 7_919) % self.pages, 0)
        links = "".join(f'<li><a href="{_path(target)}">Page {target}</a></li>' for target in (*below, *others))
        words = " ".join(WORDS[(number + at) % len(WORDS)] for at in range(150))
        return (
            f"<!DOCTYPE html><html lang=en><head><title>Page {number}</title></head><body><main><h1>Page {number}</h1>"
            f"<p>{words}</p></main><nav><ul>{links}</ul></nav></body></html>"
        ).encode()


def _path(number: int) -> str:
    return f"/section-{number % 97}/article-{number}.html" if number else "/"


def _number(path: str) -> int | None:
    if path == "/":
        return 0
    digits = path.rpartition("-")[2].removesuffix(".html")
    return int(digits) if digits.isascii() and digits.isdigit() and _path(int(digits)) == path else None


def _answer(status: str, body: bytes, kind: str, more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


class Connection(asyncio.Protocol):
    def __init__(self, site: Site) -> None:
        self.site = site
        self.received = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        assert self.transport is not None
        *heads, self.received = (self.received + data).split(b"\r\n\r\n")
        for head in heads:
            lines = head.decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
            self.transport.write(self.site.answer(lines[0].split(" ")[1], headers.get("if-none-match", "")))


async def serve(pages: int) -> None:
    site = Site(pages)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(site), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
