"""Publication of some changed pages: the bytes are those of a whole publication, and few files are written."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.exceptions import NotLocalError, PublicationRefusedError
from sitemap_crawler.sitemap.entry import Entry
from sitemap_crawler.sitemap.escaping import rfc3986
from sitemap_crawler.sitemap.live_set import publish
from sitemap_crawler.sitemap.live_update import PageChange, publish_changes
from sitemap_crawler.sitemap.records import Publication, Target
from tests.support.publishing import BASE, Stopped, live, state, stop_at, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sitemap_crawler.sitemap.records import PublishedFile

pytestmark = pytest.mark.slow

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Set:
    """A published set, and the pages that it should have: lastmod by URL."""

    def __init__(
        self,
        directory: Path,
        pages: Mapping[str, str],
        *,
        max_urls: int,
        max_bytes: int = 50_000,
        compress: bool = False,
        section_of: Callable[[str], str] = lambda _: "",
        signature: str = "",
    ) -> None:
        self.directory = directory
        self.target = Target(directory, BASE + "map.xml", max_urls=max_urls, max_bytes=max_bytes, gzip=compress)
        self.pages = dict(pages)
        self.section_of = section_of
        self.signature = signature
        self.now = NOW
        self.files: Publication | None = None
        self.publish()

    def entry(self, loc: str) -> Entry:
        return Entry(loc, self.pages[loc], section=self.section_of(loc))

    def publish(self) -> Publication:
        self.now += timedelta(minutes=1)
        previous = self.files.files if self.files else ()
        entries = map(self.entry, sorted(self.pages))
        self.files = publish(entries, self.target, previous, self.now, section_signature=self.signature)
        return self.files

    def change(self, new: Mapping[str, str | None], **keywords) -> Publication:
        """Publish new lastmods of some pages; None removes a page."""
        assert self.files is not None
        self.now += timedelta(minutes=1)
        changes = [PageChange(loc, self.section_of(loc), loc in self.pages) for loc in new]
        pages = {**self.pages, **new}
        after = {loc: date for loc, date in pages.items() if date is not None}
        entries = [Entry(loc, after[loc], section=self.section_of(loc)) for loc in sorted(new) if loc in after]
        publication = publish_changes(
            changes,
            entries,
            self.target,
            self.files.files,
            self.now,
            section_signature=self.signature,
            **keywords,
        )
        self.pages, self.files = after, publication
        return publication

    def assert_whole(self) -> None:
        """Assert that a whole publication changes nothing."""
        before, files = state(self.directory), self.files
        again = self.publish()
        assert state(self.directory) == before
        assert files is not None
        assert [(file.name, file.urls, file.sha256, file.first, file.modified, file.bytes) for file in again.files] == [
            (file.name, file.urls, file.sha256, file.first, file.modified, file.bytes) for file in files.files
        ]
        assert (again.listed, written(again)) == (len(self.pages), set())


def urls(count: int, *, step: int = 10) -> dict[str, str]:
    return {f"{BASE}{number:06}": "2025-01-01" for number in range(step, step * count + 1, step)}


def test_one_changed_page_rewrites_its_shard_and_the_index(tmp_path: Path) -> None:
    pages = Set(tmp_path, urls(40), max_urls=10)
    publication = pages.change({f"{BASE}000150": "2026-02-02"})
    assert written(publication) == {"map-2.xml", "map.xml"}
    assert publication.listed == 40
    assert b"<loc>https://example.com/d/000150</loc><lastmod>2026-02-02<" in (tmp_path / "map-2.xml").read_bytes()
    pages.assert_whole()


def test_an_unchanged_page_writes_nothing(tmp_path: Path) -> None:
    pages = Set(tmp_path, urls(40), max_urls=10)
    before = state(tmp_path)
    assert written(pages.change({f"{BASE}000150": "2025-01-01"})) == set()
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    ("max_urls", "max_bytes", "compress"),
    [(4, 50_000, False), (10, 50_000, True), (1_000, 1_400, False), (1_000, 1_400, True), (1_000, 50_000, False)],
)
@pytest.mark.parametrize("sections", [False, True])
def test_any_changes_leave_the_files_of_a_whole_publication(
    tmp_path: Path, max_urls: int, max_bytes: int, compress: bool, sections: bool
) -> None:
    chance = random.Random(f"{max_urls} {max_bytes} {compress} {sections}")
    spellings = ["{:02}", "{:02}%7Cx", "{:02}%5Ba%5D=1", "{:02}!y", "{:02}~"]
    known = [BASE + spelling.format(number) for number in range(40) for spelling in spellings]

    def section_of(loc: str) -> str:
        return "posts" if sections and loc.removeprefix(BASE)[1:2] in "37" else ""

    pages = Set(
        tmp_path,
        dict.fromkeys(chance.sample(known, 60), "2025-01-01"),
        max_urls=max_urls,
        max_bytes=max_bytes,
        compress=compress,
        section_of=section_of,
        signature="posts" if sections else "",
    )
    local = 0
    for step in range(60):
        new: dict[str, str | None] = {}
        growing = step // 20 != 1
        for loc in chance.sample(known, chance.choice((1, 1, 1, 2, 5))):
            listed = chance.random() < (0.75 if growing else 0.35)
            new[loc] = f"2026-01-{step % 28 + 1:02}" if listed else None
        try:
            pages.change(new)
            local += 1
        except NotLocalError:
            pages.pages = {loc: date for loc, date in {**pages.pages, **new}.items() if date is not None}
            pages.publish()
        assert "".join(sorted("".join(live(tmp_path).values()))) == "".join(
            sorted("".join(rfc3986(loc).removeprefix(BASE) for loc in pages.pages))
        )
        pages.assert_whole()
    assert local >= 20


@pytest.mark.parametrize("damage", ["content", "missing", "index", "foreign"])
def test_other_live_files_than_the_recorded_ones_are_not_trusted(tmp_path: Path, damage: str) -> None:
    pages = Set(tmp_path, urls(40), max_urls=10)
    if damage == "content":
        data = (tmp_path / "map-2.xml").read_bytes()
        (tmp_path / "map-2.xml").write_bytes(data.replace(b"2025-01-01", b"2024-01-01", 1))
    elif damage == "missing":
        (tmp_path / "map-3.xml").unlink()
    elif damage == "index":
        data = (tmp_path / "map.xml").read_bytes()
        (tmp_path / "map.xml").write_bytes(data.replace(b"2026-01-01", b"2024-01-01", 1))
    else:
        (tmp_path / "map.xml").write_bytes(b"<html>")
    before = state(tmp_path)
    with pytest.raises(NotLocalError):
        pages.change({f"{BASE}000150": "2026-02-02"})
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ({f"{BASE}{number:06}": None for number in range(10, 101, 10)}, "loses all its pages"),
        ({f"{BASE}{number:06}": None for number in range(10, 201, 10) if number not in (50, 150)}, "joined"),
        ({f"{BASE}{number:06}": None for number in range(10, 400, 10) if number % 100 not in (50, 60)}, "fit one file"),
    ],
)
def test_what_concerns_other_files_is_left_to_a_whole_publication(
    tmp_path: Path, new: dict[str, str | None], reason: str
) -> None:
    pages = Set(tmp_path, urls(40), max_urls=10)
    before = state(tmp_path)
    with pytest.raises(NotLocalError, match=reason):
        pages.change(new)
    assert state(tmp_path) == before


def test_a_refusal_leaves_the_live_files(tmp_path: Path) -> None:
    pages = Set(tmp_path, urls(40), max_urls=10)
    before, counts = state(tmp_path), []

    def refuse(listed: int) -> None:
        counts.append(listed)
        raise PublicationRefusedError("no")

    with pytest.raises(PublicationRefusedError):
        pages.change(
            {f"{BASE}000150": None, f"{BASE}000155": "2026-01-01", f"{BASE}000165": "2026-01-01"}, approve=refuse
        )
    assert (state(tmp_path), counts) == (before, [41])


def test_a_killed_publication_is_whole_at_every_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that overflows its shard is in both or in one of them, and never in none."""
    announced: list[str] = []

    def announce(files: Sequence[PublishedFile]) -> None:
        announced[:] = [file.name for file in files]

    for number in range(6):
        directory = tmp_path / str(number)
        directory.mkdir()
        pages = Set(directory, urls(40), max_urls=10)
        known = {loc.removeprefix(BASE) for loc in pages.pages}
        with monkeypatch.context() as patch:
            renames = stop_at(patch, "replace", number, killed=True)
            try:
                pages.change({f"{BASE}000155": "2026-01-01"}, announce=announce)
            except Stopped:
                pass
            else:
                assert number == len(renames) > 1
                return
        found = "".join(live(directory).values())
        assert all(loc in found for loc in known)
        assert announced == ["map-5.xml"]
    pytest.fail("no publication ended")
