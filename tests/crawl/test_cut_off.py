"""Processes that are cut off from the server: connections stay, and for longer than a lease nothing comes through."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.crawl.test_several_processes import CONCURRENCY, Site, crawl_alone, crawling, sitemap, started, wait_for
from tests.support.postgres_proxy import PostgresProxy
from tests.support.postgres_server import ICU, needs_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.postgres_server import PostgresServer
    from tests.support.program import Program
    from tests.support.webserver import WebServer

pytestmark = [needs_postgres, pytest.mark.slow]
LEASE_SECONDS = 3
HELD = 2 * 256
"""Maximum number of URLs that two processes have leased, and that are requested again."""


@pytest.fixture
def tree(site: WebServer) -> Site:
    # Slow enough that both processes have something to do when they are cut off, and afterwards.
    return Site(site, pause=0.1)


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[PostgresProxy]:
    with PostgresProxy(postgres) as proxy:
        yield proxy


def test_processes_that_are_cut_off_ask_nothing_and_go_on_later(
    program: Program, tree: Site, postgres: PostgresServer, proxy: PostgresProxy
) -> None:
    expected = crawl_alone(program, tree)
    state = postgres.url()
    schema = state.rpartition("=")[2]
    leases = f"SELECT count(DISTINCT owner) FROM {schema}.frontier"
    quiet: list[float] = []

    def cut_off() -> None:
        wait_for(lambda: postgres.execute(ICU, leases) == [(2,)])
        proxy.is_open.clear()
        threading.Thread(target=reopen, args=(time.monotonic(),)).start()

    def reopen(since: float) -> None:
        # A request may be on its way for a while.
        time.sleep(since + 2 * LEASE_SECONDS - time.monotonic())
        quiet.append(time.monotonic())
        time.sleep(LEASE_SECONDS)
        quiet.append(time.monotonic())
        proxy.is_open.set()

    tree.at[60] = cut_off
    lease = ("-s", f"SITEMAP_LEASE={LEASE_SECONDS}")
    with crawling(program, tree, postgres, proxy.url(state), *lease, helpers=1) as processes:
        tree.server.clear_log()
        tree.gate.set()
        ended = [process.end() for process in processes]
    assert [code for code, _ in ended] == [0, 0], ended
    tree.assert_none_during(*quiet)
    assert sitemap(program, "main") == expected
    assert set(tree.requested) == tree.expected
    assert tree.requested.total() <= len(tree.expected) + HELD
    assert postgres.execute(ICU, f"SELECT count(*) = count(DISTINCT url) FROM {schema}.urls") == [(True,)]


@pytest.mark.parametrize("statement", ["SELECT 1 FROM runs", "DELETE FROM frontier"])
def test_others_request_what_a_process_has_that_is_cut_off_in_a_transaction(
    program: Program, tree: Site, postgres: PostgresServer, proxy: PostgresProxy, statement: str
) -> None:
    """In the share of a host, in a batch: no lock of the process stays."""
    expected = crawl_alone(program, tree)
    state = postgres.url()
    schema = state.rpartition("=")[2]
    leased = f"SELECT 1 FROM {schema}.frontier JOIN {schema}.processes ON id = owner WHERE NOT is_main"
    lease = ("-s", f"SITEMAP_LEASE={LEASE_SECONDS}")

    def cut_off() -> None:
        wait_for(lambda: postgres.execute(ICU, leased) != [])
        proxy.stops_after = lambda sent: statement in sent

    tree.at[60] = cut_off
    with (
        crawling(program, tree, postgres, state, *lease, helpers=0) as [main],
        started(program, tree.server.url(), "--state", proxy.url(state), *CONCURRENCY, *lease, "--join") as helper,
    ):
        wait_for(lambda: postgres.execute(ICU, f"SELECT count(*) FROM {schema}.processes") == [(2,)])
        tree.gate.set()
        code, words = main.end()
        # The run has ended without the helper, which learns it now.
        assert not proxy.is_open.is_set()
        proxy.stops_after = lambda _: False
        proxy.is_open.set()
        ended = helper.end()
    assert code == 0, words
    assert ended[0] == 0, ended
    assert sitemap(program, "main") == expected
    assert set(tree.requested) == tree.expected
    assert tree.requested.total() <= len(tree.expected) + HELD
