"""JSON files are replaced whole, gzip files are decompressed in pieces of bounded size."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.exceptions import GzipError
from sitemap_crawler.utils.files import gunzip, write_json

if TYPE_CHECKING:
    from pathlib import Path

TEXT = b"".join(b"https://example.com/page-%d\n" % number for number in range(2_000))
FILE = gzip.compress(TEXT)


def test_json_files_are_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_json(path, {"a": "ü"})
    path.chmod(0o444)
    write_json(path, [1])
    assert json.loads(path.read_text(encoding="utf-8")) == [1]
    with pytest.raises(TypeError):
        write_json(path, object())
    with pytest.raises(OSError, match="No such file"):
        write_json(tmp_path / "absent" / "file.json", 1)
    assert [found.name for found in tmp_path.iterdir()] == ["file.json"]


def pieces_of(data: bytes, size: int) -> list[bytes]:
    cuts = [*range(0, len(data), size), len(data)]
    return [data[start:end] for start, end in pairwise(cuts)]


@pytest.mark.parametrize("piece_bytes", [1, 7, 1_000, 10**6])
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(FILE, id="one member"),
        pytest.param(gzip.compress(TEXT[:999]) + gzip.compress(TEXT[999:]), id="two members"),
        pytest.param(gzip.compress(b"") + FILE, id="an empty member"),
        pytest.param(FILE + bytes(512), id="padded"),
        pytest.param(gzip.compress(TEXT[:999]) + bytes(9) + gzip.compress(TEXT[999:]), id="padded between members"),
    ],
)
def test_content_is_the_same_for_all_sizes_of_pieces(data: bytes, piece_bytes: int) -> None:
    out = list(gunzip(pieces_of(data, piece_bytes), max_piece_bytes=4_096))
    assert b"".join(out) == TEXT
    assert max(map(len, out)) <= 4_096


@pytest.mark.parametrize("piece_bytes", [1, 10**6])
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "truncated"),
        (FILE[:-9], "truncated"),
        (FILE[:-1], "truncated"),
        (FILE + FILE[:20], "truncated"),
        (FILE + b"garbage", "trailing-garbage"),
        (FILE[:-8] + bytes(4) + FILE[-4:], "corrupt"),
        (b"\x1f\x8bgarbage", "corrupt"),
    ],
)
def test_damage_is_named(data: bytes, kind: str, piece_bytes: int) -> None:
    with pytest.raises(GzipError) as caught:
        list(gunzip(pieces_of(data, piece_bytes), max_piece_bytes=4_096))
    assert caught.value.kind == kind


def test_content_before_the_damage_is_yielded() -> None:
    out = []
    with pytest.raises(GzipError):  # noqa: PT012 - the pieces before the error are the point
        for piece in gunzip([FILE, b"garbage"], max_piece_bytes=10**6):
            out.append(piece)  # noqa: PERF402 - list() would lose them
    assert b"".join(out) == TEXT


@pytest.mark.parametrize("piece_bytes", [1, 50, 10**6])
@pytest.mark.parametrize("max_piece_bytes", [100, 10**6])
def test_content_before_damage_in_the_same_piece_is_yielded(piece_bytes: int, max_piece_bytes: int) -> None:
    half = len(FILE) // 2
    out = []
    with pytest.raises(GzipError):  # noqa: PT012 - the pieces before the error are the point
        for piece in gunzip(pieces_of(FILE[:half] + b"\xff" * 500, piece_bytes), max_piece_bytes=max_piece_bytes):
            out.append(piece)  # noqa: PERF402 - list() would lose them
    assert max(map(len, out)) <= max_piece_bytes
    # zlib's own decompression up to the damage, byte by byte.
    decompressor = zlib.decompressobj(31)
    expected = decompressor.decompress(FILE[:half])
    assert len(expected) > 1_000
    assert b"".join(out).startswith(expected)


def test_a_bomb_is_decompressed_piece_by_piece() -> None:
    content = gunzip([gzip.compress(bytes(2**24))], max_piece_bytes=1_024)
    assert next(content) == bytes(1_024)


def test_content_that_cannot_be_compressed() -> None:
    content = os.urandom(100_000)
    assert b"".join(gunzip([gzip.compress(content)], max_piece_bytes=1_000)) == content
