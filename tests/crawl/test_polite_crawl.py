"""Politeness as a server sees it: the times of requests, and the effect of Retry-After and failures.

A pause that begins with a response is measured by the times at which the server has read the requests, as the owner of
a site would measure it: a busy machine makes only the second one later. The delay between two requests begins with the
first one if its response is late, so it is measured by the clock of the program. Plans prove that it waits no longer.
"""

from __future__ import annotations

import re
import signal
import subprocess
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import count, pairwise
from typing import TYPE_CHECKING

import pytest

from tests.support.recorded_waits import record_plans, recorded_plans
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.forks import Fork
    from tests.support.program import Program, Result
    from tests.support.webserver import Page

pytestmark = pytest.mark.slow

ONE = ("--concurrency", "1")
LONG = 3_600
ROUNDING = 0.001
"""Seconds by which the sums of planned waits may differ from a delay."""


def build(site: WebServer, number: int) -> list[str]:
    """Make a start page with `number` links."""
    paths = [f"/{one}" for one in range(number)]
    site.pages.update({"/": page(*paths), **{path: page("/", title=path) for path in paths}})
    return ["/", *paths]


def robots(rules: str) -> Answer:
    return Answer(f"User-agent: *\n{rules}\n", content_type="text/plain")


def failing(times: int, *, status: int = 503, headers: dict[str, str] | None = None, then: str = page()) -> Page:
    """Return a page that fails `times` times, and then succeeds."""
    asked = count()
    return lambda _: Answer(then) if next(asked) >= times else Answer(status=status, headers=headers or {})


def dying_after(times: int) -> Page:
    """Return a page that is missing, and from a server that is overloaded after `times` responses."""
    asked = count()
    return lambda _: Answer(status=404 if next(asked) < times else 503)


def gaps(site: WebServer) -> list[float]:
    return [later.time - earlier.time for earlier, later in pairwise(site.requests)]


def sent_gaps(program: Program) -> list[float]:
    """Return the seconds between requests, by the clock of the program."""
    return [later.begin - earlier.begin for earlier, later in pairwise(recorded_plans(program).of("sent"))]


def times_of(site: WebServer, path: str) -> list[float]:
    return [request.time for request in site.requests if request.path == path]


def assert_all_listed(result: Result, number: int) -> None:
    assert result.code == 0, result.err
    assert (result.report["listed"], result.report["excluded"]) == (number, {})


@pytest.mark.parametrize(
    ("rules", "options", "delay"),
    [
        ("Crawl-delay: 1", (), 1.0),
        ("Crawl-delay: 0.2", ("--delay", "0.5"), 0.5),
        ("Disallow:", ("--delay", "0.5"), 0.5),
        ("Crawl-delay: 600", ("-s", "SITEMAP_MAX_CRAWL_DELAY=0.5"), 0.5),
        ("Crawl-delay: 0.5", ("--adaptive",), 0.5),
    ],
)
def test_requests_are_a_delay_apart(
    program: Program, site: WebServer, rules: str, options: tuple[str, ...], delay: float
) -> None:
    record_plans(program)
    build(site, 4)
    site.pages["/robots.txt"] = robots(rules)
    result = program.crawl(site.url("/"), *options)
    assert_all_listed(result, 5)
    assert len(sent_gaps(program)) == len(gaps(site)) == 5
    assert min(sent_gaps(program)) >= delay
    # No wait is longer than the delay, either.
    waits = recorded_plans(program).waits_before_requests()
    assert len(waits) == 5
    assert max(waits) <= delay + ROUNDING


def test_a_delay_applies_when_all_is_queued_from_the_start(program: Program, site: WebServer) -> None:
    """The delay in robots.txt is known after the first request of a run, when many others are ready."""
    build(site, 6)
    program.crawl(site.url("/"))
    site.clear_log()
    site.pages["/robots.txt"] = robots("Crawl-delay: 0.4")
    record_plans(program)
    assert_all_listed(program.crawl(site.url("/")), 7)
    assert len(sent_gaps(program)) == len(gaps(site)) == 7
    assert min(sent_gaps(program)) >= 0.4


def test_a_slow_answer_does_not_add_to_a_long_delay(program: Program, site: WebServer) -> None:
    """The delay counts from the response, but at most twice the delay from the request."""
    record_plans(program)
    build(site, 4)
    followed = [threading.Event() for _ in range(4)]
    asked = count()
    came_in_time: list[bool] = []

    def answer(request: LoggedRequest) -> Answer:
        number = next(asked)
        if number:
            followed[number - 1].set()
        # No response comes before the next request.
        if number < 3:
            came_in_time.append(followed[number].wait(60))
        return Answer(page())

    site.pages.update({f"/{number}": answer for number in range(4)})
    assert_all_listed(program.crawl(site.url("/"), "--delay", "0.3"), 5)
    assert came_in_time == [True] * 3
    assert min(sent_gaps(program)) >= 0.3
    waits = recorded_plans(program).waits_before_requests()
    assert max(waits[:2]) <= 0.3 + ROUNDING
    assert max(waits[2:]) <= 0.6 + ROUNDING


def test_without_a_delay_nothing_waits(program: Program, site: WebServer) -> None:
    record_plans(program)
    build(site, 200)
    assert_all_listed(program.crawl(site.url("/")), 201)
    plans = recorded_plans(program)
    sent = plans.of("sent")
    assert len(sent) == 202
    # After the last request the crawl waits for answers out of turn.
    assert [wait for wait in plans.waits if wait.begin < sent[-1].begin] == []


def http_date(seconds: float) -> dict[str, str]:
    """Return the headers of a response that is sent now and asks for a pause up to a time."""
    now = datetime.now(UTC)
    until = now + timedelta(seconds=seconds)
    return {"Date": format_datetime(now, usegmt=True), "Retry-After": format_datetime(until, usegmt=True)}


def test_a_run_that_goes_on_counts_what_its_processes_have_asked_for(program: Program, site: WebServer) -> None:
    build(site, 6)
    answers = [Answer(status=503, headers={"Retry-After": "1"})]
    site.pages["/2"] = lambda _: answers.pop() if answers else Answer(page())
    blocker = program.output / "sitemap.xml"
    blocker.mkdir(parents=True)
    failed = program.crawl(site.url("/"), *ONE)
    assert (failed.code, failed.report["requests"]) == (1, len(site.requests))
    blocker.rmdir()
    result = program.crawl(site.url("/"), *ONE)
    assert_all_listed(result, 7)
    # The second process had nothing to ask for.
    assert result.report["requests"] == len(site.requests) == failed.report["requests"]
    assert (result.report["overloads"], result.report["pauses"]) == (1, 1)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_retry_after_is_kept_to_the_second(program: Program, site: WebServer, status: int, form: str) -> None:
    record_plans(program)
    build(site, 6)
    asked: list[float] = []

    def answer(request: LoggedRequest) -> Answer:
        asked.append(request.time)
        if len(asked) > 1:
            return Answer(page())
        return Answer(status=status, headers={"Retry-After": "2"} if form == "seconds" else http_date(2))

    site.pages["/2"] = answer
    result = program.crawl(site.url("/"), *ONE, "--html-report", "report.html")
    assert_all_listed(result, 7)
    assert (result.report["overloads"], result.report["pauses"]) == (1, 1)
    told = (
        "The server seemed overloaded 1 time (status 429, 502, 503 or 504, or no answer): the crawl went slower then."
    )
    assert f"{told} It asked for 1 pause (Retry-After)." in (program.directory / "report.html").read_text()
    later = [request.time for request in site.requests if request.time > asked[0]]
    assert later[0] - asked[0] >= 2.0
    assert max(recorded_plans(program).waits_before_requests()) <= 2.0 + ROUNDING
    # No request in the meantime, then /3, /4, /5 and the retry of /2.
    assert len(later) == 4


@pytest.mark.parametrize("value", ["-1", "0", "soon", "9" * 5_000, "Mon, 01 Jan 2001 00:00:00 GMT"])
def test_an_invalid_retry_after_is_ignored(program: Program, site: WebServer, value: str) -> None:
    record_plans(program)
    build(site, 6)
    site.pages["/2"] = failing(1, headers={"Retry-After": value})
    assert_all_listed(program.crawl(site.url("/"), *ONE), 7)
    paths = site.paths()
    first = paths.index("/2")
    assert sorted(paths[first + 1 :]) == ["/2", "/3", "/4", "/5"]
    # Only the page itself waits, for its own retry, when nothing else is left.
    waits = recorded_plans(program).waits_before_requests()
    retried = paths.index("/2", first + 1)
    waited = waits.pop(retried - 1)
    assert max(waits) == 0
    assert waited == 0 or retried == len(paths) - 1
    assert waited <= 1.0 + ROUNDING


def assert_told_to_wait(result: Result, *, before: datetime, seconds: int) -> None:
    assert result.code == 4, result.err
    told = re.fullmatch(
        r"127\.0\.0\.1 asks for no requests before (\S+ \S+) UTC \(Retry-After(?:; .+)?\): "
        r"run the same command after that",
        result.last_line,
    )
    assert told is not None, result.last_line
    until = datetime.strptime(told[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    earliest = before + timedelta(seconds=seconds)
    assert earliest.replace(microsecond=0) <= until <= earliest + timedelta(seconds=60)
    assert (result.report["outcome"], result.report["exit_code"]) == ("interrupted", 4)


@pytest.mark.parametrize("retries", ["0", "2"])
def test_a_retry_after_that_is_too_long_ends_the_run(program: Program, site: WebServer, retries: str) -> None:
    build(site, 6)
    site.pages["/2"] = Answer(status=429, headers={"Retry-After": str(LONG)})
    before = datetime.now(UTC)
    result = program.crawl(site.url("/"), *ONE, "-s", f"RETRY_TIMES={retries}")
    assert_told_to_wait(result, before=before, seconds=LONG)
    assert site.paths()[-1] == "/2"
    assert not (program.output / "sitemap.xml").exists()
    site.clear_log()
    result = program.crawl(site.url("/"), *ONE)
    assert_told_to_wait(result, before=before, seconds=LONG)
    assert site.paths() == []


def test_the_run_goes_on_when_the_time_has_come(program: Program, site: WebServer) -> None:
    build(site, 6)
    site.pages["/2"] = Answer(status=429, headers={"Retry-After": "3"})
    result = program.crawl(site.url("/"), *ONE, "-s", "SITEMAP_MAX_RETRY_AFTER=1")
    assert result.code == 4
    paused, asked = times_of(site, "/2")[-1], set(site.paths()) - {"/2"}
    site.clear_log()
    site.pages["/2"] = page()
    # The rest of the pause is short enough to wait for.
    result = program.crawl(site.url("/"), *ONE)
    assert (result.code, result.report["run"]) == (0, 1)
    assert site.requests[0].time - paused >= 3.0
    # Pages with a response are not requested again.
    assert set(site.paths()) & asked == {"/robots.txt"}


def test_the_longest_pause_is_a_setting(program: Program, site: WebServer) -> None:
    build(site, 2)
    site.pages["/1"] = Answer(status=503, headers={"Retry-After": "2"})
    result = program.crawl(site.url("/"), "-s", "SITEMAP_MAX_RETRY_AFTER=1")
    assert result.code == 4
    assert "SITEMAP_MAX_RETRY_AFTER is 1 s" in result.last_line


def test_a_dead_server_interrupts_the_run_which_is_resumed_later(program: Program, site: WebServer) -> None:
    paths = build(site, 40)
    well = dict(site.pages)
    site.pages.update(dict.fromkeys(paths[20:], Answer(status=503)))
    site.pages["/robots.txt"] = dying_after(1)
    result = program.crawl(site.url("/"), *ONE, "-s", "SITEMAP_MAX_OUTAGE=1", "-s", "SITEMAP_MAX_BACK_OFF=0.5")
    assert (result.code, result.report["outcome"]) == (4, "interrupted")
    assert re.fullmatch(
        r"127\.0\.0\.1 has been overloaded or has not answered for \d+ s \(SITEMAP_MAX_OUTAGE is 1 s\): "
        r"run the same command when the host answers again to continue",
        result.last_line,
    )
    site.pages = dict(well)
    site.clear_log()
    result = program.crawl(site.url("/"), *ONE)
    assert_all_listed(result, 41)
    assert result.report["run"] == 1
    assert not set(site.paths()) & set(paths[:20]) - {"/robots.txt"}


def test_pages_that_always_fail_are_no_dead_server(program: Program, site: WebServer) -> None:
    """They are requested last, when no page is left to which the server would respond."""
    paths = build(site, 30)
    site.pages.update(dict.fromkeys(paths[16:], Answer(status=503)))
    result = program.crawl(site.url("/"), *ONE, "-s", "SITEMAP_MAX_OUTAGE=0.5", "-s", "SITEMAP_MAX_BACK_OFF=0.1")
    assert (result.code, result.report["listed"]) == (0, 16)
    assert result.report["excluded"] == {"server-error": 15}
    assert site.paths().count(paths[-1]) == 3


def test_the_rate_falls_while_the_server_fails_and_recovers(program: Program, site: WebServer) -> None:
    record_plans(program)
    paths = build(site, 80)
    failed: list[float] = []
    answered = count()

    def answer(request: LoggedRequest) -> Answer:
        if next(answered) >= 20 and len(failed) < 15:
            failed.append(request.time)
            return Answer(status=503)
        return Answer(page())

    site.pages.update(dict.fromkeys(paths[1:], answer))
    result = program.crawl(site.url("/"), "--concurrency", "2", "-s", "SITEMAP_MAX_BACK_OFF=0.25")
    assert_all_listed(result, 81)
    # Three until the backoff begins and those in flight, then four a second.
    slow = [later - earlier for earlier, later in pairwise(sorted(failed))][3 + 2 :]
    assert min(slow) >= 0.25
    waits = recorded_plans(program).waits_before_requests()
    assert max(waits) <= 2 * 0.25 + ROUNDING
    assert sum(waits[-10:]) < 1.0


def test_a_page_that_fails_delays_only_itself(program: Program, site: WebServer) -> None:
    paths = build(site, 40)
    site.pages["/7"] = Answer(status=503)
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    assert (result.report["listed"], result.report["excluded"]) == (40, {"server-error": 1})
    first, second, third = times_of(site, "/7")
    assert second - first >= 1.0
    assert third - second >= 2.0
    assert all(times_of(site, path)[0] < second for path in paths)


def test_a_page_with_back_pressure_is_requested_last(program: Program, site: WebServer) -> None:
    """Its first retry has a time of its own, its last one comes when all else is fetched."""
    chain = [f"/chain/{number}" for number in range(16)]
    site.pages.update({one: page(other) for one, other in pairwise([*chain, "/"])})
    site.pages["/"] = page("/bad", chain[0])
    site.pages["/bad"] = failing(2, status=502, then=page("/found"))
    site.pages["/found"] = page()
    assert_all_listed(program.crawl(site.url("/"), "--delay", "0.3"), 19)
    order = [path for path in site.paths() if path != "/robots.txt"]
    assert order.count("/bad") == 3
    assert order[-2:] == ["/bad", "/found"]
    assert order.index("/bad", order.index("/bad") + 1) < order.index(chain[-1])


def test_a_reset_is_back_pressure(program: Program, site: WebServer) -> None:
    build(site, 10)
    site.pages["/3"] = Answer(drop=True)
    result = program.crawl(site.url("/"), "-s", "RETRY_TIMES=1")
    assert result.report["excluded"] == {"unreachable": 1}
    assert times_of(site, "/3")[-1] - times_of(site, "/3")[0] >= 1.0
    assert site.paths()[-1] == "/3"


@pytest.mark.parametrize(("retries", "asked"), [("0", 1), ("1", 2), ("3", 4)])
def test_the_number_of_retries_is_a_setting(program: Program, site: WebServer, retries: str, asked: int) -> None:
    build(site, 3)
    site.pages["/1"] = Answer(status=503)
    result = program.crawl(site.url("/"), "-s", f"RETRY_TIMES={retries}", "-s", "SITEMAP_MAX_BACK_OFF=0.1")
    assert result.report["excluded"] == {"server-error": 1}
    assert site.paths().count("/1") == asked
    assert site.paths()[-1] == "/1" or asked == 1


@pytest.mark.parametrize("status", [429, 503])
def test_a_robots_txt_that_asks_to_wait_is_asked_for_again(program: Program, site: WebServer, status: int) -> None:
    record_plans(program)
    build(site, 2)
    rules = "User-agent: *\nDisallow: /1\n"
    site.pages["/robots.txt"] = failing(1, status=status, headers={"Retry-After": "2"}, then=rules)
    result = program.crawl(site.url("/"))
    assert result.report["excluded"] == {"blocked-by-robots": 1}
    assert site.paths()[:3] == ["/robots.txt", "/robots.txt", "/"]
    assert gaps(site)[0] >= 2.0
    assert recorded_plans(program).waits_before_requests()[0] <= 2.0 + ROUNDING


def test_a_robots_txt_that_goes_on_failing_refuses_the_run(program: Program, site: WebServer) -> None:
    build(site, 2)
    site.pages["/robots.txt"] = Answer(status=503, headers={"Retry-After": "1"})
    result = program.crawl(site.url("/"), "-s", "RETRY_TIMES=1")
    assert result.code == 3
    assert "status 503" in result.last_line
    assert site.paths() == ["/robots.txt"] * 2


@pytest.mark.parametrize("status", [429, 503])
def test_a_robots_txt_that_asks_to_wait_too_long(program: Program, site: WebServer, status: int) -> None:
    build(site, 2)
    site.pages["/robots.txt"] = Answer(status=status, headers={"Retry-After": str(LONG)})
    before = datetime.now(UTC)
    result = program.crawl(site.url("/"))
    assert_told_to_wait(result, before=before, seconds=LONG)
    assert site.paths() == ["/robots.txt"]


def test_a_sitemap_that_asks_to_wait_is_asked_for_again(program: Program, site: WebServer) -> None:
    record_plans(program)
    build(site, 1)
    site.pages["/alone"] = page()
    site.pages["/seed.txt"] = failing(1, headers={"Retry-After": "2"}, then=site.url("/alone"))
    result = program.crawl(site.url("/"), "--seed-sitemap", site.url("/seed.txt"))
    assert_all_listed(result, 3)
    first, second = times_of(site, "/seed.txt")
    assert second - first >= 2.0
    assert max(recorded_plans(program).waits_before_requests()) <= 2.0 + ROUNDING


@pytest.fixture
def started(program: Program) -> Iterator[list[Fork]]:
    processes: list[Fork] = []
    yield processes
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.parametrize("path", ["/robots.txt", "/1"])
def test_a_pause_can_be_interrupted(program: Program, site: WebServer, started: list[Fork], path: str) -> None:
    record_plans(program)
    build(site, 2)
    asked = threading.Event()

    def answer(request: LoggedRequest) -> Answer:
        asked.set()
        return Answer(status=503, headers={"Retry-After": "300"})

    site.pages[path] = answer
    process = program.start("crawl", site.url("/"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    started.append(process)
    assert process.stderr is not None
    assert asked.wait(60)
    # The log line shows that the response has arrived.
    assert any("asks for a pause of 300 s" in line for line in process.stderr)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    *_, last = process.stderr
    assert process.wait(60) == 4
    # Each lasts for a second at most.
    assert len([wait for wait in recorded_plans(program).waits if wait.begin > sent]) <= 2
    assert last == "sitemap-crawler: interrupted; run the same command to continue\n"
    assert site.paths().count(path) == 1


@pytest.mark.parametrize(("option", "first"), [("--adaptive", 2), ("--no-adaptive", 6)])
def test_the_limit_of_requests_in_flight_grows_from_two(
    program: Program, site: WebServer, option: str, first: int
) -> None:
    paths = build(site, 100)
    lock, pause, together = threading.Lock(), threading.Event(), threading.Event()
    under_way = 0
    seen: list[int] = []

    def answer(request: LoggedRequest) -> Answer:
        nonlocal under_way
        with lock:
            under_way += 1
            seen.append(under_way)
            if under_way == first:
                together.set()
        # The first requests wait for each other, and the others for those that may be sent with them.
        assert together.wait(60)
        pause.wait(0.05)
        with lock:
            under_way -= 1
        return Answer(page())

    site.pages.update(dict.fromkeys(paths[1:], answer))
    assert_all_listed(program.crawl(site.url("/"), option, "--concurrency", "6"), 101)
    assert max(seen[:3]) <= first
    assert max(seen[:first]) == first
    assert max(seen) <= 6
