"""`submit` killed, interrupted, run twice at once and next to a crawl: nothing is sent twice, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.announced_site import SITE_FILE, AnnouncedSite
from tests.support.inventories import open_store
from tests.support.program import TIMEOUT
from tests.support.search_engines import (
    BING_KEY,
    INDEXNOW_KEY,
    REFRESH_TOKEN,
    FakeBing,
    FakeGoogle,
    FakeIndexNow,
    bing_error,
    google_error,
    indexnow_error,
    service_account_key,
    write_authorized_user,
)
from tests.support.webserver import Answer

if TYPE_CHECKING:
    from tests.support.forks import Fork
    from tests.support.program import Program
    from tests.support.webserver import LoggedRequest, WebServer

pytestmark = pytest.mark.slow

ADDED = 20_001
"""Three batches."""


@pytest.fixture
def announced(program: Program, site: WebServer, engine: FakeIndexNow) -> AnnouncedSite:
    made = AnnouncedSite.for_indexnow(program, site, engine)
    made.begin()
    made.add_listed(ADDED)
    return made


def received(engine: FakeIndexNow) -> Counter[str]:
    """How often each URL was sent."""
    return Counter(url for batch in engine.batches() for url in batch["urlList"])


def started(announced: AnnouncedSite, *options: str, forked: bool = True) -> subprocess.Popen[str] | Fork:
    program = announced.program
    arguments = ("submit", "--config", SITE_FILE, *options)
    if forked:
        return program.start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return subprocess.Popen(
        program.command(*arguments),
        cwd=program.directory,
        env=program.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("commits", [4, 5, 7, 9, 11, 13])
def test_a_kill_repeats_one_batch_at_most_and_not_within_ten_minutes(
    announced: AnnouncedSite, engine: FakeIndexNow, commits: int
) -> None:
    result = announced.program.run_killed(commits, "submit", "--config", SITE_FILE)
    assert result.code == -signal.SIGKILL, result.err
    assert announced.submit().code in (0, 4)
    assert set(received(engine).values()) <= {1}
    announced.let_pass(601)
    assert announced.submit().code == 0
    times = received(engine)
    assert len(times) == ADDED
    assert set(times.values()) <= {1, 2}
    assert sum(count == 2 for count in times.values()) <= 10_000
    announced.let_pass(601)
    engine.clear_log()
    assert announced.submit().code == 0
    assert engine.requests == []


def test_two_at_once_share_the_batches(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    both_began = threading.Event()

    def hold(_: LoggedRequest) -> Answer:
        assert both_began.wait(TIMEOUT)
        return Answer()

    def key_file(_: LoggedRequest) -> Answer:
        if announced.paths().count(f"/{INDEXNOW_KEY}.txt") == 2:
            both_began.set()
        return Answer(INDEXNOW_KEY)

    announced.server.clear_log()
    announced.serve(f"/{INDEXNOW_KEY}.txt", key_file)
    engine.answer_next("send", hold, hold)
    processes = [started(announced) for _ in range(2)]
    for process in processes:
        process.communicate(timeout=TIMEOUT)
    assert {process.returncode for process in processes} <= {0, 4}
    assert received(engine) == Counter(received(engine).keys())
    assert len(received(engine)) == ADDED
    announced.let_pass(601)
    assert announced.submit().code == 0
    assert len(engine.requests) == 3


def test_a_crawl_may_run_meanwhile(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    store = open_store(announced.state)
    try:
        with store.connection.begin():
            store.connection.exec_driver_sql("UPDATE urls SET state = state")
        assert announced.submit().code == 0
        with store.connection.begin():
            store.connection.exec_driver_sql("UPDATE urls SET state = state")
    finally:
        store.close()
    assert len(received(engine)) == ADDED


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_is_one_line_and_the_same_command_goes_on(
    announced: AnnouncedSite, engine: FakeIndexNow, stop: signal.Signals
) -> None:
    reached, released = threading.Event(), threading.Event()

    def hold(_: LoggedRequest) -> Answer:
        reached.set()
        released.wait(TIMEOUT)
        return Answer()

    engine.answer_next("send", Answer(), hold)
    process = started(announced)
    assert reached.wait(TIMEOUT)
    process.send_signal(stop)
    _, err = process.communicate(timeout=TIMEOUT)
    released.set()
    lines = [line for line in err.splitlines() if line]
    assert (process.returncode, lines) == (4, ["sitemap-crawler: interrupted; run the same command to continue"])
    outcomes = announced.rows("SELECT outcome, urls FROM submissions ORDER BY id")
    assert outcomes == [("accepted", 10_000), ("sending", 10_000)]
    assert announced.submit().code == 4
    assert received(engine).most_common(1)[0][1] == 1
    announced.let_pass(601)
    assert announced.submit().code == 0
    assert len(received(engine)) == ADDED


@pytest.mark.parametrize("kind", ["service_account", "authorized_user"])
def test_no_secret_gets_anywhere(program: Program, site: WebServer, engine: FakeIndexNow, kind: str) -> None:
    """Every service fails in every way, and repeats what it was sent."""
    with FakeGoogle({"sc-domain:example.com": "siteOwner"}) as google, FakeBing(["http://www.example.com/"]) as bing:
        options = google.options(program.directory) | bing.options() | engine.urls() | {"indexnow_key": [INDEXNOW_KEY]}
        if kind == "authorized_user":
            file = write_authorized_user(program.directory / "user.json")
            options["google_credentials"] = str(file)
        options |= {"auth": "me:pass-of-the-site", "header": ["X-Pass: letmein-please"]}
        announced = AnnouncedSite(program, site, origin="http://www.example.com", **options)
        announced.publish("/p/a")
        commands: list[bytes] = []
        process: list[subprocess.Popen[str]] = []

        def echo(make: object) -> object:
            def answer(request: LoggedRequest) -> Answer:
                commands.append(Path(f"/proc/{process[-1].pid}/cmdline").read_bytes())
                sent = f"{request.path} {dict(request.headers)} {request.body.decode()}"
                return make(sent)  # type: ignore[operator]

            return answer

        failures = (
            lambda sent: google_error(403, "forbidden", sent),
            lambda sent: Answer(f"<html>{sent}</html>", status=500),
            lambda sent: Answer(status=302, headers={"Location": f"http://127.0.0.1:1/{sent[:200]}"}),
            lambda sent: bing_error(14, sent),
            lambda sent: indexnow_error(403, "KeyNotFound", sent),
            lambda sent: Answer(drop=True),
        )
        printed = ""
        for number, failure in enumerate(failures):
            google.answer_next("token" if number % 2 else "submit", *[echo(failure)] * 4)
            bing.answer_next("SubmitFeed", *[echo(failure)] * 4)
            engine.answer_next("send", echo(failure))
            announced.let_pass(601)
            form = ["--json"] if number % 2 else []
            process.append(started(announced, "--all", "--force", *form, forked=False))
            out, err = process[-1].communicate(timeout=TIMEOUT)
            assert process[-1].returncode in (1, 4), err
            assert "Traceback" not in err
            printed += out + err
            for service, operation in ((google, "token"), (google, "submit"), (bing, "SubmitFeed"), (engine, "send")):
                service._scripted[operation].clear()
        assert len(commands) >= len(failures)
        pem = service_account_key().private_numbers()
        secrets = {BING_KEY, REFRESH_TOKEN, "pass-of-the-site", "letmein-please", "ya29.", "PRIVATE KEY", str(pem.d)}
        places = {"output": printed.encode(), "arguments": b"\n".join(commands)}
        written_by_us = {SITE_FILE, "google.json", "user.json"}
        for path in program.directory.rglob("*"):
            if path.is_file() and path.name not in written_by_us:
                places[str(path)] = path.read_bytes()
        assert any(name.endswith("state.sqlite") for name in places)
        found = {(name, secret) for name, data in places.items() for secret in secrets if secret.encode() in data}
        assert found == set()


def test_a_clock_that_was_set_back_holds_nothing(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    announced.submit()
    announced.change("UPDATE submission_marks SET publication = 1")
    announced.change("UPDATE submissions SET at = at + 86400, outcome = 'sending'")
    engine.clear_log()
    assert announced.submit().code == 0
    assert len(received(engine)) == ADDED


def test_an_inventory_that_cannot_be_written_is_one_line(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    announced.state.write_bytes(announced.state.read_bytes()[:5000])
    result = announced.submit()
    assert (result.code, engine.requests) == (1, [])
    assert json.dumps(str(announced.state.name))[1:-1] in result.last_line


def test_the_process_list_is_readable_here() -> None:
    assert b"python" in Path(f"/proc/{os.getpid()}/cmdline").read_bytes()
