"""Shapes of URLs and the groups that they belong to."""

from __future__ import annotations

import pytest

from sitemap_crawler.traps.shapes import shape_of

HOST = "https://www.example.com"


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/", "/"),
        ("/shop/shoes/", "/shop/shoes/"),
        ("/issues/17", "/issues/#"),
        ("/2024/05/a-title/", "/#/#/a-title/"),
        ("/catalogue/blue-shoe_12/reviews/", "/catalogue/#/reviews/"),
        ("/tree/1f0c9ab/src", "/tree/#/src"),
        # The digits of an escape are no number.
        ("/caf%C3%A9/menu", "/caf%%/menu"),
        ("/list?sort=a&page=2", "/list?page&sort"),
        ("/list?page=2&sort=a", "/list?page&sort"),
        ("/list?f=a&f=b&f=c&f=d", "/list?f&f&f"),
        ("/?p=x.git;a=tree;h=12", "/?a&h&p"),
        ("/list?filter[12]=a", "/list?filter[#]"),
        ("/list?a", "/list?a"),
    ],
)
def test_the_shape_of_a_url(path: str, shape: str) -> None:
    assert shape_of(HOST + path).groups[0] == HOST + shape


@pytest.mark.parametrize(
    ("path", "kind", "section"),
    [
        ("/", "/*", "/*"),
        ("/about", "/*", "/*"),
        ("/about/", "/*", "/*"),
        ("/post-17/", "/#/", "/*"),
        ("/product/red-shoe", "/product/*", "/product/*"),
        ("/product/red-shoe/", "/product/*", "/product/*"),
        ("/revision/5", "/revision/#", "/revision/*"),
        ("/2024/05/a-title/", "/#/#/*", "/#/*"),
        ("/catalogue/shoe_12/reviews/", "/catalogue/#/*", "/catalogue/*"),
        ("/list?page=2", "/list?page", "/*?page"),
        ("/a/b/c/d/e/f/g/h/i", "/a/b/c/d/e/f/*", "/a/*"),
    ],
)
def test_the_kind_of_a_page_and_its_section(path: str, kind: str, section: str) -> None:
    shape = shape_of(HOST + path)
    assert (shape.kind, shape.section) == (HOST + kind, HOST + section)


def test_the_groups_of_a_url_from_the_narrowest_to_the_widest() -> None:
    assert shape_of(f"{HOST}/a/b/c?x=1&y=2").groups == (
        f"{HOST}/a/b/c?x&y",
        f"{HOST}/a/b/*?x&y",
        f"{HOST}/a/*?x&y",
        f"{HOST}/*?x&y",
    )


def test_the_groups_without_a_parameter_are_those_of_the_simpler_url() -> None:
    assert shape_of(f"{HOST}/a/b?x=1&y=2").without(1) == shape_of(f"{HOST}/a/b?x=1").groups
    assert shape_of(f"{HOST}/a/b?x=1").without(0) == shape_of(f"{HOST}/a/b").groups


def test_a_long_path_has_a_bounded_number_of_groups() -> None:
    assert len(shape_of(HOST + "/a" * 1_000).groups) == 8
    assert len(shape_of(f"{HOST}/?" + "&".join(f"{'x' * 99}{chr(97 + n % 26)}=1" for n in range(99))).names) == 3
