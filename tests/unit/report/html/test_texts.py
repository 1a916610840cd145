"""Texts of the site: titles without the name of the site, and no control characters."""

from __future__ import annotations

import pytest

from sitemap_crawler.report.html.texts import PageTexts, clean, common_end


@pytest.mark.parametrize(
    ("titles", "end"),
    [
        ([f"Page {number} - Example" for number in range(6)], " - Example"),
        ([f"A | Page {number} | Example" for number in range(6)] + ["Home"], " | Example"),
        ([f"Page - {number}" for number in range(6)], ""),
        (["Page - Example"] * 3, ""),
        ([], ""),
        (["Example"] * 9, ""),
    ],
)
def test_the_name_of_the_site_is_what_most_titles_end_with(titles: list[str], end: str) -> None:
    assert common_end(titles) == end


def test_titles_lose_the_name_of_the_site_and_nothing_else() -> None:
    texts = PageTexts(str, " - Example")
    assert texts.title("Shoes - Example") == "Shoes"
    assert texts.title("Example") == "Example"
    assert texts.title(None) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abc", "abc"),
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("a\u202eb", r"a\u202eb"),
        ("a\u2028b", r"a\u2028b"),
        ("a\n\t b", "a b"),
        ("abcdefghijklmn", "abcdefghij\u2026"),
        ("\u00e4\u00f6\u4e2d", "\u00e4\u00f6\u4e2d"),
    ],
)
def test_characters_that_control_the_output_are_shown(text: str, shown: str) -> None:
    assert clean(text, 10) == shown
