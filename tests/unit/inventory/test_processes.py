"""Several processes of one run, in any order of their steps: every URL is requested by somebody, and stored once."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy import event

from sitemap_crawler.inventory import shared_frontier
from sitemap_crawler.inventory.postgresql import server_engine
from sitemap_crawler.inventory.processes import MAX_DEATHS, Membership, RunPhase, Work
from sitemap_crawler.inventory.runs import begin_run
from sitemap_crawler.inventory.shared_queue import POISONED, SharedQueue
from sitemap_crawler.inventory.store import Store, open_store
from sitemap_crawler.items import Observation
from tests.support.postgres_server import ICU, USER, needs_postgres

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sitemap_crawler.config.state_location import ServerLocation
    from sitemap_crawler.items import QueuedUrl
    from tests.support.postgres_server import PostgresServer

pytestmark = needs_postgres
psycopg = pytest.importorskip("psycopg")
SITE = "https://www.example.com/"
NOW = datetime(2024, 6, 1, tzinfo=UTC)
LEASE_SECONDS = 3600.0
PAGES = 60


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each lease ask the server, also after one that found nothing."""
    monkeypatch.setattr(shared_frontier, "EMPTY_PAUSE_SECONDS", 0.0)


class Process:
    """One process: its queue, and the URLs that it has leased and not recorded."""

    def __init__(self, location: ServerLocation, *, is_main: bool = False, max_pages: int | None = None) -> None:
        self.store: Store = open_store(location, joins=True)
        self.membership = Membership(
            server_engine(location), 1, is_main=is_main, version="v", lease_seconds=LEASE_SECONDS
        )
        self.queue = SharedQueue(
            self.store.connection,
            1,
            membership=self.membership,
            max_pages=max_pages,
            readers="r",
            conditional=True,
            admits=lambda *_: True,
            follows=lambda _: True,
        )
        self.held: list[QueuedUrl] = []

    def lease(self, limit: int = 5) -> list[QueuedUrl]:
        leased = self.queue.lease(limit)
        self.held += leased
        return leased

    def record(self, second: int) -> None:
        queued = self.held.pop(0)
        number = int(queued.url.removeprefix(SITE) or 0)
        links = [f"{SITE}{child}" for child in (2 * number + 1, 2 * number + 2) if child < PAGES]
        observation = Observation(queued.id, NOW + timedelta(seconds=second), status=200)
        self.queue.record(observation, depth=queued.depth, links=tuple(links))

    def close(self) -> None:
        self.membership.leave()
        self.store.close()


class Run:
    """A run in a schema of its own, and the statements of another client."""

    def __init__(self, server: PostgresServer, processes: int, *, max_pages: int | None = None) -> None:
        self.location = server.location()
        path = f"-csearch_path={self.location.schema}"
        self._client = psycopg.connect(host=str(server.directory), user=USER, dbname=ICU, options=path, autocommit=True)
        with closing(open_store(self.location)) as store:
            begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}s.xml", options={}, now=NOW)
        self.processes = [
            Process(self.location, is_main=not number, max_pages=max_pages) for number in range(processes)
        ]
        self.processes[0].queue.add_start_page(SITE)

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        cursor = self._client.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []

    def silence(self, process: Process) -> None:
        """Let a process have been silent for longer than a lease."""
        self.execute(f"UPDATE processes SET seen = seen - interval '2 h' WHERE id = {process.membership.id}")

    def close(self) -> None:
        for process in self.processes:
            process.close()
        self._client.close()


@pytest.fixture
def begin(postgres: PostgresServer) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def begin(processes: int, *, max_pages: int | None = None) -> Run:
        runs.append(Run(postgres, processes, max_pages=max_pages))
        return runs[-1]

    yield begin
    for run in runs:
        run.close()


def finish(run: Run) -> None:
    """Let all processes work in turn until nothing is left."""
    seconds = count(100_000)
    for _ in range(10 * PAGES):
        for process in run.processes:
            process.lease()
            while process.held:
                process.record(next(seconds))
            process.queue.flush()
        if not run.execute("SELECT 1 FROM frontier"):
            return
    raise AssertionError(run.execute("SELECT * FROM frontier"))


def test_any_order_of_leases_batches_and_deaths_stores_each_url_once(postgres: PostgresServer) -> None:
    class Processes(RuleBasedStateMachine):
        @initialize()
        def start(self) -> None:
            self.run = Run(postgres, 3)
            self.seconds = count()
            self.fetched: dict[int, float] = {}

        @rule(number=st.integers(0, 2), limit=st.integers(1, 8))
        def lease(self, number: int, limit: int) -> None:
            self.run.processes[number].lease(limit)

        @rule(number=st.integers(0, 2), pages=st.integers(1, 5))
        def record(self, number: int, pages: int) -> None:
            process = self.run.processes[number]
            for _ in range(min(pages, len(process.held))):
                process.record(next(self.seconds))

        @rule(number=st.integers(0, 2))
        def flush(self, number: int) -> None:
            self.run.processes[number].queue.flush()

        @rule(dead=st.integers(0, 2), reaper=st.integers(0, 2))
        def reap(self, dead: int, reaper: int) -> None:
            if dead != reaper:
                self.run.silence(self.run.processes[dead])
                self.run.processes[reaper].membership.beat_once()
                # The deaths of this test are no evidence against the URLs. A page that is given up has no links.
                self.run.execute("UPDATE frontier SET deaths = 0")

        @rule(number=st.integers(0, 2))
        def beat(self, number: int) -> None:
            self.run.processes[number].membership.beat_once()

        @invariant()
        def every_url_is_somewhere(self) -> None:
            if not hasattr(self, "run"):
                return
            query = "SELECT id FROM urls WHERE (id IN (SELECT url_id FROM frontier)) = (id IN (SELECT url_id FROM %s))"
            assert self.run.execute(query % "observations") == []
            # Without a living process the list is empty, and `NULL NOT IN ()` is true.
            leases = "SELECT * FROM frontier WHERE owner IS NOT NULL AND owner NOT IN (%s)"
            assert self.run.execute(leases % "SELECT id FROM processes WHERE NOT ended") == []
            for url_id, fetched in self.run.execute("SELECT url_id, fetched FROM observations"):
                assert self.fetched.setdefault(url_id, fetched) == fetched

        def teardown(self) -> None:
            if hasattr(self, "run"):
                finish(self.run)
                assert self.run.execute("SELECT count(*) FROM observations") == [(PAGES,)]
                assert self.run.execute("SELECT count(DISTINCT url) FROM urls") == [(PAGES,)]
                self.every_url_is_somewhere()
                self.run.close()

    checks = settings(max_examples=6, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Processes, settings=checks)


def test_a_lease_is_one_statement_and_a_batch_few(begin: Callable[..., Run]) -> None:
    """Beside the one that begins a transaction. Each is a round trip to the server."""
    run = begin(1)
    [process] = run.processes
    statements: list[str] = []
    event.listen(process.store.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    for _ in range(3):
        statements.clear()
        process.lease(8)
        assert len(statements) == 2
        seconds = count()
        while process.held:
            process.record(next(seconds))
        statements.clear()
        process.queue.flush()
        assert len(statements) <= 8


def test_the_limit_of_pages_is_exact(begin: Callable[..., Run]) -> None:
    run = begin(3, max_pages=17)
    seconds = count()
    for _ in range(20):
        for process in run.processes:
            process.lease(4)
            while process.held:
                process.record(next(seconds))
            process.queue.flush()
    assert run.execute("SELECT count(*) FROM observations") == [(17,)]
    assert all(process.queue.is_exhausted for process in run.processes)


def test_a_page_that_robots_txt_forbids_makes_place_for_another_within_the_limit(begin: Callable[..., Run]) -> None:
    [process] = begin(1, max_pages=2).processes
    process.lease()
    process.record(1)
    process.queue.flush()
    process.lease()
    assert process.lease() == []
    assert process.queue.is_exhausted
    [forbidden] = process.held
    process.held.clear()
    process.queue.record(Observation(forbidden.id, NOW, blocked_by="Disallow: /"), depth=forbidden.depth, links=())
    process.queue.flush()
    assert not process.queue.is_exhausted
    assert len(process.lease()) == 1


@pytest.mark.parametrize("is_dead", [False, True])
def test_what_another_process_gives_back_makes_place_within_the_limit(
    begin: Callable[..., Run], *, is_dead: bool
) -> None:
    run = begin(2, max_pages=2)
    first, second = run.processes
    first.lease()
    first.record(1)
    first.queue.flush()
    second.lease()
    assert first.lease() == []
    first.queue.look()
    assert first.queue.is_exhausted
    if is_dead:
        run.silence(second)
        first.membership.beat_once()
    else:
        second.queue.give_back(second.held)
    second.held.clear()
    first.queue.look()
    assert not first.queue.is_exhausted
    assert len(first.lease()) == 1


def test_a_heartbeat_under_an_earlier_number_says_nothing_of_the_new_one(begin: Callable[..., Run]) -> None:
    run = begin(2)
    process = run.processes[0]
    run.silence(process)
    run.processes[1].membership.beat_once()
    rejoined: list[int] = []

    def rejoin(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("UPDATE processes SET seen") and not rejoined:
            rejoined.append(process.membership.id)
            process.membership.rejoin()

    # The event loop learns of its death while the answer to the heartbeat is on its way.
    engine = process.membership._engine
    event.listen(engine, "after_cursor_execute", rejoin)
    process.membership.beat_once()
    assert rejoined != [process.membership.id]
    assert not process.membership.is_dead


def test_a_url_over_which_processes_end_is_requested_alone_and_at_last_given_up(begin: Callable[..., Run]) -> None:
    run = begin(1)
    [process] = run.processes
    process.lease()
    process.record(1)
    process.queue.flush()
    run.execute(f"UPDATE frontier SET deaths = {MAX_DEATHS - 1} WHERE url_id = 2")
    assert [queued.id for queued in process.lease()] == [3]
    assert process.lease() == []
    process.record(2)
    process.queue.flush()
    run.execute(f"UPDATE frontier SET deaths = {MAX_DEATHS - 1} WHERE url_id > 2")
    assert [queued.id for queued in process.lease()] == [2]
    assert process.lease() == []
    process.queue.give_back(process.held)
    process.held.clear()
    run.execute(f"UPDATE frontier SET deaths = {MAX_DEATHS} WHERE url_id = 2")
    assert process.lease() == []
    process.queue.flush()
    assert run.execute("SELECT status, error FROM observations WHERE url_id = 2") == [(None, POISONED)]


def test_a_process_that_was_taken_for_dead_drops_what_it_has_and_works_on(begin: Callable[..., Run]) -> None:
    run = begin(2)
    first, second = run.processes
    first.lease()
    first.record(1)
    before = first.membership.id
    run.silence(first)
    second.membership.beat_once()
    first.queue.flush()
    assert first.membership.id > before
    assert first.queue.generation == 1
    assert run.execute("SELECT * FROM observations") == []
    assert [queued.url for queued in second.lease()] == [SITE]
    finish(run)
    assert run.execute("SELECT count(*) FROM observations") == [(PAGES,)]


def cut_connections(run: Run) -> None:
    """Let the processes have lost their connections, as after a restart of the server."""
    clients = "datname = current_database() AND pid <> pg_backend_pid()"
    run.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {clients}")


def test_a_process_gives_back_what_it_has_after_a_restart_of_the_server(begin: Callable[..., Run]) -> None:
    run = begin(2)
    first, second = run.processes
    first.lease()
    assert second.lease() == []
    cut_connections(run)
    first.membership.leave()
    assert [queued.url for queued in second.lease()] == [SITE]


def test_the_phase_is_set_after_a_restart_of_the_server(begin: Callable[..., Run]) -> None:
    """The connection of the heart may be a lost one: it beats every few seconds only."""
    run = begin(1)
    [process] = run.processes
    cut_connections(run)
    process.membership.set_phase(RunPhase.CONCLUDING)
    assert run.execute("SELECT phase FROM runs") == [(RunPhase.CONCLUDING,)]
    assert process.membership.beat is not None
    assert process.membership.beat.phase == RunPhase.CONCLUDING


def test_each_process_learns_what_the_others_have_done(begin: Callable[..., Run]) -> None:
    run = begin(3)
    one, other, gone = (process.membership for process in run.processes)
    other.work = lambda: Work(fetched=1, requests=20, listable=300, further=4_000, overloads=50_000, pauses=600_000)
    gone.work = lambda: Work(2, 30, 400, 5_000, 60_000, 700_000)
    other.beat_once()
    gone.leave()
    one.beat_once()
    assert one.beat is not None
    assert one.beat.others == Work(3, 50, 700, 9_000, 110_000, 1_300_000)
