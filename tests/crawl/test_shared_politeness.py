"""Several processes crawl one site as politely as one, as the server sees it, also when one of them is killed.

Times are those at which the server has read a request. A gap that is too long is the fault of a busy machine; one that
is too short never is.
"""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.crawl.test_several_processes import wait_for
from tests.support.postgres_server import ICU, PostgresServer, needs_postgres
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.forks import Fork
    from tests.support.program import Program

pytestmark = [needs_postgres, pytest.mark.slow]
LEASE = ("-s", "SITEMAP_LEASE=3", "--no-adaptive")
RULES = Answer("User-agent: *\nDisallow: /private/\n", content_type="text/plain")


class CountingSite(WebServer):
    """Pages that take a while. Counts the requests in work, and calls `on_request` with the number of each."""

    def __init__(self, pages: int, *, seconds: float = 0.0) -> None:
        paths = [f"/{number}" for number in range(1, pages)]
        super().__init__({"/": page(*paths), "/robots.txt": RULES, **{path: page(title=path) for path in paths}})
        self.expected = {"/", "/robots.txt", *paths}
        self._seconds = seconds
        self.on_request: Callable[[int], Answer | None] = lambda _number: None
        self._count = threading.Lock()
        self._in_work = self._number = self.most_in_work = 0

    def respond(self, request: LoggedRequest) -> Answer:
        with self._count:
            self._number += 1
            number = self._number
            self._in_work += 1
            self.most_in_work = max(self.most_in_work, self._in_work)
        answer = self.on_request(number)
        time.sleep(self._seconds)
        with self._count:
            self._in_work -= 1
        return answer or super().respond(request)


class Process:
    def __init__(self, process: Fork) -> None:
        self.process = process

    def end(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=240)
        assert "Traceback" not in err, err
        return self.process.returncode, out + err


@contextmanager
def crawling(program: Program, url: str, state: str, *options: str, helpers: int = 2) -> Iterator[list[Process]]:
    """Start a main process and helpers."""
    command = ("crawl", url, "--state", state, *LEASE, *options)
    with ExitStack() as stack:
        processes = []
        of_helpers = [("--join", "-o", f"helper-{number}") for number in range(helpers)]
        for more in (("--report", "report.json"), *of_helpers):
            started = program.start(*command, *more, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            stack.enter_context(started)
            stack.callback(started.kill)
            processes.append(Process(started))
        yield processes


def shortest_gap(requests: list[LoggedRequest]) -> float:
    return min(later.time - earlier.time for earlier, later in pairwise(requests))


def test_a_delay_holds_over_three_processes_and_when_one_is_killed(program: Program, postgres: PostgresServer) -> None:
    state = postgres.url()
    with CountingSite(150) as site:
        reached = threading.Event()
        site.on_request = lambda number: reached.set() if number == 60 else None
        options = ("--delay", "0.1", "--concurrency", "3")
        with crawling(program, site.url(), state, *options) as (main, *helpers):
            assert reached.wait(200)
            main.process.send_signal(signal.SIGKILL)
            ended = [helper.end() for helper in helpers]
        assert [code for code, _ in ended] == [0, 0], ended
        assert "further processes make it no faster" in ended[0][1] + ended[1][1]
        assert set(site.paths()) == site.expected
        assert shortest_gap(site.requests) >= 0.09
        requests = len(site.requests)
        again = program.crawl(site.url(), "--state", state, *LEASE, *options)
        assert (again.code, again.report["listed"]) == (0, 150), again.err
        # The helpers had requested everything; the command that ends the run asks for robots.txt again.
        assert site.paths()[requests:] in ([], ["/robots.txt"])


def test_the_concurrency_is_that_of_all_processes_and_robots_txt_is_requested_once(
    program: Program, postgres: PostgresServer
) -> None:
    with CountingSite(300, seconds=0.1) as site:
        with crawling(program, site.url(), postgres.url(), "--concurrency", "4") as processes:
            ended = [process.end() for process in processes]
        assert [code for code, _ in ended] == [0, 0, 0], ended
        assert sorted(site.paths()) == sorted(site.expected)
        assert site.most_in_work <= 4


def test_the_slots_of_a_killed_process_are_used_by_the_others(program: Program, postgres: PostgresServer) -> None:
    with CountingSite(300, seconds=0.1) as site:
        reached = threading.Event()
        site.on_request = lambda number: reached.set() if number == 120 else None
        with crawling(program, site.url(), postgres.url(), "--concurrency", "4") as (main, first, second):
            assert reached.wait(200)
            second.process.send_signal(signal.SIGKILL)
            ended = [main.end(), first.end()]
        assert [code for code, _ in ended] == [0, 0], ended
        assert set(site.paths()) == site.expected
        assert site.most_in_work <= 4


def test_a_retry_after_pauses_all_processes(program: Program, postgres: PostgresServer) -> None:
    with CountingSite(400, seconds=0.05) as site:
        asked: list[float] = []

        def ask_to_wait(number: int) -> Answer | None:
            if number != 150:
                return None
            asked.append(time.monotonic())
            return Answer(status=429, headers={"Retry-After": "12"})

        site.on_request = ask_to_wait
        with crawling(program, site.url(), postgres.url(), "--concurrency", "6") as processes:
            ended = [process.end() for process in processes]
        assert [code for code, _ in ended] == [0, 0, 0], ended
        assert set(site.paths()) == site.expected
        # The others learn of it within a second, and with more of it on a busy machine.
        late = [request.time - asked[0] for request in site.requests if asked[0] + 8 < request.time < asked[0] + 11.9]
        assert late == []


def test_too_long_a_pause_ends_all_processes(program: Program, postgres: PostgresServer) -> None:
    with CountingSite(2_000, seconds=0.05) as site:
        site.on_request = lambda number: Answer(status=503, headers={"Retry-After": "7200"}) if number > 150 else None
        with crawling(program, site.url(), postgres.url(), "--concurrency", "6") as (main, *helpers):
            code, words = main.end()
            ended = [helper.end() for helper in helpers]
        assert code == 4, words
        assert "127.0.0.1 asks for no requests before " in words
        assert {code for code, _ in ended} <= {0, 4}, ended
        # Those that were in flight when the first answer came, and no more.
        assert len(site.requests) <= 150 + 6


def test_hosts_of_a_domain_keep_their_delays(program: Program, site: WebServer, postgres: PostgresServer) -> None:
    program.variables |= {"http_proxy": site.url(), "no_proxy": ""}
    hosts = [f"http://{name}.example.co.uk/" for name in ("www", "blog", "shop", "news")]
    pages = {url: [f"{url}{number}" for number in range(15)] for url in hosts}
    for url, below in pages.items():
        site.pages[f"{url}robots.txt"] = Answer("User-agent: *\nCrawl-delay: 0.3\n", content_type="text/plain")
        site.pages[url] = page(*below, *hosts)
        site.pages.update(dict.fromkeys(below, page(title=url)))
    with crawling(program, hosts[0], postgres.url(), "--subdomains", "--concurrency", "6") as processes:
        ended = [process.end() for process in processes]
    assert [code for code, _ in ended] == [0, 0, 0], ended
    by_host: dict[str, list[LoggedRequest]] = defaultdict(list)
    for request in site.requests:
        by_host["/".join(request.path.split("/")[:3]) + "/"].append(request)
    assert set(hosts) <= set(by_host)
    for url in hosts:
        assert sorted(request.path for request in by_host[url]) == sorted([f"{url}robots.txt", url, *pages[url]])
        assert shortest_gap(by_host[url]) >= 0.27


def test_a_delayed_host_of_a_killed_process_goes_to_another_one(
    program: Program, site: WebServer, postgres: PostgresServer
) -> None:
    program.variables |= {"http_proxy": site.url(), "no_proxy": ""}
    hosts = [f"http://{name}.example.co.uk/" for name in ("www", "blog", "shop")]
    pages = {url: [f"{url}{number}" for number in range(40)] for url in hosts}
    for url, below in pages.items():
        site.pages[f"{url}robots.txt"] = Answer("User-agent: *\nCrawl-delay: 0.3\n", content_type="text/plain")
        site.pages[url] = page(*below, *hosts)
        site.pages.update(dict.fromkeys(below, page(title=url)))
    state = postgres.url()
    schema = state.rpartition("=")[2]
    owned = (
        f"SELECT host FROM {schema}.hosts h JOIN {schema}.processes p ON p.id = h.owner "
        f"WHERE NOT p.is_main AND NOT p.ended AND delay > 0"
    )

    def requests_to(host: str) -> list[LoggedRequest]:
        return [request for request in site.requests if request.path.startswith(f"http://{host}/")]

    def held_by_helper() -> list[str]:
        rows = postgres.execute(ICU, f"SELECT to_regclass('{schema}.hosts') IS NOT NULL")
        found = [row[0] for row in postgres.execute(ICU, owned)] if rows == [(True,)] else []
        return [host for host in found if len(requests_to(host)) > 3]

    options = ("--subdomains", "--concurrency", "6")
    with crawling(program, hosts[0], state, *options, helpers=1) as (main, helper):
        wait_for(lambda: held_by_helper() != [])
        [host, *_] = held_by_helper()
        helper.process.send_signal(signal.SIGKILL)
        assert helper.process.wait(100) == -signal.SIGKILL
        before = len(requests_to(host))
        code, words = main.end()
    assert code == 0, words
    assert len(requests_to(host)) > before
    for url in hosts:
        found = [request for request in site.requests if request.path.startswith(url)]
        assert {request.path for request in found} == {f"{url}robots.txt", url, *pages[url]}
        assert shortest_gap(found) >= 0.27
