"""Many entries at once become the same files as each by itself, however they come."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemap_crawler.inventory.decisions import FEW_ROWS, DecisionStore
from sitemap_crawler.inventory.store import open_store
from sitemap_crawler.sitemap.entry import Entry, PlainEntries, serialise, serialise_plain
from sitemap_crawler.sitemap.escaping import escape, rfc3986, urls_in_xml
from sitemap_crawler.sitemap.live_set import publish
from sitemap_crawler.sitemap.records import Publication, Target
from sitemap_crawler.validation.entries import read_entries
from tests.support.inventories import change
from tests.support.made_inventory import add_pages, make_inventory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BASE = "https://example.com/"
NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
ANY_TEXT = st.text(st.characters(exclude_categories=()))
ANY_URL = st.one_of(ANY_TEXT, st.text("ab/?&'%[]|\n<é", max_size=8))


@pytest.mark.parametrize(
    ("urls", "written"),
    [
        ([], []),
        (["https://example.com/"], ["https://example.com/"]),
        (["/?a&b", "/it's", ""], ["/?a&amp;b", "/it&apos;s", ""]),
        (["/a", "/[b]&c", "/d&e"], ["/a", "/%5Bb%5D&amp;c", "/d&amp;e"]),
        (["/a\n/b", "/c"], ["/a%0A/b", "/c"]),
        (["/\ud800", "/é"], ["/%3F", "/%C3%A9"]),
    ],
)
def test_urls_in_xml(urls: list[str], written: list[str]) -> None:
    assert urls_in_xml(urls) == written


@given(st.lists(ANY_URL))
def test_urls_at_once_are_as_each_by_itself(urls: list[str]) -> None:
    assert urls_in_xml(urls) == [escape(rfc3986(url)) for url in urls]


@given(st.lists(st.tuples(ANY_URL, st.none() | ANY_TEXT, st.lists(ANY_URL, max_size=3))))
@example([("/a", "2024-05-06", []), ("/b&c", None, ["/1", "/2"]), ("/d", "<", ["/é"]), ("/e", None, [])])
def test_entries_at_once_are_as_each_by_itself(pages: list[tuple[str, str | None, list[str]]]) -> None:
    plain = PlainEntries(*(list(column) for column in zip(*pages, strict=True))) if pages else PlainEntries([], [], [])
    assert serialise_plain(plain) == [serialise(Entry(loc, date, tuple(images))) for loc, date, images in pages]


def test_a_thousand_images_at_most() -> None:
    images = [f"/{number}.png" for number in range(1_001)]
    first, second = serialise_plain(PlainEntries(["/a", "/b"], [None, None], [images, ["/last.png"]]))
    assert first.count(b"<image:loc>") == 1_000
    assert b"/1000.png" not in first
    assert second.count(b"<image:loc>") == second.count(b"/last.png") == 1


def plain(locs: Sequence[str]) -> PlainEntries:
    return PlainEntries(locs, [None] * len(locs), [()] * len(locs))


def locs_in(directory: Path, publication: Publication) -> dict[str, list[str]]:
    """What each file lists, by its name."""
    return {
        file.name: [entry.loc.removeprefix(BASE) for entry in read_entries((directory / file.name).read_bytes())]
        for file in publication.files
        if file.urls
    }


def published(directory: Path, entries: Sequence[Entry | PlainEntries], **limits: int) -> Publication:
    return publish(entries, Target(directory, f"{BASE}map.xml", **limits), (), NOW)


def test_files_are_filled_to_their_limit(tmp_path: Path) -> None:
    names = [f"{number:02}" for number in range(25)]
    publication = published(tmp_path, [plain([BASE + name for name in names])], max_urls=10)
    assert publication.listed == 25
    assert locs_in(tmp_path, publication) == {
        "map-1.xml": names[:10],
        "map-2.xml": names[10:20],
        "map-3.xml": names[20:],
    }


def test_bytes_are_counted_exactly(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d", "e"]
    entry = len(f"<url><loc>{BASE}a</loc></url>\n")
    frame = published(tmp_path / "one", [Entry(BASE + "a")]).files[0].bytes - entry
    runs = [plain([BASE + name for name in names[:2]]), plain([BASE + name for name in names[2:]])]
    fits = published(tmp_path / "two", runs, max_bytes=frame + 2 * entry)
    assert list(locs_in(tmp_path / "two", fits).values()) == [["a", "b"], ["c", "d"], ["e"]]
    one_less = published(tmp_path / "three", runs, max_bytes=frame + 2 * entry - 1)
    assert list(locs_in(tmp_path / "three", one_less).values()) == [[name] for name in names]


def test_what_fits_no_file_is_left_out_alone(tmp_path: Path) -> None:
    too_long = BASE + "b" * 2_048
    too_large = BASE + "d" * 1_900
    locs = [BASE + "a", too_long, BASE + "c", too_large, BASE + "e"]
    publication = published(tmp_path, [plain(locs)], max_bytes=2_000)
    assert publication.omitted == (too_long, too_large)
    assert (publication.listed, locs_in(tmp_path, publication)) == (3, {"map.xml": ["a", "c", "e"]})


def test_plain_entries_between_others_keep_their_place(tmp_path: Path) -> None:
    names = [f"{number:02}" for number in range(12)]
    rich = {names[at]: Entry(BASE + names[at], priority="0.5") for at in (0, 5, 6, 11)}
    mixed = [rich["00"], plain([BASE + name for name in names[1:5]]), rich["05"], rich["06"]]
    mixed += [plain([BASE + name for name in names[7:11]]), rich["11"]]
    publication = published(tmp_path, mixed, max_urls=5)
    assert list(locs_in(tmp_path, publication).values()) == [names[:5], names[5:10], names[10:]]


def test_few_pages_at_a_time_where_each_has_much(tmp_path: Path) -> None:
    """So that memory does not depend on what pages hold."""
    path = make_inventory(tmp_path / "made.sqlite", BASE)
    add_pages(path, ((number, f"{BASE}{number:03}", 200, None) for number in range(1, 121)))
    change(path, f"""UPDATE observations SET extras = '{{"images": ["/{"a" * 50_000}"]}}'""")
    store = open_store(path)
    batches = list(DecisionStore(store, 1, saw_everything=True, orphan_runs=2, keep_errors=7).listed())
    store.close()
    assert [url for batch in batches for url in batch.urls] == [f"{BASE}{number:03}" for number in range(1, 121)]
    assert max(len(batch.ids) for batch in batches) == FEW_ROWS < 120
