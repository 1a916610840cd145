"""Lines of files from outside."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.extract import lines as module
from sitemap_crawler.extract.lines import MAX_LINE, Lines

if TYPE_CHECKING:
    from collections.abc import Iterable


def read(pieces: Iterable[bytes], *, max_lines: int = 1_000, max_bytes: int = 10**9) -> tuple[list[str], Lines]:
    source = Lines(pieces, max_lines=max_lines, max_bytes=max_bytes)
    return [line for batch in source for line in batch], source


def in_pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\nb\r\n\nc\n", ["a", "b", "", "c"]),
        (b"a\rb\r\rc\r", ["a", "b", "", "c"]),
        ("\ufeffü\nb".encode(), ["ü", "b"]),
        ("ü\nb".encode("utf-16"), ["ü", "b"]),
        ("ü\nb".encode("utf-16-be").join((b"\xfe\xff", b"")), ["ü", "b"]),
        (b"a\xff\0\nb", ["a\ufffd\0", "b"]),
        (gzip.compress(b"a\nb\n", mtime=0), ["a", "b"]),
        (gzip.compress(b"a\n", mtime=0) + gzip.compress(b"b", mtime=0), ["a", "b"]),
    ],
)
def test_the_lines_do_not_depend_on_the_size_of_the_pieces(data: bytes, expected: list[str], size: int) -> None:
    found, source = read(in_pieces(data, size))
    assert (found, source.number, source.too_long, source.damage) == (expected, len(expected), 0, None)


@pytest.mark.parametrize("size", [1, 2, 5, 1_000])
def test_the_first_line_that_is_no_utf_8_is_known(size: int) -> None:
    data = "ä\n\ufffd\n".encode() + b"a\r\nb\r" + "ü".encode("latin-1") + b"\nc\xe2\x82\n"
    found, source = read(in_pieces(data, size))
    assert (found, source.first_not_utf_8) == (["ä", "\ufffd", "a", "b", "\ufffd", "c\ufffd\ufffd"], 5)
    assert read(in_pieces("ä\ufffd".encode(), size))[1].first_not_utf_8 is None


@pytest.mark.parametrize("size", [1_000, 262_144, 20_000_000])
def test_a_line_that_is_too_long_is_counted_and_becomes_an_empty_one(size: int) -> None:
    data = b"a\n" + b"x" * (10 * MAX_LINE) + b"\nb\n" + b"y" * (MAX_LINE + 1)
    found, source = read(in_pieces(data, size))
    assert (found, source.number, source.too_long) == (["a", "", "b", ""], 4, 2)


def test_a_file_of_too_many_lines_or_bytes_is_cut() -> None:
    found, source = read([b"a\nb\n", b"c\nd\n"], max_lines=3)
    assert (found, source.damage) == (["a", "b", "c"], "has more than 3 lines")
    found, source = read([b"a\nb\nc"], max_lines=3)
    assert (found, source.damage) == (["a", "b", "c"], None)
    found, source = read([b"a\nb\n", b"c\n"], max_bytes=5)
    assert (found, source.damage) == (["a", "b"], "has more than 5 bytes")


def test_a_bomb_is_cut_and_kept_in_pieces() -> None:
    bomb = gzip.compress(bytes(30_000_000))
    found, source = read([bomb], max_bytes=20_000_000)
    assert (found, source.damage) == ([""], "has more than 20,000,000 bytes")
    assert max(len(piece) for piece in Lines([bomb], max_lines=1, max_bytes=10**9)._plain()) <= module.PIECE_BYTES


def test_a_damaged_gzip_file_gives_what_it_has() -> None:
    data = gzip.compress(b"a\nb\nc\n")
    found, source = read([data[:-4]])
    assert (found, source.damage) == (["a", "b", "c"], "is a gzip file that ends too early")
    found, source = read([gzip.compress(b"a\n") + b"more"])
    assert (found, source.damage) == (["a"], "is a damaged gzip file")
