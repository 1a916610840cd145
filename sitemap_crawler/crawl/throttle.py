"""When a host may be requested again: its delay, the pauses it asks for, the backoff when it fails, requests in flight.

Nothing here has a clock: `now` and all other times are in seconds, of any clock that never goes back.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sitemap_crawler.crawl.load_signals import ResponseKind
from sitemap_crawler.urls.normalise import host_of, origin_of
from sitemap_crawler.utils.addresses import is_loopback

if TYPE_CHECKING:
    from sitemap_crawler.config.options import Options

FIRST_BACKOFF = 1.0
"""Seconds of the first backoff; each further one is twice as long."""
MIN_BACKOFF = 0.1
"""A backoff shorter than this many seconds ends."""
RESPONSE_WINDOW = 10
"""Number of last responses of a host that are judged together, and of good responses that halve a backoff."""
BACKOFF_THRESHOLD = 3
"""Back-pressure responses in the window that begin a backoff. Fewer are the fault of single pages."""
MAX_ARRIVAL_DOUBT = 1.0
"""Maximum number of seconds added to the delay while the arrival of the last request is unknown."""
FIRST_LIMIT = 2
"""Requests in flight that a new adaptive limit allows."""
LATENCY_SMOOTHING = 8
"""Responses over which the mean latency is taken."""


class ThrottleChange(NamedTuple):
    """Change of a host's throttle that a response caused."""

    pause_seconds: float = 0.0
    """Length of the pause that the host asks for."""
    pause_too_long: bool = False
    """Whether the pause exceeds the option `max_retry_after`."""
    backoff_seconds: float | None = None
    """The new backoff if it changed; 0 when it is over."""
    outage_seconds: float = 0.0
    """Length of a time with back-pressure only, once it exceeds the option `max_outage`."""


UNCHANGED = ThrottleChange()


class ConcurrencyLimit:
    """Limit that grows by one per round while responses stay fast, and shrinks when they slow down or fail.

    This is additive increase and multiplicative decrease.
    """

    __slots__ = ("_best_latency", "_last_cut", "_mean_latency", "allowed", "ceiling")

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self.allowed = float(min(FIRST_LIMIT, ceiling))
        """Requests in flight that the limit allows now."""
        self._mean_latency: float | None = None
        self._best_latency = math.inf
        """Lowest mean latency so far, in seconds."""
        self._last_cut = -math.inf

    def response_received(self, *, sent_at: float, now: float) -> None:
        """Adapt the limit to the latency of a response."""
        latency = now - sent_at
        if self._mean_latency is None:
            self._mean_latency = self._best_latency = latency
        self._mean_latency += (latency - self._mean_latency) / LATENCY_SMOOTHING
        one_at_a_time = self.allowed < FIRST_LIMIT
        if one_at_a_time:
            # A single request is not slow because of other requests: the host itself has become slower.
            self._best_latency += (self._mean_latency - self._best_latency) / LATENCY_SMOOTHING
        self._best_latency = min(self._best_latency, self._mean_latency)
        if self._mean_latency > 2.5 * self._best_latency + 0.1:
            self.cut(0.75, sent_at=sent_at, now=now)
        elif self._mean_latency <= (1.1 if one_at_a_time else 1.5) * self._best_latency + 0.05:
            self.allowed = min(self.ceiling, self.allowed + 1 / self.allowed)

    def cut(self, share: float, *, sent_at: float, now: float) -> None:
        """Multiply the limit by `share`, once for all requests that were in flight together."""
        if sent_at >= self._last_cut:
            self.allowed = max(1.0, self.allowed * share)
            self._last_cut = now


class HostThrottle:
    """Throttle of one host.

    The caller reports each request with `request_sent`, and its response or failure with `response_received`.

    `start` must be called once the rules in robots.txt are known. Until then one request at a time is allowed.

    Where several processes crawl, `is_granted` says from outside whether this one may ask the host.
    """

    __slots__ = (
        "_backoff", "_base_delay", "_concurrency", "_crawl_delays", "_good_responses", "_last_raise", "_last_response",
        "_last_sent", "_max_back_off", "_max_crawl_delay", "_max_outage", "_max_retry_after", "_paused_until",
        "_pressure_since", "_shared", "_window", "delay", "in_flight", "is_closed", "is_free", "is_granted",
        "is_started", "outage_suspected",
    )  # fmt: skip

    def __init__(
        self,
        *,
        delay: float,
        max_crawl_delay: float,
        max_back_off: float,
        max_retry_after: float,
        max_outage: float,
        ceiling: int | None,
        not_before: float = -math.inf,
        shared: bool = False,
    ) -> None:
        """Apply the options of the same names. All but `ceiling` are in seconds.

        `ceiling`: maximum of the adaptive limit of requests in flight; None for no limit. `not_before`: earliest time
        of the first request. `shared`: whether other processes ask the host, too.
        """
        self._shared = shared
        self._base_delay = delay
        self._max_crawl_delay = max_crawl_delay
        self._max_back_off = max_back_off
        self._max_retry_after = max_retry_after
        self._max_outage = max_outage
        self._concurrency = None if ceiling is None else ConcurrencyLimit(ceiling)
        self._crawl_delays: dict[str, float] = {}
        """Crawl delays that apply, by origin of the robots.txt that asks for them."""
        self._window: deque[bool] = deque(maxlen=RESPONSE_WINDOW)
        """Whether each of the last responses was back-pressure."""
        self._backoff = 0.0
        self._good_responses = 0
        """Good responses since the backoff last changed."""
        self._last_sent = self._last_response = self._last_raise = -math.inf
        self._paused_until = not_before
        self._pressure_since: float | None = None
        """Time of the first of an unbroken series of back-pressure responses."""
        self.outage_suspected = False
        """Whether back-pressure lasts longer than `max_outage`. It may come from some pages only."""
        self.is_started = False
        self.is_closed = False
        """Whether the host asks for a longer pause than `max_retry_after`, or was given up."""
        self.in_flight = 0
        """Requests that were sent and have no response yet."""
        self.is_granted = True
        """Whether this process may ask the host, and no other process has it for itself."""
        self.delay = delay
        """Seconds between two requests that apply now."""
        self.is_free = False
        """Whether a request may be sent at any time: no delay, no pause, no limit of requests in flight, no sharing."""

    @property
    def max_in_flight(self) -> float:
        """Maximum number of requests in flight."""
        if not self.is_started:
            return 1
        return math.inf if self._concurrency is None else self._concurrency.allowed

    def set_crawl_delay(self, origin: str, seconds: float | None) -> float:
        """Apply the Crawl-delay in the robots.txt of one of the host's origins, and return the delay that is kept."""
        kept = min(seconds or 0.0, self._max_crawl_delay)
        self._crawl_delays[origin] = kept
        self._update()
        return kept

    @property
    def asked_delay(self) -> float | None:
        """Delay of the options and of robots.txt, without a backoff. None while robots.txt is not known."""
        return max(self._base_delay, *self._crawl_delays.values(), 0.0) if self.is_started else None

    @property
    def is_asked_by_robots(self) -> bool:
        """Whether the present delay comes from robots.txt."""
        return self.delay > self._base_delay and self.delay == max(self._crawl_delays.values(), default=0.0)

    @property
    def backoff(self) -> float:
        return self._backoff

    @property
    def paused_until(self) -> float:
        return self._paused_until

    @property
    def last_use(self) -> float:
        """Time of the last request or response."""
        return max(self._last_sent, self._last_response)

    def begin_anew(self, now: float, *, backoff: float = 0.0, wait_seconds: float = 0.0) -> None:
        """Forget the responses before: another process has asked the host meanwhile.

        `backoff` is the one that it has met. No request is sent within `wait_seconds`.
        """
        self._window.clear()
        self._pressure_since, self.outage_suspected = None, False
        if self._concurrency is not None:
            self._concurrency = ConcurrencyLimit(self._concurrency.ceiling)
        if wait_seconds > 0:
            self._pause(now, wait_seconds)
        self._good_responses, self._last_raise = 0, now
        self._set_backoff(min(backoff, self._max_back_off))

    def start(self) -> None:
        self.is_started = True
        self._update()

    def next_request_time(self, now: float) -> float:
        """Return the earliest time of the next request. The time may have passed."""
        if self._paused_until <= now:
            self._paused_until, self.is_closed = -math.inf, False
            self._update()
        if not self.delay:
            return self._paused_until
        # The server counts from the arrival of a request, which is before its response, by an unknown time.
        earliest = self._last_sent + self.delay + min(self.delay, MAX_ARRIVAL_DOUBT)
        if not self.in_flight:
            earliest = min(earliest, max(self._last_sent, self._last_response) + self.delay)
        return max(earliest, self._paused_until)

    def is_paused(self, now: float) -> bool:
        """Return whether the host asks for no request before a later time."""
        return self._paused_until > now

    def request_sent(self, now: float) -> None:
        self._last_sent = now
        self.in_flight += 1

    def response_received(
        self,
        kind: ResponseKind,
        *,
        sent_at: float,
        now: float,
        retry_after: float | None = None,
        is_retry: bool = False,
    ) -> ThrottleChange:
        """Adapt the throttle to a response, or to a request that ended without one.

        `is_retry`: the page has met back-pressure before, so that its response says little about the host.
        """
        self.in_flight -= 1
        self._last_response = now
        if kind is ResponseKind.BACK_PRESSURE:
            return self._check_outage(now) or self._slow_down(sent_at, now, retry_after, is_retry=is_retry)
        self._pressure_since, self.outage_suspected = None, False
        self._window.append(False)
        if kind is ResponseKind.OTHER:
            return UNCHANGED
        if self._concurrency is not None:
            self._concurrency.response_received(sent_at=sent_at, now=now)
        return self._recover() if self._backoff else UNCHANGED

    def _check_outage(self, now: float) -> ThrottleChange | None:
        if self._pressure_since is None:
            self._pressure_since = now
        seconds = now - self._pressure_since
        if self.outage_suspected or seconds <= self._max_outage:
            return None
        self.outage_suspected = True
        return ThrottleChange(outage_seconds=seconds)

    def give_up(self, now: float) -> None:
        """Close the host for the rest of the crawl."""
        self._pause(now, math.inf)

    def _slow_down(self, sent_at: float, now: float, retry_after: float | None, *, is_retry: bool) -> ThrottleChange:
        if not is_retry:
            self._window.append(True)
            if self._concurrency is not None:
                self._concurrency.cut(0.5, sent_at=sent_at, now=now)
        if retry_after is not None:
            return self._pause(now, retry_after)
        # A request that was sent before the last raise did not wait for the new backoff.
        if is_retry or sent_at < self._last_raise or sum(self._window) < BACKOFF_THRESHOLD:
            return UNCHANGED
        backoff = min(max(FIRST_BACKOFF, 2 * self._backoff), self._max_back_off)
        if not backoff:
            return UNCHANGED
        self._last_raise, self._good_responses = now, 0
        return self._set_backoff(backoff)

    def _pause(self, now: float, seconds: float) -> ThrottleChange:
        too_long = seconds > self._max_retry_after
        self._paused_until = max(self._paused_until, now + seconds)
        self.is_closed = self.is_closed or too_long
        self.is_free = False
        return ThrottleChange(pause_seconds=seconds, pause_too_long=too_long)

    def _recover(self) -> ThrottleChange:
        """Halve the backoff after a window of good responses."""
        self._good_responses += 1
        if self._good_responses < RESPONSE_WINDOW:
            return UNCHANGED
        self._good_responses = 0
        halved = self._backoff / 2
        return self._set_backoff(halved if halved >= MIN_BACKOFF else 0.0)

    def _set_backoff(self, seconds: float) -> ThrottleChange:
        self._backoff = seconds
        self._update()
        return ThrottleChange(backoff_seconds=seconds)

    def _update(self) -> None:
        self.delay = max(self._base_delay, self._backoff, *self._crawl_delays.values(), 0.0)
        has_pause = self._paused_until > -math.inf
        limited = has_pause or self._concurrency is not None or self._shared
        self.is_free = self.is_started and not self.delay and not limited


class Book(Protocol):
    """What several processes that crawl one site share of its hosts, see `host_book.py`."""

    def enter(self, host: str, throttle: HostThrottle) -> None: ...

    def tell(self, host: str) -> None: ...

    def seconds_to_grant(self, host: str, throttle: HostThrottle, now: float) -> float: ...

    def may_ask(self, host: str) -> bool: ...


class HostThrottles:
    """Throttles of all hosts of a run."""

    def __init__(self, options: Options, *, not_before: float = -math.inf) -> None:
        """`not_before`: earliest time of the first request to any host."""
        self._options = options
        self._not_before = not_before
        self._by_host: dict[str, HostThrottle] = {}
        self._by_origin: dict[str, HostThrottle] = {}
        self.requests_sent = 0
        """Number of requests to all hosts."""
        self.in_flight = 0
        """Number of requests to all hosts that were sent and have no response yet."""
        self.book: Book | None = None
        """None where one process crawls."""

    def for_url(self, url: str) -> HostThrottle:
        """Return the throttle for a normalised URL. All schemes and ports of a host share one: it is one machine."""
        origin = origin_of(url)
        throttle = self._by_origin.get(origin)
        if throttle is None:
            host = host_of(url)
            if host not in self._by_host:
                self._by_host[host] = self._new(host)
                if self.book is not None:
                    self.book.enter(host, self._by_host[host])
            throttle = self._by_origin[origin] = self._by_host[host]
        return throttle

    def tell(self, url: str) -> None:
        """Tell other processes when what the host of a URL asks for may have changed."""
        if self.book is not None:
            self.book.tell(host_of(url))

    def seconds_to_grant(self, url: str, throttle: HostThrottle, now: float) -> float:
        """Return the seconds after which to look again whether this process may send a request; 0 if it may."""
        return 0.0 if self.book is None else self.book.seconds_to_grant(host_of(url), throttle, now)

    def retry_delay(self, tries: int) -> float:
        """Return the seconds before the next retry of a page that met back-pressure `tries` times."""
        return min(FIRST_BACKOFF * 2.0 ** min(tries - 1, 20), self._options.max_back_off)

    def _new(self, host: str) -> HostThrottle:
        options = self._options
        is_adaptive = not is_loopback(host) if options.adaptive is None else options.adaptive
        return HostThrottle(
            delay=options.delay,
            max_crawl_delay=options.max_crawl_delay,
            max_back_off=options.max_back_off,
            max_retry_after=options.max_retry_after,
            max_outage=options.max_outage,
            ceiling=options.concurrency if is_adaptive else None,
            not_before=self._not_before,
            shared=self.book is not None,
        )
