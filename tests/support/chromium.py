"""Chromium for tests of rendering: both builds, its processes, and a renderer on answers from a dictionary."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.crawl.rendering.rendered import PlainPage
from sitemap_crawler.crawl.rendering.renderer import Renderer
from tests.support.rendering_crawl import Reply, rendering_crawler
from tests.support.tools import find_tool, needs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

HEADLESS_SHELL, CHROMIUM = BUILDS = ("chromium-headless-shell", "chromium")
both_builds = pytest.mark.parametrize("build", [pytest.param(build, marks=needs(build)) for build in BUILDS])
"""Mark that runs a test with each build, and skips it where one is missing."""
PATIENCE_SECONDS = 90.0
"""Time after which a test gives up: what it waits for takes less than a second on a machine without other work."""


def plain(html: str | bytes, **headers: str) -> PlainPage:
    values = {name.replace("_", "-"): [value] for name, value in headers.items()}
    body = html.encode() if isinstance(html, str) else html
    return PlainPage(200, {"content-type": ["text/html; charset=utf-8"], **values}, body)


@asynccontextmanager
async def rendering(
    build: str, replies: Mapping[str, Reply | str] | None = None, **options: Any
) -> AsyncIterator[tuple[Renderer, Any]]:
    """Run a renderer, and give it with its crawler."""
    limits = {"render_timeout": 60.0, "browser_no_sandbox": True, **options}
    crawler = rendering_crawler(replies, browser=str(find_tool(build)), **limits)
    renderer = Renderer(crawler)
    try:
        yield renderer, crawler
    finally:
        await renderer.close()


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.02)


def processes(group: int, *, kind: str = "") -> list[int]:
    """Return the processes of a group whose command line has `kind`, such as `--type=renderer`; no zombies."""
    found = []
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            # A process may end at any moment.
            with suppress(OSError, ValueError):
                fields = (directory / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                command = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if int(fields[2]) == group and fields[0] != "Z" and kind in command:
                    found.append(int(directory.name))
    return found


def resident_bytes(pids: list[int]) -> int:
    """Return the memory of the processes of a browser. What they share counts once, also when one of them ends."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
                if line.startswith("Pss_Anon"):
                    total += int(line.split()[1]) * 1024
    return total


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill(pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, 9)


def browser_of(renderer: Renderer) -> Any:
    """Return the browser that a renderer uses now."""
    pool = renderer._pool
    assert pool is not None
    assert pool._current is not None
    return pool._current.browser
