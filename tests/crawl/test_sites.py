"""`crawl` with several site files: each site by itself, one summary, one exit code.

The loopback server is three sites: /a/ with the pages one and two, /b/ with the page three, /c/ with one.
"""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import threading
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.cli.main import run
from sitemap_crawler.cli.sites.plan import worst
from sitemap_crawler.validation.entries import read_entries
from tests.support.inventories import state_beside
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow

PAGES = {"a": ["", "one", "two"], "b": ["", "three"], "c": [""]}


@pytest.fixture
def sites(site: WebServer) -> WebServer:
    for name, paths in PAGES.items():
        site.pages[f"/{name}/"] = page(*(f"/{name}/{path}" for path in paths[1:]), title=name)
        site.pages.update({f"/{name}/{path}": page(title=path) for path in paths[1:]})
    return site


def site_file(
    program: Program, sites: WebServer, name: str, more: str = "", *, path: str | None = None, host: str = "127.0.0.1"
) -> None:
    directory = program.directory / "sites"
    directory.mkdir(exist_ok=True)
    url = sites.url(path or f"/{name}/").replace("127.0.0.1", host)
    state = state_beside(program.directory / f"{name}.sqlite", directory)
    text = f'start_url = "{url}"\noutput = "../out/{name}"\nstate = "{state}"\n{more}\n'
    (directory / f"{name}.toml").write_text(text, encoding="utf-8")


@pytest.fixture
def three(program: Program, sites: WebServer) -> Program:
    for name in PAGES:
        site_file(program, sites, name)
    return program


def listed(program: Program, sites: WebServer, name: str) -> list[str]:
    entries = read_entries((program.directory / "out" / name / "sitemap.xml").read_bytes())
    return [entry.loc.removeprefix(sites.url(f"/{name}/")) for entry in entries]


def failures(result: Result) -> list[str]:
    lines = result.err.splitlines()
    return [line.removeprefix("sitemap-crawler: ") for line in lines if line.startswith("sitemap-crawler: ")]


def report_of(program: Program) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((program.directory / "all.json").read_text(encoding="utf-8"))
    return report


def test_a_directory_of_site_files_is_crawled_in_order(three: Program, sites: WebServer) -> None:
    (three.directory / "sites" / ".b.toml").write_text("an editor's")
    (three.directory / "sites" / "notes.txt").write_text("no site")
    result = three.run("crawl", "--config", "sites", "--report", "all.json")
    assert (result.code, failures(result)) == (0, [])
    assert {name: listed(three, sites, name) for name in PAGES} == PAGES
    rows = [line.split() for line in result.out.splitlines()]
    assert rows[0] == ["site", "outcome", "listed", "added", "changed", "removed", "seconds"]
    assert [row[:6] for row in rows[1:4]] == [
        ["a", "published", "3", "3", "0", "0"],
        ["b", "published", "2", "2", "0", "0"],
        ["c", "published", "1", "1", "0", "0"],
    ]
    assert result.out.splitlines()[4:] == ["3 sites: 3 published"]
    firsts = [path[1] for path in sites.paths() if path != "/robots.txt"]
    assert firsts == sorted(firsts)
    report = report_of(three)
    assert (report["outcome"], report["exit_code"]) == ("published", 0)
    assert [one["config"] for one in report["sites"]] == ["sites/a.toml", "sites/b.toml", "sites/c.toml"]
    assert [one["report"]["listed"] for one in report["sites"]] == [3, 2, 1]
    assert [one["report"]["start_url"] for one in report["sites"]] == [sites.url(f"/{name}/") for name in PAGES]


def test_one_failure_does_not_stop_the_others(three: Program, sites: WebServer) -> None:
    site_file(three, sites, "a", path="/gone/")
    (three.directory / "sites" / "b.toml").write_text("start_url = ")
    (three.directory / "key.toml").write_text('start_ulr = "https://www.example.com/"\n')
    configs = ["sites/a.toml", "sites/b.toml", "absent.toml", "key.toml", "sites/c.toml"]
    result = three.run("crawl", *(f"--config={name}" for name in configs), "--report", "all.json")
    assert result.code == 2
    assert listed(three, sites, "c") == [""]
    lines = failures(result)
    assert len(lines) == 4
    for line, words in zip(
        lines,
        ["sites/a.toml: ", "sites/b.toml", "absent.toml", "key.toml: unknown key start_ulr: did you mean start_url?"],
        strict=True,
    ):
        assert words in line
    assert "status 404" in lines[0]
    assert "is not TOML" in lines[1]
    assert "No such file" in lines[2]
    assert [(one["outcome"], one["exit_code"]) for one in report_of(three)["sites"]] == [
        ("refused", 3),
        ("usage-error", 2),
        ("usage-error", 2),
        ("usage-error", 2),
        ("published", 0),
    ]
    assert result.out.splitlines()[-1] == "5 sites: 1 refused, 3 usage-error, 1 published"


@pytest.mark.parametrize(
    ("codes", "expected"),
    [([], 0), ([0, 0], 0), ([0, 4], 4), ([4, 3, 0], 3), ([3, 2, 4], 2), ([2, 1, 3, 4, 0], 1)],
)
def test_the_worst_exit_code(codes: list[int], expected: int) -> None:
    assert worst(codes) == expected


DIES = """
import os, sys
if any(argument.endswith("b.toml") for argument in sys.orig_argv):
    os.kill(os.getpid(), {signal})
"""


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL"])
def test_a_crash_is_one_sites(three: Program, sites: WebServer, name: str) -> None:
    three.patch(DIES.format(signal=int(signal.Signals[name])))
    result = three.run("crawl", "--config", "sites")
    assert result.code == 1
    [line] = failures(result)
    assert line.startswith(f"sites/b.toml: the crawl was killed by {name}")
    assert line.endswith("run the same command to continue")
    assert listed(three, sites, "a") == PAGES["a"]
    assert listed(three, sites, "c") == PAGES["c"]


def test_sites_side_by_side(three: Program, sites: WebServer) -> None:
    """The start page of each is answered when both have been asked for."""
    both = threading.Barrier(2, timeout=60)

    def together(request: LoggedRequest) -> Answer:
        both.wait()
        return Answer(page(title=request.path))

    sites.pages.update({"/a/": together, "/b/": together})
    # Sites of one host take turns.
    site_file(three, sites, "b", host="localhost")
    result = three.run("crawl", "--config", "sites", "--parallel", "2")
    assert result.code == 0, result.err
    assert [len(listed(three, sites, name)) for name in PAGES] == [1, 1, 1]


@pytest.fixture
def held(sites: WebServer) -> Iterator[tuple[threading.Event, threading.Event]]:
    """The page /a/one waits for the second event, and tells of it by the first."""
    reached, released = threading.Event(), threading.Event()

    def wait(_request: LoggedRequest) -> Answer:
        reached.set()
        released.wait(60)
        return Answer(page())

    sites.pages["/a/one"] = wait
    yield reached, released
    released.set()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_gently_and_nothing_new_is_begun(
    three: Program, sites: WebServer, held: tuple[threading.Event, threading.Event], number: signal.Signals
) -> None:
    reached, released = held
    process = three.start(
        "crawl", "--config", "sites", "-v", stdout=subprocess.PIPE, stderr=subprocess.PIPE, new_session=True
    )
    try:
        assert reached.wait(60)
        # To all of the terminal's foreground, as Ctrl-C is.
        os.killpg(process.pid, number)
        assert process.stderr is not None
        while "Received SIGTERM, shutting down" not in process.stderr.readline():
            assert process.poll() is None
        released.set()
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 4, err
    assert [line for line in err.splitlines() if line.startswith("sitemap-crawler")] == [
        "sitemap-crawler: sites/a.toml: interrupted; run the same command to continue",
        "sitemap-crawler: sites/b.toml: not begun; run the same command to continue",
        "sitemap-crawler: sites/c.toml: not begun; run the same command to continue",
    ]
    assert out.splitlines()[-1] == "3 sites: 1 interrupted, 2 not-begun"
    assert three.run("crawl", "--config", "sites").code == 0
    assert {name: listed(three, sites, name) for name in PAGES} == PAGES
    assert len([path for path in sites.paths() if path == "/a/"]) == 1


def said(program: Program, arguments: list[str], capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> str:
    """The one line of a command that is refused before anything has begun; run here, for a process takes its time."""
    patch.chdir(program.directory)
    patch.setattr("sys.argv", ["sitemap-crawler", "crawl", *arguments])
    assert run() == 2
    out, err = capsys.readouterr()
    assert out == ""
    [line] = err.splitlines()
    return line.removeprefix("sitemap-crawler: ")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('state = "../a.sqlite"', "the same state"),
        ('output = "../out/a/"', "same sitemap files"),
        ('output = "../out/a"\nsitemap_url = "{url}sitemap-1.xml"', "same sitemap files"),
        ('report = "../a.sqlite"', "state and report"),
        ('log_file = "a.toml"', "config and log_file"),
        ('status = "../out/a/sitemap-3.xml"', "name of a sitemap"),
    ],
)
def test_what_two_sites_must_not_share(
    program: Program,
    sites: WebServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    more: str,
    words: str,
) -> None:
    site_file(program, sites, "a")
    (program.directory / "out" / "a").mkdir(parents=True)
    url = sites.url("/b/")
    keys = {"state": '"../b.sqlite"', "output": '"../out/b"', "start_url": f'"{url}"'}
    given = dict(line.split(" = ") for line in more.format(url=url).splitlines())
    text = "\n".join(f"{name} = {value}" for name, value in {**keys, **given}.items())
    (program.directory / "sites" / "b.toml").write_text(text)
    line = said(program, ["--config", "sites"], capsys, monkeypatch)
    assert words in line
    assert "sites/a.toml" in line
    assert "sites/b.toml" in line
    assert sites.paths() == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["https://www.example.com/"], "START_URL"),
        (["-o", "elsewhere"], "--output"),
        (["--state", "x.sqlite"], "--state"),
        (["--sitemap-url", "https://www.example.com/sitemap.xml"], "--sitemap-url"),
        (["--public-url", "https://www.example.com/"], "--public-url"),
        (["--status", "status.json"], "--status"),
        (["-s", "SITEMAP_OUTPUT=elsewhere"], "SITEMAP_OUTPUT"),
        (["-s", "SITEMAP_REPORT=report.json"], "SITEMAP_REPORT"),
        (["--max-pages", "0"], "max_pages"),
        (["-s", "SITEMAP_MAXPAGES=5"], "SITEMAP_MAX_PAGES"),
        (["--parallel", "0"], "--parallel"),
        (["--report", "sites/a.toml"], "sites/a.toml"),
        (["--report", "out/b/sitemap.xml"], "out/b/sitemap.xml"),
        (["--report", "absent/all.json"], "absent/all.json"),
    ],
)
def test_options_that_several_sites_cannot_have(
    three: Program,
    sites: WebServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    (three.directory / "out" / "b").mkdir(parents=True)
    assert words in said(three, ["--config", "sites", *arguments], capsys, monkeypatch)
    assert sites.paths() == []


@pytest.mark.parametrize(
    ("directory", "line"),
    [
        ("empty", "--config empty: no site files are there: put files called *.toml in it"),
        ("absent", "--config absent: there is no such directory or file: give one that exists"),
    ],
)
def test_directories_without_site_files(
    three: Program, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, directory: str, line: str
) -> None:
    (three.directory / "empty").mkdir()
    assert said(three, ["--config", "sites", "--config", directory], capsys, monkeypatch) == line


def test_options_for_all_sites_reach_each(three: Program, sites: WebServer) -> None:
    sites.pages["/a/"] = page("one", "two", "-x")
    options = ["--exclude", "-x", "--exclude", "/two$", "--no-images", "--user-agent", "example bot/1.0", "-q"]
    result = three.run("crawl", "--config", "sites", *options, "-s", "SITEMAP_MAX_URLS=1")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert sorted(path.name for path in (three.directory / "out" / "a").iterdir()) == [
        "sitemap-1.xml",
        "sitemap-2.xml",
        "sitemap.xml",
    ]
    assert {request.headers["user-agent"] for request in sites.requests} == {"example bot/1.0"}


def test_quiet_says_failures_only(three: Program, sites: WebServer) -> None:
    site_file(three, sites, "b", path="/gone/")
    result = three.run("crawl", "--config", "sites", "-q", "--parallel", "3")
    assert (result.code, result.out) == (3, "")
    [line] = result.err.splitlines()
    assert line.startswith("sitemap-crawler: sites/b.toml: the start page ")


def test_lines_of_the_log_name_their_site(three: Program, sites: WebServer) -> None:
    site_file(three, sites, "100% ü", 'report = "../own.json"', path="/a/one/")
    sites.pages["/a/one/"] = page()
    result = three.run("crawl", "--config", "sites")
    assert result.code == 0, result.err
    assert {line.partition(": ")[0] for line in result.err.splitlines()} == {"a", "b", "c", "100% ü"}
    assert json.loads((three.directory / "own.json").read_text())["listed"] == 1
    result = three.run("crawl", "--config", "sites", "--log-file", "run.log", "-q")
    assert (result.code, result.out, result.err) == (0, "", "")
    log = (three.directory / "run.log").read_text(encoding="utf-8").splitlines()
    assert {line.partition(": ")[0] for line in log} == {"a", "b", "c", "100% ü"}
    assert any("unchanged: " in line for line in log)


def test_the_report_of_all_as_json_on_standard_output(three: Program) -> None:
    result = three.run("crawl", "--config", "sites", "--json")
    assert result.code == 0
    assert [one["report"]["listed"] for one in json.loads(result.out)["sites"]] == [3, 2, 1]


def test_the_report_of_one_as_json_on_standard_output(program: Program, sites: WebServer) -> None:
    result = program.crawl(sites.url("/a/"), "--json")
    assert json.loads(result.out) == result.report
    sites.pages["/a/"] = Answer(status=404)
    result = program.crawl(sites.url("/a/"), "--json")
    assert (result.code, json.loads(result.out)["outcome"]) == (3, "refused")
    assert "404" in result.last_line


def test_a_terminal_shows_how_many_sites_are_done(three: Program) -> None:
    master, slave = pty.openpty()
    process = three.start(
        "crawl", "--config", "sites", stdout=subprocess.DEVNULL, stderr=slave, TERM="xterm", COLUMNS="100"
    )
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 4_096):
            shown += chunk
    except OSError:
        pass  # the end of a terminal whose other side is closed
    os.close(master)
    assert process.wait(60) == 0
    assert b"1 of 3 sites done; b" in shown
    assert b"a: 3 pages listed in" in shown
    assert b"pages/s" not in shown


def test_sites_of_one_host_take_turns(program: Program, sites: WebServer) -> None:
    for name in PAGES:
        site_file(program, sites, name, "delay = 0.3")
    assert program.run("crawl", "--config", "sites", "--parallel", "3").code == 0
    times = [request.time for request in sites.requests]
    assert min(later - earlier for earlier, later in pairwise(times)) >= 0.3


def test_the_crawls_of_a_parent_that_is_killed_stop_gently(
    three: Program, sites: WebServer, held: tuple[threading.Event, threading.Event]
) -> None:
    reached, release = held
    process = three.start("crawl", "--config", "sites", stderr=subprocess.PIPE)
    assert reached.wait(60)
    process.kill()
    process.wait()
    release.set()
    # The children hold its standard error, too: it ends with the last of them.
    assert process.stderr is not None
    process.stderr.read()
    process.stderr.close()
    assert not (three.directory / "out" / "b").exists()
    assert three.run("crawl", "--config", "sites").code == 0
    assert {name: listed(three, sites, name) for name in PAGES} == PAGES
