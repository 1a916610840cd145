"""The program with a real browser, as a user runs it: what stops it, how polite it is, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.crawl.rendering.guard import PROFILE_PREFIX
from tests.support.chromium import HEADLESS_SHELL, PATIENCE_SECONDS, both_builds, needs
from tests.support.tools import find_tool
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.forks import Fork
    from tests.support.program import Program

pytestmark = pytest.mark.slow

SHELL = '<!DOCTYPE html><title>t</title><div id=app></div><script src="/app.js"></script>'
LOADER = """
fetch('/api' + location.pathname, {headers: {'X-Key': 'public'}}).then(answer => answer.json()).then(links => {
  for (const link of links) {
    const a = document.createElement('a'); a.href = a.textContent = link; app.append(a)
  }
})
"""
LINKS = {"/": ["/a", "/b", "/c"], "/a": ["/d"], "/b": ["/d", "/"], "/c": [], "/d": ["/e"], "/e": []}


def serve_shop(site: WebServer) -> None:
    """Serve a site whose pages are empty frames and whose links come from an API."""
    for path, links in LINKS.items():
        site.pages[path] = SHELL
        site.pages[f"/api{path}"] = Answer(str(links).replace("'", '"'), content_type="application/json")
    site.pages["/app.js"] = Answer(LOADER, content_type="text/javascript")


def options(build: str = HEADLESS_SHELL) -> list[str]:
    return ["--render", "always", "--browser", str(find_tool(build)), "--browser-no-sandbox", "--render-timeout", "60"]


def profiles(directory: Path) -> list[Path]:
    return list(directory.glob(f"{PROFILE_PREFIX}*"))


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def start(program: Program, *arguments: str) -> Fork:
    return program.start(
        "crawl", *arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, TMPDIR=str(program.directory)
    )


def test_a_browser_that_is_missing_stops_the_crawl_before_its_first_request(program: Program, site: WebServer) -> None:
    result = program.run("crawl", site.url(), "--render", "auto", "--browser", "/nowhere/chromium")
    assert result.code == 2
    assert result.last_line == "--browser /nowhere/chromium is no program: give the path of Chromium or Chrome"
    assert site.paths() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has no sandbox")
def test_root_is_told_how_to_go_on(program: Program, site: WebServer) -> None:
    result = program.run("crawl", site.url(), "--render", "always", "--browser", sys.executable)
    assert result.code == 2
    assert "as another user, or give --browser-no-sandbox" in result.last_line
    assert site.paths() == []


@both_builds
def test_a_site_of_empty_frames_is_crawled_to_its_end(program: Program, site: WebServer, build: str) -> None:
    serve_shop(site)
    result = program.crawl(site.url(), *options(build))
    assert result.code == 0, result.err
    assert result.listed() == [site.url(path) for path in sorted(LINKS)]
    # Each page and each resource once, and nothing else.
    expected = ["/robots.txt", "/app.js", *LINKS, *(f"/api{path}" for path in LINKS)]
    assert sorted(path for path in site.paths() if "sitemap" not in path) == sorted(expected)
    keys = {request.path: request.headers.get("x-key") for request in site.requests}
    assert {keys[f"/api{path}"] for path in LINKS} == {"public"}
    assert keys["/app.js"] is None


@needs(HEADLESS_SHELL)
def test_the_requests_of_scripts_obey_robots_txt_and_log_in(program: Program, site: WebServer) -> None:
    serve_shop(site)
    site.pages["/robots.txt"] = Answer("User-agent: *\nDisallow: /api/b\n", content_type="text/plain")
    result = program.crawl(site.url(), *options(), "--header", "X-Login: secret")
    assert result.code == 0, result.err
    assert result.listed() == [site.url(path) for path in sorted(LINKS)]
    assert "/api/b" not in site.paths()
    assert {request.headers.get("x-login") for request in site.requests} == {"secret"}


@needs(HEADLESS_SHELL)
def test_a_page_whose_data_may_be_fetched_now_is_rendered_again(program: Program, site: WebServer) -> None:
    serve_shop(site)
    arguments = [site.url(), *options(), "--render", "auto", "--state", "state.db"]
    arguments += ["-s", "SITEMAP_REVISIT_EXCLUDED=1000000"]
    site.pages["/robots.txt"] = Answer("User-agent: *\nDisallow: /api/\n", content_type="text/plain")
    numbers = []
    for _ in range(2):
        result = program.crawl(*arguments)
        assert (result.code, result.listed()) == (0, [site.url()]), result.err
        numbers.append((result.report["rendering"] or {"rendered": 0})["rendered"])
    assert numbers == [1, 0]
    del site.pages["/robots.txt"]
    result = program.crawl(*arguments)
    assert result.code == 0, result.err
    assert result.listed() == [site.url(path) for path in sorted(LINKS)]


@needs(HEADLESS_SHELL)
def test_a_page_reaches_no_other_server(program: Program, site: WebServer) -> None:
    with WebServer({"/": Answer("{}", headers={"Access-Control-Allow-Origin": "*"})}) as neighbour:
        way = f"fetch('{neighbour.url()}').catch(() => 0); new Image().src = '{neighbour.url('/image')}'"
        site.pages["/"] = (
            f"<title>t</title><p>text<script>{way}</script><script src='{neighbour.url('/x.js')}'></script>"
        )
        result = program.crawl(site.url(), *options(), "--header", "X-Login: secret")
        assert result.code == 0, result.err
        assert neighbour.paths() == []


@needs(HEADLESS_SHELL)
def test_a_crawl_that_is_killed_goes_on_to_the_same_sitemap(program: Program, site: WebServer) -> None:
    serve_shop(site)
    arguments = [site.url(), *options(), "--state", "state.sqlite"]
    crawl = start(program, *arguments)
    wait_until(lambda: "/api/" in site.paths())
    crawl.kill()
    crawl.communicate()
    # The browser and its profile are gone, too.
    wait_until(lambda: not profiles(program.directory))
    result = program.crawl(*arguments)
    assert result.code == 0, result.err
    assert result.listed() == [site.url(path) for path in sorted(LINKS)]


@needs(HEADLESS_SHELL)
def test_an_interruption_does_not_wait_for_an_endless_loop(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/loop", body="<script src='/app.js'></script>")
    site.pages["/app.js"] = Answer("", content_type="text/javascript")
    site.pages["/loop"] = "<title>t</title><script src='/loop.js'></script>"
    site.pages["/loop.js"] = Answer("for (;;);", content_type="text/javascript")
    crawl = start(program, site.url(), *options(), "--render-timeout", "600")
    wait_until(lambda: "/loop.js" in site.paths())
    crawl.send_signal(signal.SIGINT)
    _, errors = crawl.communicate(timeout=PATIENCE_SECONDS)
    assert crawl.returncode == 4, errors
    assert profiles(program.directory) == []
    assert "Traceback" not in errors


def test_a_browser_that_does_not_work_ends_the_crawl_and_leaves_the_run_open(program: Program, site: WebServer) -> None:
    serve_shop(site)
    broken = program.directory / "chromium"
    broken.write_text("#!/bin/sh\necho 'ERROR: it lacks a library' >&2\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    result = program.crawl(site.url(), "--render", "always", "--browser", str(broken), "--browser-no-sandbox")
    assert result.code == 1
    assert result.last_line == (
        f"{broken} cannot be used as a browser (ERROR: it lacks a library): run it by hand, or name another one with "
        "--browser"
    )
    assert not (program.output / "sitemap.xml").exists()
