from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.alternates import Alternates, find_alternates, language_code
from tests.support.growth import assert_linear
from tests.support.reading_page import RESOLVER, URL, page

DE = "https://example.com/de/"
FR = "https://example.com/fr/"


def alternates(markup, *headers):
    document = page(markup) if markup is not None else None
    return find_alternates(document, {"link": list(headers)}, url=URL, resolve=RESOLVER.resolve)


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("en", "en"),
        ("EN", "en"),
        (" de\n", "de"),
        ("en-gb", "en-GB"),
        ("EN-us", "en-US"),
        ("zh-hant-tw", "zh-Hant-TW"),
        ("ZH-HANS", "zh-Hans"),
        ("sr-Latn", "sr-Latn"),
        ("no", "no"),
        ("nb-NO", "nb-NO"),
        ("uk", "uk"),  # Ukrainian
        ("pt-BR", "pt-BR"),
        ("es-la", "es-LA"),  # Spanish in Laos, whatever its author meant
        ("x-default", "x-default"),
        ("X-Default", "x-default"),
    ],
)
def test_valid_codes(written, code):
    assert language_code(written) == code


@pytest.mark.parametrize(
    "written",
    [
        "",
        "en-UK",
        "en-EU",
        "en-UN",
        "es-419",
        "en_GB",
        "en-",
        "-en",
        "en--GB",
        "GB",
        "jp",
        "cz",
        "xx",
        "english",
        "eng",
        "fil",
        "en-GBR",
        "en-XX",
        "en-ZZ",
        "iw",
        "zh-Xxxx",
        "zh-TW-Hant",
        "zh-Hant-TW-x",
        "de-DE-1996",
        "x-private",
        "default",
        "und",
        "e\u0274",
        "\u0441\u0435",  # Cyrillic letters that look like Latin ones
        "en gb",
        "en" * 100_000,
    ],
)
def test_invalid_codes(written):
    assert language_code(written) is None


def link(code, href, more=""):
    return f"<link rel=alternate hreflang='{code}' href='{href}' {more}>"


@pytest.mark.parametrize(
    "markup",
    [
        f"<head>{link('de', '/de/')}</head><body>x",
        "<LINK REL='X Alternate' HREFLANG=DE HREF=/de/>",
        f"<head>{link('de', ' ../de/#top ')}",
        f"<base href=/x/y>{link('de', '../de/')}",
        f"<head></head>{link('de', DE)}<body>x",
        f"<head>{link('de', DE)}{link('de', '/de/')}{link('DE', '/%64e/')}",
        # links that name no page, or no page in another language
        "<head><link rel=alternate type=application/rss+xml href=/feed><link rel=alternate media=print href=/print>"
        "<link rel=amphtml href=/amp><link rel=alternate hreflang='' href=/x><link rel=alternate hreflang=' ' href=/y>"
        "<link rel=alternate hreflang=fr><link rel=alternate hreflang=fr href=''>"
        "<link rel=stylesheet hreflang=fr href=/s><link hreflang=fr href=/t>" + link("de", DE),
        f"<head>{link('fr', 'http://[')}{link('fr', 'javascript:0')}{link('fr', 'x' * 3_000)}{link('de', DE)}",
        f"<head>{link('fr', '/fr/m', 'media=handheld')}{link('de', DE, 'media=all')}",
        f"<head>{link('fr', '/fr/feed', 'type=application/rss+xml')}{link('de', DE, 'type=text/html')}",
        f"<head>{link('fr', '/f', 'type=TEXT/XML')}{link('de', DE, 'type=application/xhtml+xml')}",
        f"<head>{link('fr', '/f', 'type=application/json+oembed')}{link('de', DE, 'type=application/pdf')}",
        f"<head>{link('fr', '/f', 'type=application/atom+xml;charset=utf-8')}{link('de', DE)}",
        # in the body
        f"<head>{link('de', DE)}</head><body>{link('fr', FR)}",
        f"<head>{link('de', DE)}<img>{link('fr', FR)}",
        f"<head>{link('de', DE)}<template>{link('fr', FR)}</template>",
    ],
)
def test_the_only_version_in_the_head(markup):
    assert alternates(markup) == Alternates((("de", DE),))


@pytest.mark.parametrize(
    "markup",
    [
        "<p>none",
        "<head><link rel=canonical href=/c><link rel=stylesheet href=/s>",
        f"<body>{link('de', DE)}",
        f"<head><div></div>{link('de', DE)}",
        "<a rel=alternate hreflang=de href=/de/>Deutsch</a>",
        f"<head><!-- {link('de', DE)} -->",
    ],
)
def test_pages_without_versions(markup):
    assert alternates(markup) == Alternates()


def test_a_whole_set():
    markup = "".join(
        [
            link("en", "page.html"),
            link("de-at", "/de/at"),
            link("de", DE),
            link("de-CH", DE),
            link("fr", "https://FR.example:443/"),
            link("x-default", "page.html"),
        ]
    )
    assert alternates(markup).valid == (
        ("en", URL),
        ("de-AT", "https://example.com/de/at"),
        ("de", DE),
        ("de-CH", DE),
        ("fr", "https://fr.example/"),
        ("x-default", URL),
    )


@pytest.mark.parametrize(
    ("markup", "headers", "valid"),
    [
        ("<p>", ['</de/>; rel="alternate"; hreflang="de"'], [("de", DE)]),
        (None, ["</de/>; rel=alternate; hreflang=DE, </fr/>; rel=alternate; hreflang=fr"], [("de", DE), ("fr", FR)]),
        (None, ["</de/>; rel=alternate; hreflang=de", "</fr/>; rel=alternate; hreflang=fr"], [("de", DE), ("fr", FR)]),
        # a header does not know <base>
        ("<base href=/other/>", ["<../de/>; rel=alternate; hreflang=de"], [("de", DE)]),
        (link("de", DE), ["</fr/>; rel=alternate; hreflang=fr"], [("de", DE), ("fr", FR)]),
        (link("de", DE), ["</de/>; rel=alternate; hreflang=de"], [("de", DE)]),
        (None, ["</de/>; rel=alternate", "</de/>; rel=next; hreflang=de", "<>; rel=alternate; hreflang=de"], []),
        (None, ["</de/>; rel=alternate; hreflang=de; anchor='/x'"], []),
        (None, ["</de/>; rel=alternate; hreflang=de; media=print"], []),
        (None, ['</de/>; rel=alternate; hreflang=de; type="application/rss+xml"'], []),
        (None, ["<mailto:x>; rel=alternate; hreflang=de"], []),
    ],
)
def test_headers(markup, headers, valid):
    assert alternates(markup, *headers) == Alternates(tuple(valid))


def test_a_response_without_link_headers():
    assert find_alternates(None, {}, url=URL, resolve=RESOLVER.resolve) == Alternates()


def test_each_invalid_code_is_reported_once():
    markup = link("en_GB", "/a") + link("de", DE) + link("en-UK", "/b") + link("en_GB", "/c")
    assert alternates(markup) == Alternates((("de", DE),), invalid=("en_GB", "en-UK"))


@pytest.mark.parametrize(
    ("markup", "headers"),
    [
        (link("en", "/a") + link("de", DE) + link("EN", "/b"), []),
        (link("en", "/a") + link("en", "/b") + link("de", DE) + link("en", "/a"), []),
        (link("en", "/a") + link("de", DE), ["</b>; rel=alternate; hreflang=en"]),
    ],
)
def test_a_code_with_two_urls_counts_for_neither(markup, headers):
    assert alternates(markup, *headers) == Alternates(
        (("de", DE),), conflicting=("en (https://example.com/a, https://example.com/b)",)
    )


LETTERS = "abcdefghijklmnopqrstuvwxyz"


def test_hostile_amounts():
    regions = [f"{region}{other}" for region in LETTERS for other in LETTERS]
    languages = ("de", "en", "fr", "it", "es")
    many = "".join(
        link(f"{language}-{region}", f"/{language}/{region}") for language in languages for region in regions
    )
    assert len(alternates(many).valid) == 500
    assert alternates(link("de", DE) * 50_000) == Alternates((("de", DE),))
    bad = alternates("".join(link(f"{'x' * 100}{n}", "/a") for n in range(10_000)) + link("y" * 1_000_000, "/b"))
    assert bad == Alternates(invalid=("x" * 40,))
    conflicts = alternates(
        "".join(link(code, f"/{code}{n}") for code in ("en", "de", "fr", "it", "es", "pt") for n in (1, 2))
    )
    expected = tuple(
        f"{code} (https://example.com/{code}1, https://example.com/{code}2)" for code in ("en", "de", "fr", "it", "es")
    )
    assert conflicts == Alternates(conflicting=expected)
    assert alternates(None, *["</de/>; rel=alternate; hreflang=de"] * 50_000) == Alternates((("de", DE),))


@pytest.mark.slow
@pytest.mark.parametrize(
    "markup",
    [
        lambda n: link("de", DE) * n(50_000),
        lambda n: "".join(link("de", f"/{number}") for number in range(n(50_000))),
        lambda n: "".join(link(f"{'x' * 100}{number}", "/a") for number in range(n(10_000))),
        lambda n: link("y" * n(1_000_000), "/b"),
        lambda n: link("en-" * n(300_000), "/b"),
    ],
    ids=["one", "conflicting", "invalid", "long", "subtags"],
)
def test_hostile_pages_take_linear_time(markup):
    assert_linear(
        lambda n: page(markup(n)),
        lambda document: find_alternates(document, {}, url=URL, resolve=RESOLVER.resolve),
    )


@pytest.mark.slow
def test_hostile_headers_take_linear_time():
    assert_linear(
        lambda n: ["</de/>; rel=alternate; hreflang=de"] * n(50_000),
        lambda headers: alternates(None, *headers),
    )


def test_the_tables_of_codes_are_loaded_only_for_pages_that_need_them():
    code = (
        "import sys; from sitemap_crawler.extract.alternates import find_alternates;"
        "find_alternates(None, {'link': ['</a>; rel=next']}, url='', resolve=None);"
        "sys.exit('pycountry' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(st.binary(max_size=200), st.lists(st.text(max_size=60), max_size=3))
def test_never_raises(body, headers):
    alternates(b"<link rel=alternate hreflang=" + body, *headers)


@given(st.text(max_size=45))
def test_a_code_in_its_usual_form_stays_as_it_is(text):
    code = language_code(text)
    assert code is None or language_code(code) == code == language_code(text.upper())
