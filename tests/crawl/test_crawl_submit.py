"""`crawl --submit`: search engines are told after the run, and nothing that happens to that changes the run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.announced_site import SITE_FILE, AnnouncedSite
from tests.support.paths import ROOT
from tests.support.program import TIMEOUT
from tests.support.search_engines import BING_KEY, INDEXNOW_KEY, FakeBing, FakeGoogle, FakeIndexNow
from tests.support.webserver import Answer

if TYPE_CHECKING:
    from tests.support.program import Program, Result
    from tests.support.webserver import LoggedRequest, WebServer

pytestmark = pytest.mark.slow


@pytest.fixture
def announced(program: Program, site: WebServer, engine: FakeIndexNow) -> AnnouncedSite:
    """A site that has been published and submitted once."""
    made = AnnouncedSite.for_indexnow(program, site, engine, report="report.json")
    made.begin()
    return made


def prepare(announced: AnnouncedSite) -> None:
    """Add a page, and `submit` to the site file."""
    announced.options["submit"] = True
    announced.write_site_file()
    announced.serve("/p/b", Answer("<p>b</p>"))
    announced.serve("/", Answer('<a href="/p/a">a</a><a href="/p/b">b</a>'))


def crawl(announced: AnnouncedSite, *options: str) -> tuple[Result, dict[str, Any]]:
    """Crawl after `prepare`. Return the result and the submission in the report."""
    prepare(announced)
    result = announced.program.run("crawl", "--config", SITE_FILE, *options)
    submission: dict[str, Any] = result.report["submission"]
    return result, submission


def test_what_was_published_is_sent(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    result, submission = crawl(announced)
    assert (result.code, len(result.err.splitlines())) == (0, 2)
    assert [url.removeprefix(announced.origin) for url in engine.batches()[0]["urlList"]] == ["/", "/p/b"]
    assert (submission["exit_code"], submission["message"]) == (0, "indexnow accepted")
    assert submission["results"][0]["urls"] == {"added": 1, "changed": 1, "removed": 0}
    assert "Search engines: indexnow accepted" in result.out
    assert result.out.splitlines()[-1].startswith("3 pages listed in ")


def test_without_the_option_nobody_is_told(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    for options, code in ((("--dry-run",), 0), ((), 3)):
        if code:
            announced.serve("/", Answer(status=500))
        announced.options["submit"] = True
        announced.write_site_file()
        result = announced.program.run("crawl", "--config", SITE_FILE, *options)
        assert (result.code, result.report["submission"]) == (code, None)
    assert engine.requests == []


def test_a_failure_is_one_warning(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    announced.serve(f"/{INDEXNOW_KEY}.txt", Answer(status=404))
    result, submission = crawl(announced, "-q")
    assert (result.code, submission["exit_code"], engine.requests) == (0, 3, [])
    [line] = result.err.splitlines()
    assert "submission: indexnow refused: the key file is not in place" in line
    assert result.report["outcome"] == "published"


def test_a_warning_of_the_submission_is_one_of_the_crawl(program: Program, site: WebServer) -> None:
    with FakeGoogle({site.url("/"): "siteOwner"}) as google:
        announced = AnnouncedSite(program, site, report="report.json", **google.options(program.directory))
        announced.publish("/p/a")
        (program.directory / "google.json").chmod(0o644)
        result, submission = crawl(announced)
    assert (result.code, submission["exit_code"], submission["message"]) == (0, 0, "google accepted"), result.err
    [line] = [line for line in result.err.splitlines() if "WARNING" in line]
    assert "submission: other users can read the credentials in " in line
    assert line.endswith("google.json: run chmod 600 on it")


def test_services_that_are_not_configured_are_one_warning(program: Program, site: WebServer) -> None:
    announced = AnnouncedSite(program, site, report="report.json")
    announced.publish("/p/a")
    result, submission = crawl(announced, "-q")
    assert (result.code, submission["exit_code"]) == (0, 2)
    assert len(result.err.splitlines()) == 1


def test_a_service_that_hangs_is_left_alone_after_the_limit(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    released = threading.Event()

    def hang(_: LoggedRequest) -> Answer:
        released.wait(TIMEOUT)
        return Answer()

    engine.answer_next("send", hang)
    announced.options["submit_timeout"] = 3
    before = crawl(announced, "-q")
    released.set()
    result, submission = before
    assert (result.code, submission["exit_code"], submission["results"]) == (0, None, [])
    assert "submission: it took longer than 3 s and was stopped" in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_submission_and_not_the_crawl(
    announced: AnnouncedSite, engine: FakeIndexNow, number: signal.Signals
) -> None:
    asked, released = threading.Event(), threading.Event()

    def hang(_: LoggedRequest) -> Answer:
        asked.set()
        released.wait(TIMEOUT)
        return Answer()

    engine.answer_next("send", hang)
    prepare(announced)
    program = announced.program
    crawling = program.start("crawl", "--config", SITE_FILE, "-q", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        assert asked.wait(TIMEOUT)
        # The inventory is free meanwhile.
        assert program.run("write", "--config", SITE_FILE).code == 0
        (program.directory / "report.json").unlink()
        crawling.send_signal(number)
        _, errors = crawling.communicate(timeout=TIMEOUT)
    finally:
        released.set()
        crawling.kill()
    assert crawling.returncode == 0, errors
    [line] = errors.splitlines()
    assert line.endswith("submission: it was interrupted; run sitemap-crawler submit to go on")
    report = json.loads((program.directory / "report.json").read_text())
    assert (report["outcome"], report["submission"]["exit_code"]) == ("published", None)


@pytest.mark.parametrize(
    "broken",
    ["sys.modules['sqlalchemy'] = None", "import os; os.kill(os.getpid(), 9)", "print('{}'); raise SystemExit(0)"],
)
def test_a_crash_of_the_command_is_one_warning(announced: AnnouncedSite, broken: str) -> None:
    announced.program.patch(f"import sys\nif 'submit' in sys.orig_argv:\n    {broken}\n")
    result, submission = crawl(announced, "-q")
    assert (result.code, submission["exit_code"]) == (0, None)
    assert "submission: it ended with code " in result.err
    assert len(result.err.splitlines()) == 1


def test_no_secret_is_among_the_arguments(announced: AnnouncedSite) -> None:
    commands: list[bytes] = []

    def note(_: LoggedRequest) -> Answer:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                commands.append(path.read_bytes())
            except OSError:
                continue
        return Answer("<html>", status=500)

    with FakeBing([announced.server.url()]) as bing:
        announced.options |= bing.options() | {"auth": "me:secret-pass", "header": ["X-Pass: letmein-please"]}
        announced.server.clear_log()
        bing.answer_next("SubmitFeed", *[note] * 4)
        result, _ = crawl(announced, "-q")
    assert result.code == 0
    own = [command for command in commands if b"\\0submit\\0" in command.replace(b"\0", b"\\0")]
    assert own
    assert not [word for command in own for word in (BING_KEY, "secret-pass", "letmein") if word.encode() in command]
    # The site gets its login from the submission, too.
    maps = [request for request in announced.server.requests if request.path == "/sitemap.xml"]
    assert maps[-1].headers["x-pass"] == "letmein-please"
    assert maps[-1].headers["authorization"].startswith("Basic ")
    assert BING_KEY not in json.dumps(result.report)


def test_scrapy_and_several_sites_submit_as_well(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    announced.options["submit"] = True
    announced.write_site_file()
    (announced.program.directory / "sites").mkdir()
    (announced.program.directory / "sites" / SITE_FILE).write_text(
        (announced.program.directory / SITE_FILE).read_text().replace('"state.sqlite"', f'"{announced.state}"')
        + f'output = "{announced.program.output}"\n'
    )
    announced.serve("/p/b", Answer("<p>b</p>"))
    announced.serve("/", Answer('<a href="/p/a">a</a><a href="/p/b">b</a>'))
    result = announced.program.run("crawl", "--config", "sites", "-q")
    assert (result.code, len(engine.requests)) == (0, 1), result.err
    announced.serve("/p/c", Answer("<p>c</p>"))
    announced.serve("/", Answer('<a href="/p/a">a</a><a href="/p/b">b</a><a href="/p/c">c</a>'))
    announced.let_pass(601)
    spider = ("-m", "scrapy", "crawl", "site", "-a", f"url={announced.server.url()}", "-a", "submit=1")
    more = (f"indexnow_key={INDEXNOW_KEY}", f"indexnow_url={engine.url('/indexnow')}", f"state={announced.state}")
    done = announced.program.execute(
        sys.executable,
        *spider,
        *(part for text in (*more, f"output={announced.program.output}") for part in ("-a", text)),
        SCRAPY_SETTINGS_MODULE="sitemap_crawler.settings",
        PYTHONPATH=str(ROOT),
    )
    assert done.code == 0, done.err
    assert "submission: indexnow accepted" in done.err
    assert len(engine.requests) == 2
