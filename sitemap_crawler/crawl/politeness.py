"""When a host may be asked again: its delay, the pauses it asks for, the back-off when it fails, requests under way.

Nothing here has a clock: `now` is in seconds, of any clock that only goes forward.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections import deque
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.dates import parse_http_date
from sitemap_crawler.urls.normalise import host_of, origin_of

if TYPE_CHECKING:
    from datetime import datetime

    from sitemap_crawler.config.options import Options

BACK_PRESSURE = frozenset((429, 502, 503, 504))
"""Statuses that ask to slow down; small PHP servers say 502 or 504 where others say 503."""
FIRST_BACK_OFF = 1.0
LEAST_BACK_OFF = 0.1
"""Seconds; a back-off that was halved to less is over."""
WINDOW = 10
"""The host's last answers, and how many good ones halve a back-off."""
TOO_MANY = 3
"""Answers of the window that are back-pressure: from here on it is the host, not a page."""
MAX_DOUBT = 1.0
"""Seconds that are added to the delay at most while it is not known when the last request arrived."""
FIRST_ALLOWED = 2
"""Requests under way at first."""
SMOOTHING = 8
"""Answers over which a latency is averaged."""
MAX_RETRY_AFTER_LENGTH = 100
A_YEAR = 365 * 86_400
_SECONDS = re.compile(r"[0-9]{1,90}(?:\.[0-9]{0,9})?")


class Answer(Enum):
    GOOD = auto()
    OTHER = auto()
    """Says nothing about the host's pace: an error of its own, no connection."""
    PRESSURE = auto()


class Verdict(NamedTuple):
    """What an answer changed for its host."""

    pause: float = 0.0
    """Seconds for which the host asks to be left alone."""
    too_long: bool = False
    """Whether that is longer than anyone waits."""
    back_off: float | None = None
    """The new back-off in seconds, where it was changed; 0 when it is over."""
    outage: float = 0.0
    """Seconds without any answer but back-pressure, where that is longer than anyone waits."""


UNCHANGED = Verdict()


def answer_of(status: int) -> Answer:
    if status in BACK_PRESSURE:
        return Answer.PRESSURE
    return Answer.GOOD if status < 500 else Answer.OTHER


def retry_seconds(value: str | None, date: str | None, *, now: datetime) -> float | None:
    """The seconds that a `Retry-After` asks to wait, a year at most; None for what asks for nothing.

    A date is taken against the answer's own `Date`, so that wrong clocks don't matter.
    https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
    """
    text = "" if value is None or len(value) > MAX_RETRY_AFTER_LENGTH else value.strip()
    if _SECONDS.fullmatch(text):
        seconds = float(text)
    else:
        moment = parse_http_date(text)
        if moment is None:
            return None
        seconds = (moment - (parse_http_date(date) or now)).total_seconds()
    return min(seconds, A_YEAR) if seconds > 0 else None


def is_loopback(host: str) -> bool:
    """Whether `host`, as `host_of` has it, is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Throttle:
    """How many requests may be under way: one more in every round while the answers come as fast as they ever did,
    fewer when they come slower or not at all (additive increase, multiplicative decrease)."""

    __slots__ = ("_best", "_ceiling", "_cut_at", "_mean", "allowed")

    def __init__(self, ceiling: int) -> None:
        self._ceiling = ceiling
        self.allowed = float(min(FIRST_ALLOWED, ceiling))
        self._mean: float | None = None
        self._best = math.inf
        """Of the mean latency, in seconds."""
        self._cut_at = -math.inf

    def answered(self, *, left_at: float, now: float) -> None:
        latency = now - left_at
        if self._mean is None:
            self._mean = self._best = latency
        self._mean += (latency - self._mean) / SMOOTHING
        alone = self.allowed < FIRST_ALLOWED
        if alone:
            # If one at a time is slow, it is not for how many they are.
            self._best += (self._mean - self._best) / SMOOTHING
        self._best = min(self._best, self._mean)
        if self._mean > 2.5 * self._best + 0.1:
            self.cut(0.75, left_at=left_at, now=now)
        elif self._mean <= (1.1 if alone else 1.5) * self._best + 0.05:
            self.allowed = min(self._ceiling, self.allowed + 1 / self.allowed)

    def cut(self, share: float, *, left_at: float, now: float) -> None:
        """Once for all that were under way together."""
        if left_at >= self._cut_at:
            self.allowed = max(1.0, self.allowed * share)
            self._cut_at = now


class Pace:
    """One host's. Whoever asks it calls `left` when a request leaves and `answered` when that has ended."""

    __slots__ = (
        "_answered_at", "_asked", "_back_off", "_base", "_good", "_left_at", "_max_back_off", "_max_crawl_delay",
        "_max_outage", "_max_retry_after", "_paused_until", "_pressed_since", "_raised_at", "_throttle", "_window",
        "begun", "closed", "delay", "doubted", "free", "under_way",
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
    ) -> None:
        """`ceiling`: up to how many requests under way the pace adapts to the answers; None for not at all."""
        self._base = delay
        self._max_crawl_delay = max_crawl_delay
        self._max_back_off = max_back_off
        self._max_retry_after = max_retry_after
        self._max_outage = max_outage
        self._throttle = None if ceiling is None else Throttle(ceiling)
        self._asked: dict[str, float] = {}
        self._window: deque[bool] = deque(maxlen=WINDOW)
        self._back_off = 0.0
        self._good = 0
        self._left_at = self._answered_at = self._raised_at = -math.inf
        self._paused_until = not_before
        self._pressed_since: float | None = None
        """Since when there has been no answer but back-pressure."""
        self.doubted = False
        """Whether there has been no answer but back-pressure for longer than anybody waits: of some pages, or all?"""
        self.begun = False
        """Whether a request has left with all known that robots.txt says; until then one is enough."""
        self.closed = False
        """Whether the host has asked for a pause that nobody waits for, or fails for longer than anybody does."""
        self.under_way = 0
        self.delay = delay
        """Seconds between two requests, as things are."""
        self.free = False
        """Whether a request may leave at any time: the rule on a host that asks for nothing."""

    @property
    def allowed(self) -> float:
        """Requests under way at most."""
        if not self.begun:
            return 1
        return math.inf if self._throttle is None else self._throttle.allowed

    def robots_ask(self, origin: str, crawl_delay: float | None) -> float:
        """Take what robots.txt of one of the host's origins asks for; the delay that is kept for it."""
        kept = min(crawl_delay or 0.0, self._max_crawl_delay)
        self._asked[origin] = kept
        self._settle()
        return kept

    def begin(self) -> None:
        self.begun = True
        self._settle()

    def next_at(self, now: float) -> float:
        """The earliest time at which a request may leave; it may have passed."""
        if self._paused_until <= now:
            self._paused_until, self.closed = -math.inf, False
            self._settle()
        if not self.delay:
            return self._paused_until
        # The server counts from when a request arrives: before its answer, but how much?
        at = self._left_at + self.delay + min(self.delay, MAX_DOUBT)
        if not self.under_way:
            at = min(at, max(self._left_at, self._answered_at) + self.delay)
        return max(at, self._paused_until)

    def paused(self, now: float) -> bool:
        """Whether the host has asked to be left alone until later."""
        return self._paused_until > now

    def left(self, now: float) -> None:
        self._left_at = now
        self.under_way += 1

    def answered(
        self, answer: Answer, *, left_at: float, now: float, retry_after: float | None = None, repeated: bool = False
    ) -> Verdict:
        """`repeated`: that of a page that has met back-pressure before, which says little about the host."""
        self.under_way -= 1
        self._answered_at = now
        if answer is Answer.PRESSURE:
            return self._outage(now) or self._pressed(left_at, now, retry_after, repeated=repeated)
        self._pressed_since, self.doubted = None, False
        self._window.append(False)
        if answer is Answer.OTHER:
            return UNCHANGED
        if self._throttle is not None:
            self._throttle.answered(left_at=left_at, now=now)
        return self._recovered() if self._back_off else UNCHANGED

    def _outage(self, now: float) -> Verdict | None:
        if self._pressed_since is None:
            self._pressed_since = now
        lasts = now - self._pressed_since
        if self.doubted or lasts <= self._max_outage:
            return None
        self.doubted = True
        return Verdict(outage=lasts)

    def give_up(self, now: float) -> None:
        """The host is not asked any more."""
        self._paused(now, math.inf)

    def _pressed(self, left_at: float, now: float, retry_after: float | None, *, repeated: bool) -> Verdict:
        if not repeated:
            self._window.append(True)
            if self._throttle is not None:
                self._throttle.cut(0.5, left_at=left_at, now=now)
        if retry_after is not None:
            return self._paused(now, retry_after)
        # Requests that left before the back-off was raised knew nothing of it.
        if repeated or left_at < self._raised_at or sum(self._window) < TOO_MANY:
            return UNCHANGED
        raised = min(max(FIRST_BACK_OFF, 2 * self._back_off), self._max_back_off)
        if not raised:
            return UNCHANGED
        self._raised_at, self._good = now, 0
        return self._back_off_to(raised)

    def _paused(self, now: float, seconds: float) -> Verdict:
        self._paused_until = max(self._paused_until, now + seconds)
        self.closed = self.closed or seconds > self._max_retry_after
        self.free = False
        return Verdict(pause=seconds, too_long=seconds > self._max_retry_after)

    def _recovered(self) -> Verdict:
        self._good += 1
        if self._good < WINDOW:
            return UNCHANGED
        self._good = 0
        halved = self._back_off / 2
        return self._back_off_to(halved if halved >= LEAST_BACK_OFF else 0.0)

    def _back_off_to(self, seconds: float) -> Verdict:
        self._back_off = seconds
        self._settle()
        return Verdict(back_off=seconds)

    def _settle(self) -> None:
        self.delay = max(self._base, self._back_off, *self._asked.values(), 0.0)
        paused = self._paused_until > -math.inf
        self.free = self.begun and not self.delay and not paused and self._throttle is None


class Paces:
    """The hosts of a run."""

    def __init__(self, options: Options, *, not_before: float = -math.inf) -> None:
        """`not_before` is when the first request may leave."""
        self._options = options
        self._not_before = not_before
        self._by_host: dict[str, Pace] = {}
        self._by_origin: dict[str, Pace] = {}
        self.left = 0
        """Requests that were made, to all hosts."""

    def of(self, url: str) -> Pace:
        """That of the host of a normalised URL, whatever its scheme and port: it is one machine."""
        origin = origin_of(url)
        pace = self._by_origin.get(origin)
        if pace is None:
            host = host_of(url)
            if host not in self._by_host:
                self._by_host[host] = self._new(host)
            pace = self._by_origin[origin] = self._by_host[host]
        return pace

    def delay_again(self, tries: int) -> float:
        """Seconds until a page that met back-pressure for so many times is worth another try."""
        return min(FIRST_BACK_OFF * 2.0 ** min(tries - 1, 20), self._options.max_back_off)

    def _new(self, host: str) -> Pace:
        options = self._options
        adaptive = not is_loopback(host) if options.adaptive is None else options.adaptive
        return Pace(
            delay=options.delay,
            max_crawl_delay=options.max_crawl_delay,
            max_back_off=options.max_back_off,
            max_retry_after=options.max_retry_after,
            max_outage=options.max_outage,
            ceiling=options.concurrency if adaptive else None,
            not_before=self._not_before,
        )
