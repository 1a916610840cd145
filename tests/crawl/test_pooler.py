"""Inventories behind pgbouncer, which gives each transaction another session of the server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.crawl.test_postgresql import path_of, serve, sitemap, stop_at
from tests.crawl.test_several_processes import CONCURRENCY, Site, crawl_alone, crawling, wait_for
from tests.support.pooler import Pooler
from tests.support.postgres_server import ICU, needs_postgres
from tests.support.tools import needs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.postgres_server import PostgresServer
    from tests.support.program import Program
    from tests.support.webserver import WebServer

pytestmark = [needs_postgres, needs("pgbouncer"), pytest.mark.slow]


@pytest.fixture
def pooler(postgres: PostgresServer) -> Iterator[Pooler]:
    with Pooler(postgres) as pooler:
        yield pooler


def test_all_commands_work_as_with_sqlite(program: Program, site: WebServer, pooler: Pooler) -> None:
    state = pooler.url()
    places = (("file", "state.sqlite"), ("server", state))
    for changed in (-1, 30):
        serve(site, changed=changed)
        for output, place in places:
            result = program.crawl(site.url(), "--state", place, "-o", output)
            assert result.code == 0, result.err
            assert result.report["requests"] == 302
    assert sitemap(program, "file") == sitemap(program, "server")
    assert pooler.sessions() > 1
    # The decisions of a run that is not published are kept in a table for the time of the command.
    for options in ((), ("--exclude-listing", "/", "--dry-run"), ("--exclude-listing", "/a")):
        results = [
            program.run("write", site.url(), "--state", place, "-o", output, *options) for output, place in places
        ]
        assert results[0].code == results[1].code, results[1].err
        assert sitemap(program, "file") == sitemap(program, "server")
    for command in (
        ("explain", site.url(path_of(30)), "--json"),
        ("pages", "--format", "jsonl", "--no-referrers"),
        ("diff",),
        ("runs", "--json"),
        ("check-inventory",),
        ("update", "add", site.url(path_of(9))),
    ):
        shown = []
        for output, place in places:
            result = program.run(*command, "--state", place)
            assert result.code == 0, (command, result.err)
            dated = re.sub(r'"seconds": [\d.]+', '"seconds": SECONDS', result.out)
            out = re.sub(r"20\d\d-\d\d-\d\dT[\d:.+]+", "DATE", dated).replace(f"/{output}", "/OUTPUT")
            shown.append(out.replace(place, "STATE").replace(state.partition("?")[0], "STATE"))
        if command[0] != "check-inventory":
            assert shown[0] == shown[1], command
    for output, place in places:
        assert program.run("report", "--state", place, "-o", f"{output}.html").code == 0
        assert (program.directory / f"{output}.html").stat().st_size > 10_000


def test_a_killed_crawl_is_resumed(program: Program, site: WebServer, pooler: Pooler) -> None:
    serve(site)
    assert program.crawl(site.url(), "--state", "state.sqlite", "-o", "file").code == 0
    state = pooler.url()
    process = program.start("crawl", site.url(), "--state", state, "-q")
    stop_at(site, 100, process.kill)
    assert process.wait(120) == -9
    result = program.crawl(site.url(), "--state", state)
    assert result.code == 0, result.err
    assert sitemap(program) == sitemap(program, "file")


@pytest.mark.parametrize("options", [("--processes", "2"), ()])
def test_processes_share_a_crawl(
    program: Program, site: WebServer, postgres: PostgresServer, pooler: Pooler, options: tuple[str, ...]
) -> None:
    tree = Site(site, pause=0.1)
    expected = crawl_alone(program, tree)
    lease = ("-s", "SITEMAP_LEASE=60")
    tree.at[60] = lambda: wait_for(lambda: postgres.execute(ICU, working) == [(2,)])
    state = pooler.url()
    working = f"SELECT count(DISTINCT owner) FROM {state.rpartition('=')[2]}.frontier"
    if options:
        tree.gate.set()
        result = program.crawl(site.url(), "--state", state, "-o", "main", *CONCURRENCY, *lease, *options)
        assert result.code == 0, result.err
        words = result.out + result.err
    else:
        with crawling(program, tree, postgres, state, *lease, helpers=1) as processes:
            tree.gate.set()
            ended = [process.end() for process in processes]
        assert [code for code, _ in ended] == [0, 0], ended
        words = ended[1][1]
    assert re.search(r"helped with [1-9]", words), words
    assert sitemap(program, "main") == expected
    assert set(tree.requested.values()) == {1}
    assert set(tree.requested) == tree.expected
