"""What counts as a trap, and what does not: addresses, combinations of parameters, pages that are all alike."""

from __future__ import annotations

import random
from uuid import UUID

import pytest

from sitemap_crawler.traps.detector import Trap, TrapDetector, trap_evidence
from sitemap_crawler.traps.learner import FIRST_EPOCH
from sitemap_crawler.traps.shapes import shape_of

HOST = "https://www.example.com"


def feed(traps: TrapDetector, pages: list[tuple[str, bytes, list[str]]]) -> int | None:
    """The number of pages after which a trap was learnt."""
    for number, (url, content, links) in enumerate(pages, 1):
        suspect = traps.suspect(url)
        if suspect is not None:
            traps.learn(suspect, content if suspect.needs_content else None, links)
        if traps.learnt:
            return number
    return None


def everything() -> TrapDetector:
    return TrapDetector(5_000, applies=lambda _: True)


def test_pages_that_are_all_alike_are_a_trap() -> None:
    traps = everything()
    pages = [(f"{HOST}/list?offset={10 * number}", b"nothing", []) for number in range(500)]
    assert feed(traps, pages) == FIRST_EPOCH
    assert traps.refusal(f"{HOST}/list?offset=9") is None
    traps.apply_learnt()
    assert traps.refusal(f"{HOST}/list?offset=9") is Trap.ENDLESS
    assert traps.refusal(f"{HOST}/list?page=9") is None
    later = everything()
    later.add_known(traps.known)
    assert later.refusal(f"{HOST}/list?offset=8") is Trap.ENDLESS


def test_a_group_that_a_run_has_opened_again_is_not_refused_by_what_is_stored() -> None:
    traps = everything()
    traps.yields.refuse([f"{HOST}/list?sort", f"{HOST}/list?view"])
    stored = traps.known
    traps.yields.reopen([f"{HOST}/list?sort"])
    traps.add_known(stored)
    later = everything()
    later.add_known(stored)
    later.restore_counts(traps.counts)
    for each in (traps, later):
        assert (each.yields.refused, each.yields.reopened) == ({f"{HOST}/list?view"}, {f"{HOST}/list?sort"})


def test_good_pages_first_delay_the_verdict_in_proportion() -> None:
    good = [(f"{HOST}/list?offset={number}", b"%d" % number, []) for number in range(300)]
    empty = [(f"{HOST}/list?offset={number}", b"nothing", []) for number in range(300, 3_000)]
    found = feed(everything(), good + empty)
    assert found is not None
    assert 400 <= found <= 900


@pytest.mark.parametrize("share", [0.06, 0.5, 1.0])
def test_pages_that_differ_are_none(share: float) -> None:
    pages = [
        (f"{HOST}/list?offset={number}", b"%d" % (number if number * share % 1 < share else 0), [])
        for number in range(3_000)
    ]
    assert feed(everything(), pages) is None


def test_few_contents_are_asked_for_where_pages_differ() -> None:
    traps = everything()
    asked = 0
    for number in range(10_000):
        suspect = traps.suspect(f"{HOST}/list?offset={number}")
        assert suspect is not None
        asked += suspect.needs_content
        traps.learn(suspect, b"%d" % number if suspect.needs_content else None)
    assert asked <= 0.06 * 10_000


def token_of(number: int) -> str:
    return random.Random(number).randbytes(16).hex() + "a1b2"


def test_session_ids_are_learnt_and_each_page_is_fetched_once_more() -> None:
    pages = []
    for number in range(1_000):
        fresh = token_of(number + 10_000)
        links = [f"{HOST}/page/{n}?sid={fresh}" for n in range(20)]
        pages.append((f"{HOST}/page/{number % 20}?sid={token_of(number)}", b"%d" % (number % 20), links))
    traps = everything()
    assert feed(traps, pages) == 20 + 30
    traps.apply_learnt()
    traps.admit_session(pages[3][0])
    assert traps.refusal(f"{HOST}/page/3?sid={token_of(77)}") is Trap.SESSION
    assert traps.refusal(f"{HOST}/page/21?sid={token_of(78)}") is None
    assert traps.refusal(f"{HOST}/page/21?sid={token_of(79)}") is Trap.SESSION
    assert traps.refusal(f"{HOST}/page/21") is None


@pytest.mark.parametrize("alike", [True, False])
def test_items_are_no_sessions(alike: bool) -> None:
    """Items that link to their own pages and to others, whether or not all of them say the same."""
    ids = [str(UUID(int=random.Random(number).getrandbits(128), version=4)) for number in range(1_000)]
    pages = []
    for number, item in enumerate(ids):
        links = [f"{HOST}/item/{item}/reviews", f"{HOST}/item/{item}", f"{HOST}/item/{ids[number - 1]}"]
        pages.append((f"{HOST}/item/{item}", b"item" if alike else item.encode(), links))
    traps = everything()
    assert feed(traps, pages) is None
    suspect = traps.suspect(f"{HOST}/item/{ids[0]}")
    assert suspect is not None
    assert not suspect.needs_content


def test_what_is_excepted_is_never_refused() -> None:
    traps = TrapDetector(0, applies=lambda url: "/keep/" not in url)
    traps.add_known({"endless": [f"{HOST}/keep/?offset={{number}}", f"{HOST}/list?offset={{number}}"]})
    assert traps.refusal(f"{HOST}/keep/?offset=1") is None
    assert traps.refusal(f"{HOST}/list?offset=1") is Trap.ENDLESS


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((30, 0), "only lead to pages that repeat others: 30 pages were compared, none showed anything new"),
        ((757, 384), "lead to many pages that repeat others: 757 pages were compared, 384 showed anything new"),
        ((144, 20), "mostly lead to pages that repeat others: 144 pages were compared, 20 showed anything new"),
    ],
)
def test_the_evidence_says_whether_a_refused_shape_has_yielded(counts: tuple[int, int], words: str) -> None:
    url = "https://www.example.com/topic?post=5"
    evidence = trap_evidence(Trap.REPEATS, url, {shape_of(url).groups[0]: counts})
    assert evidence == f"trap: the URLs of /topic with post {words}"
