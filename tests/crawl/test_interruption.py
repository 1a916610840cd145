"""Kill it, stop it, run it twice: the same command goes on and ends with the same sitemap."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.gated_site import PAGES, Gate, build
from tests.support.program import Program
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.forks import Fork

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def undisturbed_crawl(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """Address and sitemap of the site, of a crawl that nothing interrupts."""
    program = Program(tmp_path_factory.mktemp("undisturbed"))
    with WebServer() as site:
        build(site)
        result = program.crawl(site.url("/"), "--state", "undisturbed.sqlite")
        assert result.report["listed"] == PAGES
        return site.url(), (program.output / "sitemap.xml").read_bytes()


@pytest.fixture
def undisturbed(undisturbed_crawl: tuple[str, bytes], site: WebServer) -> bytes:
    address, sitemap = undisturbed_crawl
    return sitemap.replace(address.encode(), site.url().encode())


@pytest.fixture
def started(program: Program) -> Iterator[list[Fork]]:
    processes: list[Fork] = []
    yield processes
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def start(program: Program, url: str, started: list[Fork], *options: str) -> Fork:
    process = program.start(
        "crawl", url, "--report", "report.json", *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    started.append(process)
    return process


@pytest.mark.parametrize("after", [0, 1, 90, 250])
def test_a_killed_crawl_goes_on_where_it_was(
    program: Program, site: WebServer, undisturbed: bytes, started: list[Fork], after: int
) -> None:
    gate = Gate(after)
    build(site, gate)
    process = start(program, site.url("/"), started)
    assert gate.reached.wait(60)
    process.kill()
    process.wait()
    gate.open()
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    assert result.report["run"] == 1
    assert (program.output / "sitemap.xml").read_bytes() == undisturbed
    # What was in flight, was being read, or was in the last batch that was not written is fetched again, no more.
    assert len(site.paths()) <= PAGES + 128 + 4 * 8 + 2


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_stops_gently_and_the_same_command_goes_on(
    program: Program, site: WebServer, undisturbed: bytes, started: list[Fork], stop: signal.Signals
) -> None:
    """As do the end of the machine, and that of the terminal."""
    gate = Gate(100)
    build(site, gate)
    process = start(program, site.url("/"), started)
    assert gate.reached.wait(60)
    process.send_signal(stop)
    gate.open()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    assert err.splitlines()[-1] == "sitemap-crawler: interrupted; run the same command to continue"
    assert not (program.output / "sitemap.xml").exists()
    fetched = len(site.paths())
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    assert (program.output / "sitemap.xml").read_bytes() == undisturbed
    # A gentle stop loses nothing: every page once, and robots.txt in both halves.
    assert len(site.paths()) == PAGES + 2
    assert fetched < PAGES


EARLY = """
import os, signal
from scrapy import signals

class Early:
    @classmethod
    def from_crawler(cls, crawler):
        moment = os.environ["EARLY"]
        if moment == "made":
            cls.stop()
        else:
            crawler.signals.connect(cls.stop, getattr(signals, moment))
        return cls()

    @staticmethod
    def stop():
        os.kill(os.getpid(), getattr(signal, os.environ["EARLY_SIGNAL"]))
"""


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["made", "spider_opened", "engine_started"])
def test_a_stop_while_the_crawl_opens_is_not_lost(
    program: Program, site: WebServer, moment: str, stop: signal.Signals
) -> None:
    build(site)
    (program.directory / "early.py").write_text(EARLY)
    program.variables = {"EARLY": moment, "EARLY_SIGNAL": stop.name}
    result = program.run("crawl", site.url("/"), "-s", 'EXTENSIONS={"early.Early": 1}')
    assert result.code == 4, result.err
    assert result.last_line == "interrupted; run the same command to continue"
    assert site.paths() == []
    program.variables = {}
    assert program.crawl(site.url("/")).report["listed"] == PAGES


STOPPED_AT_IMPORT = """
import os, signal, sys

def stop(event, arguments):
    if event == "import" and arguments[0] == os.environ["AT"]:
        for _ in range(int(os.environ["TIMES"])):
            os.kill(os.getpid(), getattr(signal, os.environ["STOP"]))

sys.addaudithook(stop)
"""
INTERRUPTED = "sitemap-crawler: interrupted; run the same command to continue\n"


def run_stopped_at_import(
    program: Program, *arguments: str, module: str, stop: signal.Signals, times: int = 1, under_nohup: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run the program. It gets a signal when it begins to import the module."""
    (program.directory / "sitecustomize.py").write_text(STOPPED_AT_IMPORT)
    added = {"PYTHONPATH": str(program.directory), "AT": module, "STOP": stop.name, "TIMES": str(times)}
    return subprocess.run(
        program.command(*arguments),
        cwd=program.directory,
        env={**program.environment(), **added},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=(lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) if under_nohup else None,
    )


@pytest.mark.parametrize(
    ("stop", "module"),
    [
        (signal.SIGINT, "sitemap_crawler.exceptions"),
        (signal.SIGTERM, "click"),
        (signal.SIGINT, "pydantic"),
        (signal.SIGINT, "scrapy.crawler"),
        (signal.SIGTERM, "scrapy.crawler"),
        (signal.SIGHUP, "scrapy.crawler"),
        (signal.SIGINT, "aiohttp"),
    ],
)
def test_a_signal_in_the_first_second_is_one_line(
    program: Program, site: WebServer, stop: signal.Signals, module: str
) -> None:
    """Before Scrapy has its handlers."""
    done = run_stopped_at_import(program, "crawl", site.url("/"), module=module, stop=stop)
    assert (done.returncode, done.stdout, done.stderr) == (4, "", INTERRUPTED)
    assert site.paths() == []


def test_a_second_signal_in_the_first_second_changes_nothing(program: Program, site: WebServer) -> None:
    done = run_stopped_at_import(program, "crawl", site.url("/"), module="scrapy.crawler", stop=signal.SIGINT, times=2)
    assert (done.returncode, done.stdout, done.stderr) == (4, "", INTERRUPTED)


def test_a_helper_that_the_crawl_ends_before_it_has_begun_says_nothing(program: Program) -> None:
    """The crawl may have succeeded without it."""
    done = run_stopped_at_import(program, "helper", module="sitemap_crawler.crawl.helpers", stop=signal.SIGTERM)
    assert (done.returncode, done.stdout, done.stderr) == (4, "", "")


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_another_command_is_one_line(program: Program, site: WebServer, stop: signal.Signals) -> None:
    site.pages["/"] = page()
    assert program.crawl(site.url("/"), "--state", "state.db").code == 0
    done = run_stopped_at_import(
        program, "write", "--state", "state.db", module="sitemap_crawler.sitemap.stage", stop=stop
    )
    # click ends the line on which a terminal shows ^C.
    assert (done.returncode, done.stdout, done.stderr) == (4, "", f"\n{INTERRUPTED}")


@pytest.mark.parametrize("module", ["click", "sitemap_crawler.publish.conclude"])
def test_the_end_of_a_terminal_stops_nothing_under_nohup(program: Program, site: WebServer, module: str) -> None:
    site.pages["/"] = page()
    arguments = ["crawl", site.url("/"), "-q"]
    done = run_stopped_at_import(program, *arguments, module=module, stop=signal.SIGHUP, under_nohup=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_second_ctrl_c_stops_at_once(program: Program, site: WebServer, started: list[Fork]) -> None:
    gate = Gate(1)
    build(site, gate)
    process = start(program, site.url("/"), started)
    assert gate.reached.wait(60)
    assert process.stderr is not None
    while process.poll() is None:
        # The first stops gently and waits for the answers that are held back, any later one does not.
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.3)
    gate.open()
    assert process.returncode == 4
    line = "sitemap-crawler: the crawl was stopped at once; run the same command to continue"
    assert process.stderr.read().splitlines() == [line]
    assert program.crawl(site.url("/")).report["listed"] == PAGES


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_after_the_last_line_change_no_exit_code(
    program: Program, site: WebServer, started: list[Fork], stop: signal.Signals
) -> None:
    """The interpreter gives the signals back in its last moments."""
    gate = Gate(1)
    build(site, gate)
    process = start(program, site.url("/"), started, "-q")
    assert gate.reached.wait(60)
    process.send_signal(stop)
    gate.open()
    assert process.stderr is not None
    assert process.stderr.readline() == "sitemap-crawler: interrupted; run the same command to continue\n"
    while process.poll() is None:
        process.send_signal(stop)
    assert process.returncode == 4


@pytest.mark.skipif(sys.platform != "linux", reason="workers and /proc are Linux's")
def test_workers_that_stand_still_keep_no_crawl_from_its_end(
    program: Program, site: WebServer, started: list[Fork]
) -> None:
    """They are frozen before a page arrives. Others take their places, and nothing is lost."""
    frozen: list[int] = []

    def freeze(_request: LoggedRequest) -> Answer:
        [pid] = [process.pid for process in started]
        frozen.extend(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
        for worker in frozen:
            os.kill(worker, signal.SIGSTOP)
        os.kill(pid, signal.SIGINT)
        return Answer(page("/b"))

    site.pages.update({"/": page("/a"), "/a": freeze, "/b": page()})
    process = start(program, site.url("/"), started, "--workers", "2")
    _, err = process.communicate(timeout=120)
    assert (process.returncode, len(frozen)) == (4, 2), err
    assert err.splitlines()[-1] == "sitemap-crawler: interrupted; run the same command to continue"
    assert not any(Path(f"/proc/{worker}").exists() for worker in frozen)
    result = program.crawl(site.url("/"))
    assert (result.code, result.listed()) == (0, [site.url("/"), site.url("/a"), site.url("/b")]), result.err
    assert site.paths().count("/a") == 1


def test_a_second_run_at_the_same_time_is_refused(program: Program, site: WebServer, started: list[Fork]) -> None:
    gate = Gate(0)
    build(site, gate)
    process = start(program, site.url("/"), started)
    assert gate.reached.wait(60)
    result = program.run("crawl", site.url("/"))
    assert result.code == 4
    assert "another run" in result.last_line
    gate.open()
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_fresh_drops_what_was_interrupted(
    program: Program, site: WebServer, undisturbed: bytes, started: list[Fork]
) -> None:
    gate = Gate(200)
    build(site, gate)
    process = start(program, site.url("/"), started)
    assert gate.reached.wait(60)
    process.kill()
    process.wait()
    gate.open()
    site.clear_log()
    result = program.crawl(site.url("/"), "--fresh")
    assert result.report["run"] == 2
    assert len(site.paths()) == PAGES + 1
    assert (program.output / "sitemap.xml").read_bytes() == undisturbed


def test_another_sitemap_url_in_the_middle_of_a_run_is_refused(
    program: Program, site: WebServer, started: list[Fork]
) -> None:
    gate = Gate(10)
    build(site, gate)
    process = start(program, site.url("/"), started)
    assert gate.reached.wait(60)
    process.kill()
    process.wait()
    gate.open()
    [state] = state_files(program.directory)
    result = program.run("crawl", site.url("/"), "--state", str(state), "--sitemap-url", site.url("/map.xml"))
    assert result.code == 1
    assert "--fresh" in result.last_line


def state_files(directory: Path) -> list[Path]:
    return sorted((directory / "state").rglob("*.sqlite"))


def test_the_state_is_one_file_for_each_site(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page(), "/docs/": page()})
    for path, output in (("/", "sitemaps"), ("/docs/", "docs"), ("/", "sitemaps")):
        assert program.crawl(site.url(path), "-o", output).code == 0
    assert len(state_files(program.directory)) == 2
    assert [path.name for path in program.output.iterdir()] == ["sitemap.xml"]


KILL_AT_RENAME = """
import os
replace, left = os.replace, {renames}

def replace_or_die(source, target, **directories):
    global left
    if ".sitemap-crawler-tmp" in os.fspath(source) and os.fspath(target).endswith(".xml"):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
    replace(source, target, **directories)

os.replace = replace_or_die
"""


def crawl_killed_at_rename(program: Program, url: str, renames: int) -> None:
    """Three shards and an index are to be published; the process dies after some of them were renamed."""
    program.patch(KILL_AT_RENAME.format(renames=renames))
    assert program.run("crawl", url, "--max-urls", "150").code == -9
    program.hook = None


@pytest.mark.parametrize("renames", [0, 1, 2, 3])
def test_a_crawl_killed_while_it_publishes_is_finished(program: Program, site: WebServer, renames: int) -> None:
    build(site)
    crawl_killed_at_rename(program, site.url("/"), renames)
    site.clear_log()
    result = program.crawl(site.url("/"), "--max-urls", "150")
    assert result.code == 0, result.err
    assert site.paths() == []
    names = ["sitemap-1.xml", "sitemap-2.xml", "sitemap-3.xml", "sitemap.xml"]
    assert sorted(path.name for path in program.output.iterdir()) == names
    locs = [loc for name in names[:3] for loc in result.listed(name)]
    assert sorted(locs) == sorted({site.url("/"), *(site.url(f"/{number}") for number in range(1, PAGES))})


@pytest.mark.parametrize("renames", [0, 1, 2, 3])
def test_shards_of_a_killed_publication_are_known_as_ours(program: Program, site: WebServer, renames: int) -> None:
    build(site)
    crawl_killed_at_rename(program, site.url("/"), renames)
    site.pages["/"] = page()
    assert program.crawl(site.url("/"), "--fresh").code == 0
    assert [path.name for path in program.output.iterdir()] == ["sitemap.xml"]


@pytest.mark.parametrize(
    ("first", "then", "expected"),
    [
        (["--exclude", "/b"], [], ["/", "/a", "/b", "/slow"]),
        ([], ["--exclude", "/b"], ["/", "/a", "/slow"]),
    ],
)
def test_a_run_goes_on_by_other_rules(
    program: Program, site: WebServer, first: list[str], then: list[str], expected: list[str]
) -> None:
    reached, released = threading.Event(), threading.Event()

    def slow(_request: LoggedRequest) -> Answer:
        reached.set()
        released.wait(60)
        return Answer(page("/b", title="slow"))

    site.pages.update({"/": page("/a", "/slow"), "/a": page("/b", title="a"), "/b": page(title="b"), "/slow": slow})
    process = program.start(
        "crawl", site.url("/"), "--state", "state.db", "--concurrency", "1", *first, stderr=subprocess.DEVNULL
    )
    try:
        assert reached.wait(60)
    finally:
        process.kill()
        process.wait()
    released.set()
    result = program.crawl(site.url("/"), "--state", "state.db", *then)
    assert result.code == 0, result.err
    assert result.listed() == [site.url(path) for path in expected]
    [warning] = [found for found in result.report["warnings"] if found["kind"] == "options-changed"]
    assert "exclude was" in warning["message"]


def test_what_was_read_by_other_options_is_read_again(program: Program, site: WebServer) -> None:
    """The start page was read when its nofollow link was not to be followed."""
    reached, released = threading.Event(), threading.Event()

    def slow(_request: LoggedRequest) -> Answer:
        reached.set()
        released.wait(60)
        return Answer(page(title="slow"))

    start = '<a href="/slow">slow</a><a rel="nofollow" href="/hidden">hidden</a>'
    site.pages.update({"/": Answer(start), "/slow": slow, "/hidden": page(title="hidden")})
    process = program.start(
        "crawl", site.url("/"), "--state", "state.db", "--concurrency", "1", stderr=subprocess.DEVNULL
    )
    try:
        assert reached.wait(60)
        process.send_signal(signal.SIGTERM)
        released.set()
        assert process.wait(60) == 4
    finally:
        process.kill()
        process.wait()
    result = program.crawl(site.url("/"), "--state", "state.db", "--follow-nofollow")
    assert result.code == 0, result.err
    assert result.listed() == [site.url(path) for path in ("/", "/hidden", "/slow")]
    [warning] = [found for found in result.report["warnings"] if found["kind"] == "options-changed"]
    assert "follow_nofollow was False, is True" in warning["message"]


def test_the_pause_of_an_interrupted_run_is_not_among_its_seconds(
    program: Program, site: WebServer, started: list[Fork]
) -> None:
    gate = Gate(90)
    build(site, gate)
    process = start(program, site.url("/"), started, "--state", "state.db")
    assert gate.reached.wait(60)
    process.send_signal(signal.SIGINT)
    gate.open()
    process.communicate(timeout=60)
    assert process.returncode == 4
    with contextlib.closing(sqlite3.connect(program.directory / "state.db")) as database, database:
        database.execute("UPDATE runs SET started = started - 86400")
    result = program.crawl(site.url("/"), "--state", "state.db")
    assert result.code == 0, result.err
    started_at, finished = (datetime.fromisoformat(result.report[name]) for name in ("started", "finished"))
    assert (finished - started_at).days == 1
    assert 0 < result.report["seconds"] < 3_600
    [row] = json.loads(program.run("runs", "--state", "state.db", "--json").out)
    assert row["seconds"] == result.report["seconds"]
    assert re.search(rf"│ seconds +│ +{result.report['seconds']:,.1f} │", result.out)
