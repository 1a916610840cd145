"""The watch of a process over its run, in the event loop: it waits for the other processes, and ends with them."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sitemap_crawler.crawl.keys import CloseReason
from sitemap_crawler.inventory.processes import RunPhase, Work
from sitemap_crawler.inventory.shared_queue import SharedQueue

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitemap_crawler.crawl.engine import EngineControl
    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.inventory.processes import Beat

logger = logging.getLogger(__name__)

SHARED_LEASE_URLS = 64
"""Maximum number of URLs that each of several processes leases at a time."""
LOOK_SECONDS, IDLE_LOOK_SECONDS = 0.2, 0.5
"""Time between two looks at the frontier while URLs wait there, and while none does."""
TURN_SECONDS = 0.5
"""Time between two signs of life of the event loop."""
_ENDINGS = {
    RunPhase.STOPPING: "the main process has stopped",
    RunPhase.CONCLUDING: "nothing is left to request",
}


class RunWatch:
    """Watch of a process over its run: its heart beats while the event loop turns, and it ends when the run does."""

    def __init__(
        self,
        job: Job,
        engine: EngineControl,
        *,
        guarded: Callable[[Callable[[], None]], None],
        wake_at: Callable[[float], None],
    ) -> None:
        """`guarded` does work on the inventory and ends the crawl if it fails.

        `wake_at` has the engine ask for a request at a moment of time.monotonic().
        """
        self._guarded = guarded
        self._wake_at = wake_at
        self._next_look = 0.0
        self._are_depths_settled = False
        self._done_at_sampling = -1
        self._job = job
        self._engine = engine
        if job.membership is None or not isinstance(job.queue, SharedQueue):
            raise TypeError("the job has joined no run")
        self._membership, self._queue = job.membership, job.queue
        self._timer: asyncio.TimerHandle | None = None
        first = self._membership.beat
        self._before = first.others if first is not None and self._membership.is_main else Work()
        self._done_before = job.done

    def lease_urls(self, most: int) -> int:
        """Return how many URLs to lease at a time. With others, fewer: at the end each shall have something to do."""
        beat = self._membership.beat
        return most if beat is None or beat.processes < 2 else min(most, SHARED_LEASE_URLS)

    def begin(self) -> None:
        loop = asyncio.get_running_loop()
        self._membership.work = self._work
        self._membership.on_beat = partial(_pass_on, loop, self._beat)
        self._turn(loop)
        self._membership.watches_loop = True

    def end(self) -> None:
        self._membership.watches_loop = False
        self._membership.on_beat = None
        if self._timer is not None:
            self._timer.cancel()

    def may_send(self) -> bool:
        """Return whether this process may send requests.

        One that was taken for dead joins under a new number. One that is silent asks the server itself, as nothing else
        may do so before it sends a request: without the server the crawl ends.
        """
        if self._membership.is_dead or self._membership.is_silent:
            self._guarded(self._ask_server)
        return not self._membership.is_silent

    def _ask_server(self) -> None:
        self._queue.look()

    def is_anything_left(self) -> bool:
        """Return whether this process has to wait for others, or to look again for URLs. It has none of its own.

        The main process waits until nobody has leased a URL, a helper until the main process ends the run. Without a
        main process it waits until nobody has a URL.
        """
        job, queue = self._job, self._queue
        if job.ending.failure is not None or job.helped is not None:
            return False
        if (now := time.monotonic()) >= self._next_look:
            seen: list[tuple[bool, bool, str | None]] = []
            self._guarded(lambda: seen.append(queue.look()))
            if not seen:
                return False
            waits, others, phase = seen[0]
            waits = waits and not queue.is_exhausted
            if job.is_helper:
                beat = self._membership.beat
                others = others or (beat is not None and beat.has_main)
                if self.end_as(phase):
                    return False
            if queue.holds_any and self._find_lost():
                # Others would wait for what this process has lost, and nothing else is leased beside a suspect.
                return True
            if not waits and not others:
                return self._find_lost() or self._settle_depths() or self._sample_refused()
            self._are_depths_settled = False
            self._next_look = now + (LOOK_SECONDS if waits else IDLE_LOOK_SECONDS)
        self._wake_at(self._next_look)
        return True

    def _find_lost(self) -> bool:
        """Let URLs wait again that this process has leased and does not request. Return whether any URL waits."""
        self._guarded(self._queue.give_back_lost)
        waits = self._queue.has_waiting and not self._queue.is_exhausted
        if waits:
            logger.warning("URLs were leased and not requested: they are requested now")
            self._wake_at(time.monotonic())
        return waits

    def _settle_depths(self) -> bool:
        """Queue URLs that were refused for their depth and have a shorter path. Return whether there are any."""
        job = self._job
        if job.is_helper or self._queue.is_exhausted or job.options.max_depth is None or self._are_depths_settled:
            return False
        self._guarded(self._queue.update_depths)
        self._are_depths_settled = True
        if self._queue.may_lease:
            self._wake_at(time.monotonic())
        return self._queue.may_lease

    def _sample_refused(self) -> bool:
        """Queue some of the URLs whose pages seem to repeat others. Return whether there are any."""
        job = self._job
        done = job.done + job.others.fetched
        if job.is_helper or self._queue.is_exhausted or not job.shared.traps.yields.leaves_out:
            return False
        if done == self._done_at_sampling:
            return False
        self._done_at_sampling = done
        self._guarded(self._queue.sample_refused)
        if self._queue.may_lease:
            self._wake_at(time.monotonic())
        return self._queue.may_lease

    def _turn(self, loop: asyncio.AbstractEventLoop) -> None:
        self._membership.loop_turned()
        self._timer = loop.call_later(TURN_SECONDS, self._turn, loop)

    def _work(self) -> Work:
        job, done = self._job, self._job.count_done()
        return Work(
            job.done - self._done_before, job.throttles.requests_sent, job.listable,
            done.further_requests, done.overloads, done.pauses,
        )  # fmt: skip

    def _beat(self, beat: Beat) -> None:
        job = self._job
        job.others = replace(beat.others, fetched=beat.others.fetched - self._before.fetched)
        for listener in job.beat_listeners:
            listener(beat)
        if not self._membership.is_main:
            self.end_as(beat.phase, finished=beat.finished, same_version=beat.same_version)

    def end_as(self, phase: str | None, *, finished: bool = False, same_version: bool = True) -> bool:
        """End a helper if the phase of the run says so. Return whether it ends."""
        reason = _ENDINGS.get(RunPhase(phase)) if phase in tuple(RunPhase) else None
        if finished:
            reason = "the run has ended"
        elif not same_version:
            reason = "the run goes on with other options or another version"
        if reason is None:
            return False
        if not self._engine.is_closing and self._job.helped is None:
            self._job.helped = reason
            self._engine.close(CloseReason.HELPED)
        return True


def _pass_on(loop: asyncio.AbstractEventLoop, listener: Callable[[Beat], None], beat: Beat) -> None:
    with suppress(RuntimeError):
        # The loop may be closed already.
        loop.call_soon_threadsafe(listener, beat)
