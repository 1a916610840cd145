"""What two processes tell each other of robots.txt, of warnings, and of the end of their run."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.config.options import Options
from sitemap_crawler.crawl.host_book import HostBook
from sitemap_crawler.crawl.run_state import RobotsResult
from sitemap_crawler.crawl.shared_run import SharedRun
from sitemap_crawler.crawl.throttle import HostThrottles
from sitemap_crawler.inventory.hosts import HostTable
from sitemap_crawler.inventory.shared_run import INTERRUPTED, REFUSED, Stop
from sitemap_crawler.policy.warning_kinds import SiteWarning, WarningKind
from sitemap_crawler.traps.detector import TrapDetector
from tests.support.postgres_server import needs_postgres
from tests.support.shared_inventory import RUN, SharedInventory, shared_inventory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.postgres_server import PostgresServer

pytestmark = needs_postgres
ORIGIN = "https://www.example.com"
RULES = b"User-agent: *\nCrawl-delay: 2\n"


class Process:
    """A process, with its throttles and the robots.txt that it would get."""

    def __init__(self, inventory: SharedInventory, *, is_main: bool = False) -> None:
        self.number, connection = inventory.join()
        options = Options.parse({"start_url": ORIGIN, "adaptive": False})
        self.throttles = HostThrottles(options)
        self.book = HostBook(
            HostTable(connection, RUN),
            self.throttles,
            process=lambda: self.number,
            concurrency=8,
            base_delay=0.0,
            spreads_hosts=False,
        )
        self.throttles.book = self.book
        self.recorded: list[SiteWarning] = []
        context: Any = SimpleNamespace(
            options=options,
            store=SimpleNamespace(connection=connection),
            run=SimpleNamespace(id=RUN),
            recorded_warnings=lambda start: self.recorded[start:],
            warn=lambda *warning: self.recorded.append(SiteWarning(*warning)),
        )
        self.shared = SharedRun(
            context,
            traps=TrapDetector(0, applies=lambda _: False),
            fetched=0,
            book=self.book,
            throttles=self.throttles,
            process=lambda: self.number,
            is_main=is_main,
        )
        self.requested = 0
        self.answer = RobotsResult(RULES)
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.book.look()

    async def request(self) -> RobotsResult:
        self.requested += 1
        await self.may_answer.wait()
        return self.answer

    async def read(self) -> RobotsResult:
        return await self.shared.read_robots(ORIGIN, self.request)


@pytest.fixture
def inventory(postgres: PostgresServer) -> Iterator[SharedInventory]:
    with shared_inventory(postgres) as inventory:
        yield inventory


@pytest.mark.parametrize(
    "answer", [RobotsResult(RULES), RobotsResult(None), RobotsResult(reason="status 500", refused="private")]
)
def test_one_process_requests_robots_txt_and_the_others_read_it(
    inventory: SharedInventory, answer: RobotsResult
) -> None:
    async def together() -> list[RobotsResult]:
        one, two = Process(inventory), Process(inventory)
        one.answer = answer
        one.may_answer.clear()
        reads = [asyncio.ensure_future(process.read()) for process in (one, two)]
        # Long enough for the other one to look more than once.
        await asyncio.sleep(0.3)
        assert not reads[1].done()
        one.may_answer.set()
        results = await asyncio.gather(*reads)
        assert (one.requested, two.requested) == (1, 0)
        return results

    for result in asyncio.run(together()):
        assert result._replace(age_seconds=0.0) == answer


def test_the_robots_txt_of_a_killed_process_is_requested_by_another(inventory: SharedInventory) -> None:
    async def killed() -> None:
        one, two = Process(inventory), Process(inventory)
        one.may_answer.clear()
        first = asyncio.ensure_future(one.read())
        await asyncio.sleep(0)
        assert one.requested == 1
        inventory.reap(one.number)
        two.book.look(), two.book.look()
        result = await two.read()
        assert (result.body, two.requested) == (RULES, 1)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)

    asyncio.run(killed())


def test_robots_txt_is_requested_again_after_a_day_of_the_server(inventory: SharedInventory) -> None:
    async def day() -> None:
        one, two = Process(inventory), Process(inventory)
        await one.read()
        one.throttles.for_url(ORIGIN).start()
        one.throttles.tell(ORIGIN)
        two.book.look()
        inventory.execute("UPDATE robots_fetches SET fetched = fetched - interval '23 hours'")
        result = await two.read()
        assert (result.body, two.requested) == (RULES, 0)
        assert 23 * 3600 <= result.age_seconds < 24 * 3600
        inventory.execute("UPDATE robots_fetches SET fetched = fetched - interval '1 hour'")
        await one.read()
        await two.read()
        assert one.requested + two.requested == 2

    asyncio.run(day())


def test_another_run_reads_robots_txt_anew(inventory: SharedInventory) -> None:
    one = Process(inventory)
    asyncio.run(one.read())
    one.shared.table.begin()
    asyncio.run(one.read())
    assert one.requested == 2


def test_the_first_reason_ends_the_run_for_all(inventory: SharedInventory) -> None:
    one, two = Process(inventory), Process(inventory)
    assert two.shared.table.look() == (0, None)
    one.shared.refuse("robots.txt is not available", ends_run=False)
    two.shared.interrupt("the host is overloaded")
    assert two.shared.table.look() == (0, Stop(REFUSED, "robots.txt is not available", ends_run=False))
    two.shared.table.begin()
    assert one.shared.table.look() == (0, None)
    two.shared.interrupt("the host is overloaded")
    assert one.shared.table.look() == (0, Stop(INTERRUPTED, "the host is overloaded", ends_run=False))


def test_the_report_has_the_warnings_of_all_processes(inventory: SharedInventory) -> None:
    main, helper = Process(inventory, is_main=True), Process(inventory)
    own = SiteWarning(WarningKind.START_ADOPTED, ORIGIN, "moved")
    others = [SiteWarning(WarningKind.TOO_MANY_HOSTS, f"{ORIGIN}/{number}", "one more") for number in range(3)]
    main.recorded.append(own)
    helper.recorded += others[:2]
    for process in (main, helper, helper):
        process.shared.tell_warnings()
    helper.recorded.append(others[2])
    helper.shared.leave()
    main.shared.gather_warnings()
    assert main.recorded == [own, *others]
