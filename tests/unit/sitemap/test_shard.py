"""One file: its limits to the byte, its states, its bytes."""

from __future__ import annotations

import gzip
import hashlib
from io import BytesIO

import pytest

from sitemap_crawler.sitemap.shard import Frame, Shard, read_body

EMPTY = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n'
    b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    b' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    b' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
    b' xmlns:xhtml="http://www.w3.org/1999/xhtml">\n'
    b"</urlset>\n"
)
ENTRY = b"<url><loc>https://example.com/a</loc></url>\n"


class Kept(BytesIO):
    """What was written, still readable after the shard has closed it."""

    data = b""

    def close(self) -> None:
        self.data = self.data or self.getvalue()
        super().close()


def write(*entries: bytes, compress: bool = False) -> tuple[Shard, bytes]:
    file = Kept()
    shard = Shard(file, max_urls=100, max_bytes=1_000_000, gzip=compress)
    for entry in entries:
        shard.add(entry)
    shard.finalise()
    return shard, file.data


@pytest.mark.parametrize("compress", [False, True])
def test_max_bytes_counts_uncompressed_head_and_tail_to_the_byte(compress):
    shard = Shard(BytesIO(), max_urls=100, max_bytes=len(EMPTY) + 2 * len(ENTRY), gzip=compress)
    assert shard.fits(len(ENTRY))
    shard.add(ENTRY)
    assert shard.fits(len(ENTRY))
    shard.add(ENTRY)
    assert (shard.size, shard.full) == (len(EMPTY) + 2 * len(ENTRY), False)
    assert not shard.fits(1)
    assert shard.full


def test_one_byte_more_does_not_fit():
    shard = Shard(BytesIO(), max_urls=100, max_bytes=len(EMPTY) + len(ENTRY) - 1, gzip=False)
    assert not shard.fits(len(ENTRY))


def test_max_urls():
    shard = Shard(BytesIO(), max_urls=2, max_bytes=1_000_000, gzip=False)
    for _ in range(2):
        assert shard.fits(len(ENTRY))
        shard.add(ENTRY)
    assert not shard.fits(len(ENTRY))


def test_a_full_shard_takes_no_smaller_entry():
    shard = Shard(BytesIO(), max_urls=100, max_bytes=len(EMPTY) + 10, gzip=False)
    assert [shard.fits(11), shard.fits(1)] == [False, False]


def test_states_are_separate():
    shard = Shard(BytesIO(), max_urls=1, max_bytes=1_000, gzip=False)
    shard.add(ENTRY)
    assert (shard.full, shard.finalised) == (False, False)
    assert not shard.fits(len(ENTRY))
    assert (shard.full, shard.finalised) == (True, False)
    shard.finalise()
    assert (shard.full, shard.finalised) == (True, True)


def test_plain_bytes_hash_and_counts():
    shard, data = write(ENTRY)
    assert data == EMPTY.replace(b"</urlset>", ENTRY + b"</urlset>")
    assert (shard.urls, shard.size, shard.file_bytes) == (1, len(data), len(data))
    assert shard.sha256 == hashlib.sha256(data).hexdigest()


def test_gzip_is_reproducible_and_nameless():
    shard, data = write(ENTRY, compress=True)
    assert data == write(ENTRY, compress=True)[1]
    assert data[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"  # deflate, no flags: no name; modification time 0
    assert gzip.decompress(data) == write(ENTRY)[1]
    assert (shard.size, shard.file_bytes) == (len(EMPTY) + len(ENTRY), len(data))
    assert shard.sha256 == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("compress", [False, True])
def test_read_body_gives_the_entries_back(compress):
    entries = [ENTRY.replace(b"/a", b"/%d" % number) for number in range(20_000)]  # several blocks
    shard, data = write(*entries, compress=compress)
    assert b"".join(read_body(BytesIO(data), size=shard.size, gzip=compress)) == b"".join(entries)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("frame", [Frame(b"", b""), Frame(b"<head>\n", b"</head>\n")])
def test_another_format_has_its_own_frame(frame, compress):
    file = Kept()
    shard = Shard(file, max_urls=9, max_bytes=len(frame.head) + len(frame.tail) + 8, gzip=compress, frame=frame)
    for entry in (b"a\n", b"b\n"):
        assert shard.fits(4)
        shard.add(entry)
    assert shard.fits(4)
    assert not shard.fits(5)
    shard.finalise()
    assert (gzip.decompress(file.data) if compress else file.data) == frame.head + b"a\nb\n" + frame.tail
    assert shard.size == len(frame.head + frame.tail) + 4
    assert b"".join(read_body(BytesIO(file.data), size=shard.size, gzip=compress, frame=frame)) == b"a\nb\n"
