from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.canonical import Canonical, find_canonical
from tests.support.reading_page import RESOLVER, URL, page

C = "https://example.com/docs/c"
LINK = "<link rel=canonical href=c>"


def canonical(markup, *headers):
    return find_canonical(page(markup), headers, url=URL, resolve=RESOLVER.resolve)


@pytest.mark.parametrize(
    "markup",
    [
        f"<head>{LINK}</head><body>x",
        LINK,
        f"<title>t</title>{LINK}<p>x",
        "<HEAD><LINK REL=Canonical HREF=c></HEAD>",
        "<head><link rel=' shortlink  CANONICAL ' href=' c\n'></head>",
        "<head><link rel=canonical href=https://EXAMPLE.com:443/docs/x/../%63#f></head>",
        "<head><base href=/docs/>" + LINK,
        f"<head></head>{LINK}<body>x",
        # what may precede it in the head
        "<head><noscript><img src=pixel></noscript><script>'<p>'</script><style>p{}</style><template><p></template>"
        + LINK,
        "<head><noscript><link rel=canonical href=other></noscript>" + LINK,
        # several that agree
        f"<head>{LINK}<link rel=canonical href=/docs/c>",
        # unusable ones beside it
        "<head><link rel=canonical href=''><link rel=canonical><link rel=canonical href='http://['>"
        "<link rel=canonical href='javascript:0'>" + LINK,
        # other versions
        "<head><link rel='alternate canonical' hreflang=de href=de><link rel=canonical media=print href=p>"
        "<link rel=canonical lang=fr href=fr><link rel=canonical type=text/plain href=txt>" + LINK,
        # in the body
        f"<head>{LINK}</head><body><link rel=canonical href=other>",
    ],
)
def test_the_canonical_in_the_head(markup):
    assert canonical(markup) == Canonical(C)


@pytest.mark.parametrize(
    "markup",
    [
        "<p>none",
        "<head><link rel=canonicals href=c><a rel=canonical href=c><link rev=canonical href=c>",
        f"<head></head><body>{LINK}",
        f"<head></head><body><div>{LINK}</div>",
        f"<p>x</p>{LINK}",
        f"<body><head>{LINK}</head>",
        # elements and text that end the head
        f"<head><div></div>{LINK}</head>",
        f"<head><iframe src=x></iframe>{LINK}</head>",
        f"<head><img src=x>{LINK}</head>",
        f"<head><custom-element></custom-element>{LINK}</head>",
        f"<head>text{LINK}</head>",
        # inert
        f"<head><template>{LINK}</template></head>",
        f"<head><noscript>{LINK}</noscript></head>",
        f"<head><!-- {LINK} --></head>",
        f"<head><title>{LINK}</title></head>",
        f"<head></head><body></body>{LINK}",
        "<head><link rel=canonical href=''></head>",
        "<head><link rel=canonical href='ftp://example.com/c'></head>",
    ],
)
def test_no_canonical(markup):
    assert canonical(markup) == Canonical(None)


@pytest.mark.parametrize("href", ["page.html", "", "#top", URL, "https://EXAMPLE.com/docs/./page.html#x"])
def test_one_that_names_the_page(href):
    assert canonical(f"<head><link rel=canonical href='{href}'>") == Canonical(URL if href else None)


@pytest.mark.parametrize(
    ("markup", "headers", "expected"),
    [
        ("<p>", ["<c>; rel=canonical"], Canonical(C)),
        ("<p>", ['<https://other.example/>; rel="CANONICAL"'], Canonical("https://other.example/")),
        ("<p>", ["<a>; rel=next, <c>; rel=canonical"], Canonical(C)),
        (f"<head>{LINK}", ["<c>; rel=canonical"], Canonical(C)),
        # a header does not know <base>
        ("<base href=/other/>", ["<c>; rel=canonical"], Canonical(C)),
        ("<p>", ["<c>; rel=canonical; hreflang=de"], Canonical(None)),
        ("<p>", ["<c>; rel=canonical; anchor='#x'"], Canonical(None)),
        ("<p>", ["<>; rel=canonical", "<mailto:x>; rel=canonical"], Canonical(None)),
        # conflicts
        (
            "<p>",
            ["<c>; rel=canonical", "<d>; rel=canonical"],
            Canonical(None, conflicting=(C, "https://example.com/docs/d")),
        ),
        (f"<head>{LINK}", ["<d>; rel=canonical"], Canonical(None, conflicting=(C, "https://example.com/docs/d"))),
        (
            f"<head>{LINK}<link rel=canonical href=d>",
            [],
            Canonical(None, conflicting=(C, "https://example.com/docs/d")),
        ),
        (
            f"<head>{LINK}<link rel=canonical href=page.html>",
            [],
            Canonical(None, conflicting=(C, URL)),
        ),
    ],
)
def test_headers_and_conflicts(markup, headers, expected):
    assert canonical(markup, *headers) == expected


def test_a_file_without_a_document():
    headers = ["</manual>; rel=canonical"]
    assert find_canonical(None, headers, url=URL, resolve=RESOLVER.resolve) == Canonical("https://example.com/manual")


def test_hostile_amounts():
    started = time.monotonic()
    many = "".join(f"<link rel=canonical href={n}>" for n in range(50_000))
    first_three = tuple(f"https://example.com/docs/{n}" for n in range(3))
    assert canonical("<head>" + many) == Canonical(None, conflicting=first_three)
    assert canonical("<head>" + LINK * 50_000) == Canonical(C)
    assert canonical("<head><x-x></x-x>" + LINK * 50_000) == Canonical(None)
    assert canonical(f"<head><link rel='{'x ' * 500_000}canonical' href=c>") == Canonical(C)
    assert time.monotonic() - started < 10


@given(st.binary(max_size=200), st.lists(st.text(max_size=60), max_size=3))
def test_never_raises(body, headers):
    canonical(b"<link rel=canonical href=" + body, *headers)
