"""Pages that show what simpler URLs of the same path show are left out at the end of a run."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from sqlalchemy import event, insert, select

from sitemap_crawler.inventory.repeated_pages import refuse_repeating, refuse_same
from sitemap_crawler.inventory.repeats import (
    FEW_GROUP_SAMPLES,
    MAX_GROUP_SAMPLES,
    MAX_NEW_SAMPLES,
    MAX_REVISITED,
    MIN_GROUP_SAMPLES,
    bring_forward,
    sample_repeating,
)
from sitemap_crawler.inventory.runs import ENDED_AT_LIMIT, SAW_EVERYTHING
from sitemap_crawler.inventory.schema import UrlState, decisions, frontier, observations, page_texts, runs, urls
from sitemap_crawler.inventory.shown_elsewhere import listed_url_that_shows
from sitemap_crawler.inventory.sql import STREAM_ROWS, url_key
from sitemap_crawler.inventory.store import Store, open_store
from sitemap_crawler.items import NoteKind
from sitemap_crawler.traps.detector import TrapDetector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.config.state_location import StateLocation

SITE = "https://www.example.com"
NOW = datetime(2024, 6, 1, tzinfo=UTC).timestamp()


@pytest.fixture
def store(state: StateLocation) -> Iterator[Store]:
    store = open_store(state)
    yield store
    store.close()


def texts_of(*texts: int) -> bytes:
    return array("I", [number for text in texts for number in (text, 10)]).tobytes()


def add(store: Store, pages: Iterable[tuple[str, bytes, bytes | None]], **columns: object) -> None:
    """Store fetched pages, given with path, fingerprint and texts."""
    rows = list(pages)
    with store.connection.begin():
        first = 1 + len(store.connection.scalars(select(urls.c.id)).all())
        numbered = list(enumerate(rows, first))
        store.connection.execute(
            insert(urls),
            [
                {"id": n, "key": url_key(SITE + path), "url": SITE + path, "state": 3, "depth": 1, "first_seen": 1}
                for n, (path, _, _) in numbered
            ],
        )
        seen = {"run": 1, "fetched": NOW, "status": 200, "noindex": False, "nofollow": False, "not_modified": False}
        fixed = {**seen, "body_bytes": 1, "readers": "r", **columns}
        store.connection.execute(
            insert(observations), [{"url_id": n, "fingerprint": f, **fixed} for n, (_, f, _) in numbered]
        )
        known = [{"url_id": n, "run": 1, "texts": t, "fingerprint": f} for n, (_, f, t) in numbered if t is not None]
        if known:
            store.connection.execute(insert(page_texts), known)


def refused(store: Store) -> set[str]:
    with store.connection.begin():
        refuse_same(store.connection, TrapDetector(5_000, applies=lambda _: True))
        rows = store.connection.scalars(select(urls.c.url).where(urls.c.state == int(UrlState.SAME)))
        return {url.removeprefix(SITE) for url in rows}


def test_the_simplest_url_of_a_content_stays(store: Store) -> None:
    add(
        store,
        [
            ("/list?sort=title&page=1", b"1", texts_of(2, 1)),
            ("/list?sort=title", b"2", texts_of(2, 1)),
            ("/list?page=2", b"3", texts_of(3, 4)),
            ("/list?page=1", b"4", texts_of(1, 2)),
            ("/list", b"5", texts_of(1, 2)),
            ("/list/deeper", b"6", texts_of(9)),
            ("/other?page=1", b"7", texts_of(1, 2)),
        ],
    )
    assert refused(store) == {"/list?page=1", "/list?sort=title", "/list?sort=title&page=1"}


@pytest.mark.parametrize(
    ("page", "shown_by"),
    [
        (("/?main=item&id=2&ref=a", b"2", texts_of(8)), "/?main=item&id=2"),
        (("/?main=item&id=3&sort=a", b"9", texts_of(1)), "/?main=item&id=3"),
        (("/?main=item;id=3;sort=a", b"9", texts_of(1)), "/?main=item&id=3"),
        (("/?main=item&id=3&sort=a", b"9", texts_of(6, 8, 9)), None),
        (("/?main=item&id=9", b"9", texts_of(1, 6, 7)), "/?main=item&id=3"),
        (("/other?id=2", b"2", texts_of(1, 3)), "/?main=item&id=2"),
        (("/other?id=9", b"9", texts_of(1, 3)), None),
        (("/?main=item&id=9", None, None), None),
        (("/?main=item&id=9", b"9", texts_of(8, 9)), None),
        (("/?main=item&id=3&page=2", None, None), "/?main=item&id=3"),
    ],
)
def test_the_listed_page_that_shows_the_same_is_named(
    store: Store, page: tuple[str, bytes, bytes | None], shown_by: str | None
) -> None:
    """All pages have one path. The first two are the simplest, and show something else."""
    listed = [
        ("/?main=about", b"0", texts_of(1)),
        ("/?main=all", b"1", texts_of(1, 2)),
        ("/?main=item&id=2", b"2", texts_of(1, 3)),
        ("/?main=item&id=3", b"3", texts_of(1, 6, 5)),
    ]
    add(store, [*listed, page])
    with store.connection.begin():
        rows = [
            {"url_id": number, "decision": "listed", "reason": "listed", "since": 1}
            for number in range(1, len(listed) + 1)
        ]
        store.connection.execute(insert(decisions), rows)
        found = listed_url_that_shows(store.connection, len(listed) + 1, SITE + page[0])
    assert found == (None if shown_by is None else SITE + shown_by)


def test_pages_that_may_not_be_listed_show_nothing_for_others(store: Store) -> None:
    add(store, [("/a", b"1", texts_of(1, 2))], noindex=True)
    add(store, [("/a?x=1", b"1", texts_of(1, 2))], status=404)
    add(store, [("/a?x=1&y=1", b"1", texts_of(1, 2)), ("/b?x=1", b"2", texts_of(3))])
    add(store, [("/b", b"2", texts_of(3))], canonical=1)
    assert refused(store) == set()


def test_texts_of_an_earlier_content_do_not_count(store: Store) -> None:
    add(store, [("/a", b"1", texts_of(1, 2)), ("/a?x=1", b"2", texts_of(1, 2))])
    with store.connection.begin():
        store.connection.execute(observations.update().where(observations.c.url_id == 2).values(fingerprint=b"3"))
    assert refused(store) == set()


def test_the_number_of_statements_does_not_grow_with_the_number_of_paths(store: Store) -> None:
    paths = 2 * STREAM_ROWS
    add(
        store,
        [
            page
            for number in range(paths)
            for page in ((f"/p{number}", b"1", texts_of(number)), (f"/p{number}?a=1", b"2", texts_of(number)))
        ],
    )
    statements: list[str] = []
    event.listen(store.connection.engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2]))
    assert len(refused(store)) == paths
    assert len(statements) < paths / 50


def add_refused(store: Store, paths: Iterable[str], *, first_seen: int = 1) -> None:
    """Store URLs that were refused because the pages of their kind repeat others."""
    with store.connection.begin():
        first = 1 + len(store.connection.scalars(select(urls.c.id)).all())
        fixed = {"state": int(UrlState.REPEATS), "depth": 1, "first_seen": first_seen}
        store.connection.execute(
            insert(urls),
            [
                {"id": number, "key": url_key(SITE + path), "url": SITE + path, **fixed}
                for number, path in enumerate(paths, first)
            ],
        )


def test_urls_that_pages_name_wait_in_the_first_turn(store: Store) -> None:
    add(store, [("/fetched?x=1", b"1", None)])
    add_refused(store, ["/refused?x=1", "/refused?x=2"])
    add(store, [("/late?x=1", None, None), ("/late?x=2", None, None)])
    with store.connection.begin():
        store.connection.execute(insert(frontier), [{"url_id": n, "depth": 1, "turn": 1_000} for n in (4, 5)])
        of_fetched = urls.c.id == 1
        store.connection.execute(urls.update().where(of_fetched).values(state=int(UrlState.EXHAUSTED)))
        named = ["/fetched?x=1", "/refused?x=2", "/late?x=2", "/unknown"]
        assert bring_forward(store.connection, [SITE + path for path in named]) == 1
        states = dict(store.connection.execute(select(urls.c.id, urls.c.state)).all())
        turns = dict(store.connection.execute(select(frontier.c.url_id, frontier.c.turn)).all())
    admitted, exhausted = int(UrlState.ADMITTED), int(UrlState.EXHAUSTED)
    assert states == {1: exhausted, 2: int(UrlState.REPEATS), 3: admitted, 4: admitted, 5: admitted}
    assert turns == {3: 0, 4: 1_000, 5: 0}


def kind(name: str, number: int) -> list[str]:
    return [f"/{name}?id={value}" for value in range(number)]


def refusing(*groups: tuple[str, int], earlier: Iterable[str] = ()) -> TrapDetector:
    """Return the traps of a run that refuses some kinds of URLs, given with the number of pages that were new."""
    traps = TrapDetector(5_000, applies=lambda _: True)
    for name, new in groups:
        group = f"{SITE}/{name}?id"
        traps.yields.refused.add(group)
        traps.yields.compared[group] = (100, new)
    traps.yields.left_out.earlier.update(f"{SITE}/{name}?id" for name in earlier)
    return traps


def sample(store: Store, traps: TrapDetector, *, run: int = 1) -> dict[str, list[int]]:
    """Return the values of the parameters of the chosen URLs, by path."""
    with store.connection.begin():
        ids, _ = sample_repeating(store.connection, traps, known=(), run=run)
        chosen = store.connection.scalars(select(urls.c.url).where(urls.c.id.in_(ids))).all()
    assert len(ids) == len(set(ids))
    values: dict[str, list[int]] = {}
    for url in chosen:
        values.setdefault(urlsplit(url).path.strip("/"), []).append(int(url.partition("=")[2]))
    return values


def test_each_refused_kind_has_samples_however_many_others_have_more(store: Store) -> None:
    many = [f"kind{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    for name in many:
        add_refused(store, kind(name, 200))
    add_refused(store, kind("few", 20))
    chosen = sample(store, refusing(*((name, 2) for name in many), ("few", 0)))
    assert len(chosen["few"]) == MIN_GROUP_SAMPLES
    assert all(MIN_GROUP_SAMPLES < len(chosen[name]) < MAX_GROUP_SAMPLES for name in many)


def test_pages_are_revisited_however_many_samples_the_run_has(store: Store) -> None:
    many = [f"kind{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    for name in many:
        add_refused(store, kind(name, 200))
    add(store, [(path, b"1", None) for path in kind("week", 20)])
    with store.connection.begin():
        weeks = urls.c.url.contains("/week?")
        store.connection.execute(urls.update().where(weeks).values(state=int(UrlState.REPEATS)))
    traps = refusing(*((name, 1) for name in many), ("week", 1), earlier=["week"])
    assert len(sample(store, traps, run=2)["week"]) == MAX_REVISITED


def test_samples_are_different_and_spread_over_the_urls_of_a_kind(store: Store) -> None:
    add_refused(store, [*kind("small", 30), *kind("dry", 100), *kind("first", 100)])
    chosen = sample(store, refusing(("small", 2), ("dry", 0), ("first", 1)))
    assert sorted(chosen["small"]) == list(range(30))
    assert len(chosen["first"]) == FEW_GROUP_SAMPLES
    assert {value // 20 for value in chosen["dry"]} == set(range(5))


def test_new_urls_of_a_kind_that_has_yielded_are_sampled_in_later_runs(store: Store) -> None:
    """A forum has new topics, although its known ones have many further addresses."""
    for name in ("topic", "dry"):
        add_refused(store, kind(name, 200))
        add_refused(store, [f"/{name}?id={number}" for number in range(1_000, 1_100)], first_seen=2)
    traps = refusing(("topic", 80), ("dry", 0), earlier=["topic", "dry"])
    chosen = sample(store, traps, run=2)
    assert MAX_NEW_SAMPLES <= len(chosen["topic"]) <= MAX_NEW_SAMPLES + 1
    assert len([number for number in chosen["topic"] if number >= 1_000]) >= MAX_NEW_SAMPLES
    assert len(chosen["dry"]) == 1
    assert len(sample(store, traps, run=3)["topic"]) == 1


def add_unrequested(store: Store, paths: Iterable[str]) -> None:
    """Store URLs that were left out when a run ended."""
    add_refused(store, paths)
    with store.connection.begin():
        refused_before = urls.c.state == int(UrlState.REPEATS)
        store.connection.execute(urls.update().where(refused_before).values(state=int(UrlState.EXHAUSTED)))


def left_out(store: Store, traps: TrapDetector | None = None) -> set[str]:
    """Return the fetched pages that the second run leaves out, as they have shown nothing new."""
    with store.connection.begin():
        refuse_repeating(store.connection, traps or TrapDetector(5_000, applies=lambda _: True), run=2)
        seen = select(urls.c.url).join(observations, observations.c.url_id == urls.c.id)
        found = store.connection.scalars(seen.where(urls.c.state == int(UrlState.EXHAUSTED)))
        return {url.removeprefix(SITE) for url in found}


REPEATS = {NoteKind.REPEATS: 0}


@pytest.mark.parametrize(("unrequested", "falls"), [(1, False), (2, True)])
def test_pages_are_left_out_with_their_shape_if_a_tenth_of_it_was_not_requested(
    store: Store, unrequested: int, falls: bool
) -> None:
    views = [f"/view/{number}" for number in range(20)]
    add(store, [(path, b"1", None) for path in views], notes=REPEATS)
    add(store, [("/view/100", b"2", None), ("/about", b"3", None)])
    add_unrequested(store, [f"/view/{number}" for number in range(200, 200 + unrequested)])
    assert left_out(store) == (set(views) if falls else set())


def test_pages_that_the_run_before_has_listed_stay_if_only_their_shape_is_left_out(store: Store) -> None:
    add(store, [(f"/view/{number}", b"1", None) for number in range(4)], notes=REPEATS)
    add_unrequested(store, ["/view/100"])
    with store.connection.begin():
        store.connection.execute(
            insert(runs).values(
                id=1,
                requested_url=SITE,
                start_url=SITE,
                sitemap_url=SITE,
                started=NOW,
                ended_by=SAW_EVERYTHING,
            )
        )
        listed = [{"url_id": number, "decision": "listed", "reason": "listed", "since": 1} for number in (1, 2)]
        store.connection.execute(insert(decisions), listed)
    assert left_out(store) == {"/view/2", "/view/3"}
    # A run that --max-pages has ended may have listed pages of whose shape it had not seen enough.
    with store.connection.begin():
        store.connection.execute(runs.update().values(ended_by=ENDED_AT_LIMIT))
    assert left_out(store) == {f"/view/{number}" for number in range(4)}


def test_pages_of_a_shape_that_an_earlier_run_has_left_out_are_listed_if_they_show_something_new(store: Store) -> None:
    """All URLs of the shape were requested meanwhile, as samples had shown something new."""
    add(store, [(f"/view/{number}", b"1", None) for number in range(4)], notes=REPEATS)
    add(store, [("/view/100", b"2", None)])
    traps = TrapDetector(5_000, applies=lambda _: True)
    traps.yields.begin([f"{SITE}/view/7"])
    assert left_out(store, traps) == {f"/view/{number}" for number in range(4)}


def test_a_page_that_is_left_out_is_the_simplest_url_of_its_path_all_the_same(store: Store) -> None:
    add(store, [("/log/1", b"1", texts_of(1, 2)), ("/log/1?view=1", b"1", texts_of(1, 2)), ("/log/2", b"2", None)])
    with store.connection.begin():
        of_page = urls.c.url == f"{SITE}/log/1"
        store.connection.execute(urls.update().where(of_page).values(state=int(UrlState.EXHAUSTED)))
    assert refused(store) == {"/log/1?view=1"}
