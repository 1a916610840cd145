"""Connections: IPv6, keep-alive, a kept connection that breaks, compression."""

from __future__ import annotations

import gzip
import socket
import socketserver
import threading
import zlib
from typing import TYPE_CHECKING, Any

import brotli
import pytest

from tests.support.codings import deflated, zstd
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.program import Program

pytestmark = pytest.mark.slow


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_an_ipv6_address(program: Program) -> None:
    robots = "User-agent: *\nDisallow: /no\n"
    with WebServer({"/robots.txt": robots, "/": page("/a", "/no", "//[0:0::1]/b"), "/a": page()}, host="::1") as site:
        # All spellings are the same address.
        result = program.crawl(f"http://[0:0:0:0:0:0:0:1]:{site.port}/", "--auth", "me:pw")
        assert result.listed() == [site.url("/"), site.url("/a")]
        assert result.report["excluded"] == {"blocked-by-robots": 1, "out-of-scope": 1}
        assert site.paths() == ["/robots.txt", "/", "/a"]
        for request in site.requests:
            assert request.headers["host"] == f"[::1]:{site.port}"
            assert request.headers["authorization"] == "Basic bWU6cHc="


def test_connections_are_kept(program: Program, site: WebServer) -> None:
    names = [f"/{number}" for number in range(60)]
    site.pages.update({"/": page(*names), **{name: page() for name in names}})
    opened: list[Any] = []
    accept = site._server.get_request

    def get_request() -> tuple[socket.socket, Any]:
        opened.append(1)
        return accept()

    site._server.get_request = get_request  # type: ignore[method-assign]
    result = program.crawl(site.url(), "--concurrency", "2", "--no-adaptive")
    assert len(result.listed()) == 61
    # With robots.txt 62 requests, two at a time.
    assert len(opened) <= 2


class Forgetful(socketserver.StreamRequestHandler):
    """Server that answers the first request on a connection and resets the connection at the second."""

    asked: list[str]

    def handle(self) -> None:
        for number in range(2):
            path = self.rfile.readline().split()[1].decode()
            while self.rfile.readline().strip():
                pass
            self.asked.append(path)
            if number:
                return
            body = b"" if path == "/robots.txt" else page("/a", "/b").encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
            self.wfile.write(head.encode() + body)


@pytest.fixture
def forgetful() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    handler = type("Handler", (Forgetful,), {"asked": asked})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # connections that end without a request
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", asked
        server.shutdown()


def test_every_request_is_counted_when_kept_connections_break(
    program: Program, forgetful: tuple[str, list[str]]
) -> None:
    url, asked = forgetful
    result = program.crawl(url, "--concurrency", "1")
    assert result.listed() == [url, f"{url}a", f"{url}b"]
    # By default the HTTP client would repeat the request by itself, at once and without a trace.
    assert len(asked) > 4
    assert result.report["requests"] == len(asked)


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", deflated),
        ("br", brotli.compress),
        ("zstd", zstd.compress),
    ],
)
def test_compressed_pages(program: Program, site: WebServer, encoding: str, compress: Any) -> None:
    def answer(request: LoggedRequest) -> Answer:
        assert encoding in request.headers["accept-encoding"]
        # More than one read of the socket.
        body = page("/a", body="".join(f"<p>{number}</p>" for number in range(100_000)))
        return Answer(compress(body.encode()), headers={"Content-Encoding": encoding})

    site.pages.update({"/": answer, "/a": Answer(compress(page().encode()), headers={"Content-Encoding": encoding})})
    result = program.crawl(site.url())
    assert result.listed() == [site.url("/"), site.url("/a")]


def test_two_content_encoding_headers_are_a_list(program: Program, site: WebServer) -> None:
    body = brotli.compress(gzip.compress(page("/a").encode()))
    headers = [("Content-Encoding", "gzip"), ("Content-Encoding", "br")]
    site.pages.update({"/": Answer(body, headers=headers), "/a": page()})
    assert program.crawl(site.url()).listed() == [site.url("/"), site.url("/a")]


def test_compression_can_be_switched_off(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    program.crawl(site.url(), "-s", "COMPRESSION_ENABLED=0")
    assert {request.headers["accept-encoding"] for request in site.requests} == {"identity"}
