"""Whether the last pages of a run have shown anything new."""

from __future__ import annotations

import json

from sitemap_crawler.traps.progress import FEW_PAGES, LATE_WINDOW, MAX_LATE_DRY, MAX_POOR_ROUNDS, MIN_WINDOW, Progress


def progress_of(*counts: tuple[int, bool]) -> Progress:
    """Return the progress of a run with so many pages that are new or not, one after the other."""
    progress = Progress()
    for number, is_new in counts:
        for _ in range(number):
            progress.count(is_new=is_new)
    return progress


def test_a_run_is_exhausted_when_its_last_pages_showed_nothing_new() -> None:
    assert not progress_of((100, True), (MIN_WINDOW - 100, False)).is_exhausted
    assert progress_of((100, True), (MIN_WINDOW, False)).is_exhausted
    assert not progress_of((100, True), (MIN_WINDOW, False), (100, True)).is_exhausted


def test_a_long_run_needs_a_third_of_its_pages_without_anything_new() -> None:
    assert not progress_of((8_000, True), (3_900, False)).is_exhausted
    assert progress_of((8_000, True), (4_100, False)).is_exhausted


def test_many_pages_of_later_turns_without_anything_new_end_a_run_whatever_others_show() -> None:
    """A browser of code has each file under the hash of each commit, and comparisons of versions between them."""
    progress = progress_of((20_000, True))
    for number in range(MAX_LATE_DRY):
        assert not progress.is_exhausted
        progress.count(is_new=False, is_late=True)
        progress.count(is_new=number % 10 == 0)
    assert progress.is_exhausted
    later = Progress()
    later.restore(json.loads(json.dumps(progress.counts)))
    assert later.is_exhausted
    later.count(is_new=True, is_late=True)
    assert not later.is_exhausted


def test_one_page_in_a_hundred_keeps_no_run_alive() -> None:
    rare = [(1, True), (99, False)] * 10
    assert progress_of((100, True), *rare, (100, False)).is_exhausted
    assert not progress_of((100, True), *rare, *rare, (100, True)).is_exhausted


def test_a_later_process_knows_when_the_last_pages_have_yielded() -> None:
    """So that a run that is interrupted and resumed goes on as long as its pages show anything new."""
    progress, twin = progress_of((2 * MIN_WINDOW, True)), Progress()
    twin.restore(json.loads(json.dumps(progress.counts)))
    assert not twin.is_exhausted
    for page in range(2 * MIN_WINDOW):
        for each in (progress, twin):
            each.count(is_new=False)
        assert progress.is_exhausted == twin.is_exhausted, page
    assert twin.is_exhausted


def test_a_few_urls_are_requested_before_a_run_ends() -> None:
    progress = progress_of((MIN_WINDOW, False))
    assert not progress.ends(lambda: FEW_PAGES)
    assert progress.ends(lambda: FEW_PAGES + 1)
    # Each of them leads to the next one.
    for _ in range(FEW_PAGES - 1):
        progress.count(is_new=False)
    assert not progress.ends(lambda: 1)
    later = Progress()
    later.restore(json.loads(json.dumps(progress.counts)))
    later.count(is_new=False)
    assert later.ends(lambda: 1)


def test_what_came_back_after_urls_were_left_out_has_to_earn_its_requests() -> None:
    """A browser of code always has some comparisons that show a new line."""
    rare = [(1, True), (49, False)]
    progress = progress_of((1_000, True), (MIN_WINDOW, False))
    assert progress.ends(lambda: 1_000)
    for _ in range(100):
        progress.count(is_new=True)
    for count, is_new in rare * (LATE_WINDOW // 50):
        assert not progress.is_exhausted
        for _ in range(count):
            progress.count(is_new=is_new)
    later = Progress()
    later.restore(json.loads(json.dumps(progress.counts)))
    for each in (progress, later):
        assert each.ends(lambda: 1_000)
    assert not progress_of((1_000, True), (MIN_WINDOW, False), (100, True), *rare * 20).ends(lambda: 1_000)


def test_groups_that_seldom_yield_are_not_sampled_for_ever() -> None:
    progress = progress_of((1_000, True))

    def rounds(number: int, *, new: int) -> list[bool]:
        again = []
        for _ in range(number):
            for page in range(90):
                progress.count(is_new=page < new)
            again.append(progress.begin_round())
        return again

    assert rounds(1, new=0) == [True]
    assert rounds(MAX_POOR_ROUNDS - 1, new=3) == [True] * (MAX_POOR_ROUNDS - 1)
    assert rounds(1, new=4) == [True]
    assert rounds(MAX_POOR_ROUNDS + 1, new=3) == [*[True] * MAX_POOR_ROUNDS, False]
    assert rounds(1, new=4) == [True]


def test_a_run_that_yields_goes_on() -> None:
    assert not progress_of((2 * MIN_WINDOW, True)).ends(lambda: 1_000_000)


def test_a_run_that_yields_again_requests_a_few_urls_once_more() -> None:
    progress = progress_of((MIN_WINDOW, False))
    assert not progress.ends(lambda: 1)
    for count, is_new in ((FEW_PAGES, True), (MIN_WINDOW, False)):
        for _ in range(count):
            progress.count(is_new=is_new)
        assert not progress.ends(lambda: 1)
    assert progress.is_exhausted
