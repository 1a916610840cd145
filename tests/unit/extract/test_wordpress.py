"""The API of WordPress: where pages name it, which lists it has, and what their answers say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.extract.wordpress import (
    Entry,
    api_address,
    api_links,
    is_entry,
    is_last_page,
    list_urls,
    names_pages,
    next_page,
    read_entries,
    types_url,
)
from tests.support.reading_page import page

if TYPE_CHECKING:
    from sitemap_crawler.extract.document import Document

API = '<link rel="https://api.w.org/" href="https://example.com/wp-json/" />'
HEADER = '<https://example.com/wp-json/>; rel="https://api.w.org/"'
TYPES = "https://example.com/wp-json/wp/v2/types"
QUERY = "per_page=100&orderby=id&order=asc&_fields=link,modified_gmt&page=1"


def document(head: str) -> Document:
    return page(f"<head>{head}</head><p>x")


def address(head: str, *headers: str) -> str | None:
    read = document(head)
    return api_address(read, api_links(read, headers))


@pytest.mark.parametrize(
    ("head", "headers", "expected"),
    [
        (API, (), "https://example.com/wp-json/"),
        ("", (HEADER,), "https://example.com/wp-json/"),
        ("", (f"<https://example.com/?p=1>; rel=shortlink, {HEADER}",), "https://example.com/wp-json/"),
        ('<link rel="https://api.w.org/" href="/blog/wp-json/">', (), "https://example.com/blog/wp-json/"),
        ('<link rel="https://api.w.org/">', (), None),
        ('<link rel="api.w.org" href="/wp-json/">', (), None),
        ('<link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/1">', (), None),
        ("", ("<https://example.com/?p=1>; rel=shortlink",), None),
    ],
)
def test_pages_name_the_api(head: str, headers: tuple[str, ...], expected: str | None) -> None:
    assert address(head, *headers) == expected


@pytest.mark.parametrize(
    ("head", "headers", "expected"),
    [
        # WordPress 6.1: a post, a category, the page of all posts.
        ('<link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/12" />', (), True),
        ('<link rel="alternate" type="application/json" href="/index.php?rest_route=/wp/v2/posts/12" />', (), True),
        ('<link rel="alternate" type="application/json" href="/wp-json/wp/v2/categories/1" />', (), True),
        ('<link rel="alternate" type="application/rss+xml" href="/feed/1" />', (), False),
        # WordPress 6.7: the archive of a type of entries, such as the shop.
        (
            '<link rel=alternate type=application/json href="/wp-json/wp/v2/product"><link rel=shortlink href="/?p=4">',
            (),
            False,
        ),
        # WordPress before 5.5.
        ('<link rel="shortlink" href="https://example.com/?p=12" />', (), True),
        ('<link rel="shortlink" href="https://example.com/?page_id=12" />', (), True),
        ('<link rel="shortlink" href="https://wp.me/abc" />', (), False),
        ("", ('<https://example.com/wp-json/wp/v2/pages/7>; rel="alternate"; type="application/json"', HEADER), True),
    ],
)
def test_an_entry_is_told_from_a_list(head: str, headers: tuple[str, ...], *, expected: bool) -> None:
    assert is_entry(api_links(document(API + head), headers)) is expected


@pytest.mark.parametrize(
    ("api", "expected"),
    [
        ("https://example.com/wp-json/", TYPES),
        ("https://example.com/blog/wp-json", "https://example.com/blog/wp-json/wp/v2/types"),
        ("https://example.com/index.php?rest_route=/", "https://example.com/index.php?rest_route=/wp/v2/types"),
        ("https://example.com/?rest_route=%2F", "https://example.com/?rest_route=/wp/v2/types"),
        ("https://example.com/?rest_route=/other", None),
        ("https://example.com/wp-json/?a=b", None),
    ],
)
def test_the_types_stand_below_the_api(api: str, expected: str | None) -> None:
    assert types_url(api) == expected


def types(**values: Any) -> bytes:
    return json.dumps(values).encode()


def test_each_type_of_entries_has_a_list() -> None:
    namespace = {"rest_namespace": "wp/v2"}
    body = types(
        post={"rest_base": "posts", **namespace},
        page={"rest_base": "pages"},
        book={"rest_base": "books", "rest_namespace": "library/v1"},
        again={"rest_base": "posts", **namespace},
        attachment={"rest_base": "media", **namespace},
        nav_menu_item={"rest_base": "menu-items", **namespace},
        wp_block={"rest_base": "blocks", **namespace},
        up={"rest_base": "../users", **namespace},
        query={"rest_base": "posts?a", **namespace},
        elsewhere={"rest_base": "posts", "rest_namespace": "//evil.example/v1"},
        number={"rest_base": 1},
        nothing=None,
    )
    api = "https://example.com/wp-json"
    lists = [f"{api}/wp/v2/posts?{QUERY}", f"{api}/wp/v2/pages?{QUERY}", f"{api}/library/v1/books?{QUERY}"]
    assert list_urls(TYPES, body) == lists
    assert [names_pages(url) for url in lists] == [True, True, False]
    plain = list_urls("https://example.com/index.php?rest_route=/wp/v2/types", types(post={"rest_base": "posts"}))
    assert plain == [f"https://example.com/index.php?rest_route=/wp/v2/posts&{QUERY}"]
    assert names_pages(plain[0])
    assert next_page(lists[0]) == lists[0][:-1] + "2"
    assert next_page(lists[0] + "99") == lists[0][:-1] + "200"


def test_the_number_of_types_is_bounded() -> None:
    assert len(list_urls(TYPES, types(**{f"t{number}": {"rest_base": f"b{number}"} for number in range(500)}))) == 50


HOSTILE = [
    b"", b"null", b"3", b'"posts"', b"[]", b"{}", b"<html>", b"\xff\xfe", b"[" * 200_000, b'{"a":' * 200_000,
    b"[" + b"9" * 5_000 + b"]", b'[{"link":', b"[[], 1, null]",
]  # fmt: skip


@pytest.mark.parametrize("body", HOSTILE, ids=lambda body: repr(body[:12]))
def test_wrong_answers_say_nothing(body: bytes) -> None:
    assert list_urls(TYPES, body) == []
    assert read_entries(body) == []


def entry(link: Any, modified: Any) -> dict[str, Any]:
    return {"link": link, "modified_gmt": modified}


def test_entries_have_a_url_and_a_time() -> None:
    good = entry("https://example.com/a/", "2024-09-01T13:18:39")
    body = [
        good, entry(None, "2024-09-01T13:18:39"), entry("https://example.com/b/", None), entry(["x"], {}),
        entry("https://example.com/c/", "0000-00-00 00:00:00"), entry("https://example.com/d/", "2024-09-01"),
        entry("https://example.com/e/", "2024-09-01T13:18:39+02:00"), entry("x" * 9_000, "2024-09-01T13:18:39"),
        {"link": "https://example.com/f/"}, [], 5, None, entry("b", "2024-09-01T13:18:39\n"),
    ]  # fmt: skip
    assert read_entries(json.dumps(body).encode()) == [Entry("https://example.com/a/", "2024-09-01T13:18:39Z")]
    assert len(read_entries(json.dumps([good] * 500).encode())) == 100


@pytest.mark.parametrize(
    ("page_number", "entries", "header", "expected"),
    [
        (1, 100, b"2", False),
        (2, 41, b"2", True),
        (2, 100, b"2", True),
        (1, 100, None, False),
        (1, 99, None, True),
        (1, 100, b"many", False),
        (1, 100, b"9" * 50, False),
        (3, 100, b"", False),
    ],
)
def test_a_list_has_a_last_page(page_number: int, entries: int, header: bytes | None, *, expected: bool) -> None:
    assert is_last_page(f"{TYPES}&page={page_number}", entries, header) is expected
