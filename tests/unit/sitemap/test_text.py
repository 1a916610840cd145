"""Text sitemaps: one URL a line, in as many files as the limits need."""

from __future__ import annotations

import hashlib
import tracemalloc
from io import BytesIO

import pytest

from sitemap_crawler.sitemap.text import serialise, text_files


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


def write(*locs: str, max_urls: int = 50_000, max_bytes: int = 52_428_800) -> dict[int, bytes]:
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
    assert write(*locs, max_urls=max_urls) == files


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
    assert write("aa", "bb", "cc", max_bytes=max_bytes) == files


def test_what_fits_no_file_is_left_out():
    assert write("a", "too-long", "b", max_bytes=4) == {0: b"a\nb\n"}


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
    assert serialise(loc) == line


def test_each_file_is_told_when_it_is_whole():
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
