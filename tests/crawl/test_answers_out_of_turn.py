"""Servers that send one answer too many on a kept connection: no page gets the content of another."""

from __future__ import annotations

import json
import socketserver
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.support.secure_server import serving, write_certificate
from tests.support.webserver import page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.program import Program, Result

LAST = 20
PATHS = ["/", *[f"/p{number}" for number in range(1, LAST + 1)]]
HIDDEN = "/p7"


def answer(status: str, body: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


class Babbler(socketserver.StreamRequestHandler):
    """Server that sends an answer too many after the fourth request on a connection.

    `is_behind`: the client takes that answer for the one to the request, and so each later one for the one before.
    """

    stray = b""
    is_behind = False
    asked: list[str]
    words: dict[str, str]

    def handle(self) -> None:
        late = b""
        number = 0
        while line := self.rfile.readline():
            number += 1
            while self.rfile.readline().strip():
                pass
            path = urlsplit(line.split()[1].decode()).path
            self.asked.append(path)
            own = self.answer_to(path)
            if number == 4 and self.is_behind:
                late, own = own, self.stray
            elif number == 4:
                own += self.stray
            elif late:
                # In the end all that is owed is sent.
                late, own = (b"", late + own) if path == PATHS[-1] else (own, late)
            self.wfile.write(own)

    def answer_to(self, path: str) -> bytes:
        if path not in PATHS:
            return answer("404 Not Found", "")
        links = PATHS[1:] if path == "/" else []
        head = '<meta name="robots" content="noindex">' if path == HIDDEN else ""
        return answer("200 OK", page(*links, title=path, head=head, body=self.words.get(path, "")))


@contextmanager
def babbler(
    stray: bytes, *, is_behind: bool = False, certificate: Path | None = None, port: int = 0
) -> Iterator[tuple[str, type[Babbler]]]:
    values = {"stray": stray, "is_behind": is_behind, "asked": [], "words": {}}
    handler = type("Handler", (Babbler,), values)
    with serving(handler, certificate, port=port) as bound:
        scheme = "http" if certificate is None else "https"
        yield f"{scheme}://127.0.0.1:{bound}/", handler


def titles(program: Program) -> dict[str, str | None]:
    rows = program.run("pages", "--format", "jsonl").out.splitlines()
    return {urlsplit(row["url"]).path: row["title"] for row in map(json.loads, rows)}


def assert_true(result: Result, program: Program) -> None:
    assert result.code == 0
    assert sorted(urlsplit(loc).path for loc in result.listed()) == sorted(set(PATHS) - {HIDDEN})
    assert result.report["excluded"] == {"noindex": 1}
    assert titles(program) == {path: path for path in PATHS}


STRAYS = {
    "200": answer("200 OK", page(title="Nobody asked", head='<meta name="robots" content="noindex">')),
    "404": answer("404 Not Found", "<p>Not here"),
    "410": answer("410 Gone", ""),
}


@pytest.mark.parametrize("is_behind", [False, True], ids=["same packet", "one behind"])
@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS)
def test_pages_read_on_the_connection_are_requested_again(program: Program, stray: bytes, is_behind: bool) -> None:
    with babbler(stray, is_behind=is_behind) as (url, server):
        result = program.crawl(url, "--concurrency", "1")
    assert_true(result, program)
    kinds = [warning["kind"] for warning in result.report["warnings"]]
    assert kinds == ["out-of-turn"]
    # The first answer on the connection was that of robots.txt.
    assert server.asked.count("/robots.txt") == 1
    assert server.asked.count("/") == 2
    assert server.asked.count(PATHS[-1]) == (2 if is_behind else 1)


def test_over_tls(program: Program, tmp_path: Path) -> None:
    certificate = tmp_path / "certificate.pem"
    write_certificate(certificate)
    with babbler(STRAYS["200"], is_behind=True, certificate=certificate) as (url, server):
        result = program.crawl(url, "--concurrency", "1", "--ca-file", str(certificate))
    assert_true(result, program)
    assert server.asked.count(PATHS[-1]) == 2


def test_through_a_proxy(program: Program) -> None:
    with babbler(STRAYS["410"], is_behind=True) as (url, server):
        program.variables["http_proxy"] = url
        result = program.crawl("http://site.test/", "--concurrency", "1")
    assert_true(result, program)
    assert server.asked.count(PATHS[-1]) == 2


def test_the_end_of_an_idle_connection_is_no_answer(program: Program) -> None:
    with babbler(answer("408 Request Timeout", "")) as (url, server):
        result = program.crawl(url, "--concurrency", "1")
    assert_true(result, program)
    assert result.report["warnings"] == []
    assert sorted(server.asked.count(path) for path in PATHS) == [1] * len(PATHS)


def test_dates_stay(program: Program) -> None:
    with babbler(b"") as (url, server):
        port = urlsplit(url).port or 0
        program.crawl(url)
        server.words.update({path: f"<p>Something new on {path}" for path in ("/p4", "/p5")})
        program.crawl(url)
    before = (program.output / "sitemap.xml").read_bytes()
    assert before.count(b"<lastmod>") == 2
    with babbler(STRAYS["200"], is_behind=True, port=port) as (url, server):
        server.words.update({path: f"<p>Something new on {path}" for path in ("/p4", "/p5")})
        result = program.crawl(url, "--concurrency", "1")
    assert_true(result, program)
    assert (program.output / "sitemap.xml").read_bytes() == before
