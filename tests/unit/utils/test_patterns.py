"""Patterns of the user: RE2 finds what Python finds, in linear time; Python's own searches are bounded."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sitemap_crawler.exceptions import PatternError, PatternTimeoutError
from sitemap_crawler.utils.patterns import MAX_PATTERN, UserPattern

TEXTS = [
    "", "a", "A", "k", "K", "s", "ab", "aab", "a b", "a\tb", "a\vb", "a\x1cb", "a\n", "a\nb", "\n", "é", "É",
    "\u212a", "٣", "_", "-",
    "https://example.com/docs/12/page.html?x=1&y=%C3%A9", "https://example.com/blog/2024/05/",
    "https://example.com/a.b/(c)[d]", "\x00", "\x7f", "]", "^", "\\", ":]", "{,2}", "a{02}", "\x08",
    "aaaaaaaaaaaaaaaa!",
]  # fmt: skip
SEARCHED_BY_RE2 = [
    "a", "^a$", "a$", r"\Aa", ".", "(?s).", "a.b", r"a\sb", r"\d", r"\w", r"\W", r"\S", r"\D", r"\b", r"\Ba", r"\B",
    "(?i)k", "(?i)K",
    "[^a]", "[a-z]+", "(?i)[a-z]+", "(?i)[^k]", "(?i:A)b", "(?-i:a)", "(?m)^b", "(?m)a$", r"\x61", r"[\]^\\-]", "[]]",
    "a|b|", "(a|b)*c?",
    "(?:a+)+b", "(a*)*$", "a{2}", "a{2,}", "a{1,3}b", "a*?b", "(?P<name>a)b", "[^\\W\\d_]", r"/docs/\d+/", r"\?.*&",
    r"\.html?(\?|$)",
    "a{1000}", "(?:)", "^", "$", "{", "a{x}",
]  # fmt: skip
SEARCHED_BY_PYTHON = [
    # RE2 does not take these.
    "(?=a)a", "a(?!b)", "(?<=a)b", "(?<!a)b", "(?P<x>a)(?P=x)", "(a)?(?(1)b|c)", "a++b", "(?>a*)b", "a{1001}",
    "(?:a{100}){100}",
    r"\Aa\Z", "(?a)\\w", "(?x) a  b # c", "(?#c)a", r"\u0061", r"\N{LATIN SMALL LETTER A}", r"[\b]",
    # RE2 reads these differently, or may.
    r"(a)\1", "(a)()()()()()()()()()\\10", r"\141", r"\x61\0", "[[:alpha:]]", "[x[:alpha:]]", "a{,2}b", "a{,b",
    "a{02}", "a{1,02}$",
    "(?i)\u212a", "(?i)\u017f", "(?i)İ", "(?i)é", "é", "[^é]", "[^\x00-\U0010ffff]", "(?ai)\u212a",
]  # fmt: skip


@pytest.mark.parametrize("text", [*SEARCHED_BY_RE2, *SEARCHED_BY_PYTHON])
def test_pattern_finds_as_python_does(text: str) -> None:
    pattern = UserPattern(text)
    assert (pattern._re2 is None) is (text in SEARCHED_BY_PYTHON)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        assert [pattern.found_in(one) for one in TEXTS] == [re.search(text, one) is not None for one in TEXTS]


# Parts of the syntax of either language. Python refuses two of three patterns that are made of them.
PARTS = [
    *"()[]{}|*+?^$\\.:-,0123aAkKsSdDwWbBzZx<>=!#&~P/_% ", "(?:", "(?i)", "(?m)", "(?s)", "(?x)", "(?a)", "(?u)",
    "(?i:", "(?-i:", "(?s:",
    "(?m-s:", "(?P<n>", "(?=", "(?!", "(?#", "[^", "[[:alpha:]]", "[:alpha:]", r"\d", r"\w", r"\s", r"\W", r"\S",
    r"\D", r"\b", r"\B",
    r"\A", r"\Z", r"\z", r"\C", r"\Q", r"\E", r"\pL", r"\x41", r"\xff", r"\0", r"\01", r"\12", r"\n", r"\t", r"\v",
    r"\.", r"\-", r"\]", r"\[",
    r"\_", "{2}", "{1,2}", "{,2}", "{2,}", "{02}", "{0}", "{1,02}", "*?", "+?", "??", "a-z", "A-Z", "Z-a", "+-/",
    "|)", "()",
]  # fmt: skip
CHARACTERS = "aAbBkKsS019 _-/.:][{},\\^$|()*+?%=&zZxd~\n\t\x1cé\u212a"


@settings(max_examples=2_000, deadline=None)
@given(
    text=st.lists(st.sampled_from(PARTS), min_size=1, max_size=8).map("".join),
    searched=st.lists(st.text(alphabet=CHARACTERS, max_size=8), min_size=1, max_size=8),
)
@example(text="{02}", searched=["{02}"])
def test_any_pattern_finds_as_python_does(text: str, searched: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            python = re.compile(text)
        except (re.error, ValueError):
            return
    # Parts of the pattern itself are texts that it may find.
    searched = [*searched, text, text[1:], text[:-1]]
    pattern = UserPattern(text)
    assert [pattern.found_in(one) for one in searched] == [python.search(one) is not None for one in searched]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "an empty regular expression matches everything"),
        ("[", "'[' is not a regular expression: unterminated character set at position 0"),
        ("a{1,99999999999}", "'a{1,99999999999}' is not a regular expression: the repetition number is too large"),
        ("(?L)a", "'(?L)a' is not a regular expression: "),
        ("(" * 5_000, "is not a regular expression: it has too many nested groups"),
        ("(" * 5_000 + ")" * 5_000, "is not a regular expression: it has too many nested groups"),
        ("a" * (MAX_PATTERN + 1), "has 10,001 characters: give at most 10,000"),
    ],
)
def test_unusable_pattern_is_an_error_of_one_line(text: str, words: str) -> None:
    with pytest.raises(PatternError) as raised:
        UserPattern(text)
    assert words in str(raised.value)
    assert len(str(raised.value)) < 300
    assert "\n" not in str(raised.value)


def test_a_pattern_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert UserPattern("[[a]").found_in("[")


@pytest.mark.parametrize("text", ["(a+)+$", "^(a|a)*$", "(a*)*b"])
def test_exponential_pattern_is_searched_in_linear_time(text: str) -> None:
    # Python's matcher would not end.
    assert not UserPattern(text).found_in("a" * 8_000 + "!")


def test_a_search_by_python_is_bounded() -> None:
    pattern = UserPattern("(?=a)(a+)+$")
    with pytest.raises(PatternTimeoutError) as raised:
        pattern.found_in("a" * 8_000 + "!")
    assert str(raised.value).startswith(
        f"the regular expression '(?=a)(a+)+$' took more than 0.1 s on '{'a' * 99}…': write it without look-around"
    )
    assert pattern.found_in("aaa")
