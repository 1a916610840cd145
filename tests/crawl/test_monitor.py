"""The command monitor, as a user runs it after a crawl, with stand-ins of Google and Bing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.test_schemas import check_text
from tests.support.announced_site import SITE_FILE, AnnouncedSite
from tests.support.inventories import open_store
from tests.support.search_engines import (
    BING_KEY,
    FakeBing,
    FakeGoogle,
    bing_error,
    bing_feed,
    google_error,
    service_account_key,
)
from tests.support.webserver import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.forks import Fork
    from tests.support.program import Program, Result
    from tests.support.webserver import LoggedRequest, WebServer

pytestmark = pytest.mark.slow

PATHS = [f"/p/{number}" for number in range(1, 12)]
READ_LATER = "2099-01-01T00:00:00.000Z"
ONLY_LOOPBACK = """
import json, sys
from sitemap_crawler.__main__ import main

hosts = []

def note(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        hosts.append(arguments[1][0])
    if event == "socket.getaddrinfo":
        hosts.append(arguments[0])

if __name__ == "__main__":
    sys.addaudithook(note)
    try:
        main()
    finally:
        print(json.dumps([hosts, [name for name in sys.modules if name.partition(".")[0] in (
            "scrapy", "twisted", "aiohttp", "lxml", "sitemap_crawler", "google")]]), file=sys.stderr)
"""


class MonitoredSite(AnnouncedSite):
    """A published site of twelve pages, known to both services."""

    def __init__(self, program: Program, server: WebServer, google: FakeGoogle, bing: FakeBing) -> None:
        super().__init__(program, server, **google.options(program.directory), **bing.options())
        self.google, self.bing = google, bing
        self.home = server.url()
        self.entry = server.url("/sitemap.xml")
        google.properties[self.home] = "siteOwner"
        bing.sites[self.home] = True
        google.sitemaps[self.home, self.entry] = {
            "path": self.entry, "lastSubmitted": "2026-11-01T10:00:00.000Z", "lastDownloaded": READ_LATER,
            "isPending": False, "isSitemapsIndex": False, "type": "sitemap", "errors": "0", "warnings": "0",
            "contents": [{"type": "web", "submitted": "12", "indexed": "0"}],
        }  # fmt: skip
        bing.feeds[self.home, self.entry] = bing_feed(self.entry, Status="Pending")

    def monitor(self, *options: str) -> Result:
        self.write_site_file()
        return self.program.run("monitor", "--config", SITE_FILE, *options)

    def start(self, *options: str) -> Fork:
        self.write_site_file()
        given = ("monitor", "--config", SITE_FILE, *options)
        return self.program.start(*given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def json(self, *options: str, code: int = 0) -> dict[str, Any]:
        """Return the output with --json, which is as the schema says."""
        result = self.monitor("--json", *options)
        assert result.code == code, result.err
        return check_text(result.out, "monitor")

    def inspected(self) -> list[str]:
        """Return the URLs that Google was asked about, in the order of the requests."""
        return [json.loads(request.body)["inspectionUrl"] for request in self.google.of("inspect")]

    def used(self) -> int:
        return sum(row[0] for row in self.rows("SELECT used FROM engine_quota"))

    def answered(self) -> set[str]:
        rows = self.rows("SELECT url FROM urls JOIN inspections ON url_id = id WHERE verdict IS NOT NULL")
        return {row[0] for row in rows}


@pytest.fixture
def monitored(program: Program, site: WebServer) -> Iterator[MonitoredSite]:
    with FakeGoogle() as google, FakeBing() as bing:
        found = MonitoredSite(program, site, google, bing)
        assert found.publish(*PATHS).code == 0
        yield found


def files(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in directory.iterdir()}


def test_the_table(monitored: MonitoredSite) -> None:
    before = files(monitored.program.output)
    monitored.google.inspections[monitored.home] = {"verdict": "PASS", "coverageState": "Submitted and indexed"}
    result = monitored.monitor("--inspect", "3")
    assert (result.code, result.err) == (0, "")
    lines = [line.split("  ") for line in result.out.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert cells[0] == ["engine", "sitemap", "state", "last read", "pages", "errors", "warnings"]
    assert cells[1] == ["google", monitored.entry, "has read what is published", "2099-01-01 00:00", "12", "0", "0"]
    assert cells[2][:2] == ["bing", monitored.entry]
    assert cells[2][2].startswith("pending since ")
    assert cells[2][3:] == ["-", "0", "-", "-"]
    indexed = len({monitored.home} & set(monitored.inspected()))
    assert f"3 of 12 inspected, oldest {time.strftime('%Y', time.gmtime())}-" in result.out
    assert f"; {indexed} of these indexed, too few inspected for a percentage." in result.out
    assert "\n        3  URL is unknown to Google\n" in result.out or indexed
    assert "Inspections today: 3 of 2,000" in result.out
    assert "\x1b" not in result.out
    assert files(monitored.program.output) == before


def test_quiet_prints_failures_only(monitored: MonitoredSite) -> None:
    result = monitored.monitor("-q")
    assert (result.code, result.out, result.err) == (0, "", "")
    monitored.google.sitemaps[monitored.home, monitored.entry]["errors"] = "3"
    result = monitored.monitor("-q", "--fail-on", "errors")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("sitemap-crawler: --fail-on errors: google reports 3 errors in ")
    assert len(result.err.splitlines()) == 1


def test_the_json(monitored: MonitoredSite) -> None:
    report = monitored.json("--inspect", "12")
    assert {row["service"]: row["read_since_publication"] for row in report["sitemaps"]} == {
        "google": True,
        "bing": False,
    }
    assert (report["coverage"]["inspected"], report["coverage"]["of"], report["coverage"]["sample"]) == (12, 12, "all")
    assert sorted(monitored.inspected()) == sorted([monitored.home, *map(monitored.server.url, PATHS)])
    assert report["quota"]["used"] == 12


def test_the_json_of_failures(monitored: MonitoredSite) -> None:
    monitored.google.answer_next(
        "inspect", google_error(403, "", "not part of this property", word="PERMISSION_DENIED")
    )
    monitored.bing.answer_next("GetFeeds", bing_error(3, "InvalidApiKey"))
    report = monitored.json("--inspect", "2", code=1)
    assert [(row["service"], row["reason"]) for row in report["failed"]] == [
        ("bing", "InvalidApiKey"),
        ("google", "PERMISSION_DENIED"),
    ]
    assert report["exit_code"] == 1


def test_every_service_with_a_failure_has_one_line(monitored: MonitoredSite) -> None:
    monitored.google.answer_next("get", google_error(403, "forbidden", "User does not have sufficient permission"))
    monitored.bing.answer_next("GetFeeds", bing_error(3, "InvalidApiKey"))
    result = monitored.monitor()
    lines = result.err.splitlines()
    assert (result.code, len(lines)) == (1, 2)
    assert lines[0].startswith(f"sitemap-crawler: google: {monitored.entry}: Google answered 403 forbidden")
    assert f"it has {monitored.home}" not in lines[0]
    assert lines[1].startswith(f"sitemap-crawler: bing: {monitored.entry}: Bing answered 400 InvalidApiKey")
    assert "check bing_key or BING_WEBMASTER_API_KEY" in lines[1]
    assert "No answer is kept yet" in result.out


def test_offline_needs_no_credentials_and_no_network(monitored: MonitoredSite) -> None:
    online = monitored.json("--inspect", "2", "--fail-on", "errors")
    requests = len(monitored.google.requests) + len(monitored.bing.requests)
    state = str(monitored.state)
    done = monitored.program.execute(
        sys.executable, "-c", ONLY_LOOPBACK, "monitor", "--state", state, "--offline", "--json"
    )
    report = json.loads(done.out)
    assert report == online | {"asked_at": None}
    hosts, modules = json.loads(done.err.splitlines()[-1])
    assert hosts == []
    assert not any(name.startswith("google.auth") for name in modules)
    assert len(monitored.google.requests) + len(monitored.bing.requests) == requests
    only = monitored.program.run("monitor", "--state", state, "--offline", "--to", "bing", "--json")
    assert [row["service"] for row in json.loads(only.out)["sitemaps"]] == ["bing"]


def test_offline_before_the_first_answer(monitored: MonitoredSite) -> None:
    result = monitored.monitor("--offline")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "No answer is kept yet: run monitor without --offline.\n"
        "Pages: 0 of 12 inspected; --inspect N asks Google about N of them.\n"
    )


def test_nobody_but_the_services_is_asked(monitored: MonitoredSite) -> None:
    monitored.write_site_file()
    driver = (sys.executable, "-c", ONLY_LOOPBACK, "monitor", "--config", SITE_FILE, "--inspect", "5")
    done = monitored.program.execute(*driver)
    assert done.code == 0, done.err
    hosts, modules = json.loads(done.err.splitlines()[-1])
    assert set(hosts) == {"127.0.0.1"}
    # Not even the own site.
    assert monitored.server.requests == []
    rooms = {name.partition(".")[0] for name in modules}
    assert not rooms & {"scrapy", "twisted", "aiohttp", "lxml"}
    assert not [name for name in modules if name.startswith(("sitemap_crawler.publish", "sitemap_crawler.crawl"))]


def test_no_secret_is_stored_or_printed(monitored: MonitoredSite) -> None:
    echoed = f"the key {BING_KEY} is wrong"
    monitored.bing.answer_next("GetFeeds", bing_error(3, echoed))
    private = json.loads((monitored.program.directory / "google.json").read_text())

    def repeat(request: LoggedRequest) -> Answer:
        return google_error(403, "forbidden", f"{request.headers['authorization']} {private['private_key']}")

    monitored.google.answer_next("inspect", repeat)
    results = [monitored.monitor("--inspect", "4"), monitored.monitor("--json"), monitored.monitor("--offline")]
    assert results[0].code == 1
    secrets = [BING_KEY, *monitored.google.tokens, private["private_key"].splitlines()[1]]
    assert len(monitored.google.tokens) == 2
    assert service_account_key().key_size == 2_048
    kept = b"".join(path.read_bytes() for path in monitored.program.directory.glob("state.sqlite*"))
    for secret in secrets:
        assert secret.encode() not in kept
        assert all(secret not in result.out + result.err for result in results)


def test_a_crawl_may_hold_the_inventory(monitored: MonitoredSite) -> None:
    store = open_store(monitored.state)
    try:
        report = monitored.json("--inspect", "3")
    finally:
        store.close()
    assert report["coverage"]["inspected"] == 3


def test_the_rotation_reaches_all_pages(monitored: MonitoredSite) -> None:
    for _ in range(3):
        assert monitored.monitor("--inspect", "5", "--to", "google").code == 0
    # Five are in flight, so that those of one run arrive in any order.
    asked = monitored.inspected()
    assert (len(asked), len(set(asked[:10]))) == (15, 10)
    assert set(asked) == {monitored.home, *map(monitored.server.url, PATHS)}


@pytest.mark.slow
def test_the_quota_of_the_day_caps_the_inspections(monitored: MonitoredSite) -> None:
    assert monitored.monitor("--inspect", "1").code == 0
    monitored.change("UPDATE engine_quota SET used = 1998")
    result = monitored.monitor("--inspect", "10")
    assert result.code == 4
    assert result.last_line.startswith("google: 2 pages inspected, then the quota of the day was used up: run the same")
    assert (len(monitored.inspected()), monitored.used()) == (3, 2_000)
    assert monitored.monitor("--inspect", "10").code == 4
    assert monitored.monitor().code == 0


class Hanging:
    """Inspections that are answered up to a number of requests, and hang from then on until the end of the test."""

    def __init__(self, monitored: MonitoredSite, answered: int) -> None:
        self.monitored, self.answered = monitored, answered
        self.hung = threading.Event()
        self.end = threading.Event()
        self.lock = threading.Lock()
        self.count = 0
        monitored.google.answer_next("inspect", *[self.answer] * 100)

    def answer(self, request: LoggedRequest) -> Answer:
        with self.lock:
            self.count += 1
            hangs = self.count > self.answered
        if hangs:
            self.hung.set()
            self.end.wait(120)
            return Answer(drop=True)
        return self.monitored.google.usual("inspect", request)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_end_in_the_midst_of_inspections_loses_those_in_flight_only(
    monitored: MonitoredSite, number: signal.Signals
) -> None:
    hanging = Hanging(monitored, 6)
    process = monitored.start("--inspect", "12", "--to", "google", "--json")
    try:
        assert hanging.hung.wait(60)
        wait_until(lambda: len(monitored.answered()) == 6)
        os.kill(process.pid, number)
        out, err = process.communicate(timeout=60)
    finally:
        hanging.end.set()
        process.kill()
    asked = monitored.inspected()
    assert len(monitored.answered()) == 6
    assert len(asked) <= monitored.used() <= 6 + 5
    if number == signal.SIGKILL:
        assert process.returncode == -number
    else:
        assert process.returncode == 4
        assert json.loads(out)["coverage"]["inspected"] == 6
        assert err == ("sitemap-crawler: interrupted, the answers so far are kept; run the same command to continue\n")
    with monitored.google._lock:
        monitored.google._scripted.clear()
    monitored.google.clear_log()
    assert monitored.monitor("--inspect", "6", "--to", "google").code == 0
    assert len(monitored.answered()) == 12


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--fail-on", "pending:x"), "bad value 'pending:x' for --fail-on: give a number of days up to 3,650, such as"),
        (
            ("--fail-on", "coverage:101"),
            "bad value 'coverage:101' for --fail-on: give a number of per cent up to 100, such as coverage:80",
        ),
        (
            ("--google-property", "sc-domain:example.org"),
            "google_property sc-domain:example.org does not cover http://",
        ),
        (("--fail-on", "bugs"), "bad value 'bugs' for --fail-on: give one or more of errors,warnings,pending:DAYS"),
        (("--to", "yahoo"), "--to yahoo: give one or more of google, bing"),
        (("--to", "indexnow"), "--to indexnow: give one or more of google, bing"),
        (("--offline", "--inspect", "3"), "--offline and --inspect exclude each other"),
        (("--inspect", "-1"), "Invalid value for '--inspect': -1 is not in the range x>=0"),
        (("--google-api-url", "http://a.example/"), "bad value 'http://a.example/' for google_api_url: a key or token"),
        (("--google-credentials", "none.json"), "google: cannot read google_credentials none.json"),
    ],
)
def test_usage_errors(monitored: MonitoredSite, options: tuple[str, ...], line: str) -> None:
    result = monitored.monitor(*options)
    assert result.code == 2
    assert result.last_line.startswith(line)


def test_without_a_service_the_keys_are_named(monitored: MonitoredSite) -> None:
    monitored.options = {name: monitored.options[name] for name in ("start_url", "state")}
    result = monitored.monitor()
    assert (result.code, result.out) == (2, "")
    assert result.last_line == (
        "no search engine is configured: give google_credentials or bing_key in the site file (--config), or set "
        "GOOGLE_APPLICATION_CREDENTIALS, BING_WEBMASTER_API_KEY"
    )


def test_a_site_that_was_never_published(program: Program, site: WebServer) -> None:
    site.pages["/"] = "<p>A page</p>"
    assert program.run("crawl", site.url(), "--state", "state.sqlite", "--dry-run", "-q").code == 0
    result = program.run("monitor", "--state", "state.sqlite", "--offline")
    assert result.code == 3
    assert "publish" in result.last_line


def test_conditions_that_are_met_exit_with_1(monitored: MonitoredSite) -> None:
    monitored.google.sitemaps[monitored.home, monitored.entry]["errors"] = "3"
    result = monitored.monitor("--fail-on", "errors,pending:30,coverage:50")
    assert result.code == 1
    assert result.err.splitlines() == [
        "Warning: --fail-on coverage:50 cannot be judged: 0 of 12 inspected",
        f"sitemap-crawler: --fail-on errors: google reports 3 errors in {monitored.entry}",
    ]
    assert monitored.monitor().code == 0
    assert monitored.monitor("--offline", "--fail-on", "errors").code == 1


def test_keys_that_others_can_read_are_warned_of(monitored: MonitoredSite) -> None:
    monitored.write_site_file().chmod(0o644)
    (monitored.program.directory / "google.json").chmod(0o640)
    result = monitored.program.run("monitor", "--config", SITE_FILE)
    assert result.code == 0
    credentials = monitored.options["google_credentials"]
    assert sorted(result.err.splitlines()) == [
        f"Warning: other users can read bing_key in {SITE_FILE}: chmod 600 it",
        f"Warning: other users can read the credentials in {credentials}: run chmod 600 on it",
    ]


def test_explain_shows_the_inspection_of_a_page(monitored: MonitoredSite) -> None:
    url = monitored.server.url("/p/3")
    monitored.google.inspections[url] = {
        "verdict": "NEUTRAL", "coverageState": "Crawled - currently not indexed", "pageFetchState": "SUCCESSFUL",
        "lastCrawlTime": "2026-11-02T08:00:00Z", "googleCanonical": f"{monitored.home}other",
    }  # fmt: skip
    state = ("--state", "state.sqlite")
    assert json.loads(monitored.program.run("explain", url, *state, "--json").out)["google"] is None
    assert "Google" not in monitored.program.run("explain", url, *state).out
    assert monitored.monitor("--inspect", "12").code == 0
    found = json.loads(monitored.program.run("explain", url, *state, "--json").out)["google"]
    day = found["inspected"][:10]
    assert found == {
        "inspected": found["inspected"], "verdict": "NEUTRAL", "coverage_state": "Crawled - currently not indexed",
        "robots": None, "indexing": None, "fetch": "SUCCESSFUL", "last_crawl": "2026-11-02T08:00:00+00:00",
        "google_canonical": f"{monitored.home}other", "user_canonical": None,
    }  # fmt: skip
    line = f"Google        Crawled - currently not indexed, canonical {monitored.home}other, inspected {day}"
    assert line in monitored.program.run("explain", url, *state).out
