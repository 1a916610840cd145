"""The waits that the program plans before its requests.

A busy machine delays requests, so the times of requests prove only that the program waits long enough. Its plans prove
that it waits no longer: a plan names the time of the next request, and no load moves it.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.support.program import Program

_FILE = "waits.jsonl"
# Requests wait in the middleware, and before it in the scheduler, whose alarm replaces its last one.
_RECORDER = f"""
import asyncio, json, sys, time
from types import SimpleNamespace
from urllib.parse import urlsplit

from sitemap_crawler.crawl.middlewares import politeness

def record(*values):
    with open({_FILE!r}, "a") as file:
        print(json.dumps(values), file=file)

async def sleep(seconds):
    waiting = sys._getframe(1).f_locals
    record("sleep", urlsplit(waiting["request"].url).path, waiting["now"], waiting["now"] + seconds)
    await asyncio.sleep(seconds)

def call_at(loop, when, *given, **options):
    if sys._getframe(1).f_globals["__name__"] == "sitemap_crawler.crawl.scheduler":
        record("alarm", "", time.monotonic(), when)
    return original_call_at(loop, when, *given, **options)

def mark_sent(self, throttle, request, now):
    record("sent", urlsplit(request.url).path, now, now)
    sent(self, throttle, request, now)

def request_ended(self, request, *given, **options):
    ended(self, request, *given, **options)
    now = time.monotonic()
    record("response", urlsplit(request.url).path, now, now)

politeness.asyncio = SimpleNamespace(**{{**vars(asyncio), "sleep": sleep}})
original_call_at, asyncio.BaseEventLoop.call_at = asyncio.BaseEventLoop.call_at, call_at
middleware = politeness.PolitenessMiddleware
ended, middleware._request_ended = middleware._request_ended, request_ended
sent, middleware._mark_sent = middleware._mark_sent, mark_sent
"""


class Event(NamedTuple):
    """A planned wait, or a request that was sent or answered, which ends when it begins.

    Times are those of time.monotonic(), which all processes share.
    """

    kind: str
    """`sleep` of one request, `alarm` for all requests, `sent` or `response`."""
    path: str
    """Path of the request; empty for an alarm."""
    begin: float
    end: float


class Plans(NamedTuple):
    """What the runs of a program planned and did."""

    events: list[Event]
    """In the order of their begin."""

    def of(self, *kinds: str) -> list[Event]:
        return [event for event in self.events if event.kind in kinds]

    @property
    def waits(self) -> list[Event]:
        return self.of("sleep", "alarm")

    def waited(self, since: float, until: float) -> float:
        """Return the seconds after `since` that waits took which were to end before `until`."""
        total = 0.0
        for wait in self.waits:
            if wait.end <= until:
                total += max(0.0, wait.end - max(wait.begin, since))
                since = max(since, wait.end)
        return total

    def waits_before_requests(self) -> list[float]:
        """Return the seconds waited before each request, from the request before it or from a response since."""
        sent = [event.end for event in self.of("sent")]
        responses = [event.end for event in self.of("response")]
        return [
            self.waited(max([earlier, *(time for time in responses if earlier < time < later)]), later)
            for earlier, later in pairwise(sent)
        ]


def record_plans(program: Program) -> None:
    """Have the following runs of the program record their plans."""
    program.patch(_RECORDER)


def recorded_plans(program: Program) -> Plans:
    file = program.directory / _FILE
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    events = [Event(*row) for row in rows]
    alarms = [event for event in events if event.kind == "alarm"]
    replaced = {alarm: alarm._replace(end=min(alarm.end, later.begin)) for alarm, later in pairwise(alarms)}
    return Plans(sorted((replaced.get(event, event) for event in events), key=lambda event: event.begin))
