"""Two processes that crawl one site, as two books over one database: who may ask which host, and how much at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy.exc import OperationalError

from sitemap_crawler.config.options import Options
from sitemap_crawler.crawl.host_book import RESERVED_SECONDS, HostBook
from sitemap_crawler.crawl.load_signals import ResponseKind
from sitemap_crawler.crawl.throttle import HostThrottle, HostThrottles
from sitemap_crawler.inventory.hosts import HostTable
from tests.support.postgres_server import needs_postgres
from tests.support.shared_inventory import RUN, SharedInventory, shared_inventory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.postgres_server import PostgresServer

pytestmark = needs_postgres
URL = "https://www.example.com/"
HOST = "www.example.com"


class Process:
    """One process of a run, with its throttles and a clock that a test moves."""

    def __init__(
        self, inventory: SharedInventory, *, concurrency: int = 8, delay: float = 0.0, spreads: bool = False
    ) -> None:
        self.number, connection = inventory.join()
        self.now = 1000.0
        self.throttles = HostThrottles(Options.parse({"start_url": URL, "delay": delay, "adaptive": False}))
        self.throttles.book = self.book = HostBook(
            HostTable(connection, RUN),
            self.throttles,
            process=lambda: self.number,
            concurrency=concurrency,
            base_delay=delay,
            spreads_hosts=spreads,
            clock=lambda: self.now,
        )
        self.book.look()

    def throttle(self, url: str = URL) -> HostThrottle:
        return self.throttles.for_url(url)

    def start(self, url: str = URL, *, crawl_delay: float | None = None) -> None:
        """Learn the robots.txt of a host, as the robots middleware does."""
        self.throttle(url).set_crawl_delay(url, crawl_delay)
        self.throttle(url).start()
        self.throttles.tell(url)

    def seconds_to_wait(self, url: str = URL) -> float:
        """Return the seconds before the next request; infinite while the host or a slot is not granted."""
        throttle = self.throttle(url)
        if self.throttles.seconds_to_grant(url, throttle, self.now):
            return math.inf
        return max(0.0, throttle.next_request_time(self.now) - self.now)

    def send(self, url: str = URL) -> None:
        assert self.seconds_to_wait(url) == 0
        self.throttles.in_flight += 1
        self.throttle(url).request_sent(self.now)

    def receive(self, kind: ResponseKind = ResponseKind.GOOD, url: str = URL, *, pause: float | None = None) -> None:
        self.throttles.in_flight -= 1
        self.throttle(url).response_received(kind, sent_at=self.now, now=self.now, retry_after=pause)
        self.throttles.tell(url)


class Site:
    """The inventory of a site, and its processes."""

    def __init__(self, inventory: SharedInventory) -> None:
        self._inventory = inventory

    def join(self, **options: Any) -> Process:
        return Process(self._inventory, **options)

    def reap(self, process: Process) -> None:
        self._inventory.reap(process.number)

    def age(self, seconds: float) -> None:
        """Let time pass for the server: move all its times to the past."""
        past = f"interval '{seconds} seconds'"
        columns = ", ".join(f"{name} = {name} - {past}" for name in ("paused_until", "last_left"))
        self._inventory.execute(f"UPDATE hosts SET {columns}")


@pytest.fixture
def site(postgres: PostgresServer) -> Iterator[Site]:
    with shared_inventory(postgres) as inventory:
        yield Site(inventory)


def test_a_host_whose_robots_txt_is_not_known_belongs_to_one_process(site: Site) -> None:
    one, two = site.join(), site.join()
    one.book.look(), two.book.look()

    assert one.seconds_to_wait() == 0
    assert two.seconds_to_wait() == math.inf


def test_a_clear_host_is_asked_by_all_within_their_slots(site: Site) -> None:
    one, two, three = (site.join(concurrency=8) for _ in range(3))
    for process in (one, two, three, one, two, three):
        process.book.look()
    one.start()
    sent = []
    for process in (one, two, three):
        process.book.look()
        process.start()
        sent.append(0)
        while process.seconds_to_wait() == 0:
            process.send()
            sent[-1] += 1

    assert sent == [3, 3, 2]
    one.receive()
    assert one.seconds_to_wait() == 0
    assert two.seconds_to_wait() == math.inf


def test_a_busy_process_leaves_slots_to_a_new_one(site: Site) -> None:
    """It has as many requests in flight as it may, whenever it looks."""
    one = site.join(concurrency=4)
    one.start()

    def fill() -> None:
        while one.seconds_to_wait() == 0:
            one.send()

    fill()
    two = site.join(concurrency=4)
    two.start()
    assert two.seconds_to_wait() == math.inf
    one.book.look()
    for _ in range(4):
        one.receive()
        fill()
    assert one.throttles.in_flight == 2
    one.book.look(), two.book.look()
    assert two.seconds_to_wait() == 0


def test_the_slots_of_a_killed_process_are_used_once_it_is_reaped(site: Site) -> None:
    one, two = site.join(concurrency=4), site.join(concurrency=4)
    assert two.book.slots == 0
    one.book.look(), two.book.look()
    assert (one.book.slots, two.book.slots) == (2, 2)
    site.reap(one)
    two.book.look()
    assert two.book.slots == 4
    one.book.look()
    assert one.book.slots == 0


@pytest.mark.parametrize(("delay", "crawl_delay"), [(2.0, None), (0.0, 2.0)])
def test_a_host_under_a_delay_belongs_to_one_process(site: Site, delay: float, crawl_delay: float | None) -> None:
    one, two = site.join(delay=delay), site.join(delay=delay)
    one.book.look(), two.book.look()
    one.start(crawl_delay=crawl_delay)
    two.start(crawl_delay=crawl_delay)
    one.send()

    one.book.look(), two.book.look()
    assert two.seconds_to_wait() == math.inf


@pytest.mark.parametrize("gone", [0.0, 1.5, 3.0])
def test_the_next_owner_of_a_host_waits_for_the_rest_of_the_delay(site: Site, gone: float) -> None:
    one, two = site.join(delay=2.0), site.join(delay=2.0)
    one.book.look(), two.book.look()
    one.start()
    two.start()
    one.send()
    one.receive()
    one.book.leave()
    site.reap(one)
    site.age(gone)

    two.book.look(), two.book.look()
    two.throttle()
    assert two.book.may_ask(HOST)
    assert two.seconds_to_wait() == pytest.approx(max(2.0 - gone, 0.0), abs=1.0)
    assert (two.seconds_to_wait() == 0) is (gone == 3.0)


def test_the_next_owner_after_a_kill_waits_for_a_whole_delay(site: Site) -> None:
    one, two = site.join(delay=2.0), site.join(delay=2.0)
    one.book.look(), two.book.look()
    one.start()
    two.start()
    one.send()
    assert two.seconds_to_wait() == math.inf
    site.reap(one)
    two.book.look(), two.book.look()

    two.book.may_ask(HOST)
    # The last request of the killed process may still be on its way.
    assert two.throttle().next_request_time(two.now) - two.now == pytest.approx(3.0)


def without_answer(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let the transactions of a method of the table be stored, and their answers be lost."""
    method = getattr(HostTable, name)

    def lost(*arguments: Any, **options: Any) -> None:
        method(*arguments, **options)
        raise OperationalError("COMMIT", None, Exception("server closed the connection unexpectedly"))

    monkeypatch.setattr(HostTable, name, lost)


def test_a_host_that_was_taken_without_an_answer_rests_all_the_same(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = site.join(delay=2.0), site.join(delay=2.0)
    one.book.look(), two.book.look()
    one.start()
    two.start()
    one.send()
    site.reap(one)
    two.book.look(), two.book.look()
    with monkeypatch.context() as patch:
        without_answer(patch, "enter")
        assert not two.book.may_ask(HOST)
    two.book.look()
    assert two.book.may_ask(HOST)
    assert two.throttle().next_request_time(two.now) - two.now == pytest.approx(3.0)


def test_slots_that_were_given_back_without_an_answer_are_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    one = site.join(concurrency=4)
    one.start()
    two = site.join(concurrency=4)
    with monkeypatch.context() as patch:
        without_answer(patch, "hold_slots")
        with pytest.raises(OperationalError):
            one.book.look()
    two.book.look()
    assert (one.book.slots, two.book.slots) == (2, 2)


def test_a_backoff_of_one_process_stops_the_others_until_it_is_over(site: Site) -> None:
    one, two = site.join(), site.join()
    one.book.look(), two.book.look()
    one.start()
    two.start()
    two.book.look()
    assert (one.seconds_to_wait(), two.seconds_to_wait()) == (0, 0)
    for _ in range(3):
        one.send()
        one.receive(ResponseKind.BACK_PRESSURE)
    assert one.throttle().delay == 1.0
    two.book.look()
    assert two.seconds_to_wait() == math.inf
    while one.throttle().delay:
        one.now += 60
        one.send()
        one.receive()
    two.book.look()
    assert (one.seconds_to_wait(), two.seconds_to_wait()) == (0, 0)


def test_a_pause_that_one_process_is_asked_for_holds_for_all(site: Site) -> None:
    one, two = site.join(), site.join()
    one.book.look(), two.book.look()
    one.start()
    two.start()
    two.book.look()
    two.send()
    one.send()
    one.receive(ResponseKind.BACK_PRESSURE, pause=30.0)
    # The last request of the other one is asked for a longer pause.
    two.receive(ResponseKind.BACK_PRESSURE, pause=100.0)
    one.book.look(), two.book.look()
    assert one.throttle().next_request_time(one.now) - one.now == pytest.approx(100.0, abs=5.0)
    assert two.seconds_to_wait() == math.inf
    site.reap(one)
    two.book.look(), two.book.look()
    two.book.may_ask(HOST)
    assert two.throttle().next_request_time(two.now) - two.now == pytest.approx(100.0, abs=5.0)


def test_a_host_with_nothing_left_to_ask_is_given_to_who_has_something(site: Site) -> None:
    one, two = site.join(delay=0.001), site.join(delay=0.001)
    one.book.look(), two.book.look()
    one.start()
    two.throttle()
    one.book.used_hosts = lambda: {HOST}
    one.book.look(), one.book.look()
    two.book.look()
    assert two.seconds_to_wait() == math.inf
    one.book.used_hosts = set
    one.book.look(), one.book.look()
    two.book.look()
    two.book.may_ask(HOST)
    assert two.throttle().is_granted
    one.book.look()
    assert not one.throttle().is_granted


def test_hosts_are_spread_over_the_processes(site: Site) -> None:
    one, two = site.join(delay=1.0, spreads=True), site.join(delay=1.0, spreads=True)
    one.book.look(), two.book.look()
    urls = [f"https://h{number}.example.com/" for number in range(4)]
    for url in urls:
        one.throttle(url)
    assert [one.throttle(url).is_granted for url in urls] == [True, False, False, False]
    two.book.look()
    for url in urls:
        two.throttle(url)
    assert [two.throttle(url).is_granted for url in urls] == [False, True, True, False]
    # Nobody wants the last one for a while.
    one.now += RESERVED_SECONDS
    one.book.look()
    assert one.book.may_ask("h3.example.com")
    assert one.book.elsewhere == {"h1.example.com", "h2.example.com"}


def test_a_process_that_was_taken_for_dead_asks_nothing(site: Site) -> None:
    one, two = site.join(), site.join()
    one.start()
    one.book.look()
    one.book.is_alive = lambda: False
    assert one.seconds_to_wait() == math.inf
    site.reap(one)
    two.book.look()
    one.book.is_alive = lambda: True
    one.book.look()
    assert one.seconds_to_wait() == math.inf
