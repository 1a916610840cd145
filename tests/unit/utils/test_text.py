"""Texts of crawled sites as one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.utils.text import one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("A title", "A title"),
        (" \t A\r\n\u2028title\x85of\x1fthe\u3000page ", "A title of the page"),
        ("A\0 t\x1bit\x7fl\x9be", "A title"),
        ("A \ud800\ufffe\uffff", "A"),
        ("Größe 東京 😀 e\u0301", "Größe 東京 😀 e\u0301"),
    ],
)
def test_white_space_is_collapsed_and_control_characters_are_removed(text: str, line: str) -> None:
    assert one_line(text, 100) == line


@pytest.mark.parametrize(("text", "line"), [("abcdef", "abc"), ("ab cd", "ab"), ("a b c", "a b"), ("\0abc", "abc")])
def test_a_line_is_cut_at_the_limit(text: str, line: str) -> None:
    assert one_line(text, 3) == line


def test_at_most_ten_thousand_characters_are_read() -> None:
    assert one_line(" " * 9_999 + "xy", 5) == "x"
    assert one_line(" " * 10_000 + "x", 5) == ""


@given(st.text(), st.integers(1, 20))
def test_one_line_stays_as_it_is(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert one_line(line, limit) == line
