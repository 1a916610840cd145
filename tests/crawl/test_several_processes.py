"""Several processes crawl one site with an inventory on a server: the set of one process, each page requested once."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.postgres_server import ICU, PostgresServer, needs_postgres
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.forks import Fork
    from tests.support.program import Program

pytestmark = [needs_postgres, pytest.mark.slow]
PAGES = 400
MODIFIED = "Tue, 07 May 2024 08:09:10 GMT"
SHORT_LEASE = ("-s", "SITEMAP_LEASE=4")
"""Seconds after which a killed process counts as dead. A machine under load may take a living one for dead, too."""
CONCURRENCY = ("--concurrency", "8")
PATIENT = ("-s", "DOWNLOAD_TIMEOUT=600")
"""No page is requested again because a process of the test starts slowly, and its gate stays closed for so long."""
UNGATED = 5
LONG_PAUSE = 0.5
"""Seconds that an answer takes while something is done: one process alone must not end the crawl meanwhile."""
HELD = 2 * 64
"""Maximum number of URLs that a helper has in work: leased, in flight, and in its buffer."""
CONCLUDER = """
import os, signal, sys
import sitemap_crawler.publish.conclude as conclude
conclude.conclude = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from sitemap_crawler.__main__ import main
main()
"""
"""The program, killed when it begins to conclude the run."""


def path_of(number: int) -> str:
    return f"/{number or ''}"


class Site:
    """A tree of pages, each linked from others, too."""

    def __init__(self, server: WebServer, *, pause: float = 0.02) -> None:
        self.gate = threading.Event()
        """Until it is set, only the first pages are answered."""
        self.at: dict[int, Callable[[], object]] = {}
        """What is done at the request with this number."""
        self.pause = pause
        self._is_acting = threading.Event()
        self.requested: Counter[str] = Counter()
        self.expected: set[str] = set()
        """What one process has requested."""
        self._lock = threading.Lock()
        self.server = server
        server.pages["/robots.txt"] = Answer("User-agent: *\nDisallow: /private/\n", content_type="text/plain")
        server.pages.update({path_of(number): self.answer for number in range(PAGES)})

    def answer(self, request: LoggedRequest) -> Answer:
        with self._lock:
            self.requested[request.path] += 1
            count = self.requested.total()
        if count > UNGATED:
            assert self.gate.wait(100)
        if count in self.at:
            self._is_acting.set()
            try:
                self.at[count]()
            finally:
                self._is_acting.clear()
        time.sleep(LONG_PAUSE if self._is_acting.is_set() else self.pause)
        number = int(request.path.removeprefix("/") or 0)
        if number % 41 == 7:
            return Answer(status=404)
        below = [path_of(child) for child in range(number * 3 + 1, number * 3 + 4) if child < PAGES]
        links = [*below, path_of(number * 7919 % PAGES), "/private/x"]
        return Answer(page(*links, title=f"Page {number}"), headers={"Last-Modified": MODIFIED})

    def assert_none_during(self, begin: float, end: float) -> None:
        """Check that requests came before and after a time, and none in it."""
        times = [request.time for request in self.server.requests]
        assert min(times) < begin
        assert max(times) > end
        assert [moment for moment in times if begin < moment < end] == []


@pytest.fixture
def tree(site: WebServer) -> Site:
    return Site(site)


class Process:
    """A process of the crawl, with what it says."""

    def __init__(self, process: Fork) -> None:
        self.process = process

    def kill(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)

    def end(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=120)
        assert "Traceback" not in err, err
        return self.process.returncode, out + err


@contextmanager
def started(program: Program, *arguments: str) -> Iterator[Process]:
    with program.start("crawl", *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield Process(process)
        finally:
            if process.poll() is None:
                process.kill()


def sitemap(program: Program, output: str) -> bytes:
    return (program.directory / output / "sitemap.xml").read_bytes()


def crawl_alone(program: Program, site: Site, *options: str) -> bytes:
    """Crawl with one process, which has no need of slow answers, and return its sitemap."""
    site.gate.set()
    pause, site.pause = site.pause, 0.0
    result = program.crawl(site.server.url(), "--state", "alone.sqlite", "-o", "alone", *CONCURRENCY, *options)
    assert result.code == 0, result.err
    site.gate.clear()
    site.pause = pause
    site.expected = set(site.requested)
    site.requested.clear()
    return sitemap(program, "alone")


@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_each_page_is_requested_once_and_the_set_is_that_of_one_process(
    program: Program, tree: Site, postgres: PostgresServer, helpers: int
) -> None:
    expected = crawl_alone(program, tree)
    with crawling(program, tree, postgres, postgres.url(), "-s", "SITEMAP_LEASE=60", helpers=helpers) as processes:
        tree.gate.set()
        ended = [process.end() for process in processes]
    assert [code for code, _ in ended] == [0] * (helpers + 1), ended
    assert sitemap(program, "main") == expected
    assert set(tree.requested.values()) == {1}
    assert set(tree.requested) == tree.expected
    assert all("helped with" in words for _, words in ended[1:]), ended


@contextmanager
def crawling(
    program: Program, site: Site, server: PostgresServer, state: str, *options: str, helpers: int = 1
) -> Iterator[list[Process]]:
    """Start the main process of a crawl, and helpers, and wait until all have joined. The caller opens the gate."""
    command = [site.server.url(), "--state", state, *CONCURRENCY, *SHORT_LEASE, *PATIENT, *options]
    with ExitStack() as stack:
        processes = [stack.enter_context(started(program, *command, "-o", "main"))]
        processes += [stack.enter_context(started(program, *command, "--join")) for _ in range(helpers)]
        schema = state.rpartition("=")[2]
        exists = f"SELECT to_regclass('{schema}.processes') IS NOT NULL"
        joined = f"SELECT count(*) FROM {schema}.processes WHERE NOT ended"
        wait_for(lambda: server.execute(ICU, exists) == [(True,)])
        wait_for(lambda: server.execute(ICU, joined) == [(helpers + 1,)])
        yield processes


def again(program: Program, site: Site, state: str, *options: str) -> bytes:
    """Run the main process once more, and return the sitemap."""
    command = [site.server.url(), "--state", state, "-o", "main", *CONCURRENCY, *SHORT_LEASE, *options]
    result = program.crawl(*command)
    assert result.code == 0, result.err
    return sitemap(program, "main")


def owned(postgres: PostgresServer, state: str) -> list[tuple[Any, ...]]:
    return postgres.execute(ICU, f"SELECT url_id FROM {state.rpartition('=')[2]}.frontier WHERE owner IS NOT NULL")


def test_others_request_what_a_killed_helper_had_begun(program: Program, tree: Site, postgres: PostgresServer) -> None:
    expected = crawl_alone(program, tree)
    state = postgres.url()
    with crawling(program, tree, postgres, state, helpers=2) as (main, killed, other):
        tree.at[200] = killed.kill
        tree.gate.set()
        assert main.end()[0] == 0
        assert other.end()[0] == 0
        assert killed.end()[0] == -signal.SIGKILL
    assert sitemap(program, "main") == expected
    assert set(tree.requested) == tree.expected
    assert tree.requested.total() <= len(tree.expected) + HELD


def test_helpers_finish_what_a_killed_main_process_leaves_and_the_same_command_concludes(
    program: Program, tree: Site, postgres: PostgresServer
) -> None:
    expected = crawl_alone(program, tree)
    state = postgres.url()
    with crawling(program, tree, postgres, state, helpers=2) as (main, *helpers):
        tree.at[200] = main.kill
        tree.gate.set()
        ended = [helper.end() for helper in helpers]
        assert [code for code, _ in ended] == [0, 0], ended
    assert set(tree.requested) == tree.expected
    requests = tree.requested.total()
    assert requests <= len(tree.expected) + 2 * 256
    assert again(program, tree, state) == expected
    assert tree.requested.total() == requests


def test_a_killed_conclusion_is_begun_again(program: Program, tree: Site, postgres: PostgresServer) -> None:
    expected = crawl_alone(program, tree)
    state = postgres.url()
    tree.gate.set()
    arguments = ["crawl", tree.server.url(), "--state", state, "-o", "main", *CONCURRENCY, *SHORT_LEASE]
    result = program.execute(sys.executable, "-c", CONCLUDER, *arguments)
    assert result.code == -signal.SIGKILL
    requests = tree.requested.total()
    assert again(program, tree, state) == expected
    assert tree.requested.total() == requests


def test_a_process_that_was_suspended_for_too_long_starts_anew(
    program: Program, tree: Site, postgres: PostgresServer
) -> None:
    expected = crawl_alone(program, tree)
    state = postgres.url()
    schema = state.rpartition("=")[2]
    leased = f"SELECT url_id FROM {schema}.frontier JOIN {schema}.processes ON id = owner WHERE NOT is_main"
    with crawling(program, tree, postgres, state, helpers=1) as (main, helper):

        def suspend() -> None:
            wait_for(lambda: postgres.execute(ICU, leased) != [])
            helper.kill(signal.SIGSTOP)

        tree.at[60] = suspend
        tree.gate.set()
        # It wakes when it was taken for dead, or when nobody waits for it.
        wait_for(lambda: postgres.execute(ICU, f"SELECT id FROM {schema}.processes WHERE ended") != [])
        helper.kill(signal.SIGCONT)
        ended = [main.end(), helper.end()]
        assert [code for code, _ in ended] == [0, 0], ended
    assert sitemap(program, "main") == expected
    assert set(tree.requested) == tree.expected
    assert tree.requested.total() <= len(tree.expected) + HELD


def test_a_process_that_was_taken_for_dead_requests_all_that_it_leases_afterwards(
    program: Program, site: WebServer, postgres: PostgresServer
) -> None:
    paths = [f"/{number}" for number in range(8)]
    state = postgres.url()
    schema = state.rpartition("=")[2]
    all_in_flight = threading.Barrier(len(paths))
    is_first = threading.Event()

    def declare_dead(_: LoggedRequest) -> Answer:
        if not is_first.is_set():
            if all_in_flight.wait(100) == 0:
                # What another process does that has not heard of this one.
                postgres.execute(
                    ICU, f"UPDATE {schema}.processes SET ended = true; UPDATE {schema}.frontier SET owner = NULL"
                )
                is_first.set()
            assert is_first.wait(100)
        return Answer(page(), headers={"Last-Modified": MODIFIED})

    site.pages["/"] = Answer(page(*paths), headers={"Last-Modified": MODIFIED})
    site.pages |= dict.fromkeys(paths, declare_dead)
    result = program.crawl(site.url(), "--state", state, "-o", "main", *CONCURRENCY)
    assert result.code == 0, result.err
    assert "others take over what it had begun" in result.err
    assert "not requested" not in result.err
    assert Counter(site.paths()) == {"/robots.txt": 1, "/": 1} | dict.fromkeys(paths, 2)
    assert all(f"<loc>{site.url(path)}</loc>" in sitemap(program, "main").decode() for path in ["/", *paths])


def test_the_main_process_stops_its_helpers_and_a_stopped_helper_gives_back(
    program: Program, tree: Site, postgres: PostgresServer
) -> None:
    expected = crawl_alone(program, tree)
    state = postgres.url()
    with crawling(program, tree, postgres, state, "-s", "SITEMAP_LEASE=60", helpers=2) as (main, stopped, other):
        tree.at[150] = lambda: stopped.kill(signal.SIGINT)
        tree.at[250] = lambda: main.kill(signal.SIGINT)
        tree.gate.set()
        ended = [process.end() for process in (stopped, main, other)]
    assert [code for code, _ in ended] == [0, 4, 0], ended
    assert "helped with" in ended[0][1]
    assert "helped with" in ended[2][1]
    assert owned(postgres, state) == []
    assert again(program, tree, state) == expected
    assert set(tree.requested.values()) == {1}


def report(program: Program) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((program.directory / "report.json").read_text(encoding="utf-8"))
    return found


def test_the_requests_of_a_run_that_is_resumed_count_once(
    program: Program, tree: Site, postgres: PostgresServer
) -> None:
    tree.gate.set()
    command = [tree.server.url(), "--state", postgres.url(), "-o", "main", "--report", "report.json", *CONCURRENCY]
    for interrupted_at in (60, 160, None):
        with started(program, *command) as main:
            if interrupted_at is not None:
                tree.at[interrupted_at] = partial(main.kill, signal.SIGINT)
            assert main.end()[0] == (0 if interrupted_at is None else 4)
        assert report(program)["requests"] == len(tree.server.requests)


def test_overloads_and_pauses_of_all_processes_are_in_the_report(
    program: Program, tree: Site, postgres: PostgresServer
) -> None:
    """The helper alone gets failures."""
    failures = [Answer(status=503, headers={"Retry-After": "1"}), Answer(status=429), Answer(status=503)]
    failed: dict[str, Answer] = {}
    state = postgres.url()
    schema = state.rpartition("=")[2]
    lock = threading.Lock()

    def answer(request: LoggedRequest) -> Answer:
        asks = f"SELECT NOT is_main FROM {schema}.processes JOIN {schema}.frontier ON processes.id = owner"
        page = f"JOIN {schema}.urls ON url_id = urls.id WHERE url = '{tree.server.url(request.path)}'"
        with lock:
            is_failing = len(failed) < len(failures) and request.path not in failed
            if is_failing and postgres.execute(ICU, f"{asks} {page}") == [(True,)]:
                failed[request.path] = failures[len(failed)]
                return failed[request.path]
        return tree.answer(request)

    tree.server.pages |= {path_of(number): answer for number in range(10, 300)}
    options = ("-s", "SITEMAP_MAX_BACK_OFF=0.1", "--report", "report.json")
    with crawling(program, tree, postgres, state, *options, helpers=1) as processes:
        tree.gate.set()
        ended = [process.end() for process in processes]
    assert [code for code, _ in ended] == [0, 0], ended
    assert (report(program)["overloads"], report(program)["pauses"]) == (len(failures), 1)


FILTERING = """
class Filters:
    async def process_spider_output(self, response, result):
        async for item in result:
            if not response.url.endswith("5"):
                yield item
"""


@pytest.mark.parametrize("helpers", [0, 1])
def test_a_page_of_which_a_component_stores_no_item_does_not_keep_the_run_from_its_end(
    program: Program, tree: Site, postgres: PostgresServer, helpers: int
) -> None:
    """It is requested again, as the answer to a lease may be lost, and then no more. Each process has such pages."""
    (program.directory / "added.py").write_text(FILTERING)
    options = ("-s", 'SPIDER_MIDDLEWARES={"added.Filters": 500}', "-s", "SITEMAP_LEASE=60", "--report", "report.json")
    with crawling(program, tree, postgres, postgres.url(), *options, helpers=helpers) as processes:
        tree.gate.set()
        ended = [process.end() for process in processes]
    assert [code for code, _ in ended] == [0] * (helpers + 1), ended
    lost = {path: requests for path, requests in tree.requested.items() if path.endswith("5")}
    assert len(lost) > 10
    assert 2 <= min(lost.values()) <= max(lost.values()) <= 2 + 4 * helpers
    assert {requests for path, requests in tree.requested.items() if path not in lost} == {1}
    named = {warning["url"] for warning in report(program)["warnings"] if warning["kind"] == "lost"}
    assert helpers or named == set(map(tree.server.url, lost))


def test_a_restart_of_the_server_is_waited_for(program: Program, tree: Site) -> None:
    expected = crawl_alone(program, tree)
    with PostgresServer() as server:
        state = server.url()

        def restart() -> None:
            server.stop()
            server.start()

        with crawling(program, tree, server, state, "-s", "SITEMAP_LEASE=30", helpers=1) as (main, helper):
            tree.at[150] = lambda: threading.Thread(target=restart).start()
            tree.gate.set()
            ended = [main.end(), helper.end()]
        assert [code for code, _ in ended] == [0, 0], ended
    assert sitemap(program, "main") == expected
    assert set(tree.requested) == tree.expected


def test_the_limit_of_pages_holds_for_all_processes_together(
    program: Program, tree: Site, postgres: PostgresServer
) -> None:
    with crawling(
        program, tree, postgres, postgres.url(), "--max-pages", "201", "-s", "SITEMAP_LEASE=60", helpers=2
    ) as all_of:
        tree.gate.set()
        ended = [process.end() for process in all_of]
    assert [code for code, _ in ended] == [0, 0, 0], ended
    assert tree.requested.total() == 201
    assert set(tree.requested.values()) == {1}


def test_helpers_that_cannot_take_part_are_refused(program: Program, tree: Site, postgres: PostgresServer) -> None:
    url = tree.server.url()
    tree.gate.set()
    result = program.run("crawl", url, "--state", "state.sqlite", "--join")
    assert result.code == 2
    assert "--state postgresql://" in result.last_line
    state = postgres.url()
    result = program.run("crawl", url, "--state", state, "--join", "-s", "SITEMAP_LEASE=1")
    assert result.code == 4
    assert result.last_line.endswith("start it without --join")
    assert result.err.splitlines()[0] == "waiting up to 5 s for the main process of the crawl"
    command = [url, "--state", state, *CONCURRENCY]
    refused: list[Any] = []

    def try_to_join() -> None:
        schema = state.rpartition("=")[2]
        refused.append(program.run("crawl", *command, "--join", "--exclude", "x"))
        refused.append(program.run("crawl", *command, "--join", "-s", "SITEMAP_LEASE=5"))
        postgres.execute(
            ICU, f'UPDATE {schema}.runs SET version = replace(version, \'"program": "\', \'"program": "9\')'
        )
        refused.append(program.run("crawl", *command, "--join"))

    tree.at[50] = try_to_join
    assert program.crawl(*command).code == 0
    assert [result.code for result in refused] == [2, 2, 2]
    assert "the run has other values of exclude" in refused[0].last_line
    assert "the run has other values of lease" in refused[1].last_line
    assert re.search(r"the run was begun by 9\S+: install the same version", refused[2].last_line)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
