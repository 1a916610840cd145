"""The status file, and the random delay before the first request of a run."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.config.options import Options
from sitemap_crawler.crawl.throttle import HostThrottles
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from tests.support.forks import Fork
    from tests.support.program import Program

pytestmark = pytest.mark.slow


def status(program: Program) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((program.directory / "status.json").read_text(encoding="utf-8"))
    return found


def start(program: Program, *arguments: str) -> Fork:
    return program.start(
        "crawl", *arguments, "--status", "status.json", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def wait_for(program: Program, state: str, process: Fork) -> dict[str, Any]:
    """Return the first status with `state`. The file is replaced every two seconds, and is never half written."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if (program.directory / "status.json").exists() and (found := status(program))["state"] == state:
            return found
        time.sleep(0.02)
    raise AssertionError(f"never {state}")


def test_a_run_that_only_waits_for_failing_pages_says_so(program: Program, site: WebServer) -> None:
    failed, go_on = threading.Event(), threading.Event()

    def bad(_: LoggedRequest) -> Answer:
        if failed.is_set():
            go_on.wait(60)
        failed.set()
        return Answer(status=503)

    site.pages.update({"/": page("/a", "/bad"), "/a": page(title="a"), "/bad": bad})
    process = start(program, site.url("/"))
    try:
        deadline = time.monotonic() + 60
        while (found := wait_for(program, "crawling", process))["failing"] is None and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        go_on.set()
        _, err = process.communicate(timeout=60)
    assert (found["failing"], found["queued"], found["fetched"]) == (1, 1, 2)
    assert found["updated"] <= found["next_retry"]
    assert process.returncode == 0, err
    assert (status(program)["failing"], status(program)["next_retry"]) == (None, None)


def test_a_finished_run(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a", "/gone"), "/a": page(title="a")})
    result = program.crawl(site.url("/"), "--status", "status.json")
    assert result.code == 0
    found = status(program)
    assert (found["state"], found["outcome"], found["exit_code"]) == ("done", "published", 0)
    assert (found["run"], found["fetched"], found["queued"], found["listed"]) == (1, 3, 0, 2)
    assert (found["start_url"], found["sitemap_url"]) == (site.url("/"), site.url("/sitemap.xml"))
    assert found["message"] == result.report["message"]
    assert found["started"] == result.report["started"]
    assert found["started"] <= found["updated"]


def test_a_run_under_way_and_one_that_was_killed(program: Program, site: WebServer) -> None:
    reached, released = threading.Event(), threading.Event()

    def slow(_request: LoggedRequest) -> Answer:
        reached.set()
        released.wait(60)
        return Answer(page())

    site.pages.update({"/": page("/slow", "/a"), "/a": page(title="a"), "/slow": slow})
    process = start(program, site.url("/"), "--concurrency", "1")
    try:
        assert reached.wait(60)
        found = wait_for(program, "crawling", process)
        assert found["pid"] == process.pid
        assert (found["outcome"], found["exit_code"], found["listed"]) == (None, None, None)
        assert {"fetched", "queued", "listable", "pages_per_second", "requests_per_second"} <= set(found)
    finally:
        process.kill()
        process.communicate()
        released.set()
    assert status(program)["state"] == "crawling"
    assert program.crawl(site.url("/"), "--status", "status.json").code == 0
    assert (status(program)["state"], status(program)["run"]) == ("done", 1)


@pytest.mark.parametrize(("pages", "expected"), [({}, ("refused", 3)), ({"/robots.txt": Answer(status=503)}, None)])
def test_a_refused_run(
    program: Program, site: WebServer, pages: dict[str, Answer], expected: tuple[str, int] | None
) -> None:
    site.pages.update(pages)
    assert program.crawl(site.url("/"), "--status", "status.json").code == 3
    found = status(program)
    assert (found["state"], found["outcome"], found["exit_code"]) == ("done", *(expected or ("refused", 3)))


def test_a_run_that_could_not_begin(program: Program, site: WebServer) -> None:
    (program.directory / "state.sqlite").write_text("something else that is no database")
    result = program.crawl(site.url("/"), "--status", "status.json", "--state", "state.sqlite")
    assert result.code == 1
    found = status(program)
    assert (found["state"], found["outcome"], found["exit_code"]) == ("done", "failed", 1)
    assert found["message"] == result.last_line


def test_a_second_run_leaves_the_status_of_the_first(program: Program, site: WebServer) -> None:
    reached, released = threading.Event(), threading.Event()

    def slow(_request: LoggedRequest) -> Answer:
        reached.set()
        released.wait(60)
        return Answer(page())

    site.pages["/"] = slow
    process = start(program, site.url("/"))
    try:
        assert reached.wait(60)
        wait_for(program, "crawling", process)
        assert program.run("crawl", site.url("/"), "--status", "status.json").code == 4
        assert status(program)["pid"] == process.pid
    finally:
        released.set()
        process.communicate()
    assert process.returncode == 0


def test_a_status_that_cannot_be_written_is_a_warning(program: Program, site: WebServer) -> None:
    """The request of a page moves the directory of the file away."""

    def answer(_request: LoggedRequest) -> Answer:
        os.rename(program.directory / "there", program.directory / "moved")  # noqa: PTH104
        return Answer(page())

    site.pages["/"] = answer
    (program.directory / "there").mkdir()
    result = program.crawl(site.url("/"), "--status", "there/status.json")
    assert result.code == 0, result.err
    warnings = [line for line in result.err.splitlines() if "WARNING" in line]
    assert len(warnings) == 1
    assert "cannot write the status file" in warnings[0]
    assert "there/status.json: No such file or directory" in warnings[0]


@pytest.mark.parametrize("path", ["absent/status.json", ".", "report.json", "sitemaps/sitemap.xml", "state.sqlite"])
def test_paths_that_the_status_file_cannot_have(program: Program, site: WebServer, path: str) -> None:
    result = program.crawl(site.url("/"), "--status", path, "--state", "state.sqlite")
    assert result.code == 2
    assert "status" in result.last_line
    assert site.paths() == []


def test_the_status_of_a_site_file_is_relative_to_it(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    (program.directory / "sites").mkdir()
    (program.directory / "sites" / "a.toml").write_text(f'start_url = "{site.url("/")}"\nstatus = "a.json"\n')
    assert program.run("crawl", "--config", "sites/a.toml", "-q").code == 0
    assert json.loads((program.directory / "sites" / "a.json").read_text())["state"] == "done"


def test_no_host_is_requested_before_the_random_delay() -> None:
    options = Options.parse({"start_url": "https://www.example.com/"})
    throttles = HostThrottles(options, not_before=100.0)
    for url in ("https://www.example.com/", "https://other.example/"):
        throttle = throttles.for_url(url)
        throttle.start()
        assert not throttle.is_free
        assert throttle.is_paused(99.0)
        assert throttle.next_request_time(99.0) == 100.0
        assert not throttle.is_paused(100.0)
        assert throttle.next_request_time(100.0) == -math.inf


LONGEST = "import random\nrandom.uniform = lambda least, most: most\n"


@pytest.fixture
def longest(program: Program) -> Program:
    """Every random delay is the longest possible one."""
    program.patch(LONGEST)
    return program


def test_the_delay_is_kept_for_every_request(longest: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page(title="a"), "/robots.txt": Answer("", content_type="text/plain")})
    begun = time.monotonic()
    result = longest.crawl(site.url("/"), "--random-delay", "2", "--seed-sitemap", site.url("/seed.xml"))
    assert result.code == 0, result.err
    assert result.listed() == [site.url("/"), site.url("/a")]
    assert min(request.time for request in site.requests) - begun >= 2
    # A busy machine may take a second until it says so.
    assert re.search(r"the crawl begins in [012] s \(random delay\)", result.err)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("seeds", [False, True])
def test_a_run_that_waits_can_be_stopped(
    longest: Program, site: WebServer, number: signal.Signals, *, seeds: bool
) -> None:
    site.pages["/"] = page()
    more = ["--seed-sitemap", site.url("/seed.xml")] if seeds else []
    process = start(longest, site.url("/"), "--random-delay", "3600", *more)
    try:
        wait_for(longest, "waiting", process)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 4, err
    assert err.splitlines()[-1] == "sitemap-crawler: interrupted; run the same command to continue"
    assert site.paths() == []
    assert (status(longest)["state"], status(longest)["outcome"]) == ("done", "interrupted")


def test_several_sites_wait_together(longest: Program, site: WebServer) -> None:
    site.pages.update({"/a/": page(), "/b/": page()})
    (longest.directory / "sites").mkdir()
    for name in "ab":
        text = f'start_url = "{site.url(f"/{name}/")}"\noutput = "{name}"\nrandom_delay = 3600\n'
        (longest.directory / "sites" / f"{name}.toml").write_text(text)
    begun = time.monotonic()
    result = longest.run("crawl", "--config", "sites", "--random-delay", "1", "-q")
    assert (result.code, result.err) == (0, "")
    assert min(request.time for request in site.requests) - begun >= 1
