"""When a host may be asked again, by tables and made-up clocks."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)

from sitemap_crawler.config.options import Options
from sitemap_crawler.crawl.middlewares.politeness import is_pressure
from sitemap_crawler.crawl.politeness import (
    Answer,
    Pace,
    Paces,
    Throttle,
    Verdict,
    answer_of,
    is_loopback,
    retry_seconds,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ORIGIN = "https://www.example.com"


def pace(**more: Any) -> Pace:
    values = {"delay": 0.0, "max_crawl_delay": 30.0, "max_back_off": 60.0, "max_retry_after": 600.0}
    values |= {"max_outage": 120.0, "ceiling": None}
    made = Pace(**{**values, **more})
    made.begin()
    return made


def ask(host: Pace, status: int | None, *, at: float = 0.0, took: float = 0.0, **more: Any) -> Verdict:
    """One request that leaves at `at` and is answered `took` seconds later; a status of None is no answer."""
    host.left(at)
    answer = Answer.PRESSURE if status is None else answer_of(status)
    return host.answered(answer, left_at=at, now=at + took, **more)


def delays(host: Pace, statuses: Iterable[int | None]) -> list[float]:
    """The delay after each of these answers, one a second."""
    found = []
    for second, status in enumerate(statuses):
        ask(host, status, at=float(second))
        found.append(host.delay)
    return found


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("120", None, 120),
        (" 2 ", None, 2),
        ("2.5", None, 2.5),
        ("31536000", None, 31_536_000),
        ("Wed, 04 Mar 2026 05:08:07 GMT", None, 120),
        ("Wednesday, 04-Mar-26 05:08:07 GMT", None, 120),
        ("Wed Mar  4 05:08:07 2026", None, 120),
        # The server's own clock is an hour slow, or fast.
        ("Wed, 04 Mar 2026 04:08:07 GMT", "Wed, 04 Mar 2026 04:06:07 GMT", 120),
        ("Wed, 04 Mar 2026 06:08:07 GMT", "Wed, 04 Mar 2026 06:06:07 GMT", 120),
        ("Wed, 04 Mar 2026 05:08:07 GMT", "yesterday", 120),
        (None, None, None),
        ("", None, None),
        ("0", None, None),
        ("-5", None, None),
        ("+5", None, None),
        ("1e3", None, None),
        ("0x10", None, None),
        ("inf", None, None),
        ("nan", None, None),
        ("٣", None, None),
        ("soon", None, None),
        # Nobody means more than a year, or waits for it.
        ("31536001", None, 31_536_000),
        ("9" * 90, None, 31_536_000),
        ("9" * 100_000, None, None),
        ("Wed, 04 Mar 2026 05:06:07 GMT", None, None),
        ("Tue, 03 Mar 2026 05:06:07 GMT", None, None),
        ("Wed, 04 Mar 2099 05:06:07 GMT", None, 31_536_000),
        ("Wed, 99 Mar 2026 05:06:07 GMT", None, None),
        ("Wed, 04 Mar 2026 05:06:07 GMT" + " " * 100, None, None),
    ],
)
def test_retry_after(value: str | None, date: str | None, seconds: float | None) -> None:
    assert retry_seconds(value, date, now=NOW) == seconds


@given(st.text(), st.text())
def test_a_retry_after_never_raises(value: str, date: str) -> None:
    seconds = retry_seconds(value, date, now=NOW)
    assert seconds is None or 0 < seconds <= 31_536_000


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        *((status, Answer.GOOD) for status in (200, 204, 301, 304, 403, 404, 410)),
        *((status, Answer.PRESSURE) for status in (429, 502, 503, 504)),
        *((status, Answer.OTHER) for status in (500, 501, 505, 520)),
    ],
)
def test_what_a_status_says(status: int, answer: Answer) -> None:
    assert answer_of(status) is answer


def connect_error(os_error: OSError) -> Exception:
    error = DownloadConnectionRefusedError("no connection")
    error.__cause__ = aiohttp.ClientConnectorError(Any, os_error)  # type: ignore[arg-type]
    return error


@pytest.mark.parametrize(
    ("error", "pressure"),
    [
        (DownloadTimeoutError(), True),
        (DownloadFailedError(), True),
        (ResponseDataLossError(), True),
        (ConnectionResetError(), True),
        (connect_error(ConnectionRefusedError()), True),
        (connect_error(ConnectionResetError()), True),
        (connect_error(OSError(113, "No route to host")), False),
        (DownloadConnectionRefusedError(), False),
        (CannotResolveHostError(), False),
        (UnsupportedURLSchemeError(), False),
        (ValueError(), False),
    ],
)
def test_what_no_answer_says(error: Exception, pressure: bool) -> None:
    assert is_pressure(error) is pressure


def test_a_host_that_asks_for_nothing_is_free() -> None:
    host = pace()
    assert (host.free, host.delay, host.allowed) == (True, 0.0, math.inf)
    assert host.next_at(5.0) <= 5.0
    ask(host, 200)
    assert host.free


@pytest.mark.parametrize(
    ("delay", "asked", "cap", "kept"),
    [
        (0.0, None, 30.0, 0.0),
        (0.5, None, 30.0, 0.5),
        (0.0, 1.0, 30.0, 1.0),
        (0.5, 1.0, 30.0, 1.0),
        (2.0, 1.0, 30.0, 2.0),
        (0.0, 31.0, 30.0, 30.0),
        (0.0, 1e9, 30.0, 30.0),
        (40.0, 31.0, 30.0, 40.0),
        (0.0, 5.0, 0.0, 0.0),
    ],
)
def test_the_longer_of_both_delays_is_kept(delay: float, asked: float | None, cap: float, kept: float) -> None:
    host = pace(delay=delay, max_crawl_delay=cap)
    host.robots_ask(ORIGIN, asked)
    assert host.delay == kept
    assert host.free is (kept == 0)


def test_the_delay_is_the_longest_that_an_origin_of_the_host_asks_for() -> None:
    host = pace()
    assert host.robots_ask("http://www.example.com", 1.0) == 1.0
    assert host.robots_ask("https://www.example.com", 2.0) == 2.0
    assert host.delay == 2.0
    assert host.robots_ask("https://www.example.com", None) == 0.0
    assert host.delay == 1.0


@pytest.mark.parametrize(
    ("delay", "took", "now", "next_at"),
    [
        # Answered: from the answer, as the request may have arrived as late.
        (1.0, 0.0, 10.0, 11.0),
        (1.0, 0.3, 10.5, 11.3),
        # Later than the next could have left without an answer: that stays.
        (1.0, 1.5, 11.6, 12.0),
        # Not answered: as long again, a second at most.
        (1.0, None, 10.5, 12.0),
        (0.25, None, 10.1, 10.5),
        (30.0, None, 12.0, 41.0),
    ],
)
def test_the_next_request_leaves_after_the_delay(delay: float, took: float | None, now: float, next_at: float) -> None:
    host = pace(delay=delay)
    if took is None:
        host.left(10.0)
    else:
        ask(host, 200, at=10.0, took=took)
    assert host.next_at(now) == pytest.approx(next_at)


def test_the_first_request_leaves_at_once() -> None:
    assert pace(delay=5.0).next_at(1.0) <= 1.0


@pytest.mark.parametrize(
    ("statuses", "delay"),
    [
        ([503], 0.0),
        ([503, 503], 0.0),
        ([503, 200, 503], 0.0),
        ([503, 503, 503], 1.0),
        ([429, 502, 504], 1.0),
        ([None, None, None], 1.0),
        ([503, 200, 503, 404, 503], 1.0),
        ([503, *[200] * 7, 503, 503], 1.0),
        # The first of the three is not among the last ten any more.
        ([503, *[200] * 8, 503, 503], 0.0),
        ([500, 500, 500, 500], 0.0),
        ([503, 503, 503, 503], 2.0),
        ([503] * 9, 60.0),
        ([503] * 8, 32.0),
        ([503] * 30, 60.0),
    ],
)
def test_three_failing_answers_of_ten_begin_a_back_off(statuses: list[int | None], delay: float) -> None:
    assert delays(pace(), statuses)[-1] == delay


def test_a_back_off_halves_with_every_ten_good_answers() -> None:
    host = pace()
    assert delays(host, [503] * 5)[-1] == 4.0
    after = delays(host, [200] * 60)
    assert after[8:10] == [4.0, 2.0]
    assert after[18:20] == [2.0, 1.0]
    assert after[28:30] == [1.0, 0.5]
    assert after[48:50] == [0.25, 0.125]
    assert after[58:60] == [0.125, 0.0]
    assert host.free


@pytest.mark.parametrize(("between", "delay"), [(404, 0.5), (500, 1.0)])
def test_errors_of_another_kind_are_no_sign_of_recovery(between: int, delay: float) -> None:
    host = pace()
    delays(host, [503] * 3)
    assert delays(host, [between] * 10)[-1] == delay


def test_one_failing_page_among_good_ones_does_not_slow_the_host() -> None:
    assert set(delays(pace(), [200, 503, 200, 200, 200, 200, 200] * 20)) == {0.0}


def test_a_page_that_fails_again_says_nothing_new() -> None:
    host = pace()
    for second in range(20):
        assert ask(host, 503, at=second, repeated=True) == Verdict()
    assert host.free


def test_answers_that_were_under_way_together_raise_the_back_off_once() -> None:
    host = pace()
    for _ in range(8):
        host.left(0.0)
    for number in range(8):
        host.answered(Answer.PRESSURE, left_at=0.0, now=1.0 + number / 10)
    assert host.delay == 1.0
    assert ask(host, 503, at=3.0) == Verdict(back_off=2.0)


def test_a_back_off_comes_on_top_of_no_longer_delay() -> None:
    host = pace(delay=3.0)
    assert delays(host, [503] * 5) == [3.0, 3.0, 3.0, 3.0, 4.0]


def test_a_back_off_can_be_switched_off() -> None:
    host = pace(max_back_off=0.0)
    assert set(delays(host, [503] * 20)) == {0.0}
    assert host.free


def test_what_changes_is_told() -> None:
    host = pace()
    assert [ask(host, 503, at=float(n)) for n in range(4)] == [
        Verdict(),
        Verdict(),
        Verdict(back_off=1.0),
        Verdict(back_off=2.0),
    ]
    told = [ask(host, 200, at=float(n)) for n in range(10)]
    assert told == [*[Verdict()] * 9, Verdict(back_off=1.0)]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
@pytest.mark.parametrize("repeated", [False, True])
def test_a_retry_after_pauses_the_host(status: int, repeated: bool) -> None:
    host = pace()
    assert ask(host, status, at=10.0, retry_after=120.0, repeated=repeated) == Verdict(pause=120.0)
    assert (host.free, host.closed, host.delay) == (False, False, 0.0)
    assert host.next_at(50.0) == 130.0
    assert host.paused(129.9)
    assert not host.paused(130.0)
    assert host.next_at(130.0) <= 130.0
    assert host.free


def test_a_shorter_pause_ends_none_that_is_longer() -> None:
    host = pace()
    ask(host, 503, at=10.0, retry_after=120.0)
    ask(host, 503, at=11.0, retry_after=5.0)
    assert host.next_at(20.0) == 130.0


def test_a_pause_raises_no_back_off() -> None:
    host = pace()
    for second in range(10):
        ask(host, 503, at=float(second), retry_after=1.0)
    assert host.delay == 0.0


def test_a_delay_goes_on_after_a_pause() -> None:
    host = pace(delay=5.0)
    ask(host, 503, at=10.0, retry_after=3.0)
    assert host.next_at(11.0) == 15.0
    ask(host, 503, at=15.0, retry_after=30.0)
    assert host.next_at(16.0) == 45.0


@pytest.mark.parametrize(
    ("asked", "limit", "too_long"), [(600.0, 600.0, False), (601.0, 600.0, True), (1.0, 0.0, True), (1.0, 1.0, False)]
)
def test_a_pause_that_is_too_long_closes_the_host(asked: float, limit: float, too_long: bool) -> None:
    host = pace(max_retry_after=limit)
    assert ask(host, 503, at=0.0, retry_after=asked) == Verdict(pause=asked, too_long=too_long)
    assert host.closed is too_long
    host.next_at(asked + 1)
    assert not host.closed


def test_a_host_that_only_fails_is_given_up() -> None:
    host = pace(max_outage=120.0)
    assert ask(host, 503, at=10.0).outage == 0
    assert ask(host, None, at=130.0).outage == 0
    assert not host.closed
    assert ask(host, 503, at=130.5) == Verdict(outage=120.5)
    # Some pages may fail that are all that is left: it is asked for something else first.
    assert (host.doubted, host.closed) == (True, False)
    assert ask(host, 503, at=140.0).outage == 0
    host.give_up(141.0)
    assert (host.closed, host.free, host.next_at(1e9)) == (True, False, math.inf)


@pytest.mark.parametrize("status", [200, 304, 404, 500])
def test_any_other_answer_ends_an_outage(status: int) -> None:
    host = pace(max_outage=120.0)
    ask(host, 503, at=0.0)
    ask(host, status, at=100.0)
    assert ask(host, 503, at=130.0).outage == 0
    assert ask(host, 503, at=250.0).outage == 0
    assert ask(host, 503, at=250.1).outage == pytest.approx(120.1)
    ask(host, status, at=251.0)
    assert not host.doubted


def test_an_outage_counts_through_the_pauses_that_a_host_asks_for() -> None:
    host = pace(max_outage=120.0)
    assert ask(host, 503, at=0.0, retry_after=121.0) == Verdict(pause=121.0)
    assert ask(host, 503, at=121.0, retry_after=121.0) == Verdict(outage=121.0)


def test_until_robots_txt_is_known_one_request_is_enough() -> None:
    values = {"delay": 0.0, "max_crawl_delay": 30.0, "max_back_off": 60.0, "max_retry_after": 600.0}
    host = Pace(**values, max_outage=120.0, ceiling=None)
    assert (host.allowed, host.free) == (1, False)
    host.begin()
    assert (host.allowed, host.free) == (math.inf, True)


def rounds(throttle: Throttle, latency: float, count: int, *, start: float) -> float:
    """So many answers, one after another; the time after the last."""
    for _ in range(count):
        throttle.answered(left_at=start, now=start + latency)
        start += latency
    return start


@pytest.mark.parametrize(("ceiling", "first"), [(1, 1), (2, 2), (8, 2), (64, 2)])
def test_a_throttle_begins_low_and_ends_at_its_ceiling(ceiling: int, first: int) -> None:
    throttle = Throttle(ceiling)
    assert throttle.allowed == first
    rounds(throttle, 0.2, 2_500, start=0.0)
    assert throttle.allowed == ceiling


def test_a_throttle_takes_a_round_for_one_more() -> None:
    throttle = Throttle(8)
    rounds(throttle, 0.2, 2, start=0.0)
    assert 2.8 < throttle.allowed < 3.0
    rounds(throttle, 0.2, 30, start=1.0)
    assert throttle.allowed == 8


def test_a_throttle_falls_when_answers_become_slow_and_rises_again() -> None:
    throttle = Throttle(8)
    later = rounds(throttle, 0.2, 100, start=0.0)
    later = rounds(throttle, 2.0, 12, start=later)
    assert throttle.allowed < 2
    rounds(throttle, 0.2, 100, start=later)
    assert throttle.allowed == 8


def test_pages_that_are_slow_one_by_one_are_slow_by_themselves() -> None:
    throttle = Throttle(8)
    later = rounds(throttle, 0.02, 100, start=0.0)
    rounds(throttle, 2.0, 200, start=later)
    assert throttle.allowed == 8


def test_a_throttle_does_not_grow_into_a_server_with_one_worker() -> None:
    """Every request under way makes all of them slower: the latency is their number times the work."""
    throttle, now = Throttle(64), 0.0
    seen = []
    for _ in range(2_000):
        latency = 0.2 * int(throttle.allowed)
        throttle.answered(left_at=now, now=now + latency)
        now += latency
        seen.append(throttle.allowed)
    assert max(seen) < 8


def test_small_differences_mean_nothing() -> None:
    throttle = Throttle(8)
    for number in range(300):
        latency = 0.05 if number % 3 else 0.005
        throttle.answered(left_at=float(number), now=number + latency)
    assert throttle.allowed == 8


def test_a_failing_answer_halves_what_is_allowed_once() -> None:
    host = pace(ceiling=8)
    assert host.allowed == 2
    for second in range(100):
        ask(host, 200, at=float(second), took=0.2)
    assert host.allowed == 8
    for _ in range(4):
        host.left(200.0)
    for _ in range(4):
        host.answered(Answer.PRESSURE, left_at=200.0, now=200.5)
    assert host.allowed == 4
    for second in range(300, 310):
        ask(host, 503, at=float(second))
    assert host.allowed == 1


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("shop.localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("[::1]", True),
        ("localhost.example.com", False),
        ("127.example.com", False),
        ("128.0.0.1", False),
        ("10.0.0.1", False),
        ("[::2]", False),
        ("www.example.com", False),
        ("", False),
    ],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("url", "adaptive", "allowed"),
    [
        ("https://www.example.com/", None, 2),
        ("https://www.example.com/", True, 2),
        ("https://www.example.com/", False, math.inf),
        ("http://127.0.0.1:8000/", None, math.inf),
        ("http://[::1]:8000/", None, math.inf),
        ("http://127.0.0.1:8000/", True, 2),
    ],
)
def test_the_throttle_is_for_other_machines(url: str, adaptive: bool | None, allowed: float) -> None:
    paces = Paces(Options.parse({"start_url": url, "adaptive": adaptive}))
    host = paces.of(url)
    host.begin()
    assert host.allowed == allowed


def test_a_host_has_one_pace_for_all_its_schemes_and_ports() -> None:
    paces = Paces(Options.parse({"start_url": f"{ORIGIN}/"}))
    assert paces.of("http://www.example.com/a") is paces.of("https://www.example.com:8443/b") is paces.of(ORIGIN)
    assert paces.of("https://example.com/") is not paces.of(ORIGIN)


@pytest.mark.parametrize(("tries", "seconds"), [(1, 1.0), (2, 2.0), (3, 4.0), (7, 60.0), (10_000, 60.0)])
def test_a_page_waits_longer_for_every_try(tries: int, seconds: float) -> None:
    assert Paces(Options.parse({"start_url": f"{ORIGIN}/"})).delay_again(tries) == seconds


def test_the_settings_are_those_of_the_options() -> None:
    values = {"delay": 0.5, "max_crawl_delay": 2, "max_back_off": 3, "max_retry_after": 4, "max_outage": 5}
    host = Paces(Options.parse({"start_url": f"{ORIGIN}/", **values})).of(ORIGIN)
    host.begin()
    assert host.delay == 0.5
    assert host.robots_ask(ORIGIN, 10.0) == 2.0
    assert delays(host, [503] * 10)[-1] == 3.0
    assert ask(host, 503, retry_after=5.0).too_long
    dead = Paces(Options.parse({"start_url": f"{ORIGIN}/", **values})).of(ORIGIN)
    ask(dead, 503)
    assert ask(dead, 503, at=5.1).outage == 5.1


@given(
    st.lists(
        st.tuples(
            st.sampled_from([200, 304, 404, 429, 500, 503, None]),
            st.floats(0, 5),
            st.none() | st.floats(0.1, 600),
            st.booleans(),
        ),
        max_size=60,
    )
)
def test_whatever_happens_nothing_leaves_too_early_or_never(events: list[Any]) -> None:
    host = pace(delay=0.5, ceiling=8, max_outage=math.inf)
    now = 0.0
    for status, took, retry_after, repeated in events:
        due = max(now, host.next_at(now))
        assert due - now <= 61.0 + 600.0
        assert host.next_at(due) <= due
        ask(host, status, at=due, took=took, retry_after=retry_after, repeated=repeated)
        assert 0.5 <= host.delay <= 60.0
        assert 1 <= host.allowed <= 8
        assert host.next_at(due + took) >= due + 0.5
        now = due + took
    assert host.under_way == 0
