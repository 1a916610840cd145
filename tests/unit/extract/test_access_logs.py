"""Access logs in the common and combined format."""

from __future__ import annotations

import gzip
from collections import Counter

import pytest

from sitemap_crawler.extract.access_logs import AccessLog, Visit

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36"
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


def line(
    target: str = "/a", *, method: str = "GET", status: int | str = 200, agent: str | None = CHROME, head: str = ""
) -> str:
    common = f'{head}203.0.113.9 - - [23/Nov/2026:04:05:06 +0000] "{method} {target} HTTP/1.1" {status} 512'
    return common if agent is None else f'{common} "https://example.com/" "{agent}"'


def read(*lines: str) -> Counter[Visit]:
    return sum(AccessLog(["\n".join(lines).encode()], max_lines=1_000, max_bytes=10**6), Counter())


@pytest.mark.parametrize(
    "text",
    [
        line(),
        line(agent=None),
        line(method="HEAD", status=304),
        line() + ' "0.001" more',
        line().replace("- - [", "- a user [", 1),
        line().replace("HTTP/1.1", "").replace("/a ", "/a"),
        line(agent='a \\"quoted\\" name'),
    ],
)
def test_a_visit(text: str) -> None:
    assert read(text) == {Visit(None, "/a"): 1}


@pytest.mark.parametrize("host", ["www.example.com", "www.example.com:443"])
def test_the_virtual_host_may_come_first(host: str) -> None:
    assert read(line(head=f"{host} ")) == {Visit("www.example.com", "/a"): 1}


@pytest.mark.parametrize(
    "text",
    [
        *(line(method=method) for method in ("POST", "OPTIONS", "get", "CONNECT")),
        *(line(status=status) for status in (206, 301, 302, 403, 404, 410, 500)),
        *(line(path) for path in ("*", "a", "/a.css", "/b/c.JPG?x=1", "/robots.txt", "/a\x01")),
        *(
            line(agent=agent)
            for agent in (GOOGLEBOT, "curl/8.1", "python-requests/2.3", "AhrefsBot", "UptimeMonitor/1")
        ),
        "",
    ],
)
def test_no_visit(text: str) -> None:
    log = AccessLog([text.encode()], max_lines=10, max_bytes=10_000)
    assert sum(log, Counter()) == {}
    assert log.unreadable == 0


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        '"a" "b"',
        '1.2.3.4 - - [x] "GET / HTTP/1.1"',
        '1 - - [x] "GET / HTTP/1.1" - 0',
        '{"url": "/a"}',
        "\0" * 9,
    ],
)
def test_a_line_of_another_format_is_counted(text: str) -> None:
    log = AccessLog([f"{line()}\n{text}\n{line()}".encode()], max_lines=10, max_bytes=10_000)
    assert sum(log, Counter()) == {Visit(None, "/a"): 2}
    assert (log.unreadable, log.first_unreadable, log.lines.number) == (1, 2, 3)


def test_visits_are_counted_in_gzip_too() -> None:
    data = gzip.compress("\n".join([line(), line("/b?x=1"), line()]).encode())
    log = AccessLog([data[:20], data[20:]], max_lines=10, max_bytes=10_000)
    assert sum(log, Counter()) == {Visit(None, "/a"): 2, Visit(None, "/b?x=1"): 1}
    assert log.lines.damage is None


def test_a_log_of_long_and_many_lines_is_bounded() -> None:
    log = AccessLog([b'"' * 10_000_000 + b"\n" + line().encode() + b"\n"] * 3, max_lines=3, max_bytes=10**9)
    assert sum(log, Counter()) == {Visit(None, "/a"): 1}
    assert (log.lines.too_long, log.lines.damage) == (2, "has more than 3 lines")
