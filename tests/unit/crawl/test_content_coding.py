"""Compressed bodies: complete, cut off, damaged, and decompression bombs."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.crawl.download.content_coding import BodyDecoder
from sitemap_crawler.exceptions import CodingError
from tests.support.codings import deflated, zstd

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_BYTES = 10_000_000
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "X-GZip ": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


def decoded(coding: str, body: bytes, *, step: int = 1_000_000, max_bytes: int = MAX_BYTES) -> bytes:
    decoder = BodyDecoder(coding)
    found = b""
    for start in range(0, len(body), step):
        found += decoder.decode(body[start : start + step], max_bytes - len(found))
        if len(found) >= max_bytes:
            return found
    decoder.finish()
    return found


@given(data=st.binary(max_size=20_000), coding=st.sampled_from(sorted(CODINGS)), step=st.integers(1, 5_000))
def test_a_compressed_body_is_decoded(data: bytes, coding: str, step: int) -> None:
    assert decoded(coding, CODINGS[coding](data), step=step) == data


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_deflate_without_its_zlib_wrapper(step: int) -> None:
    assert decoded("deflate", deflated(b"hello" * 100), step=step) == b"hello" * 100


def test_codings_are_decoded_from_the_last_to_the_first() -> None:
    assert decoded("gzip, br", brotli.compress(gzip.compress(b"hello"))) == b"hello"
    assert decoded("gzip,gzip", gzip.compress(gzip.compress(b"hello"))) == b"hello"


@pytest.mark.parametrize("step", [1, 3, 1_000_000])
def test_data_after_the_end_of_brotli_is_damage_in_pieces_of_any_size(step: int) -> None:
    with pytest.raises(CodingError):
        decoded("br", brotli.compress(b"a") + b"b", step=step)


@pytest.mark.parametrize("step", [1, 2, 3, 5, 7, 1_000_000])
def test_a_gzip_member_after_other_data_is_ignored(step: int) -> None:
    assert decoded("gzip", gzip.compress(b"a") + b"\0\0" + gzip.compress(b"b"), step=step) == b"a"
    assert decoded("gzip", gzip.compress(b"a") + b"\x1f" + gzip.compress(b"b"), step=step) == b"a"


def test_gzip_members_are_joined_and_trailing_data_is_ignored() -> None:
    assert decoded("gzip", gzip.compress(b"a") + gzip.compress(b"b")) == b"ab"
    assert decoded("gzip", gzip.compress(b"a") + b"\0\0 padding") == b"a"


@pytest.mark.parametrize("step", range(1, 30))
def test_a_gzip_member_may_begin_in_any_chunk(step: int) -> None:
    members = gzip.compress(b"first ") + gzip.compress(b"second")
    assert decoded("gzip", members, step=step) == b"first second"


@pytest.mark.parametrize("coding", ["", "identity", "utf-8", "none", "snappy"])
def test_an_unknown_coding_is_ignored(coding: str) -> None:
    assert not BodyDecoder(coding)


@pytest.mark.parametrize("coding", sorted(CODINGS))
@pytest.mark.parametrize("cut", [1, 8, 40])
def test_a_body_that_is_cut_off_is_an_error(coding: str, cut: int) -> None:
    packed = CODINGS[coding](bytes(range(256)) * 10)
    with pytest.raises(CodingError, match="is cut off"):
        decoded(coding, packed[:-cut])


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_body_that_is_not_compressed_is_an_error(coding: str) -> None:
    with pytest.raises(CodingError):
        decoded(coding, b"<html>plain</html>" * 100)


def test_more_than_two_codings_are_an_error() -> None:
    with pytest.raises(CodingError, match="compressed 3 times"):
        BodyDecoder("gzip, gzip, gzip")


@pytest.mark.parametrize("coding", sorted(CODINGS))
def test_a_bomb_is_decoded_up_to_the_limit(coding: str) -> None:
    decoder = BodyDecoder(coding)
    packed = CODINGS[coding](bytes(50_000_000))
    assert len(decoder.decode(packed, 1_000_001)) == 1_000_001
    # The ratio by which a bomb is recognised.
    assert 1_000_001 / decoder.encoded_bytes > 200


def test_an_empty_body_is_complete() -> None:
    BodyDecoder("gzip").finish()
