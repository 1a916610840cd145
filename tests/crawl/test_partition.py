"""A network that is cut between the processes and the database, while the site can be reached."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.crawl.test_several_processes import (
    CONCURRENCY,
    Site,
    crawl_alone,
    crawling,
    sitemap,
    wait_for,
)
from tests.support.network_namespace import DATABASE, SITE, NamespacedProgram, NetworkNamespace
from tests.support.postgres_proxy import PostgresProxy
from tests.support.postgres_server import ICU, needs_postgres
from tests.support.webserver import WebServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.postgres_server import PostgresServer
    from tests.support.program import Program

pytestmark = [needs_postgres, pytest.mark.slow]
LEASE_SECONDS = 12
"""Longer than a connection on which nothing comes through is kept."""
# The site is no host of this machine for the program.
FAST = ("--no-adaptive",)
LEASE = ("-s", f"SITEMAP_LEASE={LEASE_SECONDS}")
HELD = 2 * 256


@pytest.fixture
def network() -> Iterator[NetworkNamespace]:
    with NetworkNamespace() as network:
        yield network


@pytest.fixture
def tree(network: NetworkNamespace) -> Iterator[Site]:
    with WebServer(host=network.address(SITE)) as server:
        yield Site(server, pause=0.1)


@pytest.fixture
def proxy(postgres: PostgresServer, network: NetworkNamespace) -> Iterator[PostgresProxy]:
    with PostgresProxy(postgres, host=network.address(DATABASE)) as proxy:
        yield proxy


def test_processes_ask_nothing_during_a_partition_and_go_on_later(
    program: Program, network: NetworkNamespace, tree: Site, postgres: PostgresServer, proxy: PostgresProxy
) -> None:
    expected = crawl_alone(program, tree, *FAST)
    state = postgres.url()
    schema = state.rpartition("=")[2]
    leases = f"SELECT count(DISTINCT owner) FROM {schema}.frontier"
    quiet: list[float] = []

    def cut_off() -> None:
        wait_for(lambda: postgres.execute(ICU, leases) == [(2,)])
        network.set_link(DATABASE, is_up=False)
        threading.Thread(target=join_again, args=(time.monotonic(),)).start()

    def join_again(since: float) -> None:
        # A request may be on its way for a while.
        time.sleep(since + 1.5 * LEASE_SECONDS - time.monotonic())
        quiet.append(time.monotonic())
        time.sleep(LEASE_SECONDS / 2)
        quiet.append(time.monotonic())
        network.set_link(DATABASE, is_up=True)

    tree.at[60] = cut_off
    inside = NamespacedProgram(program, network)
    with crawling(inside, tree, postgres, proxy.url(state), *LEASE, *FAST, helpers=1) as processes:
        tree.server.clear_log()
        tree.gate.set()
        ended = [process.end() for process in processes]
    assert [code for code, _ in ended] == [0, 0], ended
    tree.assert_none_during(*quiet)
    assert sitemap(program, "main") == expected
    assert set(tree.requested) == tree.expected
    assert tree.requested.total() <= len(tree.expected) + HELD
    assert postgres.execute(ICU, f"SELECT count(*) = count(DISTINCT url) FROM {schema}.urls") == [(True,)]


def test_a_partition_that_lasts_ends_the_crawl_with_words(
    program: Program, network: NetworkNamespace, tree: Site, postgres: PostgresServer, proxy: PostgresProxy
) -> None:
    """TCP would try for a quarter of an hour. The crawl ends after a few leases."""
    expected = crawl_alone(program, tree, *FAST)
    state = postgres.url()
    tree.at[60] = lambda: network.set_link(DATABASE, is_up=False)
    inside = NamespacedProgram(program, network)
    lease = ("-s", "SITEMAP_LEASE=1")
    with crawling(inside, tree, postgres, proxy.url(state), *lease, *FAST, helpers=0) as [main]:
        tree.gate.set()
        code, words = main.end()
    assert code == 1, words
    assert "make the server available, then run the same command" in words
    # The row of the owner ages for ten seconds.
    result = program.crawl(tree.server.url(), "--state", state, "-o", "main", *CONCURRENCY, *FAST)
    assert result.code == 0, result.err
    assert sitemap(program, "main") == expected
    assert set(tree.requested) == tree.expected
