"""The page list: its files, headings, links and navigation, parsed back by lxml; and hostile titles and addresses."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from sitemap_crawler.sitemap.names import Names
from sitemap_crawler.sitemap.page_list import ListedTitle, PageList, PageListSite, groups_of, label, numbers_near
from sitemap_crawler.sitemap.page_template import load_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BASE = "https://www.example.com/docs/"
XHTML = "{http://www.w3.org/1999/xhtml}"
SITE = PageListSite("The <site> & more", BASE, BASE)


def files(pages: Sequence[ListedTitle], site: PageListSite = SITE) -> list[bytes]:
    page_list = PageList(load_template(None).render, site, Names.for_sitemap(f"{BASE}map.xml"), pages=len(pages))
    return [file.data for file in page_list.files(pages)]


def one_file(*pages: tuple[str, str | None]) -> etree._Element:
    """The root of the file that lists these pages: paths below BASE, and titles."""
    [data] = files([ListedTitle(BASE + path, title) for path, title in pages])
    # A strict parser: the bytes are well-formed XML as well as HTML.
    return etree.fromstring(data)


def links(root: etree._Element) -> list[tuple[str, str]]:
    """Address and text of all links in the main part."""
    [main] = root.iter(f"{XHTML}main")
    return [(str(a.get("href")), "".join(a.itertext())) for a in main.iter(f"{XHTML}a")]


def outline(root: etree._Element) -> list[tuple[str, list[str]]]:
    """Each heading with the texts of the links below it."""
    sections = root.iter(f"{XHTML}section")
    return [
        ("".join(section[0].itertext()), ["".join(item.itertext()) for item in section.iter(f"{XHTML}li")])
        for section in sections
    ]


def titled(*paths: str) -> Iterable[tuple[str, str]]:
    return [(path, f"T {path}") for path in paths]


def test_a_file_has_addresses_titles_and_nothing_else() -> None:
    root = one_file(("", "Start"), ("a?b=1&c='\"", "A & B"), ("z", None))
    assert links(root) == [
        (BASE, "Start"),
        (f"{BASE}a?b=1&c='%22", "A & B"),
        (f"{BASE}z", f"{BASE}z"),
    ]
    body = root.find(f"{XHTML}body")
    assert body is not None
    words = [text.strip() for text in body.itertext() if text.strip()]
    assert words == ["The <site> & more", "www.example.com / docs", "Start", "A & B", f"{BASE}z"]
    assert root.get("lang") is None
    assert root.findtext(f"{XHTML}head/{XHTML}title") == "Sitemap: The <site> & more"


def test_the_policy_admits_the_style_and_no_script() -> None:
    root = one_file(("", "Start"))
    names = {etree.QName(element).localname for element in root.iter()}
    assert not names & {"script", "img", "iframe", "object", "link", "form", "base"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or name == "style"]
    [policy] = [meta.get("content") for meta in root.iter(f"{XHTML}meta") if meta.get("http-equiv")]
    [style] = root.iter(f"{XHTML}style")
    digest = base64.b64encode(hashlib.sha256(str(style.text).encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "unsafe" not in policy


HOSTILE = [
    ("</a></bdi><script>alert(1)</script>", "</a></bdi><script>alert(1)</script>"),
    ("</title></style><img src=x onerror=alert(1)>", "</title></style><img src=x onerror=alert(1)>"),
    ("{{ 7*7 }}{% for x in y %}{# c #}", "{{ 7*7 }}{% for x in y %}{# c #}"),
    ('"\'><b onclick="x">', '"\'><b onclick="x">'),
    ("&lt;b&gt; &amp;amp;", "&lt;b&gt; &amp;amp;"),
    ("<!-- --> ]]> <?php ?>", "<!-- --> ]]> <?php ?>"),
    ("a\u202ecod.exe\u2066b", "acod.exeb"),
    ("a\x00b\x1b[31mc\x85\u2028d\ud800\ufffe", "ab[31mc d"),
    (" a\r\n\t b ", "a b"),
    ("שלום\u200f!", "שלום\u200f!"),
    ("x" * 10_000, "x" * 200 + "…"),
]


@pytest.mark.parametrize(("title", "shown"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_title_is_text(title: str, shown: str) -> None:
    [data] = files([ListedTitle(BASE, title)], PageListSite(title, BASE, BASE))
    root = etree.fromstring(data)
    assert links(root) == [(BASE, shown)]
    assert ["".join(h1.itertext()) for h1 in root.iter(f"{XHTML}h1")] == [shown]
    assert root.findtext(f"{XHTML}head/{XHTML}title") == f"Sitemap: {shown}"
    # The elements are those of a list with a harmless title, for a parser of HTML, too.
    [harmless] = files([ListedTitle(BASE, "A")])
    for parse in (etree.fromstring, etree.HTML):
        assert [element.tag for element in parse(data).iter()] == [element.tag for element in parse(harmless).iter()]


@pytest.mark.parametrize("title", [None, "", " \n", "\u200b\ufeff", "\u202e", "\x00", "\u00ad"])
def test_a_page_without_a_title_that_can_be_seen_shows_its_address(title: str | None) -> None:
    assert links(one_file(("a", title))) == [(f"{BASE}a", f"{BASE}a")]


def test_hostile_addresses() -> None:
    paths = ['"><script>', "a/%22%3E%3Cb%3E/c", "{{x}}", "%E2%80%AEa/", "x" * 2_000, "é"]
    root = one_file(*((path, None) for path in paths))
    shown = [f"{BASE}%22%3E%3Cscript%3E", f"{BASE}a/%22%3E%3Cb%3E/c", f"{BASE}%7B%7Bx%7D%7D", f"{BASE}%E2%80%AEa/",
             f"{BASE}{'x' * 2_000}", f"{BASE}%C3%A9"]  # fmt: skip
    assert [url for url, _ in links(root)] == shown
    assert max(len(text) for _, text in links(root)) == 201


def test_headings_are_the_directories_with_five_pages() -> None:
    below = [f"guide/{number}" for number in range(1, 5)]
    root = one_file(*titled("", "a", "b/", "b/1", *["guide/", *below], "z"))
    assert outline(root) == [
        ("www.example.com / docs", ["T", "T a", "T b/", "T b/1"]),
        ("guide", ["T guide/", "T guide/1", "T guide/2", "T guide/3", "T guide/4"]),
        ("www.example.com / docs", ["T z"]),
    ]


def test_posts_named_like_directories_are_pages_of_the_directory_above() -> None:
    posts = [f"blog/2024/post-{number}/" for number in range(6)]
    few = [f"shop/{number}/" for number in range(4)]
    assert outline(one_file(*titled(*posts, *few))) == [
        ("blog / 2024", [f"T {path}" for path in posts]),
        ("www.example.com / docs", [f"T {path}" for path in few]),
    ]


def test_small_directories_are_listed_in_the_directory_above() -> None:
    paths = [f"a/{name}/x" for name in "bcdefg"]
    assert outline(one_file(*titled(*paths))) == [("a", [f"T {path}" for path in paths])]


def test_directories_are_read_from_the_path_alone() -> None:
    paths = [*(f"list?path=/a/b/{number}" for number in range(6)), *(f"x#/y/{number}" for number in range(6))]
    assert outline(one_file(*titled(*paths))) == [("www.example.com / docs", [f"T {path}" for path in paths])]


@pytest.mark.parametrize(
    ("directory", "heading"),
    [
        ("caf%C3%A9/%D7%A9/", "café / ש"),
        ("a%20b%2Fc/", "a b/c"),
        ("%3Cscript%3E/", "<script>"),
        ("%E2%80%AE%00%1Bevil/", "evil"),
        ("%FF/", "\ufffd"),
        ("a//b/", "a / b"),
        ("x" * 500 + "/", "x" * 200 + "…"),
        ("1/2/3/4/5/6/7/8/", "1 / 2 / 3 / 4 / 5"),
        ("%00/", "www.example.com"),
    ],
)
def test_headings_are_decoded_bounded_and_escaped(directory: str, heading: str) -> None:
    pages = [(f"{directory}{number}", "T") for number in range(6)]
    assert [shown for shown, _ in outline(one_file(*pages))] == [heading]


def test_a_thousand_links_a_file_and_links_between_the_files() -> None:
    pages = [ListedTitle(f"{BASE}item-{number:05}", f"Item {number}") for number in range(2_001)]
    made = [etree.fromstring(data) for data in files(pages)]
    assert [len(links(root)) for root in made] == [1_000, 1_000, 1]
    assert [text for root in made for _, text in links(root)] == [f"Item {number}" for number in range(2_001)]
    between = [
        [
            (a.get("href"), a.get("rel"), a.text)
            for [part] in [root.iter(f"{XHTML}{name}")]
            for a in part.iter(f"{XHTML}a")
        ]
        for root in made
        for name in ("nav", "footer")
    ]
    first, second, third = (("map.html", "1"), ("map-2.html", "2"), ("map-3.html", "3"))
    expected = [
        [(second[0], "next", "2"), (third[0], None, "3")],
        [(first[0], "prev", "1"), (third[0], "next", "3")],
        [(first[0], None, "1"), (second[0], "prev", "2")],
    ]
    assert between == [rows for rows in expected for _ in range(2)]
    assert [root.findtext(f"{XHTML}head/{XHTML}title") for root in made] == [
        f"Sitemap: The <site> & more ({number}/3)" for number in (1, 2, 3)
    ]
    assert [[b.text for b in root.iter(f"{XHTML}b")] for root in made] == [["1", "1"], ["2", "2"], ["3", "3"]]


def test_only_one_file_is_in_memory() -> None:
    read = 0

    def pages() -> Iterable[ListedTitle]:
        nonlocal read
        for number in range(10_000):
            read += 1
            yield ListedTitle(f"{BASE}{number:05}", None)

    names = Names.for_sitemap(f"{BASE}map.xml")
    made = PageList(load_template(None).render, SITE, names, pages=10_000).files(pages())
    assert [(read, file.number) for file in made] == [(number * 1_000, number) for number in range(1, 11)]


def test_names_of_files_are_quoted_in_links() -> None:
    names = Names.for_sitemap("https://www.example.com/a:b'%20%26%3C.xml")
    pages = [ListedTitle(f"{BASE}{number:05}", None) for number in range(1_001)]
    made = PageList(load_template(None).render, SITE, names, pages=1_001).files(pages)
    [link] = {a.get("href") for a in etree.fromstring(next(made).data).iter(f"{XHTML}a") if a.get("rel") == "next"}
    assert link == "a%3Ab%27%20%26%3C-2.html"


@pytest.mark.parametrize("count", [1, 2, 3, 100, 1_000])
def test_every_file_is_few_clicks_from_the_first_and_links_to_few(count: int) -> None:
    clicks = {1: 0}
    level = [1]
    while level:
        below = [other for number in level for other in numbers_near(number, count)]
        level = sorted({other for other in below if other not in clicks})
        clicks.update(dict.fromkeys(level, max(clicks.values()) + 1))
    assert sorted(clicks) == list(range(1, count + 1))
    assert max(clicks.values()) <= 6
    assert max(len(numbers_near(number, count)) for number in clicks) <= 21


def test_a_wrong_number_of_pages_is_an_error() -> None:
    pages = [ListedTitle(f"{BASE}{number}", None) for number in range(5)]
    made = PageList(load_template(None).render, SITE, Names.for_sitemap(f"{BASE}map.xml"), pages=1_001).files(pages)
    with pytest.raises(ValueError, match="1 files of a page list, not 2"):
        list(made)


def test_groups_keep_the_order_and_every_page() -> None:
    paths = sorted(f"{a}/{b}/{c}" for a in "abc" for b in range(7) for c in range(b))
    pages = [ListedTitle(BASE + path, path) for path in paths]
    groups = list(groups_of(pages, BASE))
    assert [link.title for group in groups for link in group.pages] == paths
    assert {group.heading for group in groups} == {f"{a}{b}" for a in "abc" for b in ("", " / 5", " / 6")}


def test_a_label_is_one_line() -> None:
    assert re.fullmatch(r"\S.*\S", label("  a\n b\v\fc "))
