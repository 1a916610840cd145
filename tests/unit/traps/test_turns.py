"""The turns in which URLs are requested, and which URLs wait for all others."""

from __future__ import annotations

from itertools import count

import pytest

from sitemap_crawler.traps.group_counts import RARE_SAMPLES
from sitemap_crawler.traps.groups import PLAIN_SAMPLES, SAMPLES
from sitemap_crawler.traps.turns import LAST_TURN, LATE_TURN, MANY_DRY, NAME_TURNS, OWN_PLAIN_SAMPLES, TURN_URLS
from sitemap_crawler.traps.yields import Yields
from tests.support.shown_pages import HOST, show, texts_of


def test_shapes_take_turns() -> None:
    yields = Yields()
    assert [yields.admit(f"{HOST}/page-about-{'abc'[n]}") for n in range(3)] == [0, 0, 0]
    turns = [yields.admit(f"{HOST}/list?page={number}") for number in range(3 * TURN_URLS)]
    assert turns == sorted(turns)
    assert len(set(turns)) > 2
    assert min(turns) >= NAME_TURNS > 0
    assert yields.admit(f"{HOST}/list?page=1&sort=a") > max(turns)
    assert yields.admit(f"{HOST}/list/deeper?page=1") > yields.admit(f"{HOST}/other?page=1")


def test_plain_pages_that_repeat_others_wait_for_all_others() -> None:
    yields = Yields()
    show(yields, "/", 1, 2, 3)
    number = count(1_000)
    for day in range(PLAIN_SAMPLES):
        assert not yields.turns.is_postponed(f"{HOST}/day/{day}")
        show(yields, f"/day/{day}", 1, 2)
        show(yields, f"/article/{day}", next(number))
    assert yields.turns.is_postponed(f"{HOST}/day/1000")
    assert yields.admit(f"{HOST}/day/1000") > yields.admit(f"{HOST}/list?page=1&sort=a")
    assert not yields.turns.is_postponed(f"{HOST}/article/1000")
    # A shape that is new has its own samples first, and a page of no row is no sample.
    assert not yields.turns.is_postponed(f"{HOST}/night/1000")
    assert not yields.turns.is_postponed(f"{HOST}/contact")
    yields.add(f"{HOST}/day/1000", texts_of(1, 2), "A title that no page had", (), is_listable=True)
    assert not yields.turns.is_postponed(f"{HOST}/day/1001")


def test_a_row_of_which_few_pages_yield_waits_whenever_they_came() -> None:
    yields = Yields()
    show(yields, "/", 1, 2, 3)
    for day in range(RARE_SAMPLES):
        assert not yields.turns.is_postponed(f"{HOST}/day/1000")
        show(yields, f"/day/{day}", *((1_000 + day,) if day in (45, 95, 148) else (1, 2)))
    assert yields.turns.is_postponed(f"{HOST}/day/1000")
    # One more of them brings no hundred others back.
    show(yields, "/day/1000", 2_000)
    assert (yields.turns.is_postponed(f"{HOST}/day/1001"), yields.turns.has_returned) == (True, False)
    for day in (1001, 1002, 1003):
        show(yields, f"/day/{day}", 2_000 + day)
    assert (yields.turns.is_postponed(f"{HOST}/day/1004"), yields.turns.has_returned) == (False, True)


def show_titled(yields: Yields, path: str, *numbers: int) -> None:
    """Show a page without new texts, with a title of its own."""
    yields.add(f"{HOST}{path}", texts_of(*numbers), path, (), is_listable=True)


def test_titles_of_single_pages_prove_nothing_for_their_neighbours() -> None:
    """A repository has thousands of views of files whose texts are known, each with a title of its own."""
    yields = Yields()
    show(yields, "/", 1, 2, 3)
    for number in range(PLAIN_SAMPLES):
        assert not yields.turns.is_postponed(f"{HOST}/blob/{number}/new")
        show_titled(yields, f"/blob/{number}/{'a' * (number + 1)}", 1, 2)
    # Each file still has pages of its own first.
    for number in range(OWN_PLAIN_SAMPLES):
        assert not yields.turns.is_postponed(f"{HOST}/blob/{number}/new")
        show(yields, f"/blob/{number}/new", 1, 2)
    assert yields.turns.is_postponed(f"{HOST}/blob/1000/new")


@pytest.mark.parametrize("version", ["58cc8b3", "c6f1f22a0f57", "58cc8b3f0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f"])
def test_a_title_with_the_hash_of_a_version_is_that_of_the_other_versions(version: str) -> None:
    yields = Yields()
    show_titled_page(yields, "file at 04458db8c21e")
    assert show_titled_page(yields, f"file at {version}") == 0
    assert show_titled_page(yields, "file at 20261128") is None, "a number is no hash"
    assert show_titled_page(yields, "file at defaced") is None, "a word is none either"


def show_titled_page(yields: Yields, title: str) -> int | None:
    return yields.add(f"{HOST}/file/1", texts_of(1, 2), title, (), is_listable=True)[0]


def test_pages_that_differ_by_their_titles_are_not_postponed() -> None:
    yields = Yields()
    show(yields, "/", 1, 2, 3)
    for number in range(10 * PLAIN_SAMPLES):
        show_titled(yields, f"/video/{number}", 1, 2)
        assert not yields.turns.is_postponed(f"{HOST}/video/{number + 1}")


def test_a_page_with_parameters_that_yields_brings_its_plain_url_back() -> None:
    yields = Yields()
    show(yields, "/", 1, 2, 3)
    for day in range(PLAIN_SAMPLES):
        show(yields, f"/day/{day}", 1, 2)
    yields.admit(f"{HOST}/day/1000")
    show(yields, "/day/1000?view=1", 1, 2)
    assert (yields.turns.is_postponed(f"{HOST}/day/1000"), yields.turns.has_returned) == (True, False)
    show(yields, "/day/1000?view=2", 1_000)
    assert (yields.turns.is_postponed(f"{HOST}/day/1000"), yields.turns.has_returned) == (False, True)
    # The process may be killed before they do.
    later = Yields()
    later.turns.restore(yields.turns.postponed)
    assert later.turns.has_returned


def test_links_of_a_variant_are_not_new_while_its_plain_url_waits() -> None:
    """The page without parameters, which has them as well, was only not requested yet."""
    yields = Yields()
    show(yields, "/", 1, 2, 3)
    for day in range(PLAIN_SAMPLES):
        show(yields, f"/day/{day}", 1, 2)
    for day in range(SAMPLES):
        plain = f"/day/{1_000 + day}"
        assert show(yields, f"{plain}?view=a", 1, 2, links=[f"{HOST}/from{plain}"]) == 0
    assert yields.refuses(f"{HOST}/day/1000?view=a")
    # Nothing waits here.
    for letter in "abc":
        assert show(yields, f"/list-{letter}?view=b", 1, 2, links=[f"{HOST}/from-{letter}"]) is None


def test_new_shapes_wait_if_those_of_their_site_have_repeated_others_for_long() -> None:
    yields = Yields()
    show(yields, "/", 1, 2, 3)
    for day in range(MANY_DRY):
        for name in "abc":
            show(yields, f"/{name}/day/{day}", *((1_000 + day,) if name == "c" and day < 4 else (1, 2)))
    # One page of each of them is requested before further ones, and so are all of a shape that has yielded before.
    assert [yields.turns.count_request(f"{HOST}/d/day/{day}", 0) for day in range(2)] == [LATE_TURN] * 2
    assert [yields.turns.count_request(f"{HOST}/d/day/{day}", LATE_TURN) for day in range(3)] == [
        LATE_TURN,
        *[LAST_TURN] * 2,
    ]
    assert [yields.turns.count_request(f"{HOST}/c/day/{day}", 0) for day in range(100, 102)] == [LATE_TURN] * 2
    assert yields.turns.count_request(f"{HOST}/a/day/100", 0) == LAST_TURN
    assert yields.turns.count_request(f"{HOST}/e/contact", 0) == 0


def test_the_first_url_of_a_path_waits_as_the_path_does() -> None:
    """A browser of code shows each version of a file under a path of its own, and a parameter for its name."""
    yields = Yields()
    show(yields, "/", 1, 2, 3)
    for number in range(PLAIN_SAMPLES):
        url = f"{HOST}/blob/{number}?file=a"
        assert yields.admit(url) < LATE_TURN
        assert not yields.refuses(url)
        assert yields.add(url, texts_of(1, 2), "Title", (), is_listable=True) == (0, [])
    assert yields.admit(f"{HOST}/blob/1000?file=a") == LAST_TURN
    assert yields.turns.count_request(f"{HOST}/blob/1000?file=a", 0) == LAST_TURN
    assert yields.admit(f"{HOST}/blob/1001") == LAST_TURN
    # A further URL of a path is judged by its parameters.
    assert yields.admit(f"{HOST}/blob/1000?view=1") < LATE_TURN
    assert yields.admit(f"{HOST}/other/1000?file=a") < LATE_TURN
    yields.add(f"{HOST}/blob/1000?file=a", texts_of(1_000), "Title", (), is_listable=True)
    assert yields.turns.has_returned
    assert yields.admit(f"{HOST}/blob/1002?file=a") < LATE_TURN
