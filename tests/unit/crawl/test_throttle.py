"""Delays, pauses, backoff and limit of requests in flight of a host, with made-up clocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.config.options import Options
from sitemap_crawler.crawl.load_signals import ResponseKind, classify_status
from sitemap_crawler.crawl.throttle import ConcurrencyLimit, HostThrottle, HostThrottles, ThrottleChange

if TYPE_CHECKING:
    from collections.abc import Iterable

ORIGIN = "https://www.example.com"


def throttle(**more: Any) -> HostThrottle:
    values = {"delay": 0.0, "max_crawl_delay": 30.0, "max_back_off": 60.0, "max_retry_after": 600.0}
    values |= {"max_outage": 120.0, "ceiling": None}
    made = HostThrottle(**{**values, **more})
    made.start()
    return made


def ask(host: HostThrottle, status: int | None, *, at: float = 0.0, took: float = 0.0, **more: Any) -> ThrottleChange:
    """Report a request that is sent at `at`, and its response `took` seconds later; None stands for no response."""
    host.request_sent(at)
    kind = ResponseKind.BACK_PRESSURE if status is None else classify_status(status)
    return host.response_received(kind, sent_at=at, now=at + took, **more)


def delays(host: HostThrottle, statuses: Iterable[int | None]) -> list[float]:
    """Return the delay after each of these responses, one a second."""
    seconds_after = []
    for second, status in enumerate(statuses):
        ask(host, status, at=float(second))
        seconds_after.append(host.delay)
    return seconds_after


def test_a_host_without_delay_pause_and_limit_is_free() -> None:
    host = throttle()
    assert (host.is_free, host.delay, host.max_in_flight) == (True, 0.0, math.inf)
    assert host.next_request_time(5.0) <= 5.0
    ask(host, 200)
    assert host.is_free


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
    host = throttle(delay=delay, max_crawl_delay=cap)
    host.set_crawl_delay(ORIGIN, asked)
    assert host.delay == kept
    assert host.is_free is (kept == 0)


def test_the_delay_is_the_longest_that_an_origin_of_the_host_asks_for() -> None:
    host = throttle()
    assert host.set_crawl_delay("http://www.example.com", 1.0) == 1.0
    assert host.set_crawl_delay("https://www.example.com", 2.0) == 2.0
    assert host.delay == 2.0
    assert host.set_crawl_delay("https://www.example.com", None) == 0.0
    assert host.delay == 1.0


@pytest.mark.parametrize(
    ("delay", "took", "now", "next_at"),
    [
        # With a response the delay counts from it: the request may have arrived as late.
        (1.0, 0.0, 10.0, 11.0),
        (1.0, 0.3, 10.5, 11.3),
        # A late response does not postpone the time that applied without it.
        (1.0, 1.5, 11.6, 12.0),
        # Without a response twice the delay counts, but at most one second more.
        (1.0, None, 10.5, 12.0),
        (0.25, None, 10.1, 10.5),
        (30.0, None, 12.0, 41.0),
    ],
)
def test_the_next_request_leaves_after_the_delay(delay: float, took: float | None, now: float, next_at: float) -> None:
    host = throttle(delay=delay)
    if took is None:
        host.request_sent(10.0)
    else:
        ask(host, 200, at=10.0, took=took)
    assert host.next_request_time(now) == pytest.approx(next_at)


def test_the_first_request_leaves_at_once() -> None:
    assert throttle(delay=5.0).next_request_time(1.0) <= 1.0


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
        # The first of the three is no longer among the last ten.
        ([503, *[200] * 8, 503, 503], 0.0),
        ([500, 500, 500, 500], 0.0),
        ([503, 503, 503, 503], 2.0),
        ([503] * 9, 60.0),
        ([503] * 8, 32.0),
        ([503] * 30, 60.0),
    ],
)
def test_three_failing_answers_of_ten_begin_a_backoff(statuses: list[int | None], delay: float) -> None:
    assert delays(throttle(), statuses)[-1] == delay


def test_a_backoff_halves_with_every_ten_good_answers() -> None:
    host = throttle()
    assert delays(host, [503] * 5)[-1] == 4.0
    after = delays(host, [200] * 60)
    assert after[8:10] == [4.0, 2.0]
    assert after[18:20] == [2.0, 1.0]
    assert after[28:30] == [1.0, 0.5]
    assert after[48:50] == [0.25, 0.125]
    assert after[58:60] == [0.125, 0.0]
    assert host.is_free


@pytest.mark.parametrize(("between", "delay"), [(404, 0.5), (500, 1.0)])
def test_errors_of_another_kind_are_no_sign_of_recovery(between: int, delay: float) -> None:
    host = throttle()
    delays(host, [503] * 3)
    assert delays(host, [between] * 10)[-1] == delay


def test_one_failing_page_among_good_ones_does_not_slow_the_host() -> None:
    assert set(delays(throttle(), [200, 503, 200, 200, 200, 200, 200] * 20)) == {0.0}


def test_a_page_that_fails_again_says_nothing_new() -> None:
    host = throttle()
    for second in range(20):
        assert ask(host, 503, at=second, is_retry=True) == ThrottleChange()
    assert host.is_free


def test_responses_of_requests_in_flight_together_raise_the_backoff_once() -> None:
    host = throttle()
    for _ in range(8):
        host.request_sent(0.0)
    for number in range(8):
        host.response_received(ResponseKind.BACK_PRESSURE, sent_at=0.0, now=1.0 + number / 10)
    assert host.delay == 1.0
    assert ask(host, 503, at=3.0) == ThrottleChange(backoff_seconds=2.0)


def test_a_backoff_is_not_added_to_a_longer_delay() -> None:
    host = throttle(delay=3.0)
    assert delays(host, [503] * 5) == [3.0, 3.0, 3.0, 3.0, 4.0]


def test_a_backoff_can_be_switched_off() -> None:
    host = throttle(max_back_off=0.0)
    assert set(delays(host, [503] * 20)) == {0.0}
    assert host.is_free


def test_each_change_of_the_backoff_is_returned() -> None:
    host = throttle()
    assert [ask(host, 503, at=float(n)) for n in range(4)] == [
        ThrottleChange(),
        ThrottleChange(),
        ThrottleChange(backoff_seconds=1.0),
        ThrottleChange(backoff_seconds=2.0),
    ]
    changes = [ask(host, 200, at=float(n)) for n in range(10)]
    assert changes == [*[ThrottleChange()] * 9, ThrottleChange(backoff_seconds=1.0)]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
@pytest.mark.parametrize("repeated", [False, True])
def test_a_retry_after_pauses_the_host(status: int, repeated: bool) -> None:
    host = throttle()
    assert ask(host, status, at=10.0, retry_after=120.0, is_retry=repeated) == ThrottleChange(pause_seconds=120.0)
    assert (host.is_free, host.is_closed, host.delay) == (False, False, 0.0)
    assert host.next_request_time(50.0) == 130.0
    assert host.is_paused(129.9)
    assert not host.is_paused(130.0)
    assert host.next_request_time(130.0) <= 130.0
    assert host.is_free


def test_a_shorter_pause_ends_none_that_is_longer() -> None:
    host = throttle()
    ask(host, 503, at=10.0, retry_after=120.0)
    ask(host, 503, at=11.0, retry_after=5.0)
    assert host.next_request_time(20.0) == 130.0


def test_a_pause_raises_no_backoff() -> None:
    host = throttle()
    for second in range(10):
        ask(host, 503, at=float(second), retry_after=1.0)
    assert host.delay == 0.0


def test_a_delay_goes_on_after_a_pause() -> None:
    host = throttle(delay=5.0)
    ask(host, 503, at=10.0, retry_after=3.0)
    assert host.next_request_time(11.0) == 15.0
    ask(host, 503, at=15.0, retry_after=30.0)
    assert host.next_request_time(16.0) == 45.0


@pytest.mark.parametrize(
    ("asked", "limit", "too_long"), [(600.0, 600.0, False), (601.0, 600.0, True), (1.0, 0.0, True), (1.0, 1.0, False)]
)
def test_a_pause_that_is_too_long_closes_the_host(asked: float, limit: float, too_long: bool) -> None:
    host = throttle(max_retry_after=limit)
    assert ask(host, 503, at=0.0, retry_after=asked) == ThrottleChange(pause_seconds=asked, pause_too_long=too_long)
    assert host.is_closed is too_long
    host.next_request_time(asked + 1)
    assert not host.is_closed


def test_a_host_that_only_fails_is_given_up() -> None:
    host = throttle(max_outage=120.0)
    assert ask(host, 503, at=10.0).outage_seconds == 0
    assert ask(host, None, at=130.0).outage_seconds == 0
    assert not host.is_closed
    assert ask(host, 503, at=130.5) == ThrottleChange(outage_seconds=120.5)
    # The failing pages may be all that is left. The caller first tries another URL of the host.
    assert (host.outage_suspected, host.is_closed) == (True, False)
    assert ask(host, 503, at=140.0).outage_seconds == 0
    host.give_up(141.0)
    assert (host.is_closed, host.is_free, host.next_request_time(1e9)) == (True, False, math.inf)


@pytest.mark.parametrize("status", [200, 304, 404, 500])
def test_any_other_response_ends_an_outage(status: int) -> None:
    host = throttle(max_outage=120.0)
    ask(host, 503, at=0.0)
    ask(host, status, at=100.0)
    assert ask(host, 503, at=130.0).outage_seconds == 0
    assert ask(host, 503, at=250.0).outage_seconds == 0
    assert ask(host, 503, at=250.1).outage_seconds == pytest.approx(120.1)
    ask(host, status, at=251.0)
    assert not host.outage_suspected


def test_an_outage_counts_through_the_pauses_that_a_host_asks_for() -> None:
    host = throttle(max_outage=120.0)
    assert ask(host, 503, at=0.0, retry_after=121.0) == ThrottleChange(pause_seconds=121.0)
    assert ask(host, 503, at=121.0, retry_after=121.0) == ThrottleChange(outage_seconds=121.0)


def test_until_robots_txt_is_known_one_request_is_enough() -> None:
    values = {"delay": 0.0, "max_crawl_delay": 30.0, "max_back_off": 60.0, "max_retry_after": 600.0}
    host = HostThrottle(**values, max_outage=120.0, ceiling=None)
    assert (host.max_in_flight, host.is_free) == (1, False)
    host.start()
    assert (host.max_in_flight, host.is_free) == (math.inf, True)


def rounds(limit: ConcurrencyLimit, latency: float, count: int, *, start: float) -> float:
    """Report `count` responses, one after another, and return the time of the last."""
    for _ in range(count):
        limit.response_received(sent_at=start, now=start + latency)
        start += latency
    return start


@pytest.mark.parametrize(("ceiling", "first"), [(1, 1), (2, 2), (8, 2), (64, 2)])
def test_a_limit_begins_low_and_ends_at_its_ceiling(ceiling: int, first: int) -> None:
    limit = ConcurrencyLimit(ceiling)
    assert limit.allowed == first
    rounds(limit, 0.2, 2_500, start=0.0)
    assert limit.allowed == ceiling


def test_a_limit_takes_a_round_for_one_more() -> None:
    limit = ConcurrencyLimit(8)
    rounds(limit, 0.2, 2, start=0.0)
    assert 2.8 < limit.allowed < 3.0
    rounds(limit, 0.2, 30, start=1.0)
    assert limit.allowed == 8


def test_a_limit_falls_when_answers_become_slow_and_rises_again() -> None:
    limit = ConcurrencyLimit(8)
    later = rounds(limit, 0.2, 100, start=0.0)
    later = rounds(limit, 2.0, 12, start=later)
    assert limit.allowed < 2
    rounds(limit, 0.2, 100, start=later)
    assert limit.allowed == 8


def test_pages_that_are_slow_one_at_a_time_do_not_lower_the_limit() -> None:
    limit = ConcurrencyLimit(8)
    later = rounds(limit, 0.02, 100, start=0.0)
    rounds(limit, 2.0, 200, start=later)
    assert limit.allowed == 8


def test_a_limit_does_not_grow_into_a_server_with_one_worker() -> None:
    """Each request in flight makes all of them slower: the latency is their number times the work."""
    limit, now = ConcurrencyLimit(64), 0.0
    seen = []
    for _ in range(2_000):
        latency = 0.2 * int(limit.allowed)
        limit.response_received(sent_at=now, now=now + latency)
        now += latency
        seen.append(limit.allowed)
    assert max(seen) < 8


def test_small_differences_of_latency_do_not_lower_the_limit() -> None:
    limit = ConcurrencyLimit(8)
    for number in range(300):
        latency = 0.05 if number % 3 else 0.005
        limit.response_received(sent_at=float(number), now=number + latency)
    assert limit.allowed == 8


def test_a_failing_response_halves_the_limit_once() -> None:
    host = throttle(ceiling=8)
    assert host.max_in_flight == 2
    for second in range(100):
        ask(host, 200, at=float(second), took=0.2)
    assert host.max_in_flight == 8
    for _ in range(4):
        host.request_sent(200.0)
    for _ in range(4):
        host.response_received(ResponseKind.BACK_PRESSURE, sent_at=200.0, now=200.5)
    assert host.max_in_flight == 4
    for second in range(300, 310):
        ask(host, 503, at=float(second))
    assert host.max_in_flight == 1


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
    throttles = HostThrottles(Options.parse({"start_url": url, "adaptive": adaptive}))
    host = throttles.for_url(url)
    host.start()
    assert host.max_in_flight == allowed


def test_a_host_has_one_throttle_for_all_its_schemes_and_ports() -> None:
    throttles = HostThrottles(Options.parse({"start_url": f"{ORIGIN}/"}))
    throttle = throttles.for_url(ORIGIN)
    assert throttles.for_url("http://www.example.com/a") is throttle
    assert throttles.for_url("https://www.example.com:8443/b") is throttle
    assert throttles.for_url("https://example.com/") is not throttle


@pytest.mark.parametrize(("tries", "seconds"), [(1, 1.0), (2, 2.0), (3, 4.0), (7, 60.0), (10_000, 60.0)])
def test_a_page_waits_longer_for_each_retry(tries: int, seconds: float) -> None:
    assert HostThrottles(Options.parse({"start_url": f"{ORIGIN}/"})).retry_delay(tries) == seconds


def test_the_limits_are_those_of_the_options() -> None:
    values = {"delay": 0.5, "max_crawl_delay": 2, "max_back_off": 3, "max_retry_after": 4, "max_outage": 5}
    host = HostThrottles(Options.parse({"start_url": f"{ORIGIN}/", **values})).for_url(ORIGIN)
    host.start()
    assert host.delay == 0.5
    assert host.set_crawl_delay(ORIGIN, 10.0) == 2.0
    assert delays(host, [503] * 10)[-1] == 3.0
    assert ask(host, 503, retry_after=5.0).pause_too_long
    dead = HostThrottles(Options.parse({"start_url": f"{ORIGIN}/", **values})).for_url(ORIGIN)
    ask(dead, 503)
    assert ask(dead, 503, at=5.1).outage_seconds == 5.1


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
def test_no_request_is_sent_too_early_or_never(events: list[Any]) -> None:
    host = throttle(delay=0.5, ceiling=8, max_outage=math.inf)
    now = 0.0
    for status, took, retry_after, repeated in events:
        due = max(now, host.next_request_time(now))
        assert due - now <= 61.0 + 600.0
        assert host.next_request_time(due) <= due
        ask(host, status, at=due, took=took, retry_after=retry_after, is_retry=repeated)
        assert 0.5 <= host.delay <= 60.0
        assert 1 <= host.max_in_flight <= 8
        assert host.next_request_time(due + took) >= due + 0.5
        now = due + took
    assert host.in_flight == 0
