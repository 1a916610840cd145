"""Inspection of listed pages by Google: a bounded number in flight, a minute and a day."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from heapq import heappop, heappush
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from sitemap_crawler.exceptions import CredentialsError, ServiceError, ServiceLaterError, ServiceUnavailableError
from sitemap_crawler.inventory.inspections import Inspection
from sitemap_crawler.search_engines.google import DAILY_LIMITS, SERVICE
from sitemap_crawler.search_engines.http_client import JITTER, MAX_RETRIES, MAX_WAIT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sitemap_crawler.inventory.engine_answers import EngineAnswers
    from sitemap_crawler.search_engines.google import Inspection as Answer
    from sitemap_crawler.search_engines.http_client import Clock

# https://developers.google.com/webmaster-tools/limits
DAILY_LIMIT = 2_000
"""Maximum number of inspections of one property a day."""
MAX_A_MINUTE = 550
"""Google allows 600."""
MAX_IN_FLIGHT = 5
"""An inspection takes more than five seconds."""
MAX_FAILURES = 10
"""Number of failures in a row after which no other page is asked for: the service or the account is at fault."""
MAX_NAMED = 100
"""Maximum number of failed pages that a report names."""
_ABOUT_THE_PAGE = frozenset(
    {"PERMISSION_DENIED", "INVALID_ARGUMENT", "NOT_FOUND", "badRequest", "invalidParameter", "forbidden", "notFound"}
)
"""Reasons for which Google refuses to inspect a page. Those of the login are others."""
_PACIFIC = "America/Los_Angeles"


def quota_day(now: datetime) -> tuple[str, datetime]:
    """Return the day that a quota counts for, and when the next one begins: at midnight in California."""
    zone = ZoneInfo(_PACIFIC)
    day = now.astimezone(zone).date()
    return day.isoformat(), datetime.combine(day + timedelta(1), time(), zone).astimezone(UTC)


class Page(NamedTuple):
    """A page that is to be inspected."""

    id: int
    url: str
    """Public URL."""
    property: str


class Failure(NamedTuple):
    """A page that could not be inspected."""

    url: str
    error: ServiceError


@dataclass(slots=True)
class InspectionResult:
    """What became of the pages that were to be inspected."""

    answered: int = 0
    failed: list[Failure] = field(default_factory=list)
    failures: int = 0
    """Number of failed pages, of which `failed` has the first ones."""
    ended_by: ServiceError | None = None
    """The error after which no other page was asked for."""
    is_capped: bool = False
    """Whether the quota of the day was used up before all pages were asked for."""
    is_interrupted: bool = False

    @property
    def exit_codes(self) -> set[int]:
        codes = {failure.error.exit_code for failure in self.failed}
        if self.ended_by is not None:
            codes.add(self.ended_by.exit_code)
        if self.is_capped or self.is_interrupted:
            codes.add(ServiceLaterError.exit_code)
        return codes


class _Task(NamedTuple):
    page: Page
    attempt: int = 1


class _Outcome(NamedTuple):
    task: _Task
    answer: Answer | BaseException


class Inspector:
    """Sends inspections by threads of its own, and stores each answer in the thread of the caller.

    Each request is counted before it is sent, also a repeated one, so that a killed process counts none too few. An
    interruption ends the threads' work: they are daemons, because a request may take half a minute.
    """

    def __init__(
        self, inspect: Callable[[str, str], Answer], answers: EngineAnswers, *, clock: Clock, limit: int = DAILY_LIMIT
    ) -> None:
        """`inspect` asks for a page of a property once. `limit` is that of a day for each property."""
        self._inspect = inspect
        self._answers = answers
        self._clock = clock
        self._limit = limit
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._outcomes: SimpleQueue[_Outcome] = SimpleQueue()
        self._later: list[tuple[float, int, _Task]] = []
        """Tasks to be repeated, by the time when."""
        self._in_flight = 0
        self._not_before = 0.0
        self._in_a_row = 0
        self._taking: _Outcome | None = None
        """Outcome that is being stored."""
        self._result = InspectionResult()

    def run(self, pages: Iterable[Page]) -> InspectionResult:
        """Inspect the pages in their order. Raises InventoryError."""
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(MAX_IN_FLIGHT)]
        for thread in threads:
            thread.start()
        try:
            self._send_all(deque(map(_Task, pages)))
        except KeyboardInterrupt:
            self._result.is_interrupted = True
            self._take_arrived()
        finally:
            for _ in threads:
                self._tasks.put(None)
        return self._result

    def _send_all(self, waiting: deque[_Task]) -> None:
        while True:
            is_open = self._result.ended_by is None and not self._result.is_capped
            due = self._later[0][0] if self._later else None
            if is_open and self._in_flight < MAX_IN_FLIGHT and due is not None and due <= self._clock.monotonic():
                self._send(heappop(self._later)[2])
            elif is_open and self._in_flight < MAX_IN_FLIGHT and waiting:
                self._send(waiting.popleft())
            elif self._in_flight:
                self._take(self._outcomes.get())
            elif is_open and due is not None:
                self._clock.sleep(max(due - self._clock.monotonic(), 0.0))
            else:
                return

    def _send(self, task: _Task) -> None:
        """Count a request and hand it to a thread, no sooner than the limit of a minute allows."""
        now = self._clock.monotonic()
        if self._not_before > now:
            self._clock.sleep(self._not_before - now)
        self._not_before = max(self._not_before, now) + 60 / MAX_A_MINUTE
        day, _ = quota_day(self._clock.now())
        if not self._answers.reserve(SERVICE, task.page.property, day, limit=self._limit):
            self._result.is_capped = True
            return
        self._in_flight += 1
        self._tasks.put(task)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            answer: Answer | BaseException
            try:
                answer = self._inspect(task.page.property, task.page.url)
            except BaseException as error:
                # The thread of the caller raises what it does not expect.
                answer = error
            self._outcomes.put(_Outcome(task, answer))

    def _take_arrived(self) -> None:
        """Store the answers that have arrived, also the one whose storing was interrupted."""
        if self._taking is not None:
            self._take(self._taking)
        while True:
            try:
                self._take(self._outcomes.get_nowait())
            except Empty:
                return

    def _take(self, outcome: _Outcome) -> None:
        self._taking = outcome
        task, answer = outcome
        if isinstance(answer, ServiceError):
            self._take_error(task, answer)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            self._answers.keep_inspection(task.page.id, _stored(answer, task.page, self._clock.now()))
            self._result.answered += 1
            self._in_a_row = 0
        self._taking = None
        self._in_flight -= 1

    def _take_error(self, task: _Task, error: ServiceError) -> None:
        if task.attempt <= MAX_RETRIES and _may_repeat(error):
            self._repeat_later(task, error)
            return
        self._result.failures += 1
        if len(self._result.failed) < MAX_NAMED:
            self._result.failed.append(Failure(task.page.url, error))
        self._in_a_row += 1
        if not isinstance(error, ServiceLaterError) and error.reason in _ABOUT_THE_PAGE:
            # Otherwise the page would stay the first one in each rotation.
            self._answers.keep_inspection(task.page.id, Inspection(task.page.property, self._clock.now().timestamp()))
        if _concerns_all(error) or self._in_a_row >= MAX_FAILURES:
            self._result.ended_by = error

    def _repeat_later(self, task: _Task, error: ServiceError) -> None:
        pause = error.retry_after
        if pause is None:
            pause = 2.0 ** (task.attempt - 1) * (1 + JITTER * self._clock.jitter())
        due = self._clock.monotonic() + pause
        heappush(self._later, (due, task.page.id, _Task(task.page, task.attempt + 1)))
        if not isinstance(error, ServiceUnavailableError):
            # Too many requests: the others wait, too.
            self._not_before = max(self._not_before, due)


def _may_repeat(error: ServiceError) -> bool:
    is_of_the_day = error.reason in DAILY_LIMITS
    return isinstance(error, ServiceLaterError) and not is_of_the_day and (error.retry_after or 0) <= MAX_WAIT_SECONDS


def _concerns_all(error: ServiceError) -> bool:
    """Return whether no other page can be inspected now: a quota is used up, or the account cannot log in."""
    if isinstance(error, ServiceLaterError):
        return not isinstance(error, ServiceUnavailableError)
    return isinstance(error, CredentialsError) or error.http_status == 401


def _stored(answer: Answer, page: Page, now: datetime) -> Inspection:
    return Inspection(
        page.property,
        now.timestamp(),
        answer.verdict,
        answer.coverage_state,
        answer.robots,
        answer.indexing,
        answer.fetch,
        answer.last_crawl.timestamp() if answer.last_crawl else None,
        answer.google_canonical,
        answer.user_canonical,
    )
