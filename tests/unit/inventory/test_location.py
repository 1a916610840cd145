"""Which inventory a command takes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.exceptions import InventoryError, LocateError, NotAnInventoryError, OptionError, SpellingError
from sitemap_crawler.inventory.location import default_state_path, find_inventory, inventory_for, state_directory
from tests.support.made_inventory import make_inventory

if TYPE_CHECKING:
    from pathlib import Path

SITE = "https://www.example.com/"
DOCS = "https://www.example.com/docs/"
OTHER = "https://other.example.org/"


@pytest.fixture(autouse=True)
def _own_state_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def known(start_url: str, *, sitemap_url: str | None = None) -> Path:
    """An inventory where a crawl of `start_url` would have put it."""
    path = default_state_path(sitemap_url or f"{start_url}sitemap.xml")
    path.parent.mkdir(parents=True, exist_ok=True)
    return make_inventory(path, start_url, sitemap_url=sitemap_url)


def other_version(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE meta SET value = '1' WHERE name = 'schema_version'")
        connection.commit()
    return path


def test_a_named_inventory(tmp_path: Path) -> None:
    path = make_inventory(tmp_path / "a.db", SITE)
    assert find_inventory(state=str(path), config=None, start_url=None) == path
    assert find_inventory(state=f"sqlite:///{path}", config=None, start_url=SITE) == path


def test_a_named_inventory_must_exist(tmp_path: Path) -> None:
    with pytest.raises(LocateError, match=r"there is no inventory .*missing\.db: crawl first"):
        find_inventory(state=str(tmp_path / "missing.db"), config=None, start_url=None)
    assert list(tmp_path.iterdir()) == []


def test_a_named_inventory_of_another_site(tmp_path: Path) -> None:
    path = make_inventory(tmp_path / "a.db", SITE)
    with pytest.raises(LocateError, match=r"holds the site of .*, not 'https:"):
        find_inventory(state=str(path), config=None, start_url=OTHER)


def test_named_files_that_are_no_inventories(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("my notes")
    database = tmp_path / "other.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE t (a)")
    old = other_version(make_inventory(tmp_path / "old.db", SITE))
    for path, words in (
        (text, "not an inventory"),
        (database, "of another program"),
        (old, "schema version 1"),
    ):
        with pytest.raises(NotAnInventoryError, match=words):
            find_inventory(state=str(path), config=None, start_url=None)


def test_the_only_inventory() -> None:
    path = known(SITE)
    assert find_inventory(state=None, config=None, start_url=None) == path


def test_several_inventories_are_named() -> None:
    known(SITE)
    known(OTHER)
    with pytest.raises(LocateError, match="there are several inventories") as caught:
        find_inventory(state=None, config=None, start_url=None)
    assert [line.split()[0] for line in str(caught.value).splitlines()[1:]] == [OTHER, SITE]


def test_no_inventory() -> None:
    with pytest.raises(LocateError, match="crawl first"):
        find_inventory(state=None, config=None, start_url=None)
    assert not state_directory().exists()


@pytest.mark.parametrize(
    "start_url",
    [
        SITE,
        "HTTPS://WWW.EXAMPLE.COM",
        "https://www.example.com:443/",
        "www.example.com",
        "https://me:pw@www.example.com/",
    ],
)
def test_the_inventory_of_a_start_url(start_url: str) -> None:
    path = known(SITE)
    known(OTHER)
    assert find_inventory(state=None, config=None, start_url=start_url) == path


def test_no_inventory_of_a_start_url() -> None:
    known(SITE)
    with pytest.raises(LocateError, match=r"no crawl of .*other.* is known") as caught:
        find_inventory(state=None, config=None, start_url=OTHER)
    first, listed = str(caught.value).splitlines()
    assert first == f"no crawl of '{OTHER}' is known: crawl first, or give the start URL of one of these:"
    assert listed.startswith(f"  {SITE}  ")


@pytest.mark.parametrize("text", ["ftp://me:secret@example.com/", "https:me:secret@", "ftp:me:secret@example.com"])
def test_what_is_no_url_shows_no_password(text: str) -> None:
    with pytest.raises((LocateError, SpellingError), match="is not an http or https URL") as caught:
        find_inventory(state=None, config=None, start_url=text)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["mailto:me@example.com", "javascript:void(0)", "tel:+4512345678", "ftp://a.example/"])
def test_what_can_be_no_page_is_said_before_an_inventory_is_looked_for(text: str) -> None:
    with pytest.raises(SpellingError) as caught:
        inventory_for(text)
    assert str(caught.value) == f"'{text}' is not an http or https URL: give a URL of the site"


@pytest.mark.parametrize("text", [f"{DOCS}about/", "www.example.com/docs/about/?page=2"])
def test_any_page_of_a_site_may_stand_for_it(text: str) -> None:
    known(SITE)
    path = known(DOCS)
    known(OTHER)
    assert find_inventory(state=None, config=None, start_url=text, any_page=True) == path
    assert find_inventory(state=str(path), config=None, start_url=text, any_page=True) == path
    for state in (None, str(path)):
        with pytest.raises(LocateError, match="about"):
            find_inventory(state=state, config=None, start_url=text)


def test_a_start_page_comes_before_a_scope() -> None:
    known(DOCS)
    path = known(f"{DOCS}start.html", sitemap_url=f"{SITE}sitemap.xml")
    assert find_inventory(state=None, config=None, start_url=f"{DOCS}start.html", any_page=True) == path


def test_a_page_of_no_known_site() -> None:
    known(DOCS)
    with pytest.raises(LocateError, match=r"no crawl of 'https://www\.example\.com/about/' is known"):
        find_inventory(state=None, config=None, start_url=f"{SITE}about/", any_page=True)


def test_several_inventories_with_one_start_page() -> None:
    paths = [known(DOCS), known(DOCS, sitemap_url=f"{SITE}map.xml")]
    with pytest.raises(LocateError) as caught:
        find_inventory(state=None, config=None, start_url=DOCS)
    first, *listed = str(caught.value).splitlines()
    assert first == "there are several inventories: give --state:"
    assert sorted(listed) == sorted(f"  {DOCS}  {path}" for path in paths)


def test_files_that_are_no_inventories_are_skipped_in_a_search() -> None:
    path = known(SITE)
    other_version(known(OTHER))
    path.with_name("notes.sqlite").write_text("my notes")
    assert find_inventory(state=None, config=None, start_url=None) == path


def test_when_all_that_is_there_is_of_another_version_it_is_said() -> None:
    other_version(known(SITE))
    with pytest.raises(NotAnInventoryError, match="schema version 1"):
        find_inventory(state=None, config=None, start_url=None)


def damaged(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 8000)
    return path


def test_an_unreadable_inventory_of_the_start_url_is_not_passed_over() -> None:
    known(SITE)
    other_version(known(OTHER))
    damaged(known(DOCS))
    with pytest.raises(NotAnInventoryError, match=r"other\.example\.org.*schema version 1"):
        find_inventory(state=None, config=None, start_url=OTHER)
    for text in (DOCS, f"{DOCS}about"):
        with pytest.raises(InventoryError, match=r"the inventory .* is damaged"):
            find_inventory(state=None, config=None, start_url=text, any_page=True)


def test_unreadable_inventories_are_named_when_nothing_else_fits() -> None:
    known(SITE)
    path = other_version(known(OTHER))
    with pytest.raises(LocateError, match=r"no crawl of 'https://third\.example\.net/' is known") as caught:
        find_inventory(state=None, config=None, start_url="https://third.example.net/")
    assert str(caught.value).splitlines()[1].startswith(f"  {SITE}  ")
    assert str(caught.value).splitlines()[2].startswith(f"  not readable: the inventory {path} has schema version 1,")


@pytest.mark.parametrize(
    "text",
    [f"{DOCS}a", "www.example.com/docs/a", "http://www.example.com/a", "https://example.com/docs/a", "example.com"],
)
@pytest.mark.parametrize("sitemap_url", [f"{SITE}sitemap.xml", f"{DOCS}sitemap.xml", f"{SITE}map.xml"])
def test_no_other_site_answers_for_one_whose_inventory_cannot_be_read(text: str, sitemap_url: str) -> None:
    known(OTHER)
    other_version(known(DOCS, sitemap_url=sitemap_url))
    with pytest.raises(NotAnInventoryError, match="schema version 1"):
        inventory_for(text)


def test_a_longer_scope_that_cannot_be_read_is_not_passed_over() -> None:
    path = known(SITE)
    other_version(known(DOCS))
    with pytest.raises(NotAnInventoryError, match="schema version 1"):
        inventory_for(f"{DOCS}sub/a")
    assert inventory_for(f"{SITE}about") == path


def test_an_unreadable_inventory_of_another_host_is_in_nobodys_way() -> None:
    path = known(SITE)
    other_version(known(OTHER))
    for text in (f"{DOCS}a", "https://elsewhere.example/", "/docs/a", "docs/a"):
        assert inventory_for(text) == path


def test_the_site_file_names_the_inventory(tmp_path: Path) -> None:
    path = make_inventory(tmp_path / "a.db", SITE)
    config = tmp_path / "site.toml"
    config.write_text(f'start_url = "{SITE}"\nstate = "a.db"\n')
    assert find_inventory(state=None, config=config, start_url=None) == path


def test_the_site_file_means_the_usual_place(tmp_path: Path) -> None:
    path = known(DOCS, sitemap_url=f"{SITE}map.xml")
    config = tmp_path / "site.toml"
    config.write_text(f'start_url = "{DOCS}"\nsitemap_url = "{SITE}map.xml"\n')
    assert find_inventory(state=None, config=config, start_url=None) == path


def test_a_site_file_with_an_error(tmp_path: Path) -> None:
    config = tmp_path / "site.toml"
    config.write_text('start_ur = "https://www.example.com/"\n')
    with pytest.raises(OptionError, match="did you mean start_url"):
        find_inventory(state=None, config=config, start_url=None)


@pytest.mark.parametrize(
    ("text", "start_url"),
    [
        ("https://www.example.com/docs/a", DOCS),
        ("https://www.example.com/docs", SITE),
        ("www.example.com/docs/a", DOCS),
        ("<www.example.com/docs/a>", DOCS),
        ("http://example.com/docs/a", DOCS),
        ("other.example.org", OTHER),
        ("http://www.other.example.org/x", OTHER),
    ],
)
def test_the_inventory_whose_scope_holds_the_url(text: str, start_url: str) -> None:
    paths = {start: known(start) for start in (SITE, DOCS, OTHER)}
    assert inventory_for(text) == paths[start_url]


def test_a_url_of_no_known_site() -> None:
    path = known(SITE)
    assert inventory_for("https://elsewhere.example/") == path
    assert inventory_for("docs/a") == path
    known(OTHER)
    for text in ("https://elsewhere.example/", "docs/a", "/docs/a"):
        with pytest.raises(LocateError) as caught:
            inventory_for(text)
        first, *listed = str(caught.value).splitlines()
        assert first == (
            f"none of the inventories has '{text}' in its scope: crawl that site first, or name one with --state:"
        )
        assert [line.split()[0] for line in listed] == [OTHER, SITE]
