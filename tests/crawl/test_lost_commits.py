"""Commits whose answers are lost: nothing is stored or requested twice, and nothing is left out."""

from __future__ import annotations

import json
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.test_several_processes import Site, crawl_alone, crawling, sitemap, wait_for
from tests.support.postgres_proxy import PostgresProxy
from tests.support.postgres_server import ICU, needs_postgres
from tests.support.webserver import Answer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.postgres_server import PostgresServer
    from tests.support.program import Program
    from tests.support.webserver import WebServer

pytestmark = [needs_postgres, pytest.mark.slow]
LEASE_OPTION = ("-s", "SITEMAP_LEASE=600")
"""No process is taken for dead, however busy the machine is."""
BATCH, LEASE = "DELETE FROM frontier", "UPDATE frontier"
"""What the transactions have in common that store pages, and those that lease URLs."""
EVERY = 3
"""Of so many commits of a kind one is lost."""


@pytest.fixture
def tree(site: WebServer) -> Site:
    # Slow enough that a helper gets slots while there is something to do.
    return Site(site, pause=0.1)


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[PostgresProxy]:
    with PostgresProxy(postgres) as proxy:
        yield proxy


def rows(program: Program, state: str) -> list[dict[str, Any]]:
    """Return what the inventory has of each page, but for times, and for links among which the first one counts."""
    result = program.run("pages", "--format", "jsonl", "--no-referrers", "--state", state)
    assert result.code == 0, result.err
    found = [json.loads(line) for line in result.out.splitlines()]
    chance = dict.fromkeys(("first_seen", "last_fetched", "referrer"))
    return sorted(({**row, **chance} for row in found), key=lambda row: str(row["url"]))


def kind_of(statements: str) -> str:
    return next((kind for kind in (BATCH, LEASE) if kind in statements), "other")


@pytest.mark.parametrize("helpers", [0, 1])
def test_each_page_is_requested_and_stored_once(
    program: Program, tree: Site, postgres: PostgresServer, proxy: PostgresProxy, helpers: int
) -> None:
    expected = crawl_alone(program, tree)
    state = postgres.url()
    schema = state.rpartition("=")[2]
    leases = f"SELECT count(DISTINCT owner) FROM {schema}.frontier"
    all_work = threading.Event()
    commits: Counter[str] = Counter()

    def wait_for_all() -> None:
        wait_for(lambda: postgres.execute(ICU, leases) == [(helpers + 1,)])
        all_work.set()

    def loses(statements: str) -> bool:
        if not all_work.is_set() or len(tree.requested) == len(tree.expected):
            # At the start and at the end of a crawl the command fails, and works when it is run again.
            return False
        commits[kind_of(statements)] += 1
        return commits[kind_of(statements)] % EVERY == 1

    tree.at[60] = wait_for_all
    proxy.loses = loses
    with crawling(program, tree, postgres, proxy.url(state), *LEASE_OPTION, helpers=helpers) as processes:
        tree.gate.set()
        ended = [process.end() for process in processes]
    assert [code for code, _ in ended] == [0] * (helpers + 1), ended
    lost = Counter(map(kind_of, proxy.lost))
    assert lost[BATCH] > 1
    assert lost[LEASE] > 1
    assert sitemap(program, "main") == expected
    assert set(tree.requested.values()) == {1}, ended
    assert set(tree.requested) == tree.expected
    stored = rows(program, state)
    assert stored == rows(program, "alone.sqlite")
    assert postgres.execute(ICU, f"SELECT count(*), count(DISTINCT url) FROM {schema}.urls") == [(len(stored),) * 2]
    assert postgres.execute(ICU, f"SELECT sum(fetched) FROM {schema}.processes") == [(len(tree.expected),)]


@pytest.mark.parametrize(
    ("mark", "code"),
    [
        ("INSERT INTO robots_fetches", 0),
        ("UPDATE runs SET phase = ", 0),
        ("SELECT published.url", 1),
        ("INSERT INTO processes", 1),
        ("INSERT INTO decisions", 1),
    ],
)
def test_a_crawl_goes_on_or_the_same_command_does(
    program: Program, site: WebServer, postgres: PostgresServer, proxy: PostgresProxy, mark: str, code: int
) -> None:
    paths = [f"/{number}" for number in range(9)]
    dated = {"Last-Modified": "Tue, 07 May 2024 08:09:10 GMT"}
    site.pages |= {path: Answer(page(title=f"Page {path}"), headers=dated) for path in paths}
    site.pages["/"] = Answer(page(*paths), headers=dated)
    assert program.crawl(site.url(), "--state", "alone.sqlite", "-o", "alone").code == 0
    site.clear_log()
    proxy.loses = lambda statements: mark in statements and not proxy.lost
    command = (site.url(), "--state", proxy.url(postgres.url()), "-o", "main")
    result = program.crawl(*command)
    assert proxy.lost
    assert result.code == code, result.err
    if code:
        assert result.last_line.startswith("cannot use the inventory postgresql://")
        assert result.last_line.endswith("make the server available, then run the same command")
        assert program.crawl(*command).code == 0
    assert sitemap(program, "main") == sitemap(program, "alone")
    assert sorted(set(site.paths())) == sorted(["/", "/robots.txt", *paths])
    assert [path for path in site.paths() if site.paths().count(path) > 1 and path != "/robots.txt"] == []
    assert code or site.paths().count("/robots.txt") == 1
