"""What pages show of their scripts: equal for pages of one template, whatever their data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.scripts import MAX_INLINE, code_skeleton, script_facts
from tests.support.growth import assert_linear
from tests.support.reading_page import page

TEXT = "<p>" + "Some words of a page that the server sends. " * 8


def scripts_of(*scripts: str) -> bytes:
    return script_facts(page(f"<html><head>{''.join(scripts)}</head><body>{TEXT}</body></html>")).scripts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<script src=/app.js></script>", "<script src=/app.js?v=2></script>"),
        ("<script src=/app.js></script>", "<script defer src=https://example.com/app.js#x></script>"),
        ("<script>track('a', 1)</script>", '<script>track("b", 22)</script>'),
        ("<script>var data = {a: 1, b: [1, 2]}</script>", "<script>var data = {c: {d: 'x'}}</script>"),
        ("<script>push([1, 'x {'])</script>", "<script>push([1, 'y', [2]])</script>"),
        ("<script>f(`a`) // one</script>", "<script>f(`b`) /* two */</script>"),
        ("<script>f()</script>", "<script>  f( )\n</script>"),
        ("<script>f()</script>", "<script>f()</script><script>f()</script>"),
        ("<script>f()</script>", '<script>f()</script><script type="application/ld+json">{"a": 1}</script>'),
        ("<script>f()</script>", "<script>f()</script><script type=importmap>{}</script>"),
        ("<script>f()</script>", "<script type=text/javascript>f()</script>"),
    ],
)
def test_pages_that_differ_in_data_have_the_same_scripts(one: str, other: str) -> None:
    assert scripts_of(one) == scripts_of(other) != b""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<script src=/app.js></script>", "<script src=/other.js></script>"),
        ("<script src=/app.js></script>", "<script src=/app.js></script><script src=/more.js></script>"),
        ("<script>f(1)</script>", "<script>g(1)</script>"),
        ("<script>function f() { a() }</script>", "<script>function f() { b() }</script>"),
        ("<script>a[0].b()</script>", "<script>a[0].c()</script>"),
    ],
)
def test_pages_with_other_code_have_other_scripts(one: str, other: str) -> None:
    assert scripts_of(one) != scripts_of(other)


@pytest.mark.parametrize(
    "markup",
    [
        "",
        '<script type="application/ld+json">{}</script>',
        "<script type=text/template>x</script>",
        "<script> </script>",
    ],
)
def test_a_page_without_scripts_that_run_has_none(markup: str) -> None:
    assert scripts_of(markup) == b""


@pytest.mark.parametrize(
    ("markup", "is_shell"),
    [
        ("<div id=root></div><script src=/app.js></script>", True),
        ("<div id=root></div>", False),
        ("<a href=/a>a</a><a href=/b>b</a><a href=/c>c</a><script src=/app.js></script>", True),
        ("<a href=/a>a</a><a href=/b>b</a><a href=/c>c</a><a href=/d>d</a><script src=/app.js></script>", False),
        (f"{TEXT}<script src=/app.js></script>", False),
        ("<noscript>" + "Turn JavaScript on. " * 20 + "</noscript><script src=/app.js></script>", True),
    ],
)
def test_a_shell_has_scripts_and_hardly_anything_else(markup: str, is_shell: bool) -> None:
    assert script_facts(page(f"<body>{markup}")).is_shell is is_shell


def test_the_length_of_the_text_counts_main_content() -> None:
    assert script_facts(page("<main>four words of text</main><nav>menu</nav>")).text_bytes == len("fourwordsoftext")


@given(st.text(alphabet="\"'`\\{}[]()=/*\n a1$", max_size=300))
def test_any_code_has_a_skeleton_that_is_no_longer(code: str) -> None:
    assert len(code_skeleton(code)) <= len(code)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["[", "{", "'", "`", "/*", "//", "a ", "=[", "\\", '"\\'])
def test_hostile_code_takes_linear_time(piece: str) -> None:
    assert_linear(lambda n: piece * n(MAX_INLINE), code_skeleton)
