"""File names and URLs of a set."""

from __future__ import annotations

import pytest

from sitemap_crawler.exceptions import EntryNameError
from sitemap_crawler.sitemap.names import Names


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
    ("entry", "first", "third"),
    [
        ("map.xml", "map.html", "map-3.html"),
        ("site%20map", "site map.html", "site map-3.html"),
        ("map.html", "map.html.html", "map.html-3.html"),
    ],
)
def test_names_of_page_lists(entry, first, third):
    names = Names.for_sitemap(f"https://e.example/d/{entry}", gzip=True)
    assert (names.page_list(1), names.page_list(3)) == (first, third)
    assert (names.page_list_number(first), names.page_list_number(third)) == (1, 3)
    assert names.page_list_number("map.txt") is None


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
        ("map.html", True),
        ("map-2.html", True),
        ("map-10.html", True),
        ("map-0.html", False),
        ("map-1.html", False),
        ("map-02.html", False),
        ("map-posts-2.html", False),
        ("map.html.gz", False),
        ("other.html", False),
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
