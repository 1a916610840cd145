"""What the inventory remembers of published files, and which of them it says holds a page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.inventory.publications import Publications, published_urls
from sitemap_crawler.sitemap.entry import Entry
from sitemap_crawler.sitemap.formats import publish_feed, publish_text
from sitemap_crawler.sitemap.live_set import publish
from sitemap_crawler.sitemap.news import NewsEntry
from sitemap_crawler.sitemap.records import Publication, PublishedFile, Target
from sitemap_crawler.sitemap.sections import Sections
from tests.support.inventories import change, open_inventory, open_store
from tests.support.made_inventory import add_pages, make_inventory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("inventories")

START = "https://www.example.com/"
NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
PATHS = ("a", "blog/b", "blog/c", "blog/d", "e", "new/f", "shop/g")


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    """All pages are listed; the ids are those of PATHS from 1 on."""
    path = make_inventory(tmp_path / "site.db", START)
    add_pages(path, [(number, START + page, 200, None) for number, page in enumerate(PATHS, 1)])
    change(path, "INSERT INTO listings (url_id) SELECT id FROM urls")
    return path


def target(tmp_path: Path) -> Target:
    return Target(tmp_path / "out", START + "sitemap.xml", max_urls=2)


def publish_sections(tmp_path: Path, sections: Sections, published: tuple[str, ...] = ()) -> Publication:
    """The images of all pages, and news of one, in files of their own."""
    section_of = sections.assigner(published)
    entries: list[Entry] = []
    for path in PATHS:
        url = START + path
        entries += [Entry(url, section=section_of(url)), Entry(url, images=(START + "i.png",), section="images")]
    news = [NewsEntry(START + "blog/c", "The Times", "en", "2024-05-06", "Title")]
    return publish(entries, target(tmp_path), (), NOW, news=news, section_signature=sections.signature)


def publish_txt(tmp_path: Path) -> Publication:
    return publish_text([START + path for path in PATHS], target(tmp_path), (), NOW)


def publish_rss(tmp_path: Path) -> Publication:
    return publish_feed(b"<rss/>\n", "rss", target(tmp_path), (), NOW, urls=3)


def remember(inventory: Path, publication: Publication) -> None:
    store = open_store(inventory)
    entry = publication.files[0]
    Publications(store.connection, inventory.parent / "out", entry.name).replace(publication.files)
    store.close()


def files_of(inventory: Path) -> dict[str, str | None]:
    with open_inventory(inventory) as opened:
        found = opened.find([START + path for path in PATHS])
        return {path: opened.file_of(found[START + path], START + path) for path in PATHS}


def test_sections_and_rules_are_remembered(inventory: Path, tmp_path: Path) -> None:
    sections = Sections.parse(["posts=/blog/"])
    publication = publish_sections(tmp_path, sections)
    store = open_store(inventory)
    publications = Publications(store.connection, tmp_path / "out", "sitemap.xml")
    publications.announce(publication.files)
    announced = publications.files()
    publications.replace(publication.files[:2])
    assert [(file.name, file.section, file.rules) for file in publications.files()] == [
        ("sitemap-1.xml", "", sections.signature),
        ("sitemap.xml", "", sections.signature),
    ]
    assert {file.name: file.section for file in announced} == {
        "sitemap.xml": "",
        "sitemap-1.xml": "",
        "sitemap-2.xml": "",
        "sitemap-posts-1.xml": "posts",
        "sitemap-posts-2.xml": "posts",
        "sitemap-images-1.xml": "images",
        "sitemap-images-2.xml": "images",
        "sitemap-images-3.xml": "images",
        "sitemap-images-4.xml": "images",
        "sitemap-news.xml": "news",
    }
    store.close()


def test_formats_are_publications_of_their_own(inventory: Path, tmp_path: Path) -> None:
    store = open_store(inventory)
    for make in (publish_txt, publish_rss):
        publication = make(tmp_path)
        Publications(store.connection, tmp_path / "out", publication.files[0].name).replace(publication.files)
    texts = Publications(store.connection, tmp_path / "out", "sitemap.txt").files()
    assert [file.name for file in texts] == ["sitemap-1.txt", "sitemap-2.txt", "sitemap-3.txt", "sitemap.txt"]
    [feed] = Publications(store.connection, tmp_path / "out", "sitemap.rss").files()
    assert (feed.section, feed.urls, feed.modified) == (".rss", 3, NOW)
    assert published_urls(store.connection) == {
        START + name for name in ("sitemap.txt", "sitemap-1.txt", "sitemap-2.txt", "sitemap-3.txt", "sitemap.rss")
    }
    store.close()


def test_the_file_of_a_page_is_looked_for_in_its_section(inventory: Path, tmp_path: Path) -> None:
    sections = Sections.parse(["posts=/blog/"])
    remember(inventory, publish_sections(tmp_path, sections))
    assert files_of(inventory) == {
        "a": "sitemap-1.xml",
        "blog/b": "sitemap-posts-1.xml",
        "blog/c": "sitemap-posts-1.xml",
        "blog/d": "sitemap-posts-2.xml",
        "e": "sitemap-1.xml",
        "new/f": "sitemap-2.xml",
        "shop/g": "sitemap-2.xml",
    }


def test_a_directory_without_a_section_is_in_the_default_one(
    inventory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sitemap_crawler.sitemap.sections.MAX_DIRECTORIES", 2)
    sections = Sections.parse([], by_directory=True, prefix=START)
    remember(inventory, publish_sections(tmp_path, sections, published=("shop",)))
    assert files_of(inventory) == {
        "a": "sitemap-1.xml",
        "blog/b": "sitemap-blog-1.xml",
        "blog/c": "sitemap-blog-1.xml",
        "blog/d": "sitemap-blog-2.xml",
        "e": "sitemap-1.xml",
        "new/f": "sitemap-2.xml",
        "shop/g": "sitemap-shop-1.xml",
    }


def test_files_that_a_killed_publication_announced_by_other_rules_are_not_looked_at(
    inventory: Path, tmp_path: Path
) -> None:
    remember(inventory, publish_sections(tmp_path, Sections.parse(["posts=/blog/"])))
    before = files_of(inventory)
    store = open_store(inventory)
    announced = PublishedFile("sitemap-9.xml", START + "sitemap-9.xml", 1, 1, "x", NOW, START + "a", "", "")
    Publications(store.connection, tmp_path / "out", "sitemap.xml").announce([announced])
    store.close()
    assert files_of(inventory) == before


@pytest.mark.parametrize("order", [(publish_txt, publish_rss), (publish_rss, publish_txt)])
def test_other_formats_do_not_hide_the_xml(
    inventory: Path, tmp_path: Path, order: tuple[Callable[[Path], Publication], ...]
) -> None:
    for make in order:
        remember(inventory, make(tmp_path))
    assert files_of(inventory) == {
        "a": "sitemap.txt",
        "blog/b": "sitemap.txt",
        "blog/c": "sitemap-1.txt",
        "blog/d": "sitemap-1.txt",
        "e": "sitemap-2.txt",
        "new/f": "sitemap-2.txt",
        "shop/g": "sitemap-3.txt",
    }
    remember(inventory, publish([Entry(START + path) for path in PATHS], target(tmp_path), (), NOW))
    assert set(files_of(inventory).values()) == {"sitemap-1.xml", "sitemap-2.xml", "sitemap-3.xml", "sitemap-4.xml"}


def test_nothing_published_is_in_no_file(inventory: Path, tmp_path: Path) -> None:
    assert set(files_of(inventory).values()) == {None}
    remember(inventory, publish_rss(tmp_path))
    assert set(files_of(inventory).values()) == {None}
