"""The inventory: links as blobs, the queue's order and deduplication, runs, the lock."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from sitemap_crawler.exceptions import InventoryBusyError, InventoryError
from sitemap_crawler.inventory import link_graph as reach
from sitemap_crawler.inventory.link_graph import walk
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.revisits import plan_revisits
from sitemap_crawler.inventory.runs import begin_run, drop_unfinished_run, finish_run
from sitemap_crawler.inventory.schema import observations, urls
from sitemap_crawler.inventory.sql import decode_links, encode_links
from sitemap_crawler.inventory.store import Store, open_store
from sitemap_crawler.items import Observation
from tests.support.made_inventory import add_pages, change, make_inventory
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.program import Program

SITE = "https://example.com/"
NOW = datetime(2024, 1, 2, tzinfo=UTC)


@given(ids=st.sets(st.integers(1, 2**40)))
def test_links_survive_their_encoding(ids: set[int]) -> None:
    assert list(decode_links(encode_links(ids))) == sorted(ids)


def test_neighbouring_links_take_a_byte_each() -> None:
    assert encode_links(range(1, 101)) == b"\x01" * 100
    assert encode_links([300, 300]) == b"\xac\x02"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path / "state.sqlite")
    yield store
    store.close()


def queue_of(store: Store, run: int = 1, *, max_depth: int = 99) -> Queue:
    def admits(url: str, depth: int) -> bool:
        return url.startswith(SITE) and depth <= max_depth

    def follows(url: str) -> bool:
        return url.startswith(SITE)

    return Queue(store.connection, run, readers="r", conditional=True, admits=admits, follows=follows)


def observe(queue: Queue, url_id: int, *links: str, depth: int = 0, location: str | None = None) -> None:
    observation = Observation(url_id, NOW, status=200, location=location)
    queue.record(observation, depth=depth, links=tuple(f"{SITE}{link}" for link in links))


def lease(queue: Queue, limit: int = 10) -> list[tuple[str, int]]:
    return [(queued.url.removeprefix(SITE), queued.depth) for queued in queue.lease(limit)]


def test_urls_come_once_and_breadth_first(store: Store) -> None:
    queue = queue_of(store)
    queue.add_start_page(SITE)
    queue.add_start_page(SITE)
    assert lease(queue) == [("", 0)]
    observe(queue, 1, "b", "a", "b")
    assert lease(queue) == []
    assert queue.pending
    queue.flush()
    assert not queue.pending
    assert queue.queued == 2
    assert lease(queue, 1) == [("b", 1)]
    observe(queue, 2, "deep", "", depth=1)
    queue.flush()
    assert lease(queue) == [("a", 1), ("deep", 2)]
    assert queue.queued == 0


def test_what_waits_is_all_of_which_nothing_is_recorded(store: Store) -> None:
    queue = queue_of(store)
    queue.add_start_page(SITE)
    assert queue.waiting == 1
    lease(queue)
    assert queue.waiting == 1
    observe(queue, 1, "a", "b", "c")
    queue.flush()
    assert queue.waiting == 3
    held = queue.lease(2)
    assert queue.waiting == 3
    queue.refuse_trapped(held[:1])
    assert (queue.waiting, queue.queued) == (3, 2)
    observe(queue, held[1].id)
    assert queue.waiting == 2


def test_what_is_not_admitted_is_known_but_never_leased(store: Store) -> None:
    queue = queue_of(store)
    queue.add_start_page(SITE)
    queue.lease(1)
    observe(queue, 1, location="https://example.org/")
    queue.flush()
    assert lease(queue) == []
    with store.connection.begin():
        assert list(store.connection.scalars(select(urls.c.url).order_by(urls.c.id))) == [SITE, "https://example.org/"]
        assert store.connection.scalar(select(observations.c.location)) == 2


def test_a_shorter_path_admits_what_was_too_deep(store: Store) -> None:
    queue = queue_of(store, max_depth=1)
    queue.add_start_page(SITE)
    queue.lease(1)
    observe(queue, 1, "far", depth=1)
    queue.flush()
    assert lease(queue) == []
    observe(queue, 1, "far", depth=0)
    queue.flush()
    assert queue.queued == 1
    assert lease(queue) == [("far", 1)]


def test_depth_is_that_of_the_shortest_path_whatever_came_first(store: Store) -> None:
    """/ -> a, b; a -> m -> x -> y -> z; the slow page b, which links to x, answers last."""
    queue = queue_of(store, max_depth=3)
    queue.add_start_page(SITE)
    ids = {"": 1}
    for name, links, depth in [("", "ab", 0), ("a", "m", 1), ("m", "x", 2), ("x", "y", 3)]:
        ids |= {queued.url.removeprefix(SITE): queued.id for queued in queue.lease(9)}
        observe(queue, ids[name], *links, depth=depth)
        queue.flush()
    assert lease(queue) == []
    observe(queue, ids["b"], "x", depth=1)
    queue.flush()
    assert lease(queue) == []
    queue.update_depths()
    assert queue.queued == 1
    [y] = queue.lease(9)
    assert (y.url, y.depth) == (f"{SITE}y", 3)
    observe(queue, y.id, "z", depth=3)
    queue.flush()
    queue.update_depths()
    assert lease(queue) == []


def test_a_redirect_takes_no_click_though_a_link_to_its_target_comes_first(store: Store) -> None:
    """/ -> a, b; a -> t; b redirects to t."""
    queue = queue_of(store)
    queue.add_start_page(SITE)
    queue.lease(1)
    observe(queue, 1, "a", "b")
    observe(queue, 2, "t", depth=1)
    observe(queue, 3, depth=1, location=f"{SITE}t")
    queue.flush()
    with store.connection.begin():
        assert list(walk(store.connection, 1, starts=[1]).depths[1:]) == [0, 1, 1, 1]


def test_links_are_stored_by_id(store: Store) -> None:
    queue = queue_of(store)
    queue.add_start_page(SITE)
    queue.lease(1)
    observe(queue, 1, "a", "b", "")
    queue.flush()
    with store.connection.begin():
        assert list(decode_links(store.connection.scalar(select(observations.c.links)))) == [1, 2, 3]


def test_what_was_leased_is_queued_again_when_the_run_goes_on(store: Store) -> None:
    run = begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    queue = queue_of(store, run.id)
    queue.add_start_page(SITE)
    assert lease(queue) == [("", 0)]
    again = begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    assert (again.id, again.resumed) == (run.id, True)
    assert lease(queue_of(store, again.id)) == [("", 0)]


def test_a_new_run_asks_again_for_all_that_is_known_and_allowed(store: Store) -> None:
    first = begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    queue = queue_of(store, first.id)
    queue.add_start_page(SITE)
    queue.lease(1)
    observe(queue, 1, "a", "b", location="https://example.org/")
    queue.flush()
    finish_run(store.connection, first.id, outcome="published", ended_by="finished", now=NOW)
    second = begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    assert (second.id, second.resumed) == (2, False)

    def admits(url: str, depth: int) -> bool:
        return url.startswith(SITE) and not url.endswith("b")

    with store.connection.begin():
        plan_revisits(store.connection, second.id, admits=admits, settled_since=0, every=7)
    assert lease(queue_of(store, second.id)) == [("", 0), ("a", 1)]


def test_a_dropped_run_is_not_continued(store: Store) -> None:
    begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    drop_unfinished_run(store.connection)
    run = begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    assert (run.id, run.resumed) == (2, False)


def test_an_inventory_belongs_to_one_site(store: Store) -> None:
    begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    with pytest.raises(InventoryError, match=r"https://example\.com/, not https://example\.org/"):
        begin_run(
            store.connection, requested_url="https://example.org/", sitemap_url=f"{SITE}s.xml", options={}, now=NOW
        )


def test_one_process_at_a_time(tmp_path: Path, store: Store) -> None:
    with pytest.raises(InventoryBusyError, match="another run"):
        open_store(tmp_path / "state.sqlite")


def owner_of(message: str) -> re.Match[str]:
    found = re.search(r"another run \(process (\d+) on (\S+), since (\S+)\) is using the inventory \S", message)
    assert found is not None, message
    return found


def test_who_has_it_open_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    for _ in range(2):
        began = datetime.now(UTC)
        store = open_store(path)
        with pytest.raises(InventoryBusyError) as busy:
            open_store(path)
        store.close()
        process, host, since = owner_of(str(busy.value)).groups()
        assert (int(process), host) == (os.getpid(), socket.gethostname())
        # To the second, and with its zone.
        assert began - timedelta(seconds=1) < datetime.fromisoformat(since) <= datetime.now(UTC)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["state.sqlite", "state.sqlite.lock"]


@pytest.mark.parametrize("words", [b"", b"\xff\xfe", b"process 1\x1b[31m on host", b"process 1\non host", b"owner"])
def test_who_has_it_open_is_not_named_by_what_we_did_not_write(tmp_path: Path, store: Store, words: bytes) -> None:
    (tmp_path / "state.sqlite.owner").write_bytes(words)
    with pytest.raises(InventoryBusyError, match=r"^another run is using the inventory /"):
        open_store(tmp_path / "state.sqlite")


def test_who_has_it_open_may_be_unknown(tmp_path: Path, store: Store) -> None:
    (tmp_path / "state.sqlite.owner").unlink()
    with pytest.raises(InventoryBusyError, match=r"^another run is using the inventory /"):
        open_store(tmp_path / "state.sqlite")


def test_who_had_it_open_and_was_killed_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "state.sqlite.owner").write_text("process 4194305 on elsewhere, since 2024-01-02T03:04:05+00:00\n")
    store = open_store(tmp_path / "state.sqlite")
    with pytest.raises(InventoryBusyError) as busy:
        open_store(tmp_path / "state.sqlite")
    store.close()
    assert int(owner_of(str(busy.value))[1]) == os.getpid()


def test_the_inventory_opens_where_its_owner_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "state.sqlite.owner").mkdir()
    store = open_store(tmp_path / "state.sqlite")
    with pytest.raises(InventoryBusyError, match=r"^another run is using the inventory /"):
        open_store(tmp_path / "state.sqlite")
    store.close()


def test_a_crawl_is_named_while_it_lives_and_taken_over_when_it_was_killed(program: Program, site: WebServer) -> None:
    reached, released = threading.Event(), threading.Event()

    def held(_request: LoggedRequest) -> Answer:
        reached.set()
        released.wait(60)
        return Answer(page())

    site.pages.update({"/": page("/held"), "/held": held})
    arguments = ("crawl", site.url("/"), "--state", "state.sqlite")
    command = program.command(*arguments)
    first = subprocess.Popen(command, cwd=program.directory, env=program.environment(), stderr=subprocess.DEVNULL)
    try:
        assert reached.wait(60)
        asked = site.paths()
        second = program.run(*arguments)
    finally:
        first.kill()
        first.wait()
        released.set()
    assert first.returncode == -signal.SIGKILL
    assert second.code == 4
    named = owner_of(second.last_line)
    assert (int(named[1]), named[2]) == (first.pid, socket.gethostname())
    assert datetime.fromisoformat(named[3]).utcoffset() == timedelta(0)
    assert str(program.directory / "state.sqlite") in second.last_line
    assert site.paths() == asked
    third = program.crawl(site.url("/"), "--state", "state.sqlite")
    assert third.code == 0, third.err
    assert (third.report["run"], third.report["listed"], third.report["warnings"]) == (1, 2, [])
    assert "another run" not in third.out + third.err


def test_an_inventory_that_was_cut_short_while_it_was_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sitemap_crawler.inventory.store.insert", fail)
        with pytest.raises(KeyboardInterrupt):
            open_store(tmp_path / "new.sqlite")
    open_store(tmp_path / "new.sqlite").close()


@pytest.mark.parametrize("content", [b"root:x:0:0", b"<?xml version='1.0'?>"])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "passwd"
    path.write_bytes(content)
    with pytest.raises(InventoryError, match="another kind of file"):
        open_store(path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == content


@pytest.mark.parametrize("many", [0, 10_000])
def test_the_walk_is_the_same_for_few_and_for_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    """A tree in which page n leads to 2n and 2n + 1, page 40 redirects to 50, and every page to itself as canonical."""
    monkeypatch.setattr(reach, "MAX_SORTED_IDS", many)
    path = make_inventory(tmp_path / "state.db", "https://www.example.com/")
    children = ((n, [child for child in (2 * n + 1, 2 * n) if child < 60]) for n in range(1, 60))
    add_pages(path, ((n, f"https://www.example.com/{n}", 200, encode_links(links)) for n, links in children))
    change(
        path, "UPDATE observations SET canonical = url_id", "UPDATE observations SET location = 50 WHERE url_id = 40"
    )
    store = open_store(path)
    try:
        with store.connection.begin():
            found = reach.walk(store.connection, 1, starts=[1])
    finally:
        store.close()
    assert found.depths[1:].tolist() == [n.bit_length() - 1 for n in range(1, 60)]
    expected = [0, *(n // 2 for n in range(2, 60))]
    assert found.referrers[1:].tolist() == expected
