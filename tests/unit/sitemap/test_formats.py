"""Text sitemaps and feeds next to the XML: written, unchanged and removed files."""

from __future__ import annotations

import hashlib
import os
import tracemalloc
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import pytest

from sitemap_crawler.exceptions import EntryNameError, NothingToPublishError
from sitemap_crawler.sitemap.formats import (
    ListFile,
    publish_feed,
    publish_page_list,
    publish_text,
    serialise_line,
    text_files,
)
from sitemap_crawler.sitemap.live_set import publish
from sitemap_crawler.sitemap.records import PublishedFile
from tests.support.publishing import BASE, Stopped, entries, live, on_disk, state, stop_at, target, written

NOW = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
DAY = timedelta(days=1)
FEED = b'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"/>\n'


def locs(letters: str) -> list[str]:
    return [BASE + letter for letter in letters]


def texts(directory: Path) -> dict[str, str]:
    """The letters that each text file lists."""
    return {path.name: path.read_text().replace(BASE, "").replace("\n", "") for path in directory.glob("*.txt")}


def test_one_text_file(tmp_path: Path) -> None:
    result = publish_text(locs("ab"), target(tmp_path / "new"), (), NOW)
    [file] = result.files
    assert (tmp_path / "new" / "map.txt").read_bytes() == b"https://example.com/d/a\nhttps://example.com/d/b\n"
    assert on_disk(tmp_path / "new") == {"map.txt"}
    assert (file.name, file.url, file.urls, file.bytes, file.written) == ("map.txt", f"{BASE}map.txt", 2, 48, True)
    assert (file.first, file.section, file.rules) == (BASE + "a", ".txt", "")
    assert file.modified == NOW.replace(microsecond=0)
    assert (result.listed, result.removed) == (2, ())


@pytest.mark.parametrize("max_bytes", [50_000, 2 * 24])
def test_several_text_files_by_either_limit(tmp_path: Path, max_bytes: int) -> None:
    goal = target(tmp_path, max_urls=2 if max_bytes == 50_000 else 50, max_bytes=max_bytes, compress=True)
    result = publish_text(locs("abcde"), goal, (), NOW)
    assert texts(tmp_path) == {"map.txt": "ab", "map-1.txt": "cd", "map-2.txt": "e"}
    assert [(file.name, file.urls, file.first) for file in result.files] == [
        ("map.txt", 2, BASE + "a"),
        ("map-1.txt", 2, BASE + "c"),
        ("map-2.txt", 1, BASE + "e"),
    ]
    assert result.listed == 5


def test_only_text_files_that_changed_are_written(tmp_path: Path) -> None:
    first = publish_text(locs("abcde"), target(tmp_path), (), NOW)
    before = state(tmp_path)
    again = publish_text(locs("abcde"), target(tmp_path), first.files, NOW + DAY)
    assert (written(again), state(tmp_path)) == (set(), before)
    assert [file.modified for file in again.files] == [file.modified for file in first.files]
    changed = publish_text(locs("abcdx"), target(tmp_path), again.files, NOW + DAY)
    assert written(changed) == {"map-2.txt"}
    assert changed.files[2].modified == (NOW + DAY).replace(microsecond=0)


def test_stale_text_files_that_are_on_record_are_removed(tmp_path: Path) -> None:
    first = publish_text(locs("abcdef"), target(tmp_path), (), NOW)
    for name in ("map-7.txt", "map-1.txt.bak", "robots.txt", "other-1.txt"):
        (tmp_path / name).write_text("foreign")
    recorded = [
        *first.files,
        *(PublishedFile(name, "", 1, 1, "", NOW, "") for name in ("other-1.txt", "../map-1.txt", "map-1.xml")),
    ]
    (tmp_path / "map-1.xml").write_text("another format")
    second = publish_text(locs("ab"), target(tmp_path), recorded, NOW)
    assert second.removed == ("map-1.txt", "map-2.txt")
    assert on_disk(tmp_path) == {"map.txt", "map-7.txt", "map-1.txt.bak", "robots.txt", "other-1.txt", "map-1.xml"}


def test_no_url_leaves_the_text_files_as_they_are(tmp_path: Path) -> None:
    first = publish_text(locs("abc"), target(tmp_path), (), NOW)
    before = state(tmp_path)
    with pytest.raises(NothingToPublishError):
        publish_text([f"https://example.com/{'x' * 2_048}"], target(tmp_path), first.files, NOW)
    assert state(tmp_path) == before


@pytest.mark.parametrize("ending", ["rss", "atom"])
def test_a_feed(tmp_path: Path, ending: str) -> None:
    first = publish_feed(FEED, ending, target(tmp_path), (), NOW, urls=3)
    [file] = first.files
    assert (tmp_path / f"map.{ending}").read_bytes() == FEED
    assert (file.name, file.url, file.urls) == (f"map.{ending}", f"{BASE}map.{ending}", 3)
    assert (file.section, file.bytes, file.written) == (f".{ending}", len(FEED), True)
    before = state(tmp_path)
    again = publish_feed(FEED, ending, target(tmp_path), first.files, NOW + DAY, urls=3)
    assert (written(again), state(tmp_path), again.files[0].modified) == (set(), before, file.modified)
    other = publish_feed(FEED * 2, ending, target(tmp_path), again.files, NOW + DAY, urls=4)
    assert (written(other), (tmp_path / f"map.{ending}").read_bytes()) == ({f"map.{ending}"}, FEED * 2)
    assert on_disk(tmp_path) == {f"map.{ending}"}


def list_files(*groups: str) -> list[ListFile]:
    """A file with the bytes of its letters for each group."""
    return [ListFile(number, BASE + group[0], len(group), group.encode()) for number, group in enumerate(groups, 1)]


def test_a_page_list(tmp_path: Path) -> None:
    first = publish_page_list(list_files("abc", "def", "g"), target(tmp_path), (), NOW)
    assert [(file.name, file.url, file.urls, file.first, file.section) for file in first.files] == [
        ("map.html", f"{BASE}map.html", 3, BASE + "a", ".html"),
        ("map-2.html", f"{BASE}map-2.html", 3, BASE + "d", ".html"),
        ("map-3.html", f"{BASE}map-3.html", 1, BASE + "g", ".html"),
    ]
    assert {name: data for name, (data, *_) in state(tmp_path).items()} == {
        "map.html": b"abc", "map-2.html": b"def", "map-3.html": b"g",
    }  # fmt: skip
    before = state(tmp_path)
    again = publish_page_list(list_files("abc", "def", "g"), target(tmp_path), first.files, NOW + DAY)
    assert (written(again), state(tmp_path)) == (set(), before)
    (tmp_path / "map-4.html").write_text("a file of the site's owner")
    fewer = publish_page_list(list_files("abc", "dex"), target(tmp_path), again.files, NOW + DAY)
    assert (written(fewer), fewer.removed, fewer.listed) == ({"map-2.html"}, ("map-3.html",), 6)
    assert on_disk(tmp_path) == {"map.html", "map-2.html", "map-4.html"}
    with pytest.raises(NothingToPublishError):
        publish_page_list([], target(tmp_path), fewer.files, NOW)
    assert on_disk(tmp_path) == {"map.html", "map-2.html", "map-4.html"}


@pytest.mark.parametrize("killed", [False, True])
def test_a_page_list_stopped_at_any_rename(tmp_path: Path, killed: bool) -> None:
    old, new = {b"bc", b"de"}, {b"ab", b"cd", b"ef"}
    for number in range(10):
        directory = tmp_path / str(number)
        files = {
            file.name: file for file in publish_page_list(list_files("bc", "de"), target(directory), (), NOW).files
        }

        def publish_more(directory: Path = directory, files: dict[str, PublishedFile] = files) -> None:
            publish_page_list(
                list_files("ab", "cd", "ef"),
                target(directory),
                tuple(files.values()),
                NOW,
                announce=lambda announced: files.update({file.name: file for file in announced}),
            )

        with pytest.MonkeyPatch.context() as patch:
            calls = stop_at(patch, "replace", number, killed=killed)
            with suppress(Stopped):
                publish_more()
        live = [path.read_bytes() for path in directory.glob("*.html")]
        assert set(live) <= old | new
        assert len(live) >= 2
        publish_more()
        assert {path.read_bytes() for path in directory.iterdir()} == new
        if len(calls) <= number:
            break
    assert number == 3


def test_formats_leave_each_other_alone(tmp_path: Path) -> None:
    xml = publish(entries("abcde"), target(tmp_path), (), NOW)
    text = publish_text(locs("abcde"), target(tmp_path), (), NOW)
    rss = publish_feed(FEED, "rss", target(tmp_path), (), NOW, urls=1)
    publish_feed(FEED, "atom", target(tmp_path), (), NOW, urls=1)
    whole = state(tmp_path)
    assert len(whole) == 4 + 3 + 2
    publish(entries("ab"), target(tmp_path), xml.files, NOW)
    assert live(tmp_path) == {"map.xml": "ab"}
    publish_text(locs("ab"), target(tmp_path), text.files, NOW)
    publish_feed(FEED * 2, "rss", target(tmp_path), rss.files, NOW, urls=1)
    now = state(tmp_path)
    assert now.keys() == {"map.xml", "map.txt", "map.rss", "map.atom"}
    assert {name for name in now if now[name] == whole[name]} == {"map.txt", "map.atom"}


def test_leftovers_of_a_killed_publication_are_removed(tmp_path: Path) -> None:
    ours = [f".{name}.1.sitemap-crawler-tmp" for name in ("map.txt", "map-3.txt", "map.rss", "map-2.html")]
    others = [".other.txt.1.sitemap-crawler-tmp", ".map-0.txt.1.sitemap-crawler-tmp", ".map.htm.1.sitemap-crawler-tmp"]
    for name in [*ours, *others]:
        (tmp_path / name).write_text("half")
    publish_text(locs("a"), target(tmp_path), (), NOW)
    assert on_disk(tmp_path) == {"map.txt", *others}


def test_a_file_is_on_the_disk_before_it_is_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    real_sync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (events.append("sync"), real_sync(fd)))
    monkeypatch.setattr(
        os, "replace", lambda *paths, **options: (events.append(Path(paths[1]).name), real_replace(*paths, **options))
    )
    publish_text(locs("abc"), target(tmp_path), (), NOW)
    assert events == ["sync", "sync", "map-1.txt", "map.txt", "sync"]


@pytest.mark.parametrize("name", ["replace", "fsync", "unlink"])
@pytest.mark.parametrize("killed", [False, True])
def test_stopped_at_any_step(tmp_path: Path, name: str, killed: bool) -> None:
    """Each file is whole, no page of a site that grows is missing, and the next publication leaves nothing behind."""
    for number in range(100):
        directory = tmp_path / str(number)
        files = {file.name: file for file in publish_text(locs("bcde"), target(directory), (), NOW).files}

        def publish_more(directory: Path = directory, files: dict[str, PublishedFile] = files) -> set[str]:
            result = publish_text(
                locs("abcdef"),
                target(directory),
                tuple(files.values()),
                NOW,
                announce=lambda announced: files.update({file.name: file for file in announced}),
            )
            return {file.name for file in result.files}

        with pytest.MonkeyPatch.context() as patch:
            calls = stop_at(patch, name, number, killed=killed)
            with suppress(Stopped):
                publish_more()
        if len(calls) <= number:
            break
        assert set("bcde") <= set("".join(texts(directory).values())) <= set("abcdef")
        assert all((directory / found).read_text().endswith("\n") for found in texts(directory))
        assert on_disk(directory) - {found for found in on_disk(directory) if found[0] == "."} <= files.keys()
        assert publish_more() == on_disk(directory) == {"map.txt", "map-1.txt", "map-2.txt"}
        assert texts(directory) == {"map.txt": "ab", "map-1.txt": "cd", "map-2.txt": "ef"}
    else:
        pytest.fail("it never came to an end")
    assert calls or name == "unlink"


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(EntryNameError):
        publish_text(locs("a"), target(tmp_path / "new", name="..%2Fx.xml"), (), NOW)
    with pytest.raises(ValueError, match="time zone"):
        publish_feed(FEED, "rss", target(tmp_path / "new"), (), NOW.replace(tzinfo=None), urls=1)
    assert on_disk(tmp_path) == set()


class Files(dict[int, bytes]):
    """What was written, by number; a file is here once it is closed."""

    def create(self, number: int) -> BytesIO:
        files = self

        class Kept(BytesIO):
            def close(self) -> None:
                if not self.closed:
                    files[number] = self.getvalue()
                super().close()

        return Kept()


def write_texts(*locs: str, max_urls: int = 50_000, max_bytes: int = 52_428_800) -> dict[int, bytes]:
    files = Files()
    for _ in text_files(locs, files.create, max_urls=max_urls, max_bytes=max_bytes):
        pass
    return files


@pytest.mark.parametrize(
    ("locs", "max_urls", "files"),
    [
        ([], 2, {}),
        (["a"], 2, {0: b"a\n"}),
        (["a", "b"], 2, {0: b"a\nb\n"}),
        (["a", "b", "c"], 2, {0: b"a\nb\n", 1: b"c\n"}),
        (["a", "b", "c", "d", "e"], 2, {0: b"a\nb\n", 1: b"c\nd\n", 2: b"e\n"}),
    ],
)
def test_files_by_number_of_urls(locs, max_urls, files):
    assert write_texts(*locs, max_urls=max_urls) == files


@pytest.mark.parametrize(
    ("max_bytes", "files"),
    [
        (9, {0: b"aa\nbb\ncc\n"}),
        (8, {0: b"aa\nbb\n", 1: b"cc\n"}),
        (6, {0: b"aa\nbb\n", 1: b"cc\n"}),
        (5, {0: b"aa\n", 1: b"bb\n", 2: b"cc\n"}),
        (3, {0: b"aa\n", 1: b"bb\n", 2: b"cc\n"}),
        (2, {}),
    ],
)
def test_files_by_bytes(max_bytes, files):
    assert write_texts("aa", "bb", "cc", max_bytes=max_bytes) == files


def test_what_fits_no_file_is_left_out():
    assert write_texts("a", "too-long", "b", max_bytes=4) == {0: b"a\nb\n"}


@pytest.mark.parametrize(
    ("loc", "line"),
    [
        ("https://example.com/", b"https://example.com/\n"),
        ("https://example.com/?a=1&b='<>\"%C3%A9", b"https://example.com/?a=1&b='%3C%3E%22%C3%A9\n"),
        pytest.param("x" * 2_047, b"x" * 2_047 + b"\n", id="2047"),
        pytest.param("x" * 2_048, b"", id="2048"),
        ("https://example.com/é", b"https://example.com/%C3%A9\n"),
        ("https://example.com/a b", b"https://example.com/a%20b\n"),
        ("https://example.com/a\nhttps://example.net/", b"https://example.com/a%0Ahttps://example.net/\n"),
        ("https://example.com/\x7f", b"https://example.com/%7F\n"),
        ("", b""),
    ],
)
def test_line(loc, line):
    assert serialise_line(loc) == line


def test_each_file_is_yielded_when_it_is_finalised():
    files = Files()
    finished = text_files(["a", "b", "c"], files.create, max_urls=2, max_bytes=100)
    number, first, shard = next(finished)
    assert (number, first, shard.urls, shard.size, shard.file_bytes, shard.finalised) == (0, "a", 2, 4, 4, True)
    assert shard.sha256 == hashlib.sha256(b"a\nb\n").hexdigest()
    assert files == {0: b"a\nb\n"}
    number, first, shard = next(finished)
    assert (number, first, shard.urls, files[1]) == (1, "c", 1, b"c\n")
    assert next(finished, None) is None


def test_the_urls_are_not_kept_in_memory(tmp_path):
    def create(number: int):
        return (tmp_path / f"{number}").open("wb")

    locs = (f"https://example.com/products/category/item-{number:07}.html" for number in range(100_000))
    tracemalloc.start()
    try:
        counts = [found.shard.urls for found in text_files(locs, create, max_urls=60_000, max_bytes=52_428_800)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert counts == [60_000, 40_000]
    assert (tmp_path / "1").read_bytes().count(b"\n") == 40_000
    assert peak < 2_000_000  # the URLs themselves are 5.5 MB
