"""The slots of several processes, which act in any order and see what the database stores at that moment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sitemap_crawler.crawl.slots import share_of, slots_to_hold


@pytest.mark.parametrize(
    ("concurrency", "live", "shares"),
    [
        (8, [5], [8]),
        (8, [5, 9], [4, 4]),
        (8, [5, 9, 12], [3, 3, 2]),
        (8, [12, 5, 9], [2, 3, 3]),
        (2, [5, 9, 12], [1, 1, 0]),
        (1, [9, 5], [0, 1]),
    ],
)
def test_shares(concurrency: int, live: list[int], shares: list[int]) -> None:
    assert [share_of(process, live=live, concurrency=concurrency) for process in live] == shares


@given(st.integers(1, 64), st.sets(st.integers(1, 10**6), min_size=1, max_size=20))
def test_the_shares_are_the_concurrency(concurrency: int, live: set[int]) -> None:
    shares = [share_of(process, live=list(live), concurrency=concurrency) for process in live]

    assert sum(shares) == concurrency
    assert max(shares) - min(shares) <= 1


def test_a_newcomer_waits_for_slots_that_are_in_use() -> None:
    assert slots_to_hold(2, live=[1, 2], held={1: 8}, in_use=0, concurrency=8) == 0
    assert slots_to_hold(1, live=[1, 2], held={1: 8}, in_use=7, concurrency=8) == 7
    assert slots_to_hold(2, live=[1, 2], held={1: 7}, in_use=0, concurrency=8) == 1


class Processes(RuleBasedStateMachine):
    """Processes that join, send, receive, vanish and are reaped in any order."""

    @initialize(concurrency=st.integers(1, 9))
    def begin(self, concurrency: int) -> None:
        self.concurrency = concurrency
        self.live: list[int] = []
        self.held: dict[int, int] = {}
        self.in_flight: dict[int, int] = {}
        self.vanished: set[int] = set()
        self.number = 0

    @rule()
    def join(self) -> None:
        self.number += 1
        self.live.append(self.number)
        self.in_flight[self.number] = 0

    def pick(self, data: st.DataObject) -> int | None:
        acting = [process for process in self.live if process not in self.vanished]
        return data.draw(st.sampled_from(acting)) if acting else None

    @rule(data=st.data())
    def look(self, data: st.DataObject) -> None:
        process = self.pick(data)
        if process is not None:
            self.held[process] = slots_to_hold(
                process,
                live=self.live,
                held=self.held,
                in_use=self.in_flight[process],
                concurrency=self.concurrency,
            )

    @rule(data=st.data())
    def send(self, data: st.DataObject) -> None:
        process = self.pick(data)
        if process is not None and self.in_flight[process] < self.held.get(process, 0):
            self.in_flight[process] += 1

    @rule(data=st.data())
    def receive(self, data: st.DataObject) -> None:
        process = self.pick(data)
        if process is not None and self.in_flight[process]:
            self.in_flight[process] -= 1

    @rule(data=st.data())
    def vanish(self, data: st.DataObject) -> None:
        """Kill a process, or cut it off. Its requests stay in flight until it is reaped."""
        process = self.pick(data)
        if process is not None:
            self.vanished.add(process)

    @precondition(lambda self: self.vanished)
    @rule(data=st.data())
    def reap(self, data: st.DataObject) -> None:
        process = data.draw(st.sampled_from(sorted(self.vanished)))
        self.vanished.remove(process)
        self.live.remove(process)
        self.held.pop(process, None)
        self.in_flight[process] = 0

    @invariant()
    def keeps_the_concurrency(self) -> None:
        if hasattr(self, "in_flight"):
            assert sum(self.held.values()) <= self.concurrency
            assert sum(self.in_flight.values()) <= self.concurrency

    def teardown(self) -> None:
        """Let all processes rest, and look at the slots twice: then all are held, by the shares."""
        if not hasattr(self, "live") or self.vanished or not self.live:
            return
        for process in self.live * 2:
            self.held[process] = slots_to_hold(
                process, live=self.live, held=self.held, in_use=0, concurrency=self.concurrency
            )
        assert self.held == {
            process: share_of(process, live=self.live, concurrency=self.concurrency) for process in self.live
        }


TestProcesses = Processes.TestCase
