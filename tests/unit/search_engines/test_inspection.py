"""Inspections: in flight, a minute and a day; failures, interruptions, and the count that comes before each request."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.exceptions import (
    CredentialsError,
    ServiceError,
    ServiceLaterError,
    ServiceRefusedError,
    ServiceUnavailableError,
)
from sitemap_crawler.inventory.engine_answers import EngineAnswers, used_quota
from sitemap_crawler.inventory.inspections import candidates, inspection_of
from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.inventory.schema import inspections
from sitemap_crawler.inventory.unlocked import UnlockedInventory
from sitemap_crawler.search_engines.google import Inspection as Answer
from sitemap_crawler.search_engines.inspection import (
    MAX_FAILURES,
    MAX_IN_FLIGHT,
    InspectionResult,
    Inspector,
    Page,
    quota_day,
)
from tests.support.engine_inventory import SITE, publish_pages
from tests.support.search_engines import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sitemap_crawler.inventory.inspections import Inspection

DAY = "2026-11-23"
"""Day of the fake clock in California."""
OUT_OF_QUOTA = ServiceLaterError("Google answered 429", http_status=429, reason="rateLimitExceeded")
NO_QUOTA_TODAY = ServiceLaterError("Google answered 403", http_status=403, reason="quotaExceeded")
BROKEN = ServiceUnavailableError("Google answered 500", http_status=500, reason="internalError")
NOT_OURS = ServiceRefusedError("Google answered 403", http_status=403, reason="PERMISSION_DENIED")
NO_LOGIN = ServiceRefusedError("Google answered 401", http_status=401, reason="UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("moment", "day", "resets_at"),
    [
        ("2026-11-23T07:59:59", "2026-11-22", "2026-11-23T08:00:00"),
        ("2026-11-23T08:00:00", "2026-11-23", "2026-11-24T08:00:00"),
        ("2026-07-01T06:59:59", "2026-06-30", "2026-07-01T07:00:00"),
        ("2026-07-01T07:00:00", "2026-07-01", "2026-07-02T07:00:00"),
        # Clocks go forward and back on these days, which have 23 and 25 hours.
        ("2026-03-08T12:00:00", "2026-03-08", "2026-03-09T07:00:00"),
        ("2026-11-01T07:30:00", "2026-11-01", "2026-11-02T08:00:00"),
    ],
)
def test_the_day_of_a_quota_begins_at_midnight_in_california(moment: str, day: str, resets_at: str) -> None:
    expected = day, datetime.fromisoformat(resets_at).replace(tzinfo=UTC)
    assert quota_day(datetime.fromisoformat(moment).replace(tzinfo=UTC)) == expected


class Site:
    """An inventory with published pages, and a stand-in for Google that notes what it is asked for."""

    def __init__(self, path: Path, count: int) -> None:
        self.path = publish_pages(path, [f"{SITE}{number}" for number in range(1, count + 1)])
        self.pages = [Page(number, f"{SITE}{number}", SITE) for number in range(1, count + 1)]
        self.clock = FakeClock()
        self.asked: list[str] = []
        self.errors: dict[str, list[ServiceError]] = {}
        """Errors of the next requests for a URL; the last one stays."""

    def ask(self, property_name: str, url: str) -> Answer:
        assert property_name == SITE
        self.asked.append(url)
        errors = self.errors.get(url)
        if errors:
            raise errors.pop(0) if len(errors) > 1 else errors[0]
        return Answer(url, "PASS", "Submitted and indexed", last_crawl=datetime(2026, 11, 1, tzinfo=UTC))

    def fail(self, *numbers: int, errors: list[ServiceError]) -> None:
        self.errors |= {f"{SITE}{number}": list(errors) for number in numbers}

    def run(self, ask: Callable[[str, str], Answer] | None = None, **options: Any) -> InspectionResult:
        with UnlockedInventory(self.path) as inventory:
            return Inspector(ask or self.ask, EngineAnswers(inventory), clock=self.clock, **options).run(self.pages)

    def used(self, day: str = DAY) -> int:
        with open_inventory(self.path) as inventory:
            return used_quota(inventory.connection, "google", SITE, day)

    def verdicts(self) -> dict[int, str | None]:
        with open_inventory(self.path) as inventory:
            return {row.url_id: row.verdict for row in inventory.connection.execute(inspections.select())}


@pytest.fixture
def make_site(tmp_path: Path) -> Callable[[int], Site]:
    return lambda count: Site(tmp_path / "a.sqlite", count)


def test_answers_are_kept(make_site: Callable[[int], Site]) -> None:
    site = make_site(12)
    result = site.run()
    assert (result.answered, result.failures, result.exit_codes) == (12, 0, set())
    assert sorted(site.asked) == sorted(page.url for page in site.pages)
    assert site.verdicts() == dict.fromkeys(range(1, 13), "PASS")
    assert site.used() == 12
    with open_inventory(site.path) as inventory:
        kept = inspection_of(inventory.connection, 7)
    assert kept is not None
    assert (kept.property, kept.coverage_state) == (SITE, "Submitted and indexed")
    assert kept.last_crawl == datetime(2026, 11, 1, tzinfo=UTC).timestamp()


def test_at_most_five_are_in_flight(make_site: Callable[[int], Site]) -> None:
    site = make_site(23)
    together, lock = [0], threading.Lock()
    full = threading.Event()
    running = 0

    def ask(name: str, url: str) -> Answer:
        nonlocal running
        with lock:
            running += 1
            together.append(running)
            if running == MAX_IN_FLIGHT:
                full.set()
        # The first ones wait for each other, so that the test sees the largest number.
        assert full.wait(60)
        answer = site.ask(name, url)
        with lock:
            running -= 1
        return answer

    assert site.run(ask).answered == 23
    assert max(together) == MAX_IN_FLIGHT == 5


def test_at_most_550_start_within_a_minute(make_site: Callable[[int], Site]) -> None:
    site = make_site(700)
    moments: list[float] = []

    def ask(name: str, url: str) -> Answer:
        moments.append(site.clock.monotonic())
        return site.ask(name, url)

    assert site.run(ask).answered == 700
    # The clock may have gone on by four requests when a thread looks at it.
    moments.sort()
    assert all(later - first >= 59 for first, later in zip(moments, moments[550:], strict=False))


def test_each_request_is_counted_before_it_is_sent(make_site: Callable[[int], Site]) -> None:
    site = make_site(20)
    site.fail(3, 8, errors=[BROKEN])
    seen: list[tuple[int, int]] = []
    lock = threading.Lock()

    def ask(name: str, url: str) -> Answer:
        with lock:
            try:
                return site.ask(name, url)
            finally:
                seen.append((len(site.asked), site.used()))

    site.run(ask)
    assert len(seen) == len(site.asked) == 18 + 2 * 4
    assert all(counted >= asked for asked, counted in seen)
    assert site.used() == len(site.asked)


def test_one_failure_ends_no_batch(make_site: Callable[[int], Site]) -> None:
    site = make_site(30)
    site.fail(4, errors=[BROKEN])
    site.fail(9, errors=[BROKEN, BROKEN, BROKEN, BROKEN])
    site.errors[f"{SITE}9"][3:] = []
    site.errors[f"{SITE}12"] = [NOT_OURS]
    result = site.run()
    assert (result.answered, result.failures, result.ended_by) == (27, 3, None)
    assert {failure.url for failure in result.failed} == {f"{SITE}{number}" for number in (4, 9, 12)}
    assert result.exit_codes == {1, 4}
    assert Counter(site.asked)[f"{SITE}12"] == 1


def test_a_passing_error_is_repeated_after_a_pause(make_site: Callable[[int], Site]) -> None:
    site = make_site(1)
    attempts = iter([BROKEN, BROKEN])

    def ask(name: str, url: str) -> Answer:
        site.asked.append(url)
        error = next(attempts, None)
        if error is not None:
            raise error
        return Answer(url, "PASS")

    assert site.run(ask).answered == 1
    assert (len(site.asked), site.used()) == (3, 3)
    assert sum(site.clock.pauses) == pytest.approx(1 + 2)


def test_a_minute_limit_is_waited_for_by_all(make_site: Callable[[int], Site]) -> None:
    site = make_site(40)
    limited = ServiceLaterError("429", http_status=429, reason="rateLimitExceeded", retry_after=30)
    attempts = iter([limited])

    def ask(name: str, url: str) -> Answer:
        error = next(attempts, None)
        if error is not None:
            raise error
        return site.ask(name, url)

    assert site.run(ask).answered == 40
    assert sum(site.clock.pauses) >= 30


@pytest.mark.parametrize(("error", "attempts"), [(OUT_OF_QUOTA, 4), (NO_QUOTA_TODAY, 1), (NO_LOGIN, 1)])
def test_no_page_is_asked_for_after_an_error_that_concerns_all(
    make_site: Callable[[int], Site], error: ServiceError, attempts: int
) -> None:
    site = make_site(100)
    site.fail(*range(3, 101), errors=[error])
    result = site.run()
    assert result.ended_by is error
    assert result.answered == 2
    assert result.exit_codes == {error.exit_code}
    assert Counter(site.asked)[f"{SITE}3"] <= attempts
    assert max(Counter(site.asked).values()) == attempts
    # Those in flight, each with its repetitions, and no others.
    assert len(set(site.asked)) <= 2 + (attempts + 1) * MAX_IN_FLIGHT
    assert set(site.verdicts()) == {1, 2}


def test_failures_in_a_row_end_the_batch(make_site: Callable[[int], Site]) -> None:
    site = make_site(60)
    site.fail(*range(6, 61), errors=[NOT_OURS])
    result = site.run()
    assert result.ended_by is NOT_OURS
    assert MAX_FAILURES <= result.failures <= MAX_FAILURES + MAX_IN_FLIGHT
    assert result.answered == 5


def test_a_page_that_google_refuses_gives_way_to_the_others(make_site: Callable[[int], Site]) -> None:
    site = make_site(3)
    site.fail(2, errors=[NOT_OURS])
    site.pages = site.pages[1:2]
    site.run()
    assert site.verdicts() == {2: None}
    with open_inventory(site.path) as inventory:
        assert [each.id for each in candidates(inventory.connection, 3)][-1] == 2


def test_credentials_that_cannot_be_used_end_the_batch(make_site: Callable[[int], Site]) -> None:
    site = make_site(50)
    site.fail(*range(1, 51), errors=[CredentialsError("the library is not installed")])
    result = site.run()
    assert result.exit_codes == {2}
    assert len(site.asked) <= 2 * MAX_IN_FLIGHT
    assert site.verdicts() == {}


def test_the_quota_of_a_day_is_not_exceeded(make_site: Callable[[int], Site]) -> None:
    site = make_site(9)
    result = site.run(limit=7)
    assert (result.answered, result.is_capped, result.exit_codes) == (7, True, {4})
    assert (len(site.asked), site.used()) == (7, 7)
    again = site.run(limit=7)
    assert (again.answered, again.is_capped, len(site.asked)) == (0, True, 7)


def test_the_2001st_inspection_of_a_day_waits_for_midnight(make_site: Callable[[int], Site]) -> None:
    site = make_site(2)
    with UnlockedInventory(site.path) as inventory, inventory.transaction() as connection:
        connection.exec_driver_sql(f"INSERT INTO engine_quota VALUES ('google', '{SITE}', '{DAY}', 1999)")
    assert site.run().is_capped
    assert len(site.asked) == 1
    site.clock = FakeClock(datetime(2026, 11, 24, 8, 0, tzinfo=UTC))
    assert site.run().answered == 2
    assert (site.used(), site.used("2026-11-24")) == (2_000, 2)


def test_requests_after_midnight_count_for_the_next_day(make_site: Callable[[int], Site]) -> None:
    site = make_site(20)
    # Requests are 0.11 s apart.
    site.clock = FakeClock(datetime(2026, 11, 24, 7, 59, 59, tzinfo=UTC))
    assert site.run().answered == 20
    assert site.used() + site.used("2026-11-24") == 20
    assert site.used() in range(9, 12)


def test_an_interruption_keeps_what_is_answered(make_site: Callable[[int], Site]) -> None:
    site = make_site(30)
    never, interrupting = threading.Event(), threading.Lock()

    def ask(name: str, url: str) -> Answer:
        with interrupting:
            if len(site.asked) < 8:
                return site.ask(name, url)
            if len(site.asked) == 8:
                wait_until(lambda: len(site.verdicts()) == 8)
                site.asked.append(url)
                os.kill(os.getpid(), signal.SIGINT)
        never.wait(120)
        return Answer(url, "PASS")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = site.run(ask)
    finally:
        signal.signal(signal.SIGINT, before)
        never.set()
    assert (result.is_interrupted, result.answered, result.exit_codes) == (True, 8, {4})
    assert len(site.verdicts()) == 8
    assert site.used() > 8


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_an_interruption_while_an_answer_is_stored_loses_it_not(make_site: Callable[[int], Site]) -> None:
    site = make_site(1)

    class Interrupted(EngineAnswers):
        interruptions = 1

        def keep_inspection(self, url_id: int, inspection: Inspection) -> None:
            if self.interruptions:
                self.interruptions -= 1
                raise KeyboardInterrupt
            super().keep_inspection(url_id, inspection)

    with UnlockedInventory(site.path) as inventory:
        result = Inspector(site.ask, Interrupted(inventory), clock=site.clock).run(site.pages)
    assert (result.is_interrupted, result.answered, site.verdicts()) == (True, 1, {1: "PASS"})


def test_an_unexpected_exception_is_raised(make_site: Callable[[int], Site]) -> None:
    def ask(_name: str, _url: str) -> Answer:
        raise KeyError("a fault of the program")

    with pytest.raises(KeyError, match="a fault"):
        make_site(3).run(ask)
