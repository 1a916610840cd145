"""One file: its limits to the byte, its states, its bytes."""

from __future__ import annotations

import gzip
import hashlib
from io import BytesIO

import pytest
from lxml import etree

from sitemap_crawler.exceptions import EntryNameError, IndexOverflowError
from sitemap_crawler.sitemap.index import read_index, serialise_index
from sitemap_crawler.sitemap.layout import Layout, LiveShard, read_live_shard
from sitemap_crawler.sitemap.names import Names
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


@pytest.mark.parametrize("compress", [False, True])
def test_live_shard_tells_its_first_url_and_its_size(tmp_path, compress):
    path = tmp_path / "file"
    path.write_bytes(write(ENTRY.replace(b"/a", b"/&apos;&amp;amp;&quot;"), ENTRY, compress=compress)[1])
    live = read_live_shard(path, number=3, urls=2, gzip=compress)
    size = len(EMPTY) + 2 * len(ENTRY) + len("&apos;&amp;amp;&quot;") - 1
    assert live == LiveShard(3, "https://example.com/'&amp;\"", 2, size)


@pytest.mark.parametrize("content", [None, b"", b"\x1f\x8b\x08 broken", b"<urlset/>"])
@pytest.mark.parametrize("compress", [False, True])
def test_what_is_no_shard_of_ours_tells_nothing(tmp_path, content, compress):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    assert read_live_shard(path, number=1, urls=1, gzip=compress) is None


def numbers(live: list[LiveShard], locs: str, max_urls: int = 2) -> dict[str, int]:
    """The shard of each one-letter URL, cut by `max_urls` only."""
    layout = Layout(live, max_urls=max_urls, max_bytes=1_000)
    found: dict[str, int] = {}
    count = 0
    for loc in locs:
        if not found or layout.begins(loc) or count == max_urls:
            number = layout.next_number(loc, 10)
            count = 0
        found[loc] = number
        count += 1
    return found


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


def test_index_bytes():
    assert serialise_index([("https://e.example/a&b-1.xml", "2024-05-06T07:08:09Z")]) == (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        b'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        b"<sitemap><loc>https://e.example/a&amp;b-1.xml</loc><lastmod>2024-05-06T07:08:09Z</lastmod></sitemap>\n"
        b"</sitemapindex>\n"
    )


def test_index_lists_50_000_and_no_more():
    row = ("https://e.example/map-1.xml", "2024-05-06T07:08:09Z")
    assert len(etree.fromstring(serialise_index([row] * 50_000))) == 50_000
    with pytest.raises(IndexOverflowError, match=r"\A[^\n]*at most 50000 sitemaps, not 50001[^\n]*\Z"):
        serialise_index([row] * 50_001)


def test_index_has_52_428_800_bytes_and_no_more():
    fixed = len(serialise_index([("", "")] * 40_000))
    length, rest = divmod(52_428_800 - fixed, 40_000)
    rows = [("x" * length, "")] * 39_999
    assert len(serialise_index([*rows, ("x" * (length + rest), "")])) == 52_428_800
    with pytest.raises(IndexOverflowError, match="52428800"):
        serialise_index([*rows, ("x" * (length + rest + 1), "")])


def test_index_is_read_back():
    locs = ["https://e.example/a&b'-1.xml", "https://e.example/&amp;-2.xml"]
    assert read_index(BytesIO(serialise_index([(loc, "2024-05-06T07:08:09Z") for loc in locs]))) == locs


@pytest.mark.parametrize("data", [b"", b"\xff\x00", EMPTY.replace(b"</urlset>", ENTRY + b"</urlset>")])
def test_nothing_is_read_from_what_is_no_index(data):
    assert read_index(BytesIO(data)) == []


@pytest.mark.parametrize(
    ("url", "entry", "second", "second_url"),
    [
        ("https://e.example/map.xml", "map.xml", "map-2.xml", "https://e.example/map-2.xml"),
        ("https://e.example:8/d/sitemap_index", "sitemap_index", "sitemap_index-2.xml", None),
        ("https://e.example/map.php", "map.php", "map.php-2.xml", "https://e.example/map.php-2.xml"),
        (
            "https://e.example/d/my%20map%25.xml",
            "my map%.xml",
            "my map%-2.xml",
            "https://e.example/d/my%20map%25-2.xml",
        ),
        ("https://e.example/%C3%BC.xml", "ü.xml", "ü-2.xml", "https://e.example/%C3%BC-2.xml"),
        ("https://e.example/ü.xml", "ü.xml", "ü-2.xml", "https://e.example/%C3%BC-2.xml"),
        ("https://e.example/a&b;'.xml", "a&b;'.xml", "a&b;'-2.xml", "https://e.example/a&b;'-2.xml"),
        ("https://e.example/a%3Fb%23.xml", "a?b#.xml", "a?b#-2.xml", "https://e.example/a%3Fb%23-2.xml"),
    ],
)
def test_names(url, entry, second, second_url):
    names = Names.for_sitemap(url)
    assert (names.entry, names.shard(2), names.url(entry)) == (entry, second, url)
    assert (names.name(url), names.name(names.url(second))) == (entry, second)
    assert names.url(second) == (second_url or "https://e.example:8/d/sitemap_index-2.xml")


def test_compressed_names():
    names = Names.for_sitemap("https://e.example/map.xml", gzip=True)
    assert (names.entry, names.shard(10)) == ("map.xml", "map-10.xml.gz")


@pytest.mark.parametrize("url", ["https://other.example/map-1.xml", "https://e.example/d/map-1.xml", "map-1.xml", ""])
def test_a_url_elsewhere_has_no_name(url):
    assert Names.for_sitemap("https://e.example/map.xml").name(url) == ""


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("map-1.xml", ("", 1)),
        ("map-20.xml.gz", ("", 20)),
        ("map-posts-1.xml", ("posts", 1)),
        ("map-posts-12.xml.gz", ("posts", 12)),
        ("map-blog-posts-2.xml", ("blog-posts", 2)),
        ("map-1-1.xml", ("1", 1)),
        ("map-2024-05-3.xml", ("2024-05", 3)),
        ("map-news-2.xml", ("news", 2)),
        ("map-news.xml", ("news", 1)),
        ("map-news.xml.gz", ("news", 1)),
        ("map-images-1.xml", ("images", 1)),
        ("map-newsletter-1.xml", ("newsletter", 1)),
        (f"map-{'x' * 40}-1.xml", ("x" * 40, 1)),
        (f"map-{'x' * 41}-1.xml", None),
        ("map-news-1.xml", None),
        ("map-posts.xml", None),
        ("map.xml", None),
        ("map.txt", None),
        ("map-1.txt", None),
        ("map-0.xml", None),
        ("map-01.xml", None),
        ("map-posts-0.xml", None),
        ("map-Posts-1.xml", None),
        ("map--1.xml", None),
        ("map-a--b-1.xml", None),
        ("map-1.xml.bak", None),
        ("other-1.xml", None),
        ("map-٣.xml", None),
        ("../map-1.xml", None),
        ("map-../x-1.xml", None),
        ("map-1.xml\n", None),
    ],
)
def test_the_section_and_the_number_of_a_name(name, place):
    names = Names.for_sitemap("https://e.example/map.xml", gzip=name.endswith(".gz"))
    assert names.section_and_number(name) == place
    assert names.derives(name) is (place is not None or name in ("map.xml", "map.txt", "map-1.txt"))
    if place is not None:
        assert names.shard(place[1], place[0]) == name


@pytest.mark.parametrize(
    ("entry", "first", "third"),
    [
        ("map.xml", "map.txt", "map-2.txt"),
        ("sitemap_index", "sitemap_index.txt", "sitemap_index-2.txt"),
        ("map.txt", "map.txt.txt", "map.txt-2.txt"),
    ],
)
def test_names_of_text_files(entry, first, third):
    names = Names.for_sitemap(f"https://e.example/d/{entry}", gzip=True)
    assert (names.other_format("txt"), names.other_format("txt", 2)) == (first, third)
    assert (names.text_number(first), names.text_number(third)) == (0, 2)
    assert names.url(third) == f"https://e.example/d/{third}"


@pytest.mark.parametrize(
    ("name", "derived"),
    [
        ("map.rss", True),
        ("map.atom", True),
        ("map-9.txt", True),
        ("map-1.rss", False),
        ("map-0.txt", False),
        ("map-posts-1.txt", False),
        ("map.txt.gz", False),
        ("other.rss", False),
        ("map.html", False),
    ],
)
def test_names_of_other_formats(name, derived):
    assert Names.for_sitemap("https://e.example/map.xml").derives(name) is derived


@pytest.mark.parametrize(
    "url",
    [
        "https://e.example/",
        "https://e.example",
        "https://e.example/d/..",
        "https://e.example/%2e%2e",
        "https://e.example/a%2Fb.xml",
        "https://e.example/a%5Cb.xml",
        "https://e.example/a%00.xml",
        "https://e.example/a%0A.xml",
        "https://e.example/%FF.xml",
        "https://e.example/\ud800.xml",
        "https://e.example/.xml",
        "https://e.example/map.xml.gz",
        "https://e.example/map.xml?a=1",
        "https://e.example/map.xml#a",
        "ftp://e.example/map.xml",
        "map.xml",
        "https://[broken/map.xml",
        "https://e.example/" + "x" * 161,
    ],
)
def test_unusable_entry_names_give_one_line(url):
    with pytest.raises(EntryNameError, match=r"\A[^\n]+\Z"):
        Names.for_sitemap(url)
