"""Which shard an entry belongs to."""

from __future__ import annotations

import os

import pytest

from sitemap_crawler.sitemap.layout import Layout, LiveShard, read_live_shard
from sitemap_crawler.utils.directories import open_directory
from tests.unit.sitemap.test_shard import EMPTY, ENTRY, write


@pytest.mark.parametrize("compress", [False, True])
def test_a_live_shard_has_its_first_url_and_its_size(tmp_path, compress):
    path = tmp_path / "file"
    path.write_bytes(write(ENTRY.replace(b"/a", b"/&apos;&amp;amp;&quot;"), ENTRY, compress=compress)[1])
    with open_directory(tmp_path) as directory:
        live = read_live_shard(directory, path.name, number=3, urls=2, gzip=compress)
    size = len(EMPTY) + 2 * len(ENTRY) + len("&apos;&amp;amp;&quot;") - 1
    assert live == LiveShard(3, "https://example.com/'&amp;\"", 2, size)


@pytest.mark.parametrize("content", [None, "pipe", b"", b"\x1f\x8b\x08 broken", b"<urlset/>"])
@pytest.mark.parametrize("compress", [False, True])
def test_any_other_file_is_no_live_shard(tmp_path, content, compress):
    path = tmp_path / "file"
    if content == "pipe":
        os.mkfifo(path)
    elif content is not None:
        path.write_bytes(content)
    with open_directory(tmp_path) as directory:
        assert read_live_shard(directory, path.name, number=1, urls=1, gzip=compress) is None


def numbers(live: list[LiveShard], locs: str, max_urls: int = 2) -> dict[str, int]:
    """The shard of each one-letter URL, cut by `max_urls` only."""
    layout = Layout(live, max_urls=max_urls, max_bytes=1_000)
    numbers_of: dict[str, int] = {}
    count = 0
    for loc in locs:
        if not numbers_of or layout.begins(loc) or count == max_urls:
            number = layout.next_number(loc, 10)
            count = 0
        numbers_of[loc] = number
        count += 1
    return numbers_of


@pytest.mark.parametrize(
    ("live", "locs", "expected"),
    [
        ([], "abcde", "11223"),
        # unchanged, and one less
        ([(1, "a", 2), (2, "c", 2)], "abcd", "1122"),
        ([(1, "a", 2), (2, "c", 2)], "acd", "122"),
        # more than fits: the rest has a new number when the next shard is full, moves there when it has room
        ([(1, "a", 2), (2, "d", 2)], "abcde", "11322"),
        ([(1, "a", 2), (2, "d", 1)], "abcd", "1122"),
        # ranges that are empty now, at the start and at the end
        ([(1, "a", 2), (2, "c", 2), (3, "e", 2)], "ef", "33"),
        ([(1, "a", 2), (2, "c", 2), (3, "e", 2)], "ab", "11"),
        # before all ranges
        ([(1, "b", 1)], "ab", "11"),
        ([(1, "b", 2)], "abc", "211"),
        # the order is that of the URLs, not of the numbers
        ([(2, "a", 2), (1, "c", 2)], "abcd", "2211"),
    ],
)
def test_layout(live, locs, expected):
    shards = [LiveShard(number, first, urls, 100) for number, first, urls in live]
    assert "".join(map(str, numbers(shards, locs).values())) == expected


def test_layout_regards_the_next_shards_bytes():
    full = LiveShard(1, "b", 1, 995)
    assert Layout([full], max_urls=9, max_bytes=1_000).next_number("a", 6) == 2
    assert Layout([full], max_urls=9, max_bytes=1_000).next_number("a", 5) == 1
