"""Processes that die while pages are rendered: no page is lost, and nothing is left of a browser."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.crawl.keys import CloseReason, Stat
from sitemap_crawler.crawl.rendering import tab as tab_module
from sitemap_crawler.crawl.rendering.guard import PROFILE_PREFIX
from sitemap_crawler.crawl.rendering.renderer import RenderingAbandonedError
from sitemap_crawler.crawl.rendering.tab import Tab
from tests.support.chromium import (
    HEADLESS_SHELL,
    PATIENCE_SECONDS,
    both_builds,
    browser_of,
    is_alive,
    kill,
    needs,
    plain,
    processes,
    rendering,
    until,
)
from tests.support.paths import ROOT
from tests.support.rendering_crawl import SITE, Reply, rendering_crawler

if TYPE_CHECKING:
    from sitemap_crawler.crawl.rendering.rendered import Rendered
    from sitemap_crawler.crawl.rendering.renderer import Renderer

PAGE = "<main id=m></main><script>fetch('/slow').then(r => r.text()).then(t => m.append(t))</script>"
PAGES = 6
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
pytestmark = [linux_only, pytest.mark.slow]


def profiles(directory: Path) -> list[Path]:
    return list(directory.glob(f"{PROFILE_PREFIX}*"))


def open_files(pid: int) -> set[Path]:
    """Return what a process has open. It may close a file meanwhile."""
    found = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add(descriptor.readlink())
    return found


async def render_while(renderer: Renderer, crawler: Any, victims: Any) -> list[Rendered]:
    """Render pages, and kill what `victims` returns while the first of them wait for an answer."""
    pages = [asyncio.ensure_future(renderer.render(f"{SITE}/{number}", plain(PAGE))) for number in range(PAGES)]
    await until(lambda: bool(crawler.engine.requests))
    found = victims(browser_of(renderer))
    assert found
    kill(found)
    return list(await asyncio.gather(*pages))


@needs(HEADLESS_SHELL)
@pytest.mark.parametrize("victims", ["renderers", "browser", "everything", "guard"])
def test_no_page_is_lost_when_processes_are_killed(victims: str) -> None:
    def chosen(browser: Any) -> list[int]:
        if victims == "guard":
            return [browser._guard.pid]
        if victims == "renderers":
            return processes(browser.pid, kind="--type=renderer")
        return processes(browser.pid)[: 1 if victims == "browser" else None]

    async def run() -> None:
        async with rendering(HEADLESS_SHELL, {f"{SITE}/slow": Reply("done", delay=0.5)}, render_pages=2) as (
            renderer,
            crawler,
        ):
            pages = await render_while(renderer, crawler, chosen)
            assert [(page.problem, '<main id="m">done</main>' in page.html) for page in pages] == [(None, True)] * PAGES
            assert crawler.counts[Stat.RENDER_BROWSERS] <= 2
            assert crawler.engine.urls() == [f"{SITE}/slow"]
            group = browser_of(renderer).pid
        assert processes(group) == []

    asyncio.run(run())


@needs(HEADLESS_SHELL)
@pytest.mark.parametrize("kind", ["--type=renderer", "--type=utility"])
def test_a_page_is_rendered_again_when_a_process_dies_while_it_opens(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    on_navigation = Tab._on_navigation

    async def run() -> None:
        async with rendering(HEADLESS_SHELL, {f"{SITE}/slow": "done"}, render_pages=1) as (renderer, crawler):
            # The browser has passed its own test by then.
            await renderer.render(f"{SITE}/first", plain("<p>first"))

            patience = tab_module.OPEN_SECONDS
            monkeypatch.setattr(tab_module, "OPEN_SECONDS", 10.0)

            def kill_once(tab: Tab, *navigation: Any) -> None:
                if not killed:
                    monkeypatch.setattr(tab_module, "OPEN_SECONDS", patience)
                    killed.extend(processes(browser_of(renderer).pid, kind=kind))
                    kill(killed)
                on_navigation(tab, *navigation)

            monkeypatch.setattr(Tab, "_on_navigation", kill_once)
            page = await renderer.render(f"{SITE}/second", plain(PAGE))
            assert killed
            assert page.problem is None
            assert '<main id="m">done</main>' in page.html
            assert crawler.counts[Stat.RENDER_BROWSERS] <= 2

    asyncio.run(run())


@needs(HEADLESS_SHELL)
def test_a_page_at_which_its_tab_dies_twice_counts_as_the_cause() -> None:
    page = "<script>fetch('/slow?' + Math.random())</script>"

    async def run() -> None:
        async with rendering(HEADLESS_SHELL, render_pages=1) as (renderer, crawler):
            crawler.engine.default = Reply("x", delay=3600)
            rendered = asyncio.ensure_future(renderer.render(f"{SITE}/", plain(page)))
            for requests in (1, 2):
                await until(lambda: len(crawler.engine.requests) == requests)  # noqa: B023 - awaited in the loop
                kill(processes(browser_of(renderer).pid, kind="--type=renderer"))
            assert (await rendered).problem == "the process of the browser that shows it has ended"

    asyncio.run(run())


@both_builds
def test_nothing_is_left_of_a_browser(build: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("SECRET", "x")
    before = set(Path("/proc/self/fd").iterdir())
    secret = tmp_path / "secret"

    async def run() -> int:
        async with rendering(build) as (renderer, _):
            await renderer.render(f"{SITE}/", plain("<p>x"))
            browser = browser_of(renderer)
            assert len(profiles(tmp_path)) == 1
            environment = Path(f"/proc/{browser.pid}/environ").read_bytes().split(b"\0")
            names = {line.partition(b"=")[0] for line in environment}
            assert {b"PATH", b"HOME", b"LANG"} <= names
            assert not names & {b"SECRET", b"TMPDIR", b"USER", b"http_proxy"}
            for pid in processes(browser.pid)[:1]:
                assert secret not in open_files(pid)
            return int(browser.pid)

    with secret.open("w", encoding="utf-8"):
        assert secret in open_files(os.getpid())
        group = asyncio.run(run())
    assert processes(group) == []
    assert profiles(tmp_path) == []
    assert set(Path("/proc/self/fd").iterdir()) == before


CRAWL = """
import asyncio, json, sys
from tests.support.chromium import browser_of, plain, rendering
from tests.support.rendering_crawl import SITE

async def run():
    async with rendering(sys.argv[1]) as (renderer, _):
        await renderer.render(f"{SITE}/", plain("<p>x"))
        browser = browser_of(renderer)
        print(json.dumps([browser.pid, browser._guard.pid]), flush=True)
        if sys.argv[2] == "busy":
            await renderer.render(f"{SITE}/", plain("<script>for (;;);</script>"))
        await asyncio.sleep(3600)

asyncio.run(run())
"""


@both_builds
@pytest.mark.parametrize("state", ["idle", "busy"])
def test_the_browser_ends_when_the_crawl_is_killed(build: str, state: str, tmp_path: Path) -> None:
    crawl = subprocess.Popen(
        [sys.executable, "-c", CRAWL, build, state],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
    )
    try:
        assert crawl.stdout is not None
        browser, guard = json.loads(crawl.stdout.readline())
        assert len(processes(browser)) > 2
        assert len(profiles(tmp_path)) == 1
    finally:
        crawl.kill()
        crawl.wait()
        crawl.stdout.close()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and (is_alive(guard) or processes(browser) or profiles(tmp_path)):
        time.sleep(0.02)
    assert not is_alive(guard)
    assert processes(browser) == []
    assert profiles(tmp_path) == []


@pytest.mark.parametrize("program", ["#!/bin/sh\necho 'ERROR: no libraries' >&2\nexit 1\n", "#!/bin/sh\nexit 0\n"])
def test_a_browser_that_does_not_start_ends_the_crawl_with_one_line(tmp_path: Path, program: str) -> None:
    path = tmp_path / "chromium"
    path.write_text(program, encoding="utf-8")
    path.chmod(0o755)
    crawler = rendering_crawler(browser=str(path), browser_no_sandbox=True)

    async def run() -> None:
        from sitemap_crawler.crawl.rendering.renderer import Renderer

        renderer = Renderer(crawler)
        try:
            with pytest.raises(RenderingAbandonedError):
                await renderer.render(f"{SITE}/", plain("<p>x"))
        finally:
            await renderer.close()

    asyncio.run(run())
    [message] = crawler.spider.job.lacks
    assert message.startswith(f"{path} cannot be used as a browser (")
    assert message.endswith("): run it by hand, or name another one with --browser")
    assert ("no libraries" in message) is ("libraries" in program)
    assert crawler.engine.closed_for == CloseReason.SHORTAGE


@needs(HEADLESS_SHELL)
def test_a_page_that_is_rendered_when_the_crawl_ends_is_abandoned() -> None:
    async def run() -> None:
        async with rendering(HEADLESS_SHELL, {f"{SITE}/slow": Reply("x", delay=3600)}, render_pages=1) as (
            renderer,
            crawler,
        ):
            pages = [asyncio.ensure_future(renderer.render(f"{SITE}/", plain(PAGE))) for _ in range(2)]
            await until(lambda: bool(crawler.engine.requests))
            await crawler.engine.close_spider_async(reason="shutdown")
            for page in pages:
                with pytest.raises(RenderingAbandonedError):
                    await page

    asyncio.run(run())


@needs(HEADLESS_SHELL)
def test_a_browser_in_which_no_timer_fires_ends_the_crawl_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    late = plain("<p id=a>no</p><script>setTimeout(() => { a.textContent = 'it works' }, 36e5)</script>")
    monkeypatch.setattr("sitemap_crawler.crawl.rendering.renderer.SELF_TEST", late)

    async def run() -> Any:
        async with rendering(HEADLESS_SHELL) as (renderer, crawler):
            with pytest.raises(RenderingAbandonedError):
                await renderer.render(f"{SITE}/", plain("<p>x"))
            return crawler

    crawler = asyncio.run(run())
    assert crawler.counts[Stat.RENDER_BROWSERS] == 3
    [message] = crawler.spider.job.lacks
    assert " cannot be used as a browser (it does not render a page with a timer): " in message
