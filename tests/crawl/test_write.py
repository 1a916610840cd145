"""`write`: the files again from the inventory, without a request, by remembered options or by others."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from sitemap_crawler.utils.shortage import Shortage
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program, Result

PATHS = ["/", "/blog/a", "/blog/b", "/tag/x"]


@pytest.fixture
def crawled(program: Program, site: WebServer) -> WebServer:
    """A site that has been crawled; the server's log is empty again."""
    site.pages.update({path: page(*PATHS, title=path) for path in PATHS})
    assert program.crawl(site.url("/"), "--state", "state.db").code == 0
    site.clear_log()
    return site


def bytes_of(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


def listed(result: Result, site: WebServer) -> list[str]:
    assert result.code == 0, result.err
    return [url.removeprefix(site.url("")) for url in result.listed()]


def test_the_same_bytes_without_a_request(program: Program, crawled: WebServer) -> None:
    before = bytes_of(program.output)
    shutil.rmtree(program.output)
    result = program.run("write", "--state", "state.db")
    assert (result.code, result.err) == (0, "")
    assert bytes_of(program.output) == before
    assert crawled.paths() == []


@pytest.mark.slow
def test_a_full_disk_is_reported_in_one_line(program: Program, site: WebServer) -> None:
    paths = [f"/{number}/{'x' * 500}" for number in range(400)]
    site.pages.update({"/": page(*paths), **{path: page() for path in paths}})
    assert program.crawl(site.url("/"), "--state", "state.db").code == 0
    before = (program.run("pages", "--state", "state.db", "--format", "csv").out, bytes_of(program.output))
    command = " ".join(program.command("write", "--state", "state.db", "-o", "elsewhere", "--max-urls", "10"))
    failures = []
    for room in (20, 40, 60, 80, 100, 150, 200, 300, 400):
        done = program.execute("bash", "-c", f"ulimit -f {room}; exec {command}")
        assert "Traceback" not in done.err
        if done.code:
            assert (done.code, done.err.count("\n")) == (1, 1), done.err
            failures.append(done.last_line)
    assert any(failure.endswith(str(Shortage.FILE_SIZE)) for failure in failures)
    assert (program.run("pages", "--state", "state.db", "--format", "csv").out, bytes_of(program.output)) == before


def test_nothing_is_touched_when_nothing_changes(program: Program, crawled: WebServer) -> None:
    written = (program.output / "sitemap.xml").stat().st_mtime_ns
    result = program.run("write", "--state", "state.db", "--report", "report.json")
    assert result.report["outcome"] == "unchanged"
    assert result.report["requests"] == 0
    assert (program.output / "sitemap.xml").stat().st_mtime_ns == written


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--exclude", "/tag/"], ["/", "/blog/a", "/blog/b"]),
        (["--exclude-listing", "/tag/"], ["/", "/blog/a", "/blog/b"]),
        (["--include", "/blog/"], ["/blog/a", "/blog/b"]),
        (["--exclude", "/tag/", "--include", "x"], None),
    ],
)
def test_other_rules(program: Program, crawled: WebServer, options: list[str], expected: list[str] | None) -> None:
    result = program.run("write", "--state", "state.db", *options)
    if expected is None:
        assert (result.code, len(result.listed())) == (3, len(PATHS))
        assert "no page can be listed" in result.last_line
    else:
        assert listed(result, crawled) == expected
    assert listed(program.run("write", "--state", "state.db"), crawled) == PATHS


def test_the_rules_of_the_crawl_are_remembered(program: Program, crawled: WebServer) -> None:
    program.crawl(crawled.url("/"), "--state", "state.db", "--exclude", "/tag/", "-o", "elsewhere", "--allow-shrink")
    shutil.rmtree(program.directory / "elsewhere")
    assert program.run("write", "--state", "state.db").code == 0
    assert listed(program.run("write", "--state", "state.db", "-o", "sitemaps"), crawled) == PATHS[:3]
    assert (program.directory / "elsewhere" / "sitemap.xml").exists()


def test_shards_by_other_limits(program: Program, crawled: WebServer) -> None:
    assert program.run("write", "--state", "state.db", "--max-urls", "2", "--gzip").code == 0
    assert sorted(bytes_of(program.output)) == ["sitemap-1.xml.gz", "sitemap-2.xml.gz", "sitemap.xml"]


def test_a_dry_run_writes_nothing(program: Program, crawled: WebServer) -> None:
    before = bytes_of(program.output)
    result = program.run("write", "--state", "state.db", "--exclude", "/tag/", "--dry-run")
    assert result.code == 0
    assert "3 pages would be listed" in result.out
    assert bytes_of(program.output) == before


def test_the_shrink_guard_holds(program: Program, site: WebServer) -> None:
    paths = [f"/{number}" for number in range(30)]
    site.pages.update({"/": page(*paths), **{path: page(title=path) for path in paths}})
    program.crawl(site.url("/"), "--state", "state.db")
    before = bytes_of(program.output)
    refused = program.run("write", "--state", "state.db", "--exclude", "[0-9]/[12]")
    assert refused.code == 3
    assert "from 31 to 9 pages" in refused.last_line
    assert bytes_of(program.output) == before
    assert program.run("write", "--state", "state.db", "--exclude", "[0-9]/[12]", "--allow-shrink").code == 0
    assert len(refused.listed()) == 9


def test_the_warnings_are_made_again(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/gone", "/moved"), "/moved": Answer(status=301, headers={"Location": "/"})})
    first = program.crawl(site.url("/"), "--state", "state.db").report
    again = program.run("write", "--state", "state.db", "--report", "report.json").report
    assert first["warnings"] == again["warnings"]
    assert [warning["kind"] for warning in again["warnings"]] == ["broken-link", "link-to-redirect"]
    assert (first["shapes"], first["excluded"]) == (again["shapes"], again["excluded"])


def test_decisions_follow_the_writing(program: Program, crawled: WebServer) -> None:
    program.run("write", "--state", "state.db", "--exclude", "/tag/")
    done = program.run("explain", crawled.url("/tag/x"), "--state", "state.db", "--json")
    answer = json.loads(done.out)
    assert (answer["decision"], answer["reason"], answer["evidence"]) == (
        "excluded",
        "excluded-by-rule",
        "--exclude /tag/",
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--state", "none.db"], "none.db"),
        (["--state", "state.db", "--include", "("], "include"),
        (["--state", "state.db", "--max-urls", "0"], "max_urls"),
        (["--config", "none.toml"], "none.toml"),
    ],
)
def test_what_cannot_be_used(program: Program, crawled: WebServer, arguments: list[str], words: str) -> None:
    result = program.run("write", *arguments)
    assert result.code == 2
    assert words in result.last_line


def test_a_crawl_under_way_is_left_alone(program: Program, crawled: WebServer) -> None:
    with FileLock(program.directory / "state.db.lock"):
        result = program.run("write", "--state", "state.db")
    assert result.code == 4
    assert "state.db" in result.last_line


def test_nothing_is_written_of_a_first_run_that_did_not_finish(program: Program, site: WebServer) -> None:
    site.pages["/robots.txt"] = Answer(status=503)
    assert program.crawl(site.url("/"), "--state", "state.db").code == 3
    result = program.run("write", "--state", "state.db")
    assert result.code == 1
    assert "crawl" in result.last_line
    assert list(program.output.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("write", ["--state", "state.db", "--report", "state.db"]),
        ("write", ["--state", "state.db", "--report", "sitemaps/sitemap.xml"]),
        ("write", ["--state", "state.db", "--report", "sitemaps/sitemap-7.xml"]),
        ("crawl", ["--state", "state.db", "--report", "state.db"]),
        ("crawl", ["--state", "sitemaps/sitemap.xml"]),
        ("crawl", ["--config", "site.toml", "--report", "site.toml"]),
        ("crawl", ["--state", "state.db", "--report", "same", "--log-file", "same"]),
    ],
)
def test_no_file_takes_the_place_of_another(
    program: Program, crawled: WebServer, command: str, arguments: list[str]
) -> None:
    (program.directory / "site.toml").write_text(f'start_url = "{crawled.url("/")}"\n')
    before = bytes_of(program.directory) | bytes_of(program.output)
    start = [crawled.url("/")] if command == "crawl" and "--config" not in arguments else []
    result = program.run(command, *start, *arguments)
    assert result.code == 2, result.err
    after = bytes_of(program.directory) | bytes_of(program.output)
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("options", [["--dry-run"], ["-o", "elsewhere"]])
def test_what_is_only_tried_out_leaves_no_trace(program: Program, crawled: WebServer, options: list[str]) -> None:
    result = program.run("write", "--state", "state.db", "--exclude", "/tag/", *options)
    assert result.code == 0, result.err
    answer = json.loads(program.run("explain", crawled.url("/tag/x"), "--state", "state.db", "--json").out)
    assert (answer["decision"], answer["file"]) == ("listed", "sitemap.xml")
    assert listed(program.run("write", "--state", "state.db"), crawled) == PATHS


def test_a_copy_elsewhere_does_not_disarm_the_shrink_guard(program: Program, site: WebServer) -> None:
    paths = [f"/{number}" for number in range(30)]
    site.pages.update({"/": page(*paths), **{path: page(title=path) for path in paths}})
    program.crawl(site.url("/"), "--state", "state.db")
    assert program.run("write", "--state", "state.db", "--include", "/1$", "-o", "copy").code == 0
    for path in paths[5:]:
        del site.pages[path]
    result = program.crawl(site.url("/"), "--state", "state.db")
    assert result.code == 3
    assert "from 31 to 6 pages" in result.last_line


def test_the_options_of_a_dry_run_are_not_for_good(program: Program, crawled: WebServer) -> None:
    program.crawl(crawled.url("/"), "--state", "state.db", "--dry-run", "--exclude", "/tag/", "-o", "other")
    assert program.run("write", "--state", "state.db").code == 0
    assert listed(program.run("write", "--state", "state.db"), crawled) == PATHS
    assert not (program.directory / "other").exists()
