"""The waits that the program plans before its requests.

A busy machine delays requests, so the times of requests prove only that the program waits long enough. The waits that
it plans prove that it waits no longer: time that has passed for any other reason makes them shorter.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.support.program import Program

_FILE = "waits.jsonl"
_RECORDER = f"""
import asyncio, json, sys, time
from types import SimpleNamespace
from urllib.parse import urlsplit
from sitemap_crawler.crawl.middlewares import politeness

async def sleep(seconds):
    waiting = sys._getframe(1).f_locals["request"]
    with open({_FILE!r}, "a") as file:
        print(json.dumps([urlsplit(waiting.url).path, time.monotonic(), seconds]), file=file)
    await asyncio.sleep(seconds)

politeness.asyncio = SimpleNamespace(**{{**vars(asyncio), "sleep": sleep}})
"""


class Wait(NamedTuple):
    """A planned wait of one request. The program may plan another one after it."""

    path: str
    begin: float
    """By time.monotonic(), which all processes share."""
    seconds: float

    @property
    def end(self) -> float:
        return self.begin + self.seconds


def record_waits(program: Program) -> None:
    """Have the following runs record their waits."""
    (program.directory / "sitecustomize.py").write_text(_RECORDER)
    path = [str(program.directory), *filter(None, [os.environ.get("PYTHONPATH")])]
    program.variables["PYTHONPATH"] = os.pathsep.join(path)


def recorded_waits(program: Program) -> list[Wait]:
    """Return the waits of all runs, in the order of their begin."""
    file = program.directory / _FILE
    lines = file.read_text().splitlines() if file.exists() else []
    return sorted((Wait(*json.loads(line)) for line in lines), key=lambda wait: wait.begin)


def seconds_waited(waits: list[Wait], since: float, until: float) -> float:
    """Return the seconds between two times during which at least one request had planned to wait."""
    total = 0.0
    for wait in sorted(waits, key=lambda wait: wait.begin):
        begin, end = max(wait.begin, since), min(wait.end, until)
        total += max(0.0, end - begin)
        since = max(since, end)
    return total
