"""Access logs as a source of URLs, on a site whose start page links to /linked and to nothing else."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow

AGENT = "Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0"


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as server:
        server.pages.update({"/": page("/linked"), "/linked": page()})
        server.pages.update({f"/visited/{number}": page(title=f"Visited {number}") for number in range(1, 4)})
        server.pages["/draft"] = page(head='<meta name="robots" content="noindex">')
        yield server


def line(target: str, *, status: int = 200, agent: str = AGENT, host: str = "") -> str:
    return f'{host}203.0.113.9 - - [23/Nov/2026:04:05:06 +0000] "GET {target} HTTP/1.1" {status} 5 "-" "{agent}"\n'


def crawl(program: Program, site: WebServer, *options: str) -> Result:
    return program.crawl(site.url("/"), "--state", "state.sqlite", *options)


def write(program: Program, name: str, text: str) -> str:
    path = program.directory / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(path)


def listed(result: Result, site: WebServer) -> list[str]:
    assert result.code == 0, result.err
    return [url.removeprefix(site.url("")) for url in result.listed()]


def warnings(result: Result, kind: str) -> list[tuple[str, str]]:
    return [(found["url"], found["message"]) for found in result.report["warnings"] if found["kind"] == kind]


def test_pages_that_visitors_have_seen_are_crawled_and_counted(program: Program, site: WebServer) -> None:
    first = line("/visited/1") * 3 + line("/draft?utm_source=x") * 7 + line("/gone") + line("/linked") * 2
    first += line("/missing", status=404) + line("/style.css") + line("/visited/2", agent="Googlebot/2.1")
    second = line("/visited/1") * 2 + line("/draft") * 2 + line("/visited/3", host="other.example:443 ")
    second += line("https://elsewhere.example/visited/3") + line(site.url("/visited/3"))
    logs = write(program, "access.log", first), write(program, "access.log.1.gz", second)
    result = crawl(program, site, "--access-log", logs[0], "--access-log", logs[1])
    assert listed(result, site) == ["/", "/linked", "/visited/1", "/visited/3"]
    noindex = '(noindex: <meta name="robots" content="noindex">)'
    assert warnings(result, "visited-not-listed") == [
        (site.url("/draft"), f"visited 9 times by the access logs, and not listed {noindex}"),
        (site.url("/gone"), "visited once by the access logs, and not listed (client-error: status 404)"),
    ]
    assert result.report["warning_counts"]["visited-not-listed"] == 2
    only = "only an access log names it, no followed link leads to it"
    assert warnings(result, "sitemap-only") == [(site.url("/visited/1"), only), (site.url("/visited/3"), only)]
    assert warnings(result, "sitemap-unlistable") == []
    assert warnings(result, "url-list") == []
    assert not {"/missing", "/style.css", "/visited/2"} & set(site.paths())
    explained = program.run("explain", "--state", "state.sqlite", site.url("/visited/1"))
    assert "no followed link; an access log names it (5 visits)" in explained.out
    # In the next run the visits are counted anew.
    result = crawl(program, site, "--access-log", logs[0])
    assert warnings(result, "visited-not-listed")[0][1].startswith("visited 7 times")


def test_a_file_that_is_no_log_is_a_warning(program: Program, site: WebServer) -> None:
    path = write(program, "access.log", f"{line('/visited/1')}nonsense\nmore\n")
    empty = write(program, "empty.log", "")
    result = crawl(program, site, "--access-log", path, "--access-log", empty)
    assert listed(result, site) == ["/", "/linked", "/visited/1"]
    words = "2 of its 3 lines are no lines of the common or combined format, the first is line 2: give such a log"
    assert warnings(result, "url-list") == [(path, words), (empty, "is empty")]


def test_addresses_of_a_trap_are_not_crawled(program: Program, site: WebServer) -> None:
    site.pages["/a/b/a/b/a/b/"] = page()
    path = write(program, "access.log", line("/a/b/a/b/a/b/") + line("/visited/1"))
    assert listed(crawl(program, site, "--access-log", path), site) == ["/", "/linked", "/visited/1"]
    assert "/a/b/a/b/a/b/" not in site.paths()


def test_a_list_and_a_log_name_the_same_page(program: Program, site: WebServer) -> None:
    path = write(program, "access.log", line("/draft") * 4 + line("/visited/1"))
    urls = write(program, "a.txt", f"{site.url('/draft')}\n{site.url('/visited/1')}\n")
    result = crawl(program, site, "--access-log", path, "--urls", urls)
    assert [url for url, _ in warnings(result, "visited-not-listed")] == [site.url("/draft")]
    assert [url for url, _ in warnings(result, "sitemap-unlistable")] == [site.url("/draft")]
    message = "only a list of --urls names it, no followed link leads to it"
    assert warnings(result, "sitemap-only") == [(site.url("/visited/1"), message)]


@pytest.mark.parametrize("options", [("--access-log", "https://example.com/log"), ("--access-log", "-", "--urls", "-")])
def test_an_unusable_log_is_a_usage_error(program: Program, site: WebServer, options: tuple[str, ...]) -> None:
    assert crawl(program, site, *options).code == 2
    assert site.paths() == []


def test_a_log_of_the_live_site_serves_a_preview(program: Program, site: WebServer) -> None:
    site.pages["/robots.txt"] = Answer(status=404)
    path = write(program, "access.log", line("/visited/1") + line("/visited/2", host="www.example.com "))
    result = crawl(program, site, "--access-log", path, "--public-url", "https://www.example.com/")
    assert result.code == 0
    assert "https://www.example.com/visited/1" in result.listed()
    assert "https://www.example.com/visited/2" in result.listed()
    facts = json.loads(
        program.run("explain", "--state", "state.sqlite", "--json", "https://www.example.com/visited/1").out
    )
    assert facts["decision"] == "listed"
