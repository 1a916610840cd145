"""`scrapy crawl site`: the exit codes of the command, one line for what is wrong, never a traceback."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow


def scrapy_crawl(program: Program, *arguments: str) -> Result:
    command = [sys.executable, "-m", "scrapy", "crawl", "site", *arguments]
    done = program.execute(*command, SCRAPY_SETTINGS_MODULE="sitemap_crawler.settings")
    assert "Traceback" not in done.err, done.err
    return done


def errors(done: Result) -> list[str]:
    return [line.partition(" ERROR: ")[2] for line in done.err.splitlines() if " ERROR: " in line]


def test_a_run_that_publishes_exits_with_0(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    done = scrapy_crawl(program, "-a", f"url={site.url('/')}", "-s", "STATS_DUMP=1")
    assert (done.code, errors(done)) == (0, [])
    assert "INFO: published: 1 page listed in " in done.err
    assert "'sitemap/outcome': 'published'" in done.err


def test_a_refused_run_exits_with_3(program: Program, site: WebServer) -> None:
    done = scrapy_crawl(program, "-a", f"url={site.url('/')}")
    [line] = errors(done)
    assert line.startswith("refused: the start page ")
    assert done.code == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "start_url is missing: give the URL of the page where the crawl starts"),
        (["-a", "uri=x"], "unknown spider argument uri: did you mean url?"),
        (["-a", "xyzzy=1"], "unknown spider argument xyzzy: the arguments are url and the options, as max_pages"),
        (
            ["-a", "SITEMAP_MAX_PAGES=1"],
            "SITEMAP_MAX_PAGES is no spider argument: give it as setting=SITEMAP_MAX_PAGES=…",
        ),
        (
            ["-a", "url=http://127.0.0.1/", "-a", "start_url=http://127.0.0.1/"],
            "url and start_url are the same argument: give one of them",
        ),
        (
            ["-a", "url=http://127.0.0.1/", "-s", "DOWNLOAD_DELY=2"],
            "unknown setting DOWNLOAD_DELY: did you mean DOWNLOAD_DELAY?",
        ),
        (
            ["-a", "url=http://127.0.0.1/", "-s", "DOWNLOAD_TIMEOUT=soon"],
            "bad value 'soon' for setting DOWNLOAD_TIMEOUT: give a number above 0",
        ),
    ],
)
def test_what_cannot_be_used_is_one_line(program: Program, arguments: list[str], message: str) -> None:
    done = scrapy_crawl(program, *arguments)
    assert errors(done) == [f"not started: {message}"]
    assert done.code == 2


def test_an_unknown_spider_is_one_line(program: Program) -> None:
    command = [sys.executable, "-m", "scrapy", "crawl", "sitemap", "-a", "url=http://127.0.0.1/"]
    done = program.execute(*command, SCRAPY_SETTINGS_MODULE="sitemap_crawler.settings")
    assert errors(done) == ["not started: there is no spider sitemap: its name is site"]
    assert "Traceback" not in done.err
    assert done.code == 2


def test_settings_that_stop_scrapy_are_one_line(program: Program, site: WebServer) -> None:
    done = scrapy_crawl(program, "-a", f"url={site.url('/')}", "-s", "RETRY_TIMES=often")
    [line] = errors(done)
    assert line.startswith("not started: Scrapy can't work with these settings (ValueError: ")
    assert done.code == 2
    assert site.requests == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["-O", "items.jsonl"], ["FEEDS is not used", "sitemap-crawler pages"]),
        (["-s", 'FEEDS={"items.csv": {"format": "csv"}}'], ["FEEDS is not used", "sitemap-crawler pages"]),
        (["-s", "DEPTH_LIMIT=1"], ["DEPTH_LIMIT is not used", "--max-depth"]),
        (["-s", "URLLENGTH_LIMIT=20"], ["URLLENGTH_LIMIT is not used", "--exclude"]),
    ],
)
def test_what_is_not_done_is_said(program: Program, site: WebServer, given: list[str], words: list[str]) -> None:
    site.pages["/"] = page()
    done = scrapy_crawl(program, "-a", f"url={site.url('/')}", *given)
    assert done.code == 0
    [warning] = [line for line in done.err.splitlines() if " WARNING: " in line]
    assert all(word in warning for word in words)


def test_a_run_that_cannot_begin_replaces_the_report_of_an_earlier_one(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    settings = ["-a", f"url={site.url('/')}", "-s", "SITEMAP_REPORT=report.json"]
    assert scrapy_crawl(program, *settings).code == 0
    (program.directory / "file").write_text("in the way")
    done = scrapy_crawl(program, *settings, "-s", "SITEMAP_OUTPUT=file/sitemaps")
    [line] = errors(done)
    assert line.startswith("failed: cannot write to the output directory file/sitemaps")
    assert done.code == 1
    report = json.loads((program.directory / "report.json").read_text(encoding="utf-8"))
    assert (report["outcome"], report["exit_code"]) == ("failed", 1)


def test_options_may_be_spider_arguments(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a", "/b"), "/a": page(), "/b": page()})
    report = program.directory / "report.json"
    done = scrapy_crawl(program, "-a", f"url={site.url('/')}", "-a", 'exclude=["/a$"]', "-a", f"report={report}")
    assert done.code == 0
    assert json.loads(report.read_text(encoding="utf-8"))["excluded"] == {"excluded-by-rule": 1}
