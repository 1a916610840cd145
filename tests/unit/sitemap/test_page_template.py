"""Templates of a site for its page list: variables, escaping, the sandbox, and errors of one line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.exceptions import PageTemplateError
from sitemap_crawler.sitemap.names import Names
from sitemap_crawler.sitemap.page_list import MAX_LINKS, ListedTitle, PageList, PageListSite
from sitemap_crawler.sitemap.page_template import MAX_TEMPLATE_BYTES, load_template

if TYPE_CHECKING:
    from pathlib import Path

BASE = "https://www.example.com/"


def rendered(path: Path, text: str, *titles: str) -> list[str]:
    path.write_text(text, encoding="utf-8")
    pages = [ListedTitle(f"{BASE}{number:05}", title) for number, title in enumerate(titles)]
    site = PageListSite("<Site>", BASE, BASE)
    made = PageList(load_template(path).render, site, Names.for_sitemap(f"{BASE}map.xml"), pages=len(pages))
    return [file.data.decode() for file in made.files(pages)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "frame.html"


def test_all_variables(file: Path) -> None:
    text = (
        "{{ site_title }}|{{ site_url }}|{{ host }}|{{ number }}|{{ count }}|{{ navigation }}|"
        "{% for group in groups %}[{{ group.heading }}]{% for page in group.pages %}"
        "<a href='{{ page.url }}'>{{ page.title }}</a>{% endfor %}{% endfor %}|{{ listing }}|{{ policy }}|{{ style }}"
    )
    [made] = rendered(file, text, "<b>{{ 1 }}")
    link = '<li class="sitemap-page"><a href="https://www.example.com/00000"><bdi>&lt;b&gt;{{ 1 }}</bdi></a></li>'
    parts = made.split("|")
    assert parts[:7] == [
        "&lt;Site&gt;",
        BASE,
        "www.example.com",
        "1",
        "1",
        "",
        "[www.example.com]<a href='https://www.example.com/00000'>&lt;b&gt;{{ 1 }}</a>",
    ]
    assert link in parts[7]
    assert "default-src &#39;none&#39;" in parts[8]
    assert ":root {" in parts[9]


def test_the_frame_of_several_files(file: Path) -> None:
    made = rendered(file, "{{ number }}/{{ count }} {{ navigation }}", *["T"] * (MAX_LINKS + 1))
    assert [text.partition(" ")[0] for text in made] == ["1/2", "2/2"]
    assert '<a href="map-2.html" rel="next">2</a>' in made[0]


def test_a_byte_order_mark_is_no_part_of_the_template(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfx")
    assert load_template(file).render({"listing": "", "navigation": ""}) == b"x"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a\n{{ nope }}", 2, "'nope' is undefined"),
        ("{% if number == 3 %}\n\n{{ nope }}{% endif %}", 3, "'nope' is undefined"),
        ("{% if not navigation %}{{ nope }}{% endif %}", 1, "'nope' is undefined"),
        ("{% for group in groups %}{{ group.nope }}{% endfor %}", 1, "nope"),
        ("x\n{% for", 2, "unexpected"),
        ("{{ 'a' }", 1, "unexpected"),
        ("{% include 'x.html' %}", 1, "loader"),
        ("{{ ''.__class__.__mro__ }}", 1, "unsafe"),
        ("{{ groups.append(1) }}", 1, "unsafe"),
        ("{{ 1 // 0 }}", 1, "division"),
        ("{{ range(10000000) }}", 1, "[Rr]ange"),
        ("{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", 1, "recursion"),
        ("{{ groups.__class__ }}", 1, "unsafe"),
        ("{{ '\\ud800' }}", None, "surrogates"),
    ],
)
def test_an_unusable_template_is_an_error_of_one_line(file: Path, text: str, line: int | None, words: str) -> None:
    file.write_text(text, encoding="utf-8")
    place = f", line {line}" if line else ""
    with pytest.raises(PageTemplateError, match=rf"\Ahtml_template {file}{place}: [^\n]*{words}[^\n]*: correct the"):
        load_template(file)


def test_files_that_are_no_template(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xe9")
    (tmp_path / "long").write_bytes(b"x" * (MAX_TEMPLATE_BYTES + 1))
    os.mkfifo(tmp_path / "pipe")
    for name, words in [
        ("missing", "No such file"),
        ("", "directory|regular"),
        ("pipe", "regular"),
        ("latin", "UTF-8"),
        ("long", "1,000,000 bytes"),
    ]:
        with pytest.raises(PageTemplateError, match=rf"\A[^\n]*html_template [^\n]*(?:{words})[^\n]*\Z"):
            load_template(tmp_path / name)
