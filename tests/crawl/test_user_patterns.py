"""Regular expressions given by the user: unusable ones, and ones that take too long on a URL that the site chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program, Result

SLOW = "(?!b)(a+)+!"
"""RE2 has no look-around. Python's matcher takes 2**40 steps on HOSTILE."""
HOSTILE = "/" + "a" * 40
REMEDY = "write it without look-around, back-references and large numbers, or without a repetition in a repetition"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("a{1,99999999999}", "the repetition number is too large"), ("(" * 5_000, "it has too many nested groups")],
    ids=["number", "brackets"],
)
@pytest.mark.parametrize(
    "command",
    [
        ["crawl", "http://127.0.0.1/", "--include"],
        ["crawl", "http://127.0.0.1/", "--exclude"],
        ["crawl", "http://127.0.0.1/", "--exclude-listing"],
        ["crawl", "http://127.0.0.1/", "--section", "a="],
        ["pages", "--match"],
    ],
    ids=lambda command: command[-1] if command[-1] != "a=" else command[-2],
)
def test_unusable_pattern_is_an_error_of_one_line(program: Program, command: list[str], text: str, reason: str) -> None:
    last = command[-1]
    result = program.run(*command[:-1], *([last + text] if last.endswith("=") else [last, text]))
    assert (result.code, result.out) == (2, "")
    assert reason in result.last_line
    assert len(result.err.splitlines()) == 1
    assert len(result.err) < 400


def assert_timed_out(result: Result, url: str, pattern: str = SLOW) -> None:
    assert result.code == 1, result.err
    assert result.last_line == (f"the regular expression {pattern!r} took more than 0.1 s on {url!r}: {REMEDY}")


def crawl(program: Program, site: WebServer, *options: str) -> Result:
    return program.crawl(site.url("/"), "--state", str(program.directory / "state.sqlite"), *options)


@pytest.fixture
def published(program: Program) -> Path:
    program.output.mkdir()
    entry = program.output / "sitemap.xml"
    entry.write_bytes(b"<!-- published before -->")
    return entry


def test_crawl_ends_and_goes_on_with_another_pattern(program: Program, site: WebServer, published: Path) -> None:
    site.pages = {"/": page("/b", HOSTILE), "/b": page(), HOSTILE: page()}
    before = published.read_bytes()
    assert_timed_out(crawl(program, site, "--exclude", SLOW), site.url(HOSTILE))
    assert published.read_bytes() == before
    # The same command meets the same URL, another pattern goes on.
    assert_timed_out(crawl(program, site, "--exclude", SLOW), site.url(HOSTILE))
    done = crawl(program, site, "--exclude", "(a+)+!")
    assert done.code == 0, done.err
    assert done.listed() == [site.url(path) for path in ("/", HOSTILE, "/b")]
    assert done.report["run"] == 1


@pytest.mark.parametrize("option", ["--include", "--exclude-listing", "--section"])
def test_pattern_that_only_the_end_of_a_run_searches(program: Program, site: WebServer, option: str) -> None:
    site.pages = {"/": page("/b", HOSTILE), "/b": page(), HOSTILE: page()}
    value = f"a={SLOW}" if option == "--section" else SLOW
    assert_timed_out(crawl(program, site, option, value), site.url(HOSTILE))
    assert list(program.output.iterdir()) == []
    harmless = {"--section": "x=/b", "--exclude-listing": "z", "--include": "/"}
    done = crawl(program, site, option, harmless[option])
    assert done.code == 0, done.err
    assert done.report["run"] == 1
    fetched = [path for path in site.paths() if path != "/robots.txt"]
    assert sorted(fetched) == ["/", HOSTILE, "/b"]


def test_pattern_of_url_in_foreign_sitemap(program: Program, site: WebServer) -> None:
    site.pages = {
        "/": page("/b"),
        "/b": page(),
        "/robots.txt": Answer(f"Sitemap: {site.url('/seed.txt')}", content_type="text/plain"),
        "/seed.txt": Answer(site.url(HOSTILE), content_type="text/plain"),
        HOSTILE: page(),
    }
    assert_timed_out(crawl(program, site, "--exclude", SLOW), site.url(HOSTILE))
    done = crawl(program, site)
    assert done.code == 0, done.err
    assert done.listed() == [site.url(path) for path in ("/", HOSTILE, "/b")]


def test_pattern_of_soft_404_probe(program: Program, site: WebServer) -> None:
    paths = [f"/p{number}" for number in range(60)]
    site.pages = {"/": page(*paths, "/gone"), **{path: page(title=path) for path in paths}}
    site.pages["/gone"] = page(title="Page not found")
    pattern = "(?=/[0-9a-f]{32})/([0-9a-f]+)+!"
    result = crawl(program, site, "--exclude", pattern)
    assert result.code == 1, result.err
    assert result.last_line.startswith(f"the regular expression {pattern!r} took more than 0.1 s on '{site.url('/')}")
    done = crawl(program, site)
    assert done.code == 0, done.err
    assert len(done.listed()) == 62
    assert done.report["run"] == 1


def test_pattern_of_trap_exemption(program: Program, site: WebServer) -> None:
    site.pages = {"/": page("/b", HOSTILE), "/b": page(), HOSTILE: page()}
    assert_timed_out(crawl(program, site, "-s", f"SITEMAP_NO_TRAPS={SLOW}"), site.url(HOSTILE))
    assert crawl(program, site).code == 0


def test_pattern_of_trap_exemption_at_a_moved_start_page(program: Program, site: WebServer) -> None:
    moved = f"{HOSTILE}/"
    site.pages = {"/": Answer(status=301, headers={"Location": moved}), moved: page()}
    assert_timed_out(crawl(program, site, "-s", f"SITEMAP_NO_TRAPS={SLOW}"), site.url(moved))
    done = crawl(program, site)
    assert (done.code, done.listed()) == (0, [site.url(moved)])


def test_commands_on_an_inventory(program: Program, site: WebServer) -> None:
    site.pages = {"/": page("/b", HOSTILE), "/b": page(), HOSTILE: page()}
    assert crawl(program, site).code == 0
    entry = program.output / "sitemap.xml"
    state = ["--state", str(program.directory / "state.sqlite")]
    before, pages = entry.read_bytes(), program.run("pages", *state).out
    assert_timed_out(program.run("write", *state, "--exclude", SLOW), site.url(HOSTILE))
    assert_timed_out(program.run("pages", *state, "--match", SLOW), site.url(HOSTILE))
    assert (entry.read_bytes(), program.run("pages", *state).out) == (before, pages)
