"""Images that are on nearly all pages, on made sites: which are left out, and when they return."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.inventory import template_images as module
from sitemap_crawler.inventory.template_images import (
    MAX_FREQUENT,
    SAMPLE,
    count_pages,
    frequent_images,
    select_template_images,
    store_template_images,
    template_images,
)
from sitemap_crawler.sitemap.limits import MAX_IMAGES
from tests.support.inventories import connect, open_store
from tests.support.made_inventory import add_pages, make_inventory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SITE = "https://example.com/"
LOGO, ICON, PHOTO = (f"{SITE}{name}.png" for name in ("logo", 'icon"é', "photo"))
LARGE = 3 * SAMPLE


class Made:
    """A made site, whose pages have the numbers from 1 on."""

    def __init__(self, path: Path, listed: int, *, gone: int = 0) -> None:
        self.path = make_inventory(path, SITE)
        self.listed = listed
        numbers = range(1, listed + gone + 1)
        add_pages(
            path,
            [(number, f"{SITE}{number % 7}/{number}", 200 if number <= listed else 404, None) for number in numbers],
        )

    def show(self, images_of: Callable[[int], list[str]], *, more: dict[str, object] | None = None) -> None:
        """Pages without images have nothing to say, unless `more` is told of them."""
        with closing(connect(self.path)) as connection:
            for (number,) in connection.execute("SELECT id FROM urls").fetchall():
                images = images_of(number)
                extras = {**({"images": images} if images else {}), **(more or {})}
                value = json.dumps(extras) if extras else None
                connection.execute("UPDATE observations SET extras = ? WHERE url_id = ?", (value, number))
            connection.commit()

    def template(self, *, remember: bool = False) -> set[str]:
        store = open_store(self.path)
        try:
            found = template_images(store.connection, listed=self.listed)
            if remember:
                store_template_images(store.connection, found)
        finally:
            store.close()
        return set(found)


@pytest.mark.parametrize(
    ("count", "listed", "remembered", "left_out"),
    [
        (50, 50, False, True),
        (45, 50, False, True),
        (44, 50, False, False),
        (44, 50, True, True),
        (35, 50, True, True),
        (34, 50, True, False),
        (49, 49, False, False),
        (49, 49, True, False),
        (90, 100, False, True),
        (89, 100, False, False),
        (70, 100, True, True),
        (69, 100, True, False),
        (900_000, 1_000_000, False, True),
        (899_999, 1_000_000, False, False),
        (0, 50, True, False),
    ],
)
def test_the_rule(count: int, listed: int, remembered: bool, left_out: bool) -> None:
    found = select_template_images({LOGO: count}, listed=listed, remembered={LOGO} if remembered else ())
    assert found == ({LOGO} if left_out else set())


@pytest.mark.parametrize(("with_icon", "left_out"), [(54, {LOGO, ICON}), (53, {LOGO})])
def test_a_small_site(tmp_path: Path, with_icon: int, left_out: set[str]) -> None:
    made = Made(tmp_path / "s", 60, gone=40)
    # What the pages show that are not listed counts for nothing.
    made.show(
        lambda number: (
            [LOGO, f"{SITE}{number}.png", *[ICON] * (number <= with_icon), *[PHOTO] * (number > 6)]
            if number <= 60
            else [PHOTO]
        )
    )
    assert made.template() == left_out | {PHOTO}


def test_only_the_images_of_pages_count(tmp_path: Path) -> None:
    made = Made(tmp_path / "s", 60)
    made.show(lambda _: [], more={"videos": [{"thumbnail_loc": PHOTO}], "image_texts": {ICON: ["Icon", ""]}})
    assert made.template() == set()
    made.show(lambda number: [LOGO] if number > 7 else [], more={"videos": [{"thumbnail_loc": LOGO}]})
    assert made.template() == set()


def test_nothing_is_left_out_of_a_site_without_images(tmp_path: Path) -> None:
    made = Made(tmp_path / "s", 60)
    assert made.template() == set()


def test_once_left_out_it_returns_below_seventy_percent(tmp_path: Path) -> None:
    made = Made(tmp_path / "s", 100)
    for number_of_pages, left_out in [(89, False), (90, True), (70, True), (69, False), (89, False), (90, True)]:
        made.show(lambda number, last=number_of_pages: [LOGO] if number <= last else [PHOTO])
        assert made.template(remember=True) == ({LOGO} if left_out else set())


def test_a_site_that_became_small_forgets(tmp_path: Path) -> None:
    made = Made(tmp_path / "s", 60)
    made.show(lambda _: [LOGO])
    assert made.template(remember=True) == {LOGO}
    made.listed = 49
    assert made.template(remember=True) == set()
    made.listed = 60
    made.show(lambda number: [LOGO] if number <= 50 else [])
    assert made.template() == set()


def test_what_is_asked_is_not_remembered(tmp_path: Path) -> None:
    made = Made(tmp_path / "s", 100)
    made.show(lambda _: [LOGO])
    assert made.template() == {LOGO}
    made.show(lambda number: [LOGO] if number <= 80 else [])
    assert made.template() == set()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """More pages than a sample has."""
    return Made(tmp_path_factory.mktemp("large") / "s", LARGE, gone=LARGE)


TENTH = LARGE // 10


@pytest.mark.parametrize(
    "without",
    [
        pytest.param(lambda number: number <= TENTH, id="the first pages"),
        pytest.param(lambda number: number > LARGE - TENTH, id="the last pages"),
        pytest.param(lambda number: number % 10 == 0, id="each tenth page"),
        pytest.param(lambda number: number % 7 == 3 and number <= 7 * TENTH, id="most of one directory"),
    ],
)
@pytest.mark.parametrize("more", [0, 1])
def test_on_a_large_site_all_pages_are_counted(large: Made, without: Callable[[int], bool], more: int) -> None:
    """Exactly 90 % of the pages, wherever the others are, and one page less."""
    assert sum(map(without, range(1, LARGE + 1))) == TENTH
    one = next(number for number in range(1, LARGE + 1) if not without(number))
    large.show(
        lambda number: (
            [f"{SITE}{number}.png"] if number > LARGE or without(number) or (more and number == one) else [ICON, LOGO]
        )
    )
    assert large.template() == (set() if more else {LOGO, ICON})


def test_on_a_large_site_what_was_left_out_stays_out(large: Made) -> None:
    large.show(lambda number: [LOGO, ICON] if number <= LARGE * 7 // 10 else [PHOTO])
    assert large.template() == set()
    store = open_store(large.path)
    store_template_images(store.connection, {LOGO, PHOTO})
    store.close()
    assert large.template(remember=True) == {LOGO}
    # Even where no page of the sample has it, it is counted.
    large.show(lambda _: [])
    assert large.template(remember=True) == set()


def test_without_candidates_the_pages_are_not_counted(large: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(module, "_images_of_all", fail)
    large.show(lambda number: [f"{SITE}{number % 3}.png"])
    assert large.template() == set()
    large.show(lambda _: [LOGO])
    with pytest.raises(AssertionError):
        large.template()


@given(st.lists(st.sets(st.integers(0, 30).map(str), max_size=6), max_size=40), st.integers(3, 12))
def test_what_is_on_more_than_half_of_the_pages_is_frequent(pages: list[set[str]], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_FREQUENT", 2 * 6)
        found = frequent_images(pages)
        counts = count_pages(pages, {image for images in pages for image in images})
        assert {image for image, count in counts.items() if 2 * count > len(pages)} <= found
        patch.setattr(module, "MAX_FREQUENT", size)
        assert len(frequent_images(pages)) <= size


def test_a_flood_of_images_hides_no_logo_and_takes_no_memory() -> None:
    """Each page has as many images as may be stored, all but one its own; nearly half of them lack the logo."""
    pages = 101
    site = (
        [*([LOGO] if number % 2 == 0 else [ICON]), *(f"{number}/{image}" for image in range(MAX_IMAGES - 1))]
        for number in range(pages)
    )
    found = frequent_images(site)
    assert LOGO in found
    assert len(found) <= MAX_FREQUENT
