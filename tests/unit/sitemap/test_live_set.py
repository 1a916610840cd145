"""The set of files on the disk: what is written, when, and that no failure breaks what is live."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from sitemap_crawler.exceptions import EntryNameError, NothingToPublishError
from sitemap_crawler.sitemap.entry import Entry
from sitemap_crawler.sitemap.live_set import publish
from sitemap_crawler.sitemap.records import PublishedFile
from tests.support.paths import SCHEMAS
from tests.support.publishing import (
    BASE,
    NAMESPACE,
    Stopped,
    entries,
    index,
    listed,
    live,
    on_disk,
    pages,
    parse,
    state,
    stop_at,
    target,
    written,
)

DAY = timedelta(days=1)
NOW = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
    ' xmlns:xhtml="http://www.w3.org/1999/xhtml">\n'
)


def test_one_file(tmp_path):
    directory = tmp_path / "new" / "directory"
    result = publish(entries("ab", "2024-01-02"), target(directory), (), NOW)
    expected = (
        f"{HEAD}<url><loc>https://example.com/d/a</loc><lastmod>2024-01-02</lastmod></url>\n"
        "<url><loc>https://example.com/d/b</loc><lastmod>2024-01-02</lastmod></url>\n</urlset>\n"
    ).encode()
    assert state(directory).keys() == {"map.xml"}
    assert (directory / "map.xml").read_bytes() == expected
    [file] = result.files
    assert (file.name, file.url, file.urls, file.written) == ("map.xml", f"{BASE}map.xml", 2, True)
    assert (file.bytes, file.sha256) == (len(expected), hashlib.sha256(expected).hexdigest())
    assert file.modified == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    assert (result.listed, result.omitted, result.removed) == (2, (), ())


def test_several_files(tmp_path):
    result = publish(entries("abcde"), target(tmp_path), (), NOW)
    assert (tmp_path / "map.xml").read_text() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        "<sitemap><loc>https://example.com/d/map-1.xml</loc><lastmod>2024-05-06T07:08:09Z</lastmod></sitemap>\n"
        "<sitemap><loc>https://example.com/d/map-2.xml</loc><lastmod>2024-05-06T07:08:09Z</lastmod></sitemap>\n"
        "<sitemap><loc>https://example.com/d/map-3.xml</loc><lastmod>2024-05-06T07:08:09Z</lastmod></sitemap>\n"
        "</sitemapindex>\n"
    )
    assert live(tmp_path) == {"map-1.xml": "ab", "map-2.xml": "cd", "map-3.xml": "e"}
    assert on_disk(tmp_path) == {"map.xml", "map-1.xml", "map-2.xml", "map-3.xml"}
    assert [(file.name, file.urls, file.url) for file in result.files] == [
        ("map.xml", 0, f"{BASE}map.xml"),
        ("map-1.xml", 2, f"{BASE}map-1.xml"),
        ("map-2.xml", 2, f"{BASE}map-2.xml"),
        ("map-3.xml", 1, f"{BASE}map-3.xml"),
    ]
    assert result.listed == 5
    assert all((tmp_path / file.name).stat().st_size == file.bytes for file in result.files)


def test_odd_names_are_escaped_in_the_index_only(tmp_path):
    publish(entries("abc"), target(tmp_path, name="my%20map%C3%BC&.xml"), (), NOW)
    assert on_disk(tmp_path) == {"my mapü&.xml", "my mapü&-1.xml", "my mapü&-2.xml"}
    assert f"<loc>{BASE}my%20map%C3%BC&amp;-2.xml</loc>" in (tmp_path / "my mapü&.xml").read_text()


def test_gzip_leaves_the_entry_file_plain(tmp_path):
    first = publish(entries("abc"), target(tmp_path, compress=True), (), NOW)
    assert live(tmp_path) == {"map-1.xml.gz": "ab", "map-2.xml.gz": "c"}
    before = state(tmp_path)
    assert written(publish(entries("abc"), target(tmp_path, compress=True), first.files, NOW + DAY)) == set()
    assert state(tmp_path) == before
    single = publish(entries("ab"), target(tmp_path, compress=True), first.files, NOW)
    assert (tmp_path / "map.xml").read_bytes().startswith(HEAD.encode())
    assert (on_disk(tmp_path), single.removed) == ({"map.xml"}, ("map-1.xml.gz", "map-2.xml.gz"))


def test_switching_gzip_replaces_the_shards(tmp_path):
    first = publish(entries("abc"), target(tmp_path), (), NOW)
    second = publish(entries("abc"), target(tmp_path, compress=True), first.files, NOW)
    assert on_disk(tmp_path) == {"map.xml", "map-1.xml.gz", "map-2.xml.gz"}
    assert second.removed == ("map-1.xml", "map-2.xml")


@pytest.mark.parametrize(("spare", "names"), [(0, {"map.xml"}), (-1, {"map.xml", "map-1.xml", "map-2.xml"})])
def test_max_bytes_to_the_byte(tmp_path, spare, names):
    entry = "<url><loc>https://example.com/d/a</loc></url>\n"
    size = len(HEAD) + 2 * len(entry) + len("</urlset>\n")
    publish(entries("ab"), target(tmp_path, max_bytes=size + spare), (), NOW)
    assert on_disk(tmp_path) == names


def test_entries_that_fit_no_file_are_omitted(tmp_path):
    padding = 2_047 - len(BASE)
    fits, too_long = BASE + "x" * padding, BASE + "y" * (padding + 1)
    too_large = BASE + "z" * (padding - 4) + "&"  # one byte more than fits, as &amp; has five
    size = len(f"{HEAD}<url><loc>{fits}</loc></url>\n</urlset>\n")
    given = [Entry(fits), Entry(too_long), Entry(too_large)]
    result = publish(given, target(tmp_path, max_bytes=size), (), NOW)
    assert (result.omitted, result.listed) == ((too_long, too_large), 1)
    assert live(tmp_path) == {"map.xml": fits.removeprefix(BASE)}


@pytest.mark.parametrize("given", [[], [Entry(BASE + "x" * 3_000)]])
def test_nothing_to_publish_touches_nothing(tmp_path, given):
    with pytest.raises(NothingToPublishError):
        publish(given, target(tmp_path / "new"), (), NOW)
    assert on_disk(tmp_path) == set()


def test_unusable_name_touches_nothing(tmp_path):
    with pytest.raises(EntryNameError):
        publish(entries("a"), target(tmp_path / "new", name="..%2Fx.xml"), (), NOW)
    assert on_disk(tmp_path) == set()


def test_times_need_a_zone(tmp_path):
    with pytest.raises(ValueError, match="time zone"):
        publish(entries("a"), target(tmp_path), (), NOW.replace(tzinfo=None))


def test_unchanged_is_not_touched(tmp_path):
    first = publish(entries("abcde"), target(tmp_path), (), NOW)
    before = state(tmp_path)
    second = publish(entries("abcde"), target(tmp_path), first.files, NOW + DAY)
    assert state(tmp_path) == before
    assert written(second) == set()
    assert [file.modified for file in second.files] == [file.modified for file in first.files]


def test_one_changed_page_rewrites_one_shard_and_the_index(tmp_path):
    first = publish(entries("abcde"), target(tmp_path), (), NOW)
    before = state(tmp_path)
    changed = [*entries("ab"), *entries("c", "2024-05-07"), *entries("de")]
    second = publish(changed, target(tmp_path), first.files, NOW + DAY)
    assert written(second) == {"map.xml", "map-2.xml"}
    after = state(tmp_path)
    assert {name for name in before if before[name] != after[name]} == {"map.xml", "map-2.xml"}
    assert index(tmp_path / "map.xml") == {
        "map-1.xml": "2024-05-06T07:08:09Z",
        "map-2.xml": "2024-05-07T07:08:09Z",
        "map-3.xml": "2024-05-06T07:08:09Z",
    }


def test_lastmod_of_a_file_is_utc_in_the_index(tmp_path):
    first = publish(entries("abc"), target(tmp_path), (), NOW)
    east = datetime.fromisoformat("2024-05-08T01:00:00+09:00")
    publish(entries("ab") + entries("c", "2024-05-07"), target(tmp_path), first.files, east)
    assert index(tmp_path / "map.xml")["map-2.xml"] == "2024-05-07T16:00:00Z"


def test_live_bytes_count_not_the_record(tmp_path):
    first = publish(entries("abc"), target(tmp_path), (), NOW)
    (tmp_path / "map-1.xml").write_text("edited by hand")
    (tmp_path / "map-2.xml").unlink()
    second = publish(entries("abc"), target(tmp_path), first.files, NOW + DAY)
    assert live(tmp_path) == {"map-1.xml": "ab", "map-2.xml": "c"}
    assert written(second) == {"map-1.xml", "map-2.xml"}
    assert set(index(tmp_path / "map.xml").values()) == {"2024-05-06T07:08:09Z"}


@pytest.mark.parametrize(
    ("before", "after", "expected", "rewritten"),
    [
        # a page less: only its shard
        ("abcde", "abce", {"map-1.xml": "ab", "map-2.xml": "c", "map-3.xml": "e"}, {"map-2.xml"}),
        # a new page where there is room, in the shard or in the next one
        ("abce", "abcef", {"map-1.xml": "ab", "map-2.xml": "ce", "map-3.xml": "f"}, {"map-3.xml"}),
        ("abde", "abcde", {"map-1.xml": "ab", "map-2.xml": "de", "map-3.xml": "c"}, {"map-3.xml"}),
        # a new page between full shards: a new one takes what was pushed out
        (
            "acdefg",
            "abcdefg",
            {"map-1.xml": "ab", "map-2.xml": "de", "map-3.xml": "fg", "map-4.xml": "c"},
            {"map-1.xml", "map-4.xml"},
        ),
        # a shard that has become empty
        ("abcdef", "abef", {"map-1.xml": "ab", "map-3.xml": "ef"}, set()),
    ],
)
def test_a_page_keeps_its_shard(tmp_path, before, after, expected, rewritten):
    first = publish(entries(before), target(tmp_path), (), NOW)
    second = publish(entries(after), target(tmp_path), first.files, NOW + DAY)
    assert live(tmp_path) == expected
    assert written(second) == rewritten | {"map.xml"}
    assert on_disk(tmp_path) == {"map.xml", *expected}


def test_small_neighbours_are_joined(tmp_path):
    first = publish(entries("abcdefghijkl"), target(tmp_path, max_urls=4), (), NOW)
    assert live(tmp_path) == {"map-1.xml": "abcd", "map-2.xml": "efgh", "map-3.xml": "ijkl"}
    second = publish(entries("ahijkl"), target(tmp_path, max_urls=4), first.files, NOW)
    assert live(tmp_path) == {"map-1.xml": "ah", "map-3.xml": "ijkl"}
    assert second.removed == ("map-2.xml",)


def test_from_index_to_one_file_and_back(tmp_path):
    first = publish(entries("abcde"), target(tmp_path), (), NOW)
    second = publish(entries("ae"), target(tmp_path), first.files, NOW)
    assert (on_disk(tmp_path), live(tmp_path)) == ({"map.xml"}, {"map.xml": "ae"})
    assert second.removed == ("map-1.xml", "map-2.xml", "map-3.xml")
    publish(entries("abe"), target(tmp_path), second.files, NOW)
    assert live(tmp_path) == {"map-1.xml": "ab", "map-2.xml": "e"}


def test_only_recorded_shards_of_this_entry_are_removed(tmp_path):
    first = publish(entries("abcde"), target(tmp_path / "site"), (), NOW)
    other = publish(entries("xyz"), target(tmp_path / "site", name="other.xml"), (), NOW)
    foreign = {"map-9.xml", "map-4.xml.gz", "robots.txt", ".map-1.xml.sitemap-crawler-tmp"}
    for name in foreign:
        (tmp_path / "site" / name).write_text("foreign")
    (tmp_path / "map-8.xml").write_text("outside")
    recorded = [*first.files, *other.files, PublishedFile("../map-8.xml", "", 1, 1, "", NOW, "")]
    result = publish(entries("a"), target(tmp_path / "site"), recorded, NOW)
    assert result.removed == ("map-1.xml", "map-2.xml", "map-3.xml")
    assert on_disk(tmp_path / "site") == {"map.xml", "other.xml", "other-1.xml", "other-2.xml", *foreign}
    assert on_disk(tmp_path) == {"site", "map-8.xml"}


def test_leftovers_of_a_killed_publish_of_this_entry_are_removed(tmp_path):
    names = ("map.xml.3", "map-12.xml.1", "map-1.xml.gz.2", "map-posts-3.xml.1", "map-news.xml.4", "map-2.txt.1")
    ours = [f".{name}.sitemap-crawler-tmp" for name in names]
    others = [
        ".other.xml.1.sitemap-crawler-tmp",
        ".map-news-1.xml.1.sitemap-crawler-tmp",
        ".map.xml.1.sitemap-crawler-tmp.bak",
        "map.xml.1.sitemap-crawler-tmp",
    ]
    for name in [*ours, *others]:
        (tmp_path / name).write_text("half")
    (tmp_path / ".map-3.xml.1.sitemap-crawler-tmp").mkdir()
    publish(entries("a"), target(tmp_path), (), NOW)
    assert on_disk(tmp_path) == {"map.xml", ".map-3.xml.1.sitemap-crawler-tmp", *others}


# Modes, owners, links


@pytest.mark.parametrize(("umask", "mode"), [("022", 0o644), ("027", 0o640), ("002", 0o664)])
def test_new_files_have_the_mode_of_the_umask(tmp_path, umask, mode):
    script = (
        "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from sitemap_crawler.sitemap.entry import Entry\n"
        "from sitemap_crawler.sitemap.live_set import publish\n"
        "from sitemap_crawler.sitemap.records import Target\n"
        "target = Target(Path(sys.argv[1]), 'https://e.example/map.xml', max_urls=1)\n"
        "publish([Entry('https://e.example/a'), Entry('https://e.example/b')], target, (), datetime.now(UTC))\n"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path], check=True, umask=int(umask, 8))
    assert {path.name: path.stat().st_mode & 0o7777 for path in tmp_path.iterdir()} == {
        "map.xml": mode,
        "map-1.xml": mode,
        "map-2.xml": mode,
    }


def test_a_replaced_files_mode_is_kept(tmp_path):
    first = publish(entries("abc"), target(tmp_path), (), NOW)
    (tmp_path / "map.xml").chmod(0o640)
    (tmp_path / "map-2.xml").chmod(0o604)
    publish(entries("abd"), target(tmp_path), first.files, NOW + DAY)
    assert ((tmp_path / "map.xml").stat().st_mode & 0o7777, listed(tmp_path)) == (0o640, "abd")
    assert (tmp_path / "map-2.xml").stat().st_mode & 0o7777 == 0o604


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_replaced_files_owner_is_kept(tmp_path):
    first = publish(entries("a"), target(tmp_path), (), NOW)
    os.chown(tmp_path / "map.xml", 12345, 54321)
    publish(entries("b"), target(tmp_path), first.files, NOW)
    status = (tmp_path / "map.xml").stat()
    assert (status.st_uid, status.st_gid, live(tmp_path)) == (12345, 54321, {"map.xml": "b"})


def test_an_owner_that_is_not_ours_to_give_is_no_error(tmp_path, monkeypatch):
    first = publish(entries("a"), target(tmp_path), (), NOW)

    def refuse(*_: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    publish(entries("b"), target(tmp_path), first.files, NOW)
    assert live(tmp_path) == {"map.xml": "b"}


@pytest.mark.parametrize("name", ["map.xml", "map-1.xml"])
def test_a_link_stays_and_its_target_is_replaced(tmp_path, name):
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    first = publish(entries("abc"), target(site), (), NOW)
    elsewhere.mkdir()
    (site / name).rename(elsewhere / "real")
    (elsewhere / ".real.7.sitemap-crawler-tmp").write_text("leftover")
    (site / name).symlink_to("../elsewhere/real")
    second = publish(entries("adx"), target(site), first.files, NOW + DAY)
    assert (site / name).readlink() == Path("../elsewhere/real")
    assert not (elsewhere / "real").is_symlink()
    assert on_disk(elsewhere) == {"real"}
    assert listed(site) == "adx"
    assert name in written(second)


@pytest.mark.parametrize("name", ["map.xml", "map-2.xml"])
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_not_replaced(tmp_path, name, make):
    first = publish(entries("ab"), target(tmp_path), (), NOW)
    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name)
    before = on_disk(tmp_path)
    with pytest.raises(FileExistsError):
        publish(entries("abc"), target(tmp_path), first.files, NOW)
    assert on_disk(tmp_path) == before


# Failures


def test_failing_entries_leave_everything_as_it_was(tmp_path):
    first = publish(entries("abcde"), target(tmp_path), (), NOW)
    before = state(tmp_path)

    def failing():
        yield from entries("abcdxyz")
        raise Stopped

    with pytest.raises(Stopped):
        publish(failing(), target(tmp_path), first.files, NOW)
    assert state(tmp_path) == before


def test_full_disk_leaves_everything_as_it_was(tmp_path):
    first = publish(entries("abc"), target(tmp_path), (), NOW)
    before = state(tmp_path)
    many = [Entry(f"{BASE}{number:06}") for number in range(20_000)]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            publish(many, target(tmp_path, max_urls=15_000, max_bytes=10_000_000), first.files, NOW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert state(tmp_path) == before


def test_directory_that_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        publish(entries("a"), target(tmp_path / "file"), (), NOW)


# What a publish goes from, and to: growing, shrinking, moving in both directions, one file and several.
STEPS = [
    ("acdefg", "abcdefg"),
    ("bcdefghi", "abcdefghi"),
    ("abcdefgh", "bh"),
    ("ab", "abcde"),
    ("abcde", "ab"),
    ("abcdefgh", "xyz"),
    ("acd", "abcd"),
    ("adefgh", "abcdefgh"),
    ("bdfhjlnp", "abcdefghijklmnop"),
    ("abcdefghijklmnop", "bdfhjlnp"),
    ("", "abcde"),
]


def prepare(directory: Path, before: str) -> tuple:
    """Live files whose shards have gaps, so that pages move to the left and to the right later on."""
    directory.mkdir()
    if not before:
        return ()
    first = publish(entries(before), target(directory), (), NOW)
    thinned = "".join(letter for position, letter in enumerate(before) if position % 4)
    second = publish(entries(thinned), target(directory), first.files, NOW)
    return publish(entries(before), target(directory), second.files, NOW).files


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), STEPS)
@pytest.mark.parametrize("name", ["replace", "fsync", "open", "unlink"])
@pytest.mark.parametrize("killed", [False, True])
def test_stopped_at_any_step(tmp_path, before, after, name, killed):
    """Whichever call is the last: the entry file and all it names are whole, and no page that stays is missing."""
    expected = tmp_path / "expected"
    publish(entries(after), target(expected), prepare(expected, before), NOW + DAY)
    for number in range(100):
        directory = tmp_path / str(number)
        previous = prepare(directory, before)
        with pytest.MonkeyPatch.context() as patch:
            calls = stop_at(patch, name, number, killed=killed)
            with suppress(Stopped):
                publish(entries(after), target(directory), previous, NOW + DAY)
        if len(calls) <= number:
            break
        if before:
            assert set(before) & set(after) <= set(listed(directory)) <= set(before) | set(after)
        elif (directory / "map.xml").exists():
            assert listed(directory) == after
        if not killed and name != "unlink":
            assert not [found for found in on_disk(directory) if found.endswith("sitemap-crawler-tmp")]
        publish(entries(after), target(directory), previous, NOW + DAY)
        assert live(directory) == live(expected)
        assert on_disk(directory) == on_disk(expected)
    else:
        pytest.fail("it never came to an end")
    assert calls or name == "unlink"


def test_everything_is_on_the_disk_before_it_is_named(tmp_path, monkeypatch):
    events: list[str | int] = []
    real_sync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (events.append(os.fstat(fd).st_ino), real_sync(fd)))
    monkeypatch.setattr(
        os, "replace", lambda *paths, **options: (events.append(Path(paths[1]).name), real_replace(*paths, **options))
    )
    publish(entries("abc"), target(tmp_path), (), NOW)
    shards = {(tmp_path / name).stat().st_ino for name in ("map-1.xml", "map-2.xml")}
    entry, directory = (tmp_path / "map.xml").stat().st_ino, tmp_path.stat().st_ino
    assert set(events[:3]) == {*shards, entry}
    assert events[3:] == ["map-1.xml", "map-2.xml", directory, "map.xml", directory]


LETTERS = st.sets(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), min_size=1).map(sorted).map("".join)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(steps=st.lists(LETTERS, min_size=2, max_size=6), compress=st.booleans(), max_urls=st.integers(1, 6))
def test_any_history_keeps_the_rules(tmp_path_factory, steps, compress, max_urls):
    directory = tmp_path_factory.mktemp("history")
    goal = target(directory, max_urls=max_urls, compress=compress)
    previous: tuple = ()
    for letters in steps:
        result = publish(entries(letters), goal, previous, NOW)
        files_now = live(directory)
        assert listed(directory) == letters
        assert all(0 < len(found) <= max_urls for found in files_now.values())
        assert all(found == "".join(sorted(found)) for found in files_now.values())
        assert (list(files_now) == ["map.xml"]) is (len(letters) <= max_urls)
        assert on_disk(directory) == {"map.xml", *files_now} == {file.name for file in result.files}
        before = state(directory)
        again = publish(entries(letters), goal, result.files, NOW + DAY)
        assert (written(again), state(directory)) == (set(), before)
        previous = again.files


def test_equal_input_gives_equal_bytes(tmp_path):
    for compress in (False, True):
        one, two = tmp_path / f"one{compress}", tmp_path / f"two{compress}"
        for directory in (one, two):
            publish(entries("abcde", "2024-01-02"), target(directory, compress=compress), (), NOW)
        assert {path.name: path.read_bytes() for path in one.iterdir()} == {
            path.name: path.read_bytes() for path in two.iterdir()
        }


def publish_alternately(directory: Path, previous: tuple) -> None:
    for number in range(50):
        letters = ("abcdefgh", "bcx", "aceg", "ab", "abcdefghij")[number % 5]
        previous = publish(entries(letters), target(directory), previous, NOW + number * DAY).files


def read_live(directory: Path) -> dict[str, str]:
    """What a reader finds. A file may only go after the entry file has ceased to name it."""
    while True:
        root = etree.fromstring(entry_bytes := (directory / "map.xml").read_bytes())
        locs = [unquote(loc.text.removeprefix(BASE)) for loc in root.iter(f"{NAMESPACE}loc")]
        if root.tag == f"{NAMESPACE}urlset":
            return {"map.xml": "".join(locs)}
        try:
            return {name: pages(directory / name) for name in locs}
        except FileNotFoundError:
            if (directory / "map.xml").read_bytes() == entry_bytes:
                raise


def test_a_reader_never_sees_a_broken_set(tmp_path):
    first = publish(entries("abcd"), target(tmp_path), (), NOW)
    publisher = multiprocessing.get_context("spawn").Process(target=publish_alternately, args=(tmp_path, first.files))
    publisher.start()
    seen = [read_live(tmp_path)]
    while publisher.is_alive():
        seen.append(read_live(tmp_path))
    publisher.join()
    assert publisher.exitcode == 0
    assert len({tuple(found) for found in seen}) > 1
    assert all(all(found.values()) for found in seen)


@pytest.mark.skipif(not SCHEMAS.is_dir(), reason="the published schemas are not next to the checkout")
def test_published_schemas_accept_the_set(tmp_path):
    publish(entries("abc", "2024-05-06T07:08:09+02:00"), target(tmp_path, name="a%20b&.xml"), (), NOW)
    urlset, sitemapindex = (etree.XMLSchema(file=SCHEMAS / name) for name in ("sitemap.xsd", "siteindex.xsd"))
    sitemapindex.assertValid(parse(tmp_path / "a b&.xml"))
    urlset.assertValid(parse(tmp_path / "a b&-1.xml"))
    assert not urlset.validate(parse(tmp_path / "a b&.xml"))
