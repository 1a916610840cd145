from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.refresh import refresh_target
from tests.support.reading_page import page

T = "https://example.com/docs/t"


def refresh(content):
    quoted = content.replace("&", "&amp;").replace('"', "&quot;")
    return refresh_target(page(f'<meta http-equiv="refresh" content="{quoted}">'.encode("utf-8", "surrogatepass")))


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=t", T),
        ("0; URL=t", T),
        ("  5 ;\n url = t ", T),
        ("0;url='t'", T),
        ('0;url="t"', T),
        ("0;url='t' and more", T),
        ("0;url='t", T),
        ("0,url=t", T),
        ("0 url=t", T),
        ("0;t", T),
        ("0 t", T),
        ("0;'t'", T),
        ("0.5;url=t", T),
        (".5;url=t", T),
        ("0...;url=t", T),
        ("300; url=https://other.example/x#f", "https://other.example/x"),
        ("0;url", "https://example.com/docs/url"),
        ("0;urls=t", "https://example.com/docs/urls=t"),
        ("0;u", "https://example.com/docs/u"),
        ("0;;t", "https://example.com/docs/;t"),
        ("0;url=t;x", "https://example.com/docs/t;x"),
        # the page itself
        ("5", None),
        ("5;", None),
        ("5; ", None),
        ("0;url=", None),
        ("0;url=''", None),
        ("0;url=page.html", None),
        ("0;url=#x", None),
        # not valid
        ("", None),
        ("url=t", None),
        ("t", None),
        ("-1;url=t", None),
        ("0url=t", None),
        ("5t", None),
        # no page
        ("0;url=javascript:alert(1)", None),
        ("0;url=data:text/html,x", None),
        ("0;url=http://[", None),
    ],
)
def test_content(content, target):
    assert refresh(content) == target


@pytest.mark.parametrize(
    ("markup", "target"),
    [
        ("<META HTTP-EQUIV=' ReFresh ' CONTENT='0;url=t'>", T),
        ("<body><p><meta http-equiv=refresh content='0;url=t'>", T),
        ("<base href=/other/><meta http-equiv=refresh content='0;url=t'>", "https://example.com/other/t"),
        ("<meta http-equiv=refresh content='0;url=t'><meta http-equiv=refresh content='0;url=u'>", T),
        ("<meta http-equiv=refresh content=bad><meta http-equiv=refresh content='0;url=t'>", T),
        ("<meta http-equiv=refresh content='0;url=mailto:x'><meta http-equiv=refresh content='0;url=t'>", T),
        ("<noscript><meta http-equiv=refresh content='0;u'></noscript><meta http-equiv=refresh content='0;t'>", T),
        ("<meta http-equiv=refresh content=5><meta http-equiv=refresh content='0;url=t'>", None),
        ("<head><noscript><meta http-equiv=refresh content='0;url=t'></noscript></head>", None),
        ("<body><noscript><div><meta http-equiv=refresh content='0;url=t'></div></noscript>", None),
        ("<template><meta http-equiv=refresh content='0;url=t'></template>", None),
        ("<!-- <meta http-equiv=refresh content='0;url=t'> --><p>", None),
        ("<meta name=refresh content='0;url=t'>", None),
        ("<meta http-equiv=refresh>", None),
        ("<meta http-equiv=content-type content='text/html; charset=utf-8'>", None),
        ("<p>", None),
    ],
)
def test_tags(markup, target):
    assert refresh_target(page(markup)) == target


def test_hostile_amounts():
    started = time.monotonic()
    markup = "<noscript>" + "<div>" * 1_500 + "<meta http-equiv=refresh content='0;url=t'>" * 50_000
    assert refresh_target(page(markup)) is None
    assert time.monotonic() - started < 5


def test_a_megabyte():
    assert refresh("0" * 1_000_000 + ";url=t") == T
    assert refresh(" " * 1_000_000) is None
    assert refresh("0;" + " " * 1_000_000 + "url='t'") == T


@given(st.text(max_size=60))
def test_never_raises(text):
    refresh(text)
    refresh("0;url=" + text)
