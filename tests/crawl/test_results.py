"""What a run leaves in the inventory for reports: totals, warnings, times of answers."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.inventories import connect
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program
    from tests.support.webserver import LoggedRequest

STATE = ("--state", "state.sqlite")
SLOW_SECONDS = 0.4
OF_CRAWL = ("milliseconds", "requests", "not_modified", "bytes", "errors", "overloads", "pauses")


def rows(program: Program, query: str) -> list[tuple[Any, ...]]:
    with closing(connect(Path(program.directory, "state.sqlite"))) as connection:
        return connection.execute(query).fetchall()


def totals(program: Program) -> list[dict[str, Any] | None]:
    """Return the stored totals of all runs."""
    found = rows(program, "SELECT totals FROM runs ORDER BY id")
    return [None if text is None else json.loads(text) for (text,) in found]


def with_milliseconds(report: dict[str, Any]) -> dict[str, Any]:
    return {**report, "milliseconds": round(report["seconds"] * 1_000)}


def expected_totals(report: dict[str, Any]) -> dict[str, Any]:
    """Return the totals that belong to a JSON report."""
    report = with_milliseconds(report)
    names = ("outcome", "message", "listed", "kept", "excluded", "other_hosts", "changes", "warning_counts", *OF_CRAWL)
    files = report["files"]
    counts = {"files": len(files), "files_written": sum(file["written"] for file in files)}
    hints = {"hints": "\n".join(report["hints"])} if report["hints"] else {}
    return {name: report[name] for name in names} | counts | hints


def stored_warnings(program: Program) -> list[dict[str, Any]]:
    found = rows(program, "SELECT kind, url, message FROM warnings ORDER BY id")
    return [dict(zip(("kind", "url", "message"), row, strict=True)) for row in found]


def broken_site(site: WebServer, links: int) -> None:
    site.pages["/"] = page("/a", "/moved", "/far/")
    site.pages["/a"] = page(*(f"/gone-{number}" for number in range(links)))
    site.pages["/moved"] = Answer(status=301, headers={"Location": "/gone"})
    site.pages["/far/"] = page("https://other.example/", title="Far")


def test_the_inventory_has_the_numbers_and_warnings_of_the_report(program: Program, site: WebServer) -> None:
    broken_site(site, 3)
    first = program.crawl(site.url(), *STATE).report
    assert first["warning_counts"] == {"broken-link": 3, "broken-redirect": 1}
    assert totals(program) == [expected_totals(first)]
    assert stored_warnings(program) == first["warnings"]
    assert set(rows(program, "SELECT run FROM warnings")) == {(1,)}

    broken_site(site, 1)
    second = program.crawl(site.url(), *STATE).report
    assert totals(program) == [expected_totals(first), expected_totals(second)]
    assert stored_warnings(program) == second["warnings"] != first["warnings"]
    assert set(rows(program, "SELECT run FROM warnings")) == {(2,)}


def test_a_thousand_warnings_of_a_kind_are_stored_and_all_are_counted(program: Program, site: WebServer) -> None:
    broken_site(site, 1_020)
    report = program.crawl(site.url(), *STATE).report
    assert rows(program, "SELECT kind, count(*) FROM warnings GROUP BY kind ORDER BY kind") == [
        ("broken-link", 1_000),
        ("broken-redirect", 1),
    ]
    (stored,) = totals(program)
    assert stored is not None
    assert stored["warning_counts"]["broken-link"] == report["warning_counts"]["broken-link"] == 1_020


def test_write_keeps_the_numbers_of_the_crawl(program: Program, site: WebServer) -> None:
    broken_site(site, 2)
    crawled = expected_totals(program.crawl(site.url(), *STATE).report)
    before = stored_warnings(program)
    for given in (("--dry-run",), ("-o", "copy")):
        assert program.run("write", *STATE, "--exclude", "/far/", *given).code == 0
        assert (totals(program), stored_warnings(program)) == ([crawled], before)

    assert program.run("write", *STATE, "--exclude", "/far/", "--report", "report.json").code == 0
    written = expected_totals(json.loads(Path(program.directory, "report.json").read_bytes()))
    assert written["excluded"]["excluded-by-rule"] == 1
    assert totals(program) == [{**written, **{name: crawled[name] for name in OF_CRAWL}}]
    assert stored_warnings(program) == before


def test_a_run_without_decisions_keeps_the_warnings_of_the_run_before(program: Program, site: WebServer) -> None:
    broken_site(site, 2)
    program.crawl(site.url(), *STATE)
    before = stored_warnings(program)
    site.pages["/robots.txt"] = Answer("busy", status=503)
    refused = program.crawl(site.url(), *STATE)
    assert refused.code != 0
    _, stored = totals(program)
    names = ("outcome", "message", *OF_CRAWL)
    assert stored == {name: with_milliseconds(refused.report)[name] for name in names}
    assert stored_warnings(program) == before


def test_texts_of_a_hostile_site_are_bounded_and_escaped(program: Program, site: WebServer) -> None:
    path = "/" + "\u2028%1b" * 300
    site.pages["/"] = Answer(status=302, headers={"Location": "http://other.example" + "/x" * 5_000})
    assert program.crawl(site.url(path), *STATE).code == 3
    ((text,),) = rows(program, "SELECT totals FROM runs")
    assert len(text) < 4_000
    assert json.loads(text)["message"].isprintable()
    for (message,) in rows(program, "SELECT message FROM warnings"):
        assert message.isprintable()


def test_the_time_of_each_answer_is_stored(program: Program, site: WebServer) -> None:
    def slow(request: LoggedRequest) -> Answer:
        if "if-none-match" not in request.headers:
            time.sleep(SLOW_SECONDS)
            return Answer("<h1>Slow</h1>", headers={"ETag": '"1"'})
        return Answer(status=304, headers={"ETag": '"1"'})

    site.pages["/"] = page("/slow", "/moved", "/gone", "/hidden", "/dropped")
    site.pages["/robots.txt"] = Answer("User-agent: *\nDisallow: /hidden\n", content_type="text/plain")
    site.pages["/moved"] = Answer(status=301, headers={"Location": "/"})
    site.pages["/dropped"] = Answer(drop=True)
    site.pages["/slow"] = slow
    query = "SELECT substr(url, ?), elapsed, not_modified FROM urls JOIN observations ON url_id = id"
    query = query.replace("?", str(len(site.url())))

    def elapsed() -> dict[str, tuple[int | None, int]]:
        return {path: (milliseconds, confirmed) for path, milliseconds, confirmed in rows(program, query)}

    assert program.crawl(site.url(), *STATE, "-s", "RETRY_TIMES=0").code == 0
    first = elapsed()
    assert first["/hidden"] == first["/dropped"] == (None, 0)
    for path in ("/", "/slow", "/moved", "/gone"):
        assert isinstance(first[path][0], int)
    slowest = first["/slow"][0]
    assert slowest is not None
    assert slowest >= SLOW_SECONDS * 1_000

    # A 304 says how fast the server compares, not how fast it makes the page.
    assert program.crawl(site.url(), *STATE, "-s", "RETRY_TIMES=0").code == 0
    assert elapsed()["/slow"] == (slowest, 1)
