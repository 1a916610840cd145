"""Sites whose pages link to ever new addresses: what a user is told of a crawl that does not end."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.postgres_server import needs_postgres
from tests.support.program import Program
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.forks import Fork
    from tests.support.postgres_server import PostgresServer

FAST = ("--no-adaptive", "--workers", "0")


def build_endless(site: WebServer) -> None:
    """Each page of a list links to two further pages of the list, and to one of a list that each project has."""

    def numbered(request: LoggedRequest) -> Answer:
        number = int(request.path.rpartition("=")[2])
        further = (2 * number + 1, 2 * number + 2)
        links = [f"/issues?sort={one}" for one in further]
        links.append(f"/projects/p{'abcdefghij'[number % 10]}{number}/issues?sort={number}")
        return Answer(page(*links, title=f"Issue {number}"))

    site.pages.update({"/": page("/issues?sort=0"), "/issues": numbered})
    site.respond = lambda request: (  # type: ignore[method-assign]
        Answer(page(title=request.path)) if request.path.startswith("/projects/") else WebServer.respond(site, request)
    )


def test_the_summary_says_that_max_pages_ended_the_run(program: Program, site: WebServer) -> None:
    build_endless(site)
    result = program.crawl(site.url("/"), *FAST, "--max-pages", "20", "--state", "state.db")
    assert (result.code, result.report["requests"]) == (0, 21)
    waiting = result.report["waiting"]
    assert waiting > 0
    line = (
        f"--max-pages 20 ended the run: {waiting:,} known URLs were not requested and may be missing in the sitemap; "
        "crawl with a larger --max-pages, or without it, to request all"
    )
    assert result.report["notices"][0] == line
    assert line in result.out.splitlines()
    again = program.run("write", "--state", "state.db")
    assert again.code == 0
    assert line.replace("--max-pages 20", "--max-pages") in again.out.splitlines()


def test_the_shapes_of_what_waits_after_max_pages_have_patterns_that_work(program: Program, site: WebServer) -> None:
    build_endless(site)
    first = program.crawl(site.url("/"), *FAST, "--max-pages", "40")
    shapes = {shape["pattern"]: shape for shape in first.report["waiting_shapes"]}
    assert set(shapes) == {"/issues?sort=*", "/projects/*/issues?sort=*"}
    assert sum(shape["urls"] for shape in shapes.values()) == first.report["waiting"]
    _, remedy, *lines = first.report["notices"]
    assert remedy.endswith("to leave out those that nobody needs, crawl with --exclude")
    assert all(line in first.out.splitlines() for line in (remedy, *lines))
    # The options as a user copies them.
    options = [word for line in lines for word in shlex.split(line.partition(": ")[2])]
    assert options[::2] == ["--exclude"] * 2
    site.clear_log()
    second = program.crawl(site.url("/"), *FAST, "--allow-shrink", *options)
    assert (second.code, second.report["waiting"], second.report["notices"]) == (0, 0, [])
    assert set(site.paths()) == {"/robots.txt", "/"}


def test_no_option_is_advised_that_leaves_out_more_listed_pages_than_others(program: Program, site: WebServer) -> None:
    pages, filters = [f"/big/{number}" for number in range(70)], [f"/list?x={number}" for number in range(40)]
    site.pages["/"] = page(*pages, *filters)
    site.pages.update({path: page("/", title=path) for path in pages})
    result = program.crawl(site.url("/"), "--max-pages", "41")
    assert (result.report["listed"], result.report["waiting"]) == (41, 70)
    shown = [(shape["pattern"], shape["urls"], shape["exclude"]) for shape in result.report["waiting_shapes"]]
    assert shown == [("/list?x=*", 40, f"^{re.escape(site.url('/list'))}\\?x=[^&]*$"), ("/big/*", 30, None)]
    _, _, *lines = result.report["notices"]
    assert [line.partition(":")[0] for line in lines] == ["40 like /list?x=*"]


def started(program: Program, *arguments: str) -> Fork:
    return program.start(
        "crawl",
        *arguments,
        "--report",
        "report.json",
        "--status",
        "status.json",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


GROWING = ("-s", "GROWTH_AFTER_REQUESTS=100", "-s", "GROWTH_WINDOW=50")


def interrupted(program: Program, *arguments: str, shapes: int = 2) -> tuple[list[str], dict[str, Any], str]:
    """Interrupt a crawl when it has said what grows. Return these lines, the status of then, and the last output."""
    process = started(program, *arguments, *GROWING)
    try:
        assert process.stderr is not None
        lines: list[str] = []
        while len(lines) < 1 + shapes:
            line = process.stderr.readline()
            assert line, "the crawl has ended"
            if " like " in line or "the queue grows" in line:
                lines.append(line.rstrip().partition("WARNING: ")[2])
        status: dict[str, Any] = {"growing": None}
        while status["growing"] is None:
            assert process.poll() is None
            status = json.loads((program.directory / "status.json").read_text(encoding="utf-8"))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 4, err
    assert "the queue grows" not in err
    return lines, status, out


@pytest.mark.slow
def test_a_crawl_that_grows_says_so_and_goes_on_without_what_grows(program: Program, site: WebServer) -> None:
    build_endless(site)
    lines, status, out = interrupted(program, site.url("/"), *FAST)
    assert lines[0].startswith("the queue grows: over the last 50 requests more URLs were added than requested, and ")
    remedy = "to go on without some of them, interrupt the crawl and run the same command with --exclude"
    assert lines[0].endswith(f" wait; {remedy}")
    assert [line.split()[2].rstrip(":") for line in lines[1:]] == [shape["pattern"] for shape in status["growing"]]
    options = [word for line in lines[1:] for word in shlex.split(line.partition(": ")[2])]
    assert options[1::2] == [shape["exclude"] for shape in status["growing"]]
    assert {shape["pattern"] for shape in status["growing"]} == {"/issues?sort=*", "/projects/*/issues?sort=*"}

    report = json.loads((program.directory / "report.json").read_text(encoding="utf-8"))
    assert report["outcome"] == "interrupted"
    assert report["notices"][0] == (
        f"the queue has grown faster than it was requested, and {report['waiting']:,} URLs wait; to go on without some "
        "of them, run the same command with --exclude"
    )
    assert all(notice in out.splitlines() for notice in report["notices"])
    assert sorted(options) == sorted(
        word for line in report["notices"][1:] for word in shlex.split(line.partition(": ")[2])
    )

    site.clear_log()
    result = program.crawl(site.url("/"), *FAST, *options, *GROWING)
    assert (result.code, result.report["run"], result.report["waiting"]) == (0, 1, 0)
    assert [path for path in site.paths() if "sort" in path] == []
    assert "the queue grows" not in result.err


@pytest.mark.slow
def test_a_resumed_run_is_told_once(program: Program, site: WebServer) -> None:
    build_endless(site)
    interrupted(program, site.url("/"), *FAST)
    process = started(program, site.url("/"), *FAST, *GROWING)
    try:
        status: dict[str, Any] = {"growing": None, "pid": 0}
        while status["growing"] is None or status["pid"] != process.pid:
            assert process.poll() is None
            status = json.loads((program.directory / "status.json").read_text(encoding="utf-8"))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 4, err
    assert "the queue grows" not in err
    report = json.loads((program.directory / "report.json").read_text(encoding="utf-8"))
    assert len(report["notices"]) == 3


@pytest.mark.slow
def test_write_after_an_interruption_names_the_command_that_publishes(program: Program, site: WebServer) -> None:
    build_endless(site)
    options = (site.url("/"), *FAST, "--state", "state.db", "-o", "public")
    interrupted(program, *options)
    refused = program.run("write", "--state", "state.db")
    assert refused.code == 1
    told = re.fullmatch(
        r"the inventory state\.db has no finished run: [0-9,]+ URLs are fetched and [0-9,]+ wait: run the same crawl "
        r"command to go on, or once with --max-pages 1 to publish the pages that are fetched: sitemap-crawler (.*)",
        refused.last_line,
    )
    assert told is not None, refused.last_line
    site.clear_log()
    published = program.run(*shlex.split(told[1]), "--report", "report.json")
    assert published.code == 0, published.err
    assert [path for path in site.paths() if path != "/robots.txt"] == []
    assert published.report["listed"] > 100
    assert published.report["notices"][0].startswith("--max-pages 1 ended the run: ")
    listed = (program.directory / "public" / "sitemap.xml").read_bytes()
    assert listed.count(b"<loc>") == published.report["listed"]

    # Nothing has changed: another `write` says the same.
    again = program.run("write", "--state", "state.db", "--report", "report.json")
    assert (again.code, again.report["notices"][0][:27]) == (0, "--max-pages ended the run: ")
    # A later run is open: the files are those of the run before, and `write` says what is missing.
    interrupted(program, *options)
    later = program.run("write", "--state", "state.db", "--report", "report.json")
    assert later.code == 0
    [notice] = later.report["notices"]
    assert notice in later.out.splitlines()
    assert notice == (
        f"run 2 is not finished, and {later.report['waiting']:,} known URLs wait: the files show run 1, and the pages "
        "that run 2 has fetched; run the same crawl command to go on, or once with --max-pages 1 to end it"
    )
    assert set(re.findall(rb"<loc>.*?</loc>", listed)) <= set(
        re.findall(rb"<loc>.*?</loc>", (program.directory / "public" / "sitemap.xml").read_bytes())
    )


@needs_postgres
@pytest.mark.slow
def test_of_several_processes_the_main_one_says_it(tmp_path: Path, site: WebServer, postgres: PostgresServer) -> None:
    build_endless(site)
    program = Program(tmp_path)
    options = ("--state", postgres.url(), "--processes", "2")
    lines, status, _ = interrupted(program, site.url("/"), *FAST, *options)
    assert {shape["pattern"] for shape in status["growing"]} == {"/issues?sort=*", "/projects/*/issues?sort=*"}
    assert len(lines) == 3


def test_a_limit_that_leaves_nothing_out_is_not_mentioned(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page("/")})
    result = program.crawl(site.url("/"), "--max-pages", "2")
    assert (result.code, result.report["notices"], result.report["waiting"]) == (0, [], 0)
    assert "--max-pages" not in result.out


def test_urls_of_a_shape_that_keeps_failing_are_tried_once(program: Program, site: WebServer) -> None:
    broken = [f"/show/{number}?raw=1" for number in range(40)]
    site.pages["/"] = page(*broken, "/other/1", "/other/2")
    for path in (*broken, "/other/1", "/other/2"):
        site.pages[path] = Answer("broken", status=500)
    result = program.crawl(site.url("/"), *FAST, "--concurrency", "1")
    assert result.code == 0, result.err
    requests = Counter(site.paths())
    assert [requests[path] for path in broken[:15]] == [3] * 15
    assert [requests[path] for path in broken[-15:]] == [1] * 15
    assert [requests[path] for path in ("/other/1", "/other/2")] == [3, 3]
    assert result.report["excluded"] == {"server-error": 42}


def test_an_answer_brings_back_the_attempts(program: Program, site: WebServer) -> None:
    broken = [f"/show/{number}" for number in range(60)]
    site.pages["/"] = page(*broken)
    site.pages.update(dict.fromkeys(broken, Answer("broken", status=500)))
    site.pages[broken[30]] = page(title="It works again")
    result = program.crawl(site.url("/"), *FAST, "--concurrency", "1")
    assert result.code == 0, result.err
    requests = Counter(site.paths())
    assert requests[broken[28]] == 1
    assert [requests[path] for path in broken[33:45]] == [3] * 12
    assert requests[broken[-1]] == 1
