"""What is done to later runs in anger: kills at any commit and rename, a full disk, a server that goes away."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.validation.entries import read_entries
from tests.support.program import Program
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

KILLED = -9
DATES = ("Tue, 02 Mar 2021 10:20:30 GMT", "Mon, 02 Jan 2023 03:04:05 GMT")
SMALL_FILES = ("--max-urls", "3", "--state", "state.db")


def modified(body: str, date: str) -> Answer:
    return Answer(body, headers={"Last-Modified": date})


def build(site: WebServer, *, pages: int, version: int) -> None:
    """A start page that leads to all others; in another version every third page has another text and date."""
    paths = [f"/page-{number}" for number in range(pages)]
    site.pages.clear()
    site.pages["/"] = modified(page(*paths), DATES[0])
    for number, path in enumerate(paths):
        edition = version if number % 3 == 0 else 0
        site.pages[path] = modified(page("/", title=f"{path}, edition {edition}"), DATES[edition])


def files(program: Program) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in program.output.iterdir()} if program.output.exists() else {}


def contents(program: Program) -> dict[str, bytes]:
    """The files, without the times at which those that an index names were written."""
    return {
        name: re.sub(rb"(?<=</loc>)<lastmod>[^<]*</lastmod>(?=</sitemap>)", b"", data)
        for name, data in files(program).items()
    }


def assert_whole(program: Program) -> None:
    """Nothing was published yet, or an entry file of which every sitemap exists and is whole."""
    entry = program.output / "sitemap.xml"
    if entry.exists():
        for sitemap in read_entries(entry.read_bytes()):
            name = sitemap.loc.rpartition("/")[2]
            if name.startswith("sitemap-"):
                assert read_entries((program.output / name).read_bytes())


def crawl_killed_again_and_again(program: Program, url: str) -> int:
    """Run until a run is left alone; how often it was killed."""
    for kills, events in enumerate(count(8, 3)):
        done = program.run_killed(events, "crawl", url, *SMALL_FILES)
        assert_whole(program)
        if done.code == 0:
            return kills
        assert (done.code, done.err) == (KILLED, "")
    raise AssertionError


def test_killed_before_every_few_commits_and_renames(site: WebServer, tmp_path: Path) -> None:
    """In the first run and in the second: as if nothing had happened."""
    (tmp_path / "calm").mkdir()
    (tmp_path / "angry").mkdir()
    calm, angry = Program(tmp_path / "calm"), Program(tmp_path / "angry")
    kills = 0
    for version in (0, 1):
        build(site, pages=20, version=version)
        assert calm.crawl(site.url("/"), *SMALL_FILES).code == 0
        kills += crawl_killed_again_and_again(angry, site.url("/"))
        assert contents(angry) == contents(calm)
        assert len(contents(calm)) == 8
    assert kills >= 4


def test_a_disk_that_is_full_in_a_later_run(program: Program, site: WebServer) -> None:
    build(site, pages=300, version=0)
    assert program.crawl(site.url("/"), *SMALL_FILES, "--max-urls", "100").code == 0
    before, size = files(program), (program.directory / "state.db").stat().st_size
    # All pages are rewritten, and the file for that may be no larger than the inventory was.
    site.pages.update(
        {path: modified(page("/", *(f"/more/{path[1:]}/{'x' * 900}/{n}" for n in range(9)), title="new"), DATES[1])
         for path in list(site.pages) if path != "/"}
    )  # fmt: skip
    command = " ".join(program.command("crawl", site.url("/"), *SMALL_FILES, "--max-urls", "100", "--max-depth", "1"))
    done = program.execute("bash", "-c", f"ulimit -f {size // 1024 + 50}; exec {command}")
    assert done.code == 1, done.err
    assert "Traceback" not in done.err
    assert "cannot use the inventory" in done.last_line
    assert files(program) == before
    result = program.crawl(site.url("/"), *SMALL_FILES, "--max-urls", "100", "--max-depth", "1")
    assert (result.code, result.report["listed"]) == (0, 301)
    assert result.report["changes"] == {"added": 0, "changed": 300, "removed": 0}


def dropping_after(answers: int) -> Callable[[str | Answer], Callable[[LoggedRequest], Answer]]:
    """Pages of a server that goes away when it has given so many answers."""
    given = count(1)

    def wrap(content: str | Answer) -> Callable[[LoggedRequest], Answer]:
        answer = content if isinstance(content, Answer) else Answer(content)
        return lambda _: answer if next(given) <= answers else Answer(drop=True)

    return wrap


def test_a_server_that_goes_away_takes_no_page_with_it(program: Program, site: WebServer) -> None:
    build(site, pages=20, version=0)
    assert program.crawl(site.url("/"), "--state", "state.db").code == 0
    before = files(program)
    wrap = dropping_after(8)
    site.pages.update({path: wrap(content) for path, content in site.pages.items()})
    options = ("--state", "state.db", "-s", "RETRY_TIMES=0", "-s", "SITEMAP_MAX_BACK_OFF=0", "--concurrency", "1")
    result = program.crawl(site.url("/"), *options)
    assert (result.code, result.report["outcome"], result.report["listed"]) == (0, "unchanged", 21)
    assert result.report["errors"] == 13
    # And gone altogether: not even the start page answers.
    result = program.crawl(site.url("/"), *options)
    assert result.code == 3
    assert files(program) == before
