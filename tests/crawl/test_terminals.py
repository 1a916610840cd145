"""What reaches a terminal: no sequence of a server or a file, and no traceback for its encoding."""

from __future__ import annotations

import csv
import json
import socket
import subprocess
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.program import Program

pytestmark = pytest.mark.slow

ESCAPE = b"\x1b]0;owned\x07\x1b[31m"
TITLE = "é 中 😀"


@contextmanager
def raw_server(answer: bytes) -> Iterator[str]:
    """Serve the same bytes to every connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65_536)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/sitemap.xml"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize(
    "answer",
    [
        ESCAPE + b"\r\n\r\n",
        b"HTTP/1.1 200" + ESCAPE + b" OK\r\n\r\n",
        b"HTTP/1.1 404 " + ESCAPE + b"\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: " + ESCAPE + b"\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://" + ESCAPE + b"/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n<urlset><url><loc>" + ESCAPE + b"</loc></url></urlset>",
    ],
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_validate_prints_no_sequence_of_the_server(program: Program, answer: bytes, options: list[str]) -> None:
    with raw_server(answer) as url:
        result = program.run("validate", url, *options)
    assert result.code != 0
    assert "\x1b" not in result.out + result.err
    assert "\x07" not in result.out + result.err


def test_a_site_file_with_a_sequence_in_a_key(program: Program) -> None:
    (program.directory / "site.toml").write_text('start_url = "http://127.0.0.1:1/"\n"\\u001b[31mkey" = 1\n')
    result = program.run("crawl", "--config", "site.toml")
    assert result.code == 2
    assert r"\x1b[31mkey" in result.last_line
    assert "\x1b" not in result.err


@pytest.mark.parametrize("variables", [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}, {"LC_ALL": "C"}])
def test_an_output_that_lacks_characters(program: Program, site: WebServer, variables: dict[str, str]) -> None:
    head = f'<meta name="robots" content="noindex, {TITLE}">'
    site.pages.update({"/": page("/a", title=TITLE), "/a": page(title=TITLE, head=head)})
    assert program.crawl(site.url(), "--state", "state.db").code == 0
    if "LC_ALL" in variables:
        # Without these Python would take UTF-8 for C.
        variables = {**variables, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}

    def run(*arguments: str) -> bytes:
        environment = {**program.environment(), **variables}
        command = program.command(*arguments)
        done = subprocess.run(command, cwd=program.directory, env=environment, capture_output=True, check=False)
        assert done.returncode in {0, 1}, done.stderr
        assert b"Traceback" not in done.stderr
        return done.stdout

    rows = list(csv.DictReader(run("pages", "--state", "state.db", "--format", "csv").decode("latin-1").splitlines()))
    assert [row["url"] for row in rows] == [site.url("/"), site.url("/a")]
    # Nothing is lost: a character that the encoding lacks is written as an escape of Python.
    encoding = variables.get("PYTHONIOENCODING", "ascii")
    assert rows[0]["title"] == TITLE.encode(encoding, "backslashreplace").decode("latin-1")
    assert run("explain", site.url("/"), "--state", "state.db")
    (program.directory / "map.xml").write_text(f"<urlset><url><loc>{TITLE}</loc></url></urlset>", encoding="utf-8")
    report = json.loads(run("validate", "map.xml", "--json"))
    assert TITLE in {finding["url"] for finding in report["findings"]}
    run("validate", "map.xml")
    run("crawl", site.url(), "--state", "state.db")


def test_a_log_line_with_a_sequence_of_the_server(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/a")
    site.pages["/a"] = Answer(status=302, headers={"Location": "/b\x1b[31m"})
    site.pages["/robots.txt"] = "Sitemap: http://\x1b[31m/\nCrawl-delay: \x1b[31m\n"
    result = program.crawl(site.url(), "-v", "-v")
    assert "\x1b" not in result.out + result.err
