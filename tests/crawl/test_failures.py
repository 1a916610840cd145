"""What goes wrong says so in one line, with the right exit code, and leaves the published files as they were."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.program import TIMEOUT
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program, Result

OLD = b"<!-- published before -->"


@pytest.fixture
def published(program: Program) -> Path:
    """A live sitemap that must survive."""
    program.output.mkdir()
    entry = program.output / "sitemap.xml"
    entry.write_bytes(OLD)
    return entry


def assert_refused(result: Result, code: int, *words: str) -> None:
    assert result.code == code, result.err
    for word in words:
        assert word in result.last_line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["crawl"], ["start_url is missing"]),
        (["crawl", "example.com"], ["example.com", "did you mean https://example.com/"]),
        (["crawl", "ftp://example.com/"], ["ftp://example.com/", "http"]),
        (["crawl", "http://"], ["http://"]),
        (["crawl", "http://[::1/"], ["http://[::1/"]),
        (["crawl", "not a url"], ["not a url"]),
        (
            ["crawl", "http://127.0.0.1/", "--sitemap-url", "http://user:secret@127.0.0.1/sitemap.xml"],
            ["user and password"],
        ),
        (["crawl", "http://127.0.0.1/", "--max-pages", "many"], ["max_pages", "many"]),
        (["crawl", "http://127.0.0.1/", "--max-pages", "0"], ["max_pages", "0"]),
        (["crawl", "http://127.0.0.1/", "--max-urls", "50001"], ["max_urls", "50001", "50000"]),
        (["crawl", "http://127.0.0.1/", "--max-bytes", "52428801"], ["max_bytes", "52428800"]),
        (["crawl", "http://127.0.0.1/", "--max-bytes", "10"], ["max_bytes"]),
        (["crawl", "http://127.0.0.1/", "--concurrency", "-1"], ["concurrency", "-1"]),
        (["crawl", "http://127.0.0.1/", "--delay", "soon"], ["delay", "soon"]),
        (["crawl", "http://127.0.0.1/", "--include", "("], ["include", "'('", "regular expression"]),
        (["crawl", "http://127.0.0.1/", "--user-agent", "a\nb"], ["user_agent"]),
        (["crawl", "http://127.0.0.1/", "--state", "mysql://host/db"], ["state", "mysql"]),
        (
            ["crawl", "http://127.0.0.1/", "--sitemap-url", "http://127.0.0.1/docs/sitemap.xml"],
            ["http://127.0.0.1/docs/"],
        ),
        (["crawl", "http://127.0.0.1/", "--sitemap-url", "http://127.0.0.1/"], ["http://127.0.0.1/", "file name"]),
        (["crawl", "http://127.0.0.1/", "--sitemap-url", "http://127.0.0.1/a.xml.gz"], ["remove .gz"]),
        (["crawl", "http://127.0.0.1/", "--max-page", "3"], ["--max-page", "--max-pages"]),
        (["crawl", "http://127.0.0.1/", "-s", "SITEMAP_MAXPAGES=3"], ["SITEMAP_MAXPAGES", "SITEMAP_MAX_PAGES"]),
        (["crawl", "http://127.0.0.1/", "-s", "CONCURENT_REQUESTS=3"], ["did you mean CONCURRENT_REQUESTS"]),
        (["crawl", "http://127.0.0.1/", "-s", "DOWNLOAD_DELAY"], ["NAME=VALUE"]),
        (["crawl", "http://127.0.0.1/", "--config", "absent.toml"], ["absent.toml", "No such file"]),
        (["crawl", "http://127.0.0.1/", "--report", "absent/report.json"], ["report", "absent/report.json"]),
        (["crawl", "http://127.0.0.1/", "--log-file", "absent/run.log"], ["log_file", "absent/run.log"]),
        (["crwl"], ["crwl"]),
        (["validate"], ["TARGET", "standard input"]),
        (["validate", "absent.xml"], ["absent.xml"]),
    ],
)
def test_usage_errors(program: Program, arguments: list[str], words: list[str]) -> None:
    result = program.run(*arguments)
    assert_refused(result, 2, *words)
    assert result.err.count("\n") == 1
    assert "secret" not in result.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"max_pages = ", ["site.toml is not TOML"]),
        (b"max_pages = " + b"9" * 5_000, ["site.toml is not TOML", "too long"]),
        (b"exclude = " + b"[" * 5_000, ["site.toml is not TOML", "nested more than 200 deep"]),
        (b"exclude" + b".a" * 5_000 + b" = 1", ["site.toml is not TOML", "nested more than 200 deep"]),
        (b"max_page = 3", ["max_page", "did you mean max_pages"]),
        (b"max_pages = 'three'", ["max_pages", "three"]),
        (b"settings = 3", ["[settings]"]),
        (b"[settings]\nROBOTSTXT_OBAY = false", ["ROBOTSTXT_OBAY", "ROBOTSTXT_OBEY"]),
        (b"user_agent = '\xff'", ["UTF-8"]),
    ],
)
def test_bad_site_files(program: Program, content: bytes, words: list[str]) -> None:
    (program.directory / "site.toml").write_bytes(content)
    result = program.run("crawl", "http://127.0.0.1/", "--config", "site.toml")
    assert_refused(result, 2, *words)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(status=404), ["status 404"]),
        (Answer(status=500), ["status 500"]),
        (Answer("hello", content_type="text/plain"), ["text/plain"]),
        (Answer(""), ["empty body"]),
        (Answer(page(head='<meta name="robots" content="noindex">')), ["noindex"]),
        (Answer(page(), headers={"X-Robots-Tag": "none"}), ["X-Robots-Tag"]),
        (Answer(drop=True), ["no page", "check the address"]),
        (Answer(status=302, headers={"Location": "http://elsewhere.invalid/"}), ["http://elsewhere.invalid/"]),
        (Answer(status=302, headers={"Location": "/"}), ["status 302"]),
        (Answer(status=302), ["Location"]),
        (Answer('<meta http-equiv="refresh" content="0; url=http://elsewhere.invalid/">'), ["elsewhere.invalid"]),
    ],
)
def test_a_start_page_that_is_not_usable(
    program: Program, site: WebServer, published: Path, answer: Answer, words: list[str]
) -> None:
    site.pages["/"] = answer
    result = program.crawl(site.url("/"))
    assert_refused(result, 3, site.url("/"), *words)
    assert (result.report["outcome"], result.report["exit_code"]) == ("refused", 3)
    assert published.read_bytes() == OLD


def test_a_start_page_that_robots_txt_forbids(program: Program, site: WebServer, published: Path) -> None:
    site.pages.update({"/": page(), "/robots.txt": Answer("User-agent: *\nDisallow: /\n", content_type="text/plain")})
    result = program.crawl(site.url("/"))
    assert_refused(result, 3, "robots.txt", site.url("/"))
    assert site.paths() == ["/robots.txt"]
    assert published.read_bytes() == OLD


def test_a_robots_txt_that_fails_forbids_everything(program: Program, site: WebServer, published: Path) -> None:
    site.pages.update({"/": page(), "/robots.txt": Answer(status=503)})
    result = program.crawl(site.url("/"))
    assert_refused(result, 3, site.url("/robots.txt"), "status 503")
    assert set(site.paths()) == {"/robots.txt"}
    assert published.read_bytes() == OLD


@pytest.mark.parametrize("setting", ["ROBOTSTXT_OBEY=1", "ROBOTSTXT_OBEY=0"])
def test_a_host_that_does_not_answer(program: Program, published: Path, setting: str) -> None:
    with WebServer() as site:
        url = site.url("/")
    result = program.crawl(url, "-s", setting)
    assert_refused(result, 3, url, "connection refused")
    assert published.read_bytes() == OLD


def test_nothing_to_list(program: Program, site: WebServer, published: Path) -> None:
    site.pages["/"] = page()
    result = program.crawl(site.url("/"), "--include", "/nothing/")
    assert_refused(result, 3, "nothing is published")
    assert published.read_bytes() == OLD


def test_a_set_that_shrank_too_far_is_refused_until_allowed(program: Program, site: WebServer) -> None:
    paths = [f"/{number}" for number in range(29)]
    site.pages.update({"/": page(*paths), **{path: page() for path in paths}})
    assert program.crawl(site.url("/")).code == 0
    live = (program.output / "sitemap.xml").read_bytes()
    for path in paths[19:]:
        del site.pages[path]
    result = program.crawl(site.url("/"))
    assert_refused(result, 3, "30", "20", "--allow-shrink")
    assert (program.output / "sitemap.xml").read_bytes() == live
    result = program.crawl(site.url("/"), "--allow-shrink")
    assert (result.code, len(result.listed())) == (0, 20)


def test_a_third_less_is_published(program: Program, site: WebServer) -> None:
    paths = [f"/{number}" for number in range(29)]
    site.pages.update({"/": page(*paths), **{path: page() for path in paths}})
    program.crawl(site.url("/"))
    for path in paths[20:]:
        del site.pages[path]
    result = program.crawl(site.url("/"))
    assert (result.code, len(result.listed())) == (0, 21)


def test_an_output_directory_that_is_a_file(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    program.output.write_bytes(OLD)
    assert_refused(program.crawl(site.url("/")), 1, "sitemaps")
    assert program.output.read_bytes() == OLD
    assert site.paths() == []


def test_a_state_that_can_not_be_written(program: Program, site: WebServer) -> None:
    (program.directory / "file").write_bytes(OLD)
    result = program.crawl(site.url("/"), "--state", "file/state.sqlite")
    assert_refused(result, 1, "file/state.sqlite", "--state")


@pytest.mark.parametrize("length", [300, 5000])
@pytest.mark.parametrize(
    "command",
    [
        ["crawl", "http://127.0.0.1/"], ["write", "http://127.0.0.1/"], ["explain", "http://127.0.0.1/"], ["runs"],
        ["pages"], ["diff"], ["report", "-o", "a.html"], ["check-inventory"],
    ],
)  # fmt: skip
def test_a_name_that_is_too_long_is_named(program: Program, command: list[str], length: int) -> None:
    name = "x" * length
    result = program.run(*command, "--state", name)
    assert_refused(result, 1, "x" * 100, "File name too long", "; give the name of a file")
    assert len(result.last_line) < 500


def test_a_state_that_is_no_inventory(program: Program, site: WebServer) -> None:
    (program.directory / "state.sqlite").write_bytes(b"something else entirely" * 100)
    result = program.crawl(site.url("/"), "--state", "state.sqlite")
    assert_refused(result, 1, "state.sqlite", "not an inventory")
    with sqlite3.connect(program.directory / "other.sqlite") as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()
    before = (program.directory / "other.sqlite").read_bytes()
    result = program.crawl(site.url("/"), "--state", "other.sqlite")
    assert_refused(result, 1, "other.sqlite", "another program")
    assert (program.directory / "other.sqlite").read_bytes() == before
    assert list(program.directory.glob("other.sqlite?*")) == []


@pytest.mark.parametrize(
    "name", ["KEEP_ERRORS", "ORPHAN_RUNS", "KEEP_RUNS", "REVISIT_EXCLUDED", "MAX_BODY", "MAX_PAGES"]
)
def test_numbers_that_no_database_holds(program: Program, site: WebServer, name: str) -> None:
    site.pages["/"] = page()
    assert_refused(program.crawl(site.url("/"), "-s", f"SITEMAP_{name}={10**20}"), 2, name.lower())
    assert site.paths() == []


def test_a_state_of_another_release(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    program.crawl(site.url("/"), "--state", "state.sqlite")
    with sqlite3.connect(program.directory / "state.sqlite") as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'schema_version'")
    connection.close()
    result = program.crawl(site.url("/"), "--state", "state.sqlite")
    assert_refused(result, 1, "state.sqlite", "version 99")


def test_a_state_of_another_site(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page(), "/docs/": page()})
    program.crawl(site.url("/"), "--state", "state.sqlite")
    result = program.crawl(site.url("/docs/"), "--state", "state.sqlite")
    assert_refused(result, 2, site.url("/"), site.url("/docs/"), "--state")


@pytest.mark.slow
def test_a_full_disk(program: Program, site: WebServer, published: Path) -> None:
    """No file may grow past 300 kB: neither the inventory nor a sitemap can take the whole site."""
    paths = [f"/{number}/{'x' * 1_000}" for number in range(600)]
    site.pages.update({"/": page(*paths), **{path: page() for path in paths}})
    command = " ".join(program.command("crawl", site.url("/"), "--report", "report.json", "--concurrency", "16"))
    done = program.execute("bash", "-c", f"ulimit -f 300; exec {command}")
    assert done.code == 1, done.err
    assert "Traceback" not in done.err
    assert "cannot use the inventory" in done.last_line
    assert published.read_bytes() == OLD
    result = program.crawl(site.url("/"), "--concurrency", "16")
    assert result.code == 0, result.err
    assert result.report["listed"] == 601


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["-a", "url=nonsense"], 2, "nonsense"),
        (["-a", "bogus=1"], 2, "unknown spider argument bogus"),
        (["-a", "url=http://127.0.0.1/", "-s", "SITEMAP_MAXPAGES=1"], 2, "SITEMAP_MAX_PAGES"),
        (["-a", "url=http://127.0.0.1/", "-s", "SITEMAP_STATE=/proc/x/y"], 1, "/proc/x/y"),
        (["-a", "url=http://127.0.0.1/", "-s", "SITEMAP_OUTPUT=/proc/x/y"], 1, "/proc/x/y"),
    ],
)
def test_scrapy_itself_is_told_in_one_line(program: Program, arguments: list[str], code: int, words: str) -> None:
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-s", "LOG_LEVEL=WARNING", *arguments]
    done = program.execute(*command, SCRAPY_SETTINGS_MODULE="sitemap_crawler.settings")
    assert done.code == code
    [line] = done.err.splitlines()
    assert words in line


@pytest.mark.parametrize(
    "setting",
    [
        "LOG_LEVEL=FOO",
        "RETRY_TIMES=abc",
        "DOWNLOAD_TIMEOUT=abc",
        "ROBOTSTXT_OBEY=nope",
        "CONCURRENT_REQUESTS_PER_DOMAIN=0",
        'ITEM_PIPELINES={"a.b": 1}',
        'ITEM_PIPELINES={"sitemap_crawler.crawl.pipelines.in_process.InventoryPipeline": null}',
        'EXTENSIONS={"a.b": 1}',
        "DOWNLOADER=a.b",
    ],
)
def test_settings_that_scrapy_can_not_use(program: Program, site: WebServer, setting: str) -> None:
    site.pages["/"] = page()
    result = program.run("crawl", site.url("/"), "-s", setting)
    assert_refused(result, 2, "setting")
    assert site.paths() == []


@pytest.mark.parametrize("target", ["sitemaps/sitemap.xml", "state.sqlite"])
def test_a_report_does_not_replace_what_it_is_about(program: Program, site: WebServer, target: str) -> None:
    site.pages["/"] = page()
    result = program.run("crawl", site.url("/"), "--state", "state.sqlite", "--report", target)
    assert_refused(result, 2, target)


def test_a_report_is_written_through_a_link_and_to_no_device(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    (program.directory / "report.json").symlink_to("real.json")
    assert program.crawl(site.url("/")).report["outcome"] == "published"
    assert (program.directory / "report.json").is_symlink()
    result = program.run("crawl", site.url("/"), "--report", "/dev/null")
    assert_refused(result, 2, "/dev/null")


def test_no_report_of_an_earlier_run_is_left(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    assert program.crawl(site.url("/")).report["outcome"] == "published"
    result = program.crawl(site.url("/"), "-o", "/proc/x")
    assert result.code == 1
    assert (result.report["outcome"], result.report["exit_code"]) == ("failed", 1)
    assert "/proc/x" in result.report["message"]


@pytest.mark.parametrize("redirection", ["| true", "| head -c 1", ">/dev/full", ">&-", "2>&-"])
def test_streams_that_take_nothing_change_nothing(program: Program, site: WebServer, redirection: str) -> None:
    site.pages["/"] = page()
    command = " ".join(program.command("crawl", site.url("/"), "--report", "report.json"))
    done = program.execute("bash", "-c", f"set -o pipefail; {command} {redirection}")
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    assert (program.output / "sitemap.xml").exists()


FAILING_PIPELINE = """
class Failing:
    def process_item(self, item):
        if item.queued.url.endswith("/bad"):
            raise RuntimeError("no such luck")
        return item
"""


POISONING_PIPELINE = """
class Poisoning:
    def process_item(self, item):
        if item.queued.url.endswith("/bad"):
            item.observation.%s
        return item
"""


@pytest.mark.parametrize("poison", ["title = chr(0xD800)", "body_bytes = 2**70"])
def test_what_no_database_takes_ends_the_crawl(program: Program, site: WebServer, published: Path, poison: str) -> None:
    """Were it tried again, links of its page would lead to rows that nobody has written."""
    site.pages.update({"/": page("/bad", "/good"), "/bad": page("/other"), "/good": page(), "/other": page()})
    (program.directory / "poisoning.py").write_text(POISONING_PIPELINE % poison)
    poisoning = ("-s", 'ITEM_PIPELINES={"poisoning.Poisoning": 890}')
    done = program.run("crawl", site.url("/"), *poisoning, "--log-file", "crawl.log")
    assert done.code == 1
    assert "an error in the program" in done.last_line
    assert "Traceback" in (program.directory / "crawl.log").read_text()
    assert published.read_bytes() == OLD
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    assert result.report["listed"] == 4


def test_a_page_at_which_a_pipeline_fails_is_not_listed(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/bad", "/good"), "/bad": page(), "/good": page()})
    (program.directory / "failing.py").write_text(FAILING_PIPELINE)
    pipelines = ("-s", 'ITEM_PIPELINES={"failing.Failing": 1}')
    command = ("crawl", site.url("/"), *pipelines, "--report", "report.json", "-q")
    with program.start(*command, stderr=subprocess.DEVNULL) as crawl:
        assert crawl.wait(TIMEOUT) == 0
    report = json.loads((program.directory / "report.json").read_text())
    assert (report["listed"], report["excluded"]) == (2, {"unreachable": 1})
