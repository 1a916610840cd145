"""The inventory: links as blobs, the queue's order and deduplication, runs, the lock."""

from __future__ import annotations

from array import array
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from sitemap_crawler.inventory import queue as queue_module
from sitemap_crawler.inventory.frontier import give_back_all
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.repeats import MIN_GROUP_SAMPLES
from sitemap_crawler.inventory.schema import frontier, observations, urls
from sitemap_crawler.inventory.sql import decode_links
from sitemap_crawler.inventory.store import Store, open_store
from sitemap_crawler.inventory.traps import load_traps
from sitemap_crawler.items import Observation, QueuedUrl
from sitemap_crawler.traps.detector import TrapDetector
from sitemap_crawler.traps.groups import PLAIN_SAMPLES
from sitemap_crawler.traps.progress import MAX_POOR_ROUNDS, MIN_WINDOW
from sitemap_crawler.traps.turns import MANY_DRY, OWN_PLAIN_SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sitemap_crawler.config.state_location import StateLocation


SITE = "https://example.com/"


NOW = datetime(2024, 1, 2, tzinfo=UTC)


@pytest.fixture
def store(state: StateLocation) -> Iterator[Store]:
    store = open_store(state)
    yield store
    store.close()


def queue_of(store: Store, run: int = 1, *, max_depth: int = 99) -> Queue:
    def admits(url: str, depth: int) -> bool:
        return url.startswith(SITE) and depth <= max_depth

    def follows(url: str) -> bool:
        return url.startswith(SITE)

    return Queue(store.connection, run, readers="r", conditional=True, admits=admits, follows=follows)


def trapping_queue(store: Store, traps: TrapDetector) -> Queue:
    everything = {"admits": lambda *_: True, "follows": lambda _: True}
    return Queue(store.connection, 1, readers="r", conditional=True, **everything, traps=traps)


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


def test_links_are_stored_by_id(store: Store) -> None:
    queue = queue_of(store)
    queue.add_start_page(SITE)
    queue.lease(1)
    observe(queue, 1, "a", "b", "")
    queue.flush()
    with store.connection.begin():
        assert list(decode_links(store.connection.scalar(select(observations.c.links)))) == [1, 2, 3]


def test_links_that_are_added_in_slices_are_those_that_are_recorded_at_once(tmp_path: Path) -> None:
    names = [f"{number % 70}" for number in range(100)]
    stored = []
    for slice_links in (0, 1, 7, 100):
        with closing(open_store(tmp_path / f"{slice_links}.sqlite")) as store:
            queue = queue_of(store)
            queue.add_start_page(SITE)
            queue.lease(1)
            for start in range(0, len(names), slice_links) if slice_links else ():
                queue.add_links(1, [f"{SITE}{name}" for name in names[start : start + slice_links]], depth=0)
            observe(queue, 1, *names)
            queue.flush()
            assert queue.queued == 70
            columns = (urls.c.id, urls.c.url, urls.c.state, urls.c.depth, urls.c.referrer)
            with store.connection.begin():
                rows = store.connection.execute(select(*columns).order_by(urls.c.id)).all()
                stored.append((rows, store.connection.scalar(select(observations.c.links))))
    assert stored[0] == stored[1] == stored[2] == stored[3]


def test_pages_in_doubt_wait_again_whether_stored_or_not(store: Store) -> None:
    queue = queue_of(store)
    queue.add_start_page(SITE)
    start = queue.lease(1)
    observe(queue, 1, "stored", "held", "waiting")
    queue.flush()
    stored, held = queue.lease(2)
    waiting = QueuedUrl(4, f"{SITE}waiting", 1)
    observe(queue, stored.id, depth=1)
    assert queue.doubt([*start, stored, held, waiting]) == 3
    assert queue.queued == 3
    # Its answer, which comes now, is in doubt, too.
    observe(queue, held.id, depth=1)
    assert queue.queued == 4
    assert lease(queue) == [("", 0), ("stored", 1), ("held", 1), ("waiting", 1)]
    for url_id in (1, stored.id, held.id, waiting.id):
        observe(queue, url_id, depth=min(1, url_id - 1))
    queue.flush()
    assert queue.waiting == 0
    with store.connection.begin():
        assert store.connection.scalars(select(observations.c.status)).all() == [200] * 4


def test_a_page_whose_links_were_added_is_not_recorded_yet(store: Store) -> None:
    queue = queue_of(store)
    queue.add_start_page(SITE)
    queue.lease(1)
    queue.add_links(1, [f"{SITE}a", f"{SITE}b"], depth=0)
    assert (queue.queued, queue.waiting, queue.pending) == (2, 3, 0)
    with store.connection.begin():
        assert store.connection.scalar(select(observations.c.url_id)) is None
        assert store.connection.scalar(select(frontier.c.owner).where(frontier.c.url_id == 1)) is not None
    assert lease(queue) == [("a", 1), ("b", 1)]


def test_a_shorter_path_is_found_by_added_links(store: Store) -> None:
    queue = queue_of(store)
    queue.add_start_page(SITE)
    queue.lease(1)
    queue.add_links(1, [f"{SITE}a"], depth=5)
    queue.add_links(1, [f"{SITE}a"], depth=3)
    queue.add_links(1, [f"{SITE}a"], depth=4)
    assert lease(queue) == [("a", 4)]


def test_a_batch_is_written_when_its_pages_have_many_links(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_module, "MAX_BATCH_LINKS", 5)
    queue = queue_of(store)
    queue.add_start_page(SITE)
    queue.add_links(1, [f"{SITE}{name}" for name in "xyz"], depth=1)
    first, second, third, fourth = (queued.id for queued in queue.lease(4))
    observe(queue, first, "a", "b")
    observe(queue, second, "a", "b")
    assert queue.pending == 2
    observe(queue, third, "c")
    assert queue.pending == 0
    observe(queue, fourth, "a", "b", "c", "d")
    assert queue.pending == 1


def test_plain_urls_that_wait_for_all_others_come_back_with_their_row(store: Store) -> None:
    traps = TrapDetector(5_000, applies=lambda _: True)
    yields = traps.yields
    queue = trapping_queue(store, traps)
    queue.add_start_page(SITE)
    lease(queue)
    observe(queue, 1, *(f"day/{day}" for day in range(200)), "list?page=1", "list?page=2", "day/150?view=1")
    queue.flush()
    shown = 0

    def show(path: str, *texts: int) -> None:
        content = array("I", [number for text in texts for number in (text, 10)]).tobytes()
        yields.add(SITE + path, content, "Title", (), is_listable=True)

    show("", 1, 2)
    while not yields.turns.is_postponed(f"{SITE}day/199"):
        [(path, _)] = lease(queue, 1)
        show(path, 1, 2)
        shown += 1
    assert lease(queue, 2) == [("list?page=1", 1), ("list?page=2", 1)]
    show("list?page=1", 1, 2)
    # The content of a page that waits.
    show("day/150?view=1", 1_000, 1_001)
    assert lease(queue, 1) == [(f"day/{shown}", 1)]


def test_a_row_that_waits_in_vain_has_a_sample_before_the_run_ends(store: Store) -> None:
    reports = {"day/7/report", "day/8/report", "day/9/report"}
    traps = TrapDetector(5_000, applies=lambda _: True)
    yields = traps.yields
    queue = trapping_queue(store, traps)
    queue.add_start_page(SITE)
    lease(queue)
    observe(queue, 1, *(f"day/{day}/{'abc'[day % 3]}" for day in range(1_000)), "list?page=1")
    queue.flush()

    def show(path: str, *texts: int) -> None:
        content = array("I", [number for text in texts for number in (text, 10)]).tobytes()
        yields.add(SITE + path, content, "Title", (), is_listable=True)

    show("", 1, 2)
    for day in range(PLAIN_SAMPLES + MANY_DRY):
        show(f"day/{day}/{'abc'[day % 3]}", 1, 2)
    [pages_list] = queue.lease(1)
    assert pages_list.url == f"{SITE}list?page=1"
    observe(queue, pages_list.id, *reports, depth=1)
    queue.flush()
    for _ in range(MIN_WINDOW):
        yields.progress.count(is_new=False)
    assert lease(queue) == []
    resumed = TrapDetector(5_000, applies=lambda _: True)
    with store.connection.begin():
        load_traps(store.connection, resumed, run=1)
    assert resumed.yields.left_out.shape_left_out(f"{SITE}day/7/report") is not None
    assert resumed.yields.left_out.shape_left_out(f"{SITE}day/999/a") is None
    queue.sample_refused()
    [(sample, _)] = lease(queue)
    assert sample in reports
    show(sample, 1_000, 1_001)
    queue.sample_refused()
    assert {path for path, _ in lease(queue)} == reports - {sample}
    queue.sample_refused()
    assert lease(queue) == []


def test_refused_urls_that_seldom_show_anything_new_are_not_sampled_for_ever(store: Store) -> None:
    urls_of_shape = 1_500
    traps = TrapDetector(5_000, applies=lambda _: True)
    queue = trapping_queue(store, traps)
    queue.add_start_page(SITE)
    lease(queue)
    observe(queue, 1, *(f"diff?from={version}" for version in range(urls_of_shape)))
    queue.flush()
    requested = 0

    def request_all(*texts: int) -> int:
        """Request what the queue gives. Only the first page shows these texts."""
        nonlocal requested
        before = requested
        while leased := queue.lease(20):
            for page in leased:
                content = array("I", [number for text in texts or (1, 2) for number in (text, 10)]).tobytes()
                traps.compare(page.url, content, "Title", (), is_listable=True)
                observe(queue, page.id, depth=1)
                texts = ()
                requested += 1
            if traps.learnt:
                queue.refuse_trapped(())
        return requested - before

    request_all()
    rounds = 0
    queue.sample_refused()
    while request_all(1_000 + rounds, 5_000 + rounds):
        rounds += 1
        queue.sample_refused()
    assert rounds == MAX_POOR_ROUNDS
    assert requested < urls_of_shape / 2


def test_a_run_that_was_killed_goes_on_with_its_samples(store: Store) -> None:
    content = array("I", [1, 10, 2, 10]).tobytes()

    def resumed() -> tuple[TrapDetector, Queue]:
        traps = TrapDetector(5_000, applies=lambda _: True)
        with store.connection.begin():
            give_back_all(store.connection)
            load_traps(store.connection, traps, run=1)
        traps.yields.restore_page(SITE, content, "Title", is_listable=True)
        traps.yields.admitted.add_earlier(f"{SITE}diff?from=0")
        return traps, trapping_queue(store, traps)

    def request(traps: TrapDetector, queue: Queue, pages: Sequence[QueuedUrl]) -> list[str]:
        for page in pages:
            traps.compare(page.url, content, "Title", (), is_listable=True)
            observe(queue, page.id, depth=1)
        if traps.learnt:
            queue.refuse_trapped(())
        queue.flush()
        return [page.url for page in pages]

    traps, queue = resumed()
    queue.add_start_page(SITE)
    lease(queue)
    observe(queue, 1, *(f"diff?from={version}" for version in range(200)))
    queue.flush()
    while pages := queue.lease(20):
        request(traps, queue, pages)
    queue.sample_refused()
    first = request(traps, queue, queue.lease(2))
    queue.lease(1)
    traps, queue = resumed()
    last = request(traps, queue, queue.lease(10))
    assert (len(first), len(last)) == (2, MIN_GROUP_SAMPLES - 2)
    assert traps.yields.left_out.samples.issuperset(last)
    queue.sample_refused()
    assert lease(queue) == []
    traps, queue = resumed()
    queue.sample_refused()
    assert lease(queue) == []


def test_urls_that_are_given_back_are_no_samples(store: Store) -> None:
    traps = TrapDetector(5_000, applies=lambda _: True)
    queue = trapping_queue(store, traps)
    content = array("I", [1, 10, 2, 10]).tobytes()
    traps.yields.add(SITE, content, "Title", (), is_listable=True)
    for day in range(PLAIN_SAMPLES):
        traps.yields.add(f"{SITE}day/{day}/{'abc'[day % 3]}", content, "Title", (), is_listable=True)
    queue.add_start_page(SITE)
    lease(queue)
    observe(queue, 1, *(f"day/{day}/report" for day in range(2 * OWN_PLAIN_SAMPLES)), "list?page=1")
    queue.flush()
    first = queue.lease(OWN_PLAIN_SAMPLES)
    assert all(queued.url.endswith("/report") for queued in first)
    queue.give_back(first)
    assert queue.lease(OWN_PLAIN_SAMPLES) == first
    assert lease(queue, 1) == [("list?page=1", 1)]
