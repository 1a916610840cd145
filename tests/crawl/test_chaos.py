"""Processes that are killed at random moments, and a server that crashes in each phase, change no set."""

from __future__ import annotations

import json
import signal
import threading
from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.test_several_processes import (
    CONCURRENCY,
    PATIENT,
    SHORT_LEASE,
    Process,
    Site,
    again,
    crawl_alone,
    sitemap,
    started,
    wait_for,
)
from tests.support.postgres_server import ICU, PostgresServer, needs_postgres
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

pytestmark = [needs_postgres, pytest.mark.slow]
PROCESSES = 3
KILLS = 10
MOMENTS = range(20, 350, 30)
"""Numbers of requests, so far apart that a killed process has been replaced before the next kill."""


@pytest.fixture
def tree(site: WebServer) -> Site:
    return Site(site)


def decisions(program: Program, state: str) -> list[tuple[Any, ...]]:
    """The decision on each URL, and its cause."""
    result = program.run("pages", "--state", state, "--format", "jsonl")
    assert result.code == 0, result.err
    names = ("url", "decision", "reason", "evidence", "status", "depth", "lastmod", "lastmod_source")
    return sorted(tuple(row[name] for name in names) for row in map(json.loads, result.out.splitlines()))


class Killed:
    """Processes that crawl a site together. Each one that is killed is replaced at once."""

    def __init__(self, stack: ExitStack, program: Program, site: Site, state: str) -> None:
        self._stack, self._program = stack, program
        self._command = [site.server.url(), "--state", state, *CONCURRENCY, *SHORT_LEASE, *PATIENT]
        self._lock = threading.Lock()
        self._random = Random(20_240_507)
        self.killed = 0
        self.living = [self._start(number) for number in range(PROCESSES)]
        site.at = dict.fromkeys(self._random.sample(MOMENTS, KILLS), self._kill_any)

    def _start(self, number: int) -> Process:
        """Start a process. The first one is the main process."""
        options = ["--join"] if number else ["-o", "main"]
        return self._stack.enter_context(started(self._program, *self._command, *options))

    def _kill_any(self) -> None:
        with self._lock:
            number = self._random.randrange(PROCESSES)
            process = self.living[number]
            process.kill()
            assert process.end()[0] == -signal.SIGKILL
            self.living[number] = self._start(number)
            self.killed += 1

    def end(self) -> list[tuple[int, str]]:
        """Wait for the end of all, and return that of the last ones."""
        ended = []
        for number in range(PROCESSES):
            while True:
                process = self.living[number]
                result = process.end()
                if process is self.living[number]:
                    break
            ended.append(result)
        return ended


def test_ten_random_kills_of_three_processes_change_nothing(
    program: Program, tree: Site, postgres: PostgresServer
) -> None:
    expected = crawl_alone(program, tree)
    state = postgres.url()
    joined = f"SELECT count(*) FROM {state.rpartition('=')[2]}.processes WHERE NOT ended"
    with ExitStack() as stack:
        processes = Killed(stack, program, tree, state)
        wait_for(lambda: program.run("runs", "--state", state).code == 0)
        wait_for(lambda: postgres.execute(ICU, joined) == [(PROCESSES,)])
        tree.gate.set()
        ended = processes.end()
    assert processes.killed == KILLS
    assert [code for code, _ in ended] == [0] * PROCESSES, ended
    assert sitemap(program, "main") == expected
    assert set(tree.requested) == tree.expected
    assert decisions(program, state) == decisions(program, "alone.sqlite")


PAUSED = """
import time
from pathlib import Path
import sitemap_crawler.publish.conclude as module
original = module.{step}

def paused(*arguments, **options):
    Path("reached").touch()
    while not Path("restarted").exists():
        time.sleep(0.02)
    return original(*arguments, **options)

module.{step} = paused
"""
"""A step of the conclusion begins when the test has restarted the server."""


@pytest.mark.parametrize("step", ["walk_from", "count_decided"])
def test_a_crash_of_the_server_in_the_conclusion_costs_the_same_command(
    program: Program, tree: Site, step: str
) -> None:
    expected = crawl_alone(program, tree)
    tree.gate.set()
    with PostgresServer() as server:
        state = server.url()
        program.patch(PAUSED.format(step=step))
        with started(program, tree.server.url(), "--state", state, "-o", "main", *CONCURRENCY) as process:
            wait_for(lambda: (program.directory / "reached").exists())
            server.stop()
            server.start()
            (program.directory / "restarted").touch()
            code, words = process.end()
        assert code == 1, words
        assert "make the server available, then run the same command" in words
        requests = tree.requested.total()
        assert again(program, tree, state) == expected
        assert tree.requested.total() == requests == len(tree.expected)
        assert decisions(program, state) == decisions(program, "alone.sqlite")


def test_a_crash_of_the_server_while_sitemaps_are_read_loses_no_name(program: Program, tree: Site) -> None:
    """The named pages are linked nowhere."""
    named = [f"/named/{number}" for number in range(300)]
    tree.server.pages |= dict.fromkeys(named, page())
    urls = "\n".join(map(tree.server.url, named))
    with PostgresServer() as server:

        def restart(_: LoggedRequest) -> Answer:
            server.stop()
            server.start()
            return Answer(urls, content_type="text/plain")

        tree.server.pages["/map.txt"] = restart
        tree.gate.set()
        options = ("--seed-sitemap", tree.server.url("/map.txt"), "-s", "SITEMAP_LEASE=30")
        result = program.crawl(tree.server.url(), "--state", server.url(), *CONCURRENCY, *options)
        assert result.code == 0, result.err
        assert {tree.server.url(path) for path in named} <= set(result.listed())
