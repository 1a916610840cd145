"""Politeness over several processes: which hosts this process may ask, and how many requests it may have in flight.

The throttles of `throttle.py` keep their rules. This module only says which of them are granted to this process, tells
the others what its requests have met, and learns what theirs have met. See `inventory/hosts.py` for the rules.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.slots import share_of, slots_to_hold
from sitemap_crawler.crawl.throttle import FIRST_BACKOFF
from sitemap_crawler.inventory.hosts import Condition, seconds_after_kill

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sitemap_crawler.crawl.throttle import HostThrottle, HostThrottles
    from sitemap_crawler.inventory.hosts import HostState, HostTable

logger = logging.getLogger(__name__)

GRANT_CHECK_SECONDS = 0.2
"""Time after which a waiting request looks again whether its host is granted."""
SLOT_CHECK_SECONDS = 0.02
"""Time after which a waiting request looks again for a free slot."""
RESERVED_SECONDS = 3.0
"""Time during which a host is left to processes that have fewer hosts."""


@dataclass(slots=True)
class _Entry:
    """A host that this process has entered."""

    throttle: HostThrottle
    is_mine: bool = False
    """Whether the host belongs to this process alone."""
    is_free: bool = False
    """Whether the host belonged to no process when this one looked last."""
    told: tuple[float | None, float, float] | None = None
    """Delay, backoff and end of the pause that the database has. None if that is not known."""
    is_unsure: bool = False
    """Whether this process may have taken the host: the answer of the database was lost."""
    reserved_until: float = -math.inf
    """Time until which the host is left to others."""
    idle_looks: int = 0


class HostBook:
    """The hosts that this process has entered, and its slots."""

    def __init__(
        self,
        table: HostTable,
        throttles: HostThrottles,
        *,
        process: Callable[[], int],
        concurrency: int,
        base_delay: float,
        spreads_hosts: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`process` returns the number of this process. `spreads_hosts`: leave hosts to processes that have fewer."""
        self._table = table
        self._throttles = throttles
        self._process = process
        self._concurrency = concurrency
        self._base_delay = base_delay
        self._spreads_hosts = spreads_hosts
        self._clock = clock
        self._entries: dict[str, _Entry] = {}
        self._owned: dict[int, int] = {}
        """Number of hosts that each living process has for itself, at the last look."""
        self._live = 1
        self._share = 0
        self.slots = 0
        """Maximum number of requests of this process in flight. It may hold more slots, for those that still are."""
        self.is_alive: Callable[[], bool] = lambda: True
        """Function that returns whether this process may send requests: otherwise others take it for dead soon."""
        self.used_hosts: Callable[[], set[str]] = set
        """Function of the scheduler that returns the hosts to which it has requests, in flight or waiting."""

    @property
    def live(self) -> int:
        """Number of living processes, at the last look."""
        return self._live

    @property
    def elsewhere(self) -> set[str]:
        """The hosts that this process must not ask now."""
        now = self._clock()
        return {host for host, entry in self._entries.items() if not self._may_try(entry, now)}

    def enter(self, host: str, throttle: HostThrottle) -> None:
        """Ask the database for the first time whether this process may ask a host."""
        self._entries[host] = entry = _Entry(throttle)
        throttle.is_granted = False
        self._try(host, entry)

    def may_ask(self, host: str) -> bool:
        """Return whether this process may ask a host. A host that belongs to no process is taken."""
        entry = self._entries[host]
        if not entry.throttle.is_granted and self._may_try(entry, self._clock()):
            self._try(host, entry)
        return entry.throttle.is_granted

    def seconds_to_grant(self, host: str, throttle: HostThrottle, now: float) -> float:
        """Return the seconds after which to look again whether a request may be sent; 0 if it may."""
        if not self.is_alive():
            return GRANT_CHECK_SECONDS
        if self._throttles.in_flight >= self.slots:
            return SLOT_CHECK_SECONDS
        return 0.0 if throttle.is_granted or self.may_ask(host) else GRANT_CHECK_SECONDS

    def tell(self, host: str) -> None:
        """Store what the throttle of a host has learnt, if the database does not know it."""
        entry, now = self._entries[host], self._clock()
        throttle = entry.throttle
        known = (throttle.asked_delay, throttle.backoff, throttle.paused_until)
        if known == entry.told:
            return
        has_met_nothing = known[0] is None and not throttle.backoff and throttle.paused_until <= now
        if has_met_nothing and not entry.is_mine and entry.told is not None:
            # Others know the robots.txt of the host.
            return
        pause, backoff = max(throttle.paused_until - now, 0.0), throttle.backoff
        if pause == math.inf:
            # Given up, by this process alone: the next owner, perhaps of a resumed run, begins with a backoff.
            pause, backoff = 0.0, max(backoff, FIRST_BACKOFF)
        rested = now - throttle.last_use if throttle.last_use > -math.inf else None
        try:
            state = self._table.tell(host, self._process(), Condition(known[0], backoff, pause, rested))
        except SQLAlchemyError as error:
            # The next look repeats it.
            entry.told = None
            logger.warning("cannot tell other processes of the state of %s: %s", host, error)
            return
        entry.told = known
        self._apply(entry, state, now)

    def look(self) -> bool:
        """Learn from the database what other processes have told. Return whether this process may ask more than before.

        Raises SQLAlchemyError.
        """
        before = (self.slots, sum(entry.throttle.is_granted or entry.is_free for entry in self._entries.values()))
        held = self._table.hold_slots(self._process(), self._decide_slots)
        # A process that went on to use more than its share would never have any to give back.
        self.slots = min(held, self._share)
        mine, used = self._process(), self.used_hosts()
        self._owned = {}
        states = self._table.states()
        # The times that are left count from the answer, so that no pause ends early.
        now = self._clock()
        for state in states:
            if state.owner is not None and state.owner_lives:
                self._owned[state.owner] = self._owned.get(state.owner, 0) + 1
            entry = self._entries.get(state.host)
            if entry is not None:
                self._apply(entry, state, now)
                if entry.is_mine:
                    self._keep(state.host, entry, now, is_used=state.host in used)
        after = (self.slots, sum(entry.throttle.is_granted or entry.is_free for entry in self._entries.values()))
        self._owned.setdefault(mine, 0)
        return after[0] > before[0] or after[1] > before[1]

    def leave(self) -> None:
        """Give all hosts back. No request of this process may be in flight. Raises SQLAlchemyError."""
        for host, entry in self._entries.items():
            if entry.is_mine:
                self._release(host, entry, self._clock())

    def forget_process(self) -> None:
        """Begin anew under another number, after this process was taken for dead."""
        self.slots = 0
        for entry in self._entries.values():
            entry.is_mine = entry.is_free = entry.throttle.is_granted = False

    def _may_try(self, entry: _Entry, now: float) -> bool:
        return entry.throttle.is_granted or (entry.is_free and entry.reserved_until <= now)

    def _try(self, host: str, entry: _Entry) -> None:
        now = self._clock()
        try:
            granted = self._table.enter(
                host, self._process(), base_delay=self._base_delay, takes=lambda: self._takes(entry, now)
            )
        except SQLAlchemyError as error:
            entry.is_unsure = True
            logger.warning("cannot ask whether another process has %s: %s", host, error)
            return
        if granted.is_taken:
            entry.is_unsure = False
            # What is left of a pause or a delay counts from the answer, so that it does not end early.
            now = self._clock()
            entry.throttle.begin_anew(now, backoff=granted.state.backoff, wait_seconds=granted.wait_seconds)
            self._owned[self._process()] = self._owned.get(self._process(), 0) + 1
        self._apply(entry, granted.state, now)

    def _takes(self, entry: _Entry, now: float) -> bool:
        """Return whether to take a free host: processes with fewer hosts may do so first, for a while."""
        if not self._spreads_hosts or entry.reserved_until > -math.inf:
            return entry.reserved_until <= now
        asking = min(self._live, self._concurrency)
        mine, total = self._owned.get(self._process(), 0), sum(self._owned.values())
        if mine * asking <= total:
            return True
        entry.reserved_until = now + RESERVED_SECONDS
        return False

    def _apply(self, entry: _Entry, state: HostState, now: float) -> None:
        """Grant a host, or withdraw it, by what the database knows."""
        throttle, was_granted, was_mine = entry.throttle, entry.throttle.is_granted, entry.is_mine
        entry.is_mine = state.owner == self._process() and state.owner_lives
        entry.is_free = not state.owner_lives and not state.is_clear
        throttle.is_granted = entry.is_mine or state.is_clear
        if entry.is_mine and entry.is_unsure:
            delay = max(self._base_delay, state.delay or 0.0, state.backoff)
            throttle.begin_anew(now, backoff=state.backoff, wait_seconds=seconds_after_kill(state, delay))
        entry.is_unsure = False
        if entry.is_mine:
            entry.reserved_until = -math.inf
        if state.is_clear and (not was_granted or was_mine) and throttle.backoff:
            throttle.begin_anew(now)
        if entry.told is None and not entry.is_mine:
            entry.told = (state.delay, state.backoff, throttle.paused_until)
        if entry.is_mine and state.pause_seconds > max(throttle.paused_until - now, 0.0) + 1.0:
            # Another process has met the pause by one of its last requests.
            throttle.begin_anew(now, backoff=max(throttle.backoff, state.backoff), wait_seconds=state.pause_seconds)

    def _keep(self, host: str, entry: _Entry, now: float, *, is_used: bool) -> None:
        """Tell what has changed by time, and give a host back that has nothing to ask for."""
        throttle = entry.throttle
        throttle.next_request_time(now)
        self.tell(host)
        is_idle = not throttle.in_flight and not throttle.is_closed and not is_used
        entry.idle_looks = entry.idle_looks + 1 if is_idle else 0
        if entry.is_mine and entry.idle_looks > 1:
            self._release(host, entry, now)

    def _release(self, host: str, entry: _Entry, now: float) -> None:
        last_use = entry.throttle.last_use
        rested = now - last_use if last_use > -math.inf else None
        self._table.release(host, self._process(), rested_seconds=rested)
        entry.is_mine = entry.throttle.is_granted = False
        entry.is_free, entry.idle_looks = True, 0

    def _decide_slots(self, live: Collection[int], held: dict[int, int]) -> int:
        self._live = len(live)
        self._share = share_of(self._process(), live=list(live), concurrency=self._concurrency)
        slots = slots_to_hold(
            self._process(),
            live=list(live),
            held=held,
            in_use=self._throttles.in_flight,
            concurrency=self._concurrency,
        )
        # They may be stored without an answer, and others take what is given back.
        self.slots = min(self.slots, slots)
        return slots
