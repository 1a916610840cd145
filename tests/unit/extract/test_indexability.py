"""The robots directives and the canonical of a page."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.indexability import MAX_EVIDENCE, Canonical, Directives, find_canonical, robots_directives
from tests.support.growth import assert_linear
from tests.support.reading_page import RESOLVER, URL, page

# robots directives


NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def flags(markup, *headers):
    directives = robots_directives(page(markup), headers)
    assert (directives.evidence is not None) == (directives.noindex or directives.nofollow)
    return noindex_now(directives), directives.nofollow


def noindex_now(directives):
    return directives.noindex or (directives.unavailable_after or NOW) < NOW


@pytest.mark.parametrize(
    ("markup", "noindex", "nofollow"),
    [
        ("<meta name=robots content=noindex>", True, False),
        ("<meta name=robots content=nofollow>", False, True),
        ("<meta name=robots content=none>", True, True),
        ("<meta name=robots content='noindex,nofollow'>", True, True),
        ("<meta name=robots content='noindex nofollow'>", True, True),
        ("<meta name=robots content='NOINDEX; follow'>", True, False),
        ("<META NAME='  RoBoTs ' CONTENT='  NoArchive ,\n NOINDEX  '>", True, False),
        ("<meta content=noindex name=robots>", True, False),
        ("<meta name=googlebot content=noindex>", True, False),
        ("<meta name=Bingbot content=nofollow>", False, True),
        # the most restrictive wins
        ("<meta name=robots content='index, follow'><meta name=robots content=noindex>", True, False),
        ("<meta name=robots content=noindex><meta name=googlebot content='index, follow'>", True, False),
        ("<meta name=robots content=noindex><meta name=bingbot content=nofollow>", True, True),
        ("<meta name=robots content='index, noindex, all'>", True, False),
        # anywhere in the page
        ("<body><p>x</p><div><meta name=robots content=noindex></div></body>", True, False),
        ("<head><noscript><meta name=robots content=noindex></noscript></head>", True, False),
        # other robots
        ("<p>x", False, False),
        ("<meta name=robots content='index, follow'>", False, False),
        ("<meta name=robots content='noarchive, nosnippet, noimageindex, max-snippet:-1, notranslate'>", False, False),
        ("<meta name=robots content=''>", False, False),
        ("<meta name=robots>", False, False),
        ("<meta name=googlebot-news content=noindex>", False, False),
        ("<meta name=yandex content=noindex>", False, False),
        ("<meta name=description content=noindex>", False, False),
        ("<meta property=robots content=noindex>", False, False),
        ("<meta name=robots content='googlebot: noindex'>", False, False),
        ("<!-- <meta name=robots content=noindex> --><p>", False, False),
        ("<meta name=robots content='noindexed, nonefollow'>", False, False),
        ("<meta name=robots content='unavailable_after: 2026-05-31'>", True, False),
        ("<meta name=robots content='Unavailable_After:2026-06-02T00:00:00Z'>", False, False),
    ],
)
def test_meta_tags(markup, noindex, nofollow):
    assert flags(markup) == (noindex, nofollow)


@pytest.mark.parametrize(
    ("headers", "noindex", "nofollow"),
    [
        (["noindex"], True, False),
        (["NoIndex, NoFollow"], True, True),
        (["none"], True, True),
        (["noarchive", "nofollow"], False, True),
        (["index", "noindex"], True, False),
        (["googlebot: noindex"], True, False),
        (["BingBot : nofollow"], False, True),
        (["*: noindex"], True, False),
        (["otherbot: noindex"], False, False),
        (["googlebot-news: noindex"], False, False),
        # a prefix holds until the next one, and not for the next header
        (["googlebot: noindex, otherbot: nofollow"], True, False),
        (["otherbot: noindex, nofollow"], False, False),
        (["otherbot: noarchive, noindex, googlebot: nofollow"], False, True),
        (["otherbot: noindex", "nofollow"], False, True),
        (["noindex, otherbot: nofollow"], True, False),
        # directives with a value are no prefixes
        (["max-snippet: 20, noindex"], True, False),
        (["otherbot: max-snippet: 20, noindex"], False, False),
        (["max-image-preview:large, max-video-preview:-1"], False, False),
        (["unavailable_after: 25 Jun 2026 15:00:00 PST"], False, False),
        (["unavailable_after: 25 Jun 2025 15:00:00 PST"], True, False),
        (["unavailable_after: 25 Jun 2025 15:00:00 PST, nofollow"], True, True),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"], True, False),
        (["googlebot: unavailable_after: 25 Jun 2025 15:00:00 PST"], True, False),
        (["otherbot: unavailable_after: 25 Jun 2025 15:00:00 PST"], False, False),
        (["", ",", ":", "otherbot:", ":,:"], False, False),
        (["noindex:"], False, False),
    ],
)
def test_headers(headers, noindex, nofollow):
    directives = robots_directives(None, headers)
    assert (noindex_now(directives), directives.nofollow) == (noindex, nofollow)


@pytest.mark.parametrize(
    ("date", "past"),
    [
        ("Mon, 01 Jun 2026 11:59:59 GMT", True),
        ("Mon, 01 Jun 2026 12:00:01 GMT", False),
        ("01 Jun 2026 06:59:59 EST", True),
        ("01 Jun 2026 07:00:01 EST", False),
        ("Monday, 01-Jun-26 11:59:59 UTC", True),
        ("Monday, 01-Jun-26 12:00:01 UTC", False),
        ("25-Aug-2007 15:00:00 EST", True),
        ("2026-06-01", True),
        ("2026-06-02", False),
        ("2026-06-01T11:59:59Z", True),
        ("2026-06-01T14:30:00+02:00", False),
        ("2026-06-01T13:30:00+02:00", True),
        ("someday", False),
        ("", False),
        ("99999999999", False),
        ("2020-13-45", False),
        ("1" * 10_000, False),
    ],
)
def test_unavailable_after(date, past):
    assert flags(f"<meta name=robots content='unavailable_after: {date}'>") == (past, False)
    assert flags("<p>", f"unavailable_after: {date}") == (past, False)


@pytest.mark.parametrize(
    ("markup", "headers", "evidence"),
    [
        ("<meta name=robots content=noindex>", [], '<meta name="robots" content="noindex">'),
        (
            "<META NAME=' GoogleBot' CONTENT=' NoIndex,\n follow '>",
            [],
            '<meta name="googlebot" content="NoIndex, follow">',
        ),
        ("<p>", ["googlebot: noindex"], "X-Robots-Tag: googlebot: noindex"),
        ("<p>", ["nofollow"], "X-Robots-Tag: nofollow"),
        ("<meta name=robots content=nofollow>", ["noindex"], "X-Robots-Tag: noindex"),
        ("<meta name=robots content=noindex>", ["noindex"], "X-Robots-Tag: noindex"),
        ("<meta name=robots content='noindex,\"'>", [], '<meta name="robots" content="noindex,&quot;">'),
        ("<meta name=robots content=index>", ["all"], None),
    ],
)
def test_evidence(markup, headers, evidence):
    assert robots_directives(page(markup), headers).evidence == evidence


def test_megabytes_are_shortened():
    meta = robots_directives(page(f"<meta name=googlebot content='noindex,{'x,' * 500_000}'>" * 5), [])
    header = robots_directives(None, ["a:" * 500_000, "," * 1_000_000, "nofollow" + " ," * 500_000])
    assert (meta.noindex, header.nofollow) == (True, True)
    assert len(meta.evidence) <= MAX_EVIDENCE
    assert len(header.evidence) <= MAX_EVIDENCE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("markup", "headers"),
    [
        (lambda n: f"<meta name=googlebot content='noindex,{'x,' * n(500_000)}'>" * 5, lambda n: []),
        (lambda n: "<meta name=robots content='unavailable_after: x'>" * n(100_000), lambda n: []),
        (None, lambda n: ["a:" * n(500_000)]),
        (None, lambda n: ["," * n(1_000_000)]),
        (None, lambda n: ["nofollow" + " ," * n(500_000)]),
        (None, lambda n: ["unavailable_after: x"] * n(50_000)),
    ],
    ids=["tags", "dates", "agents", "commas", "spaces", "headers"],
)
def test_megabytes_take_linear_time(markup, headers):
    assert_linear(
        lambda n: (page(markup(n)) if markup else None, headers(n)),
        lambda response: robots_directives(*response),
    )


def test_the_earliest_end_counts():
    markup = "<meta name=robots content='unavailable_after: 2026-07-02'>"
    directives = robots_directives(page(markup), ["unavailable_after: 2026-07-01", "unavailable_after: 2026-07-03"])
    assert directives.unavailable_after == datetime(2026, 7, 1, tzinfo=UTC)


def test_a_response_without_directives():
    assert robots_directives(None, []) == Directives(noindex=False, nofollow=False, evidence=None)


@given(st.lists(st.text(max_size=80) | st.sampled_from(["unavailable_after:", "googlebot:"]), max_size=4))
def test_never_raises(values):
    quoted = "".join(values).replace("&", "&amp;").replace('"', "&quot;").encode("utf-8", "surrogatepass")
    robots_directives(page(b'<meta name=robots content="' + quoted + b'">'), values)


@given(st.text("0123456789-:+TZ GMTJanFeb,.", max_size=40))
def test_no_date_raises(date):
    robots_directives(None, [f"unavailable_after: {date}"])


# canonical


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
        # elements before it in the head
        "<head><noscript><img src=pixel></noscript><script>'<p>'</script><style>p{}</style><template><p></template>"
        + LINK,
        "<head><noscript><link rel=canonical href=other></noscript>" + LINK,
        # several that agree
        f"<head>{LINK}<link rel=canonical href=/docs/c>",
        # unusable ones next to it
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
def test_a_canonical_to_the_page_itself(href):
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


def test_hostile_amounts_of_canonicals():
    many = "".join(f"<link rel=canonical href={n}>" for n in range(50_000))
    first_three = tuple(f"https://example.com/docs/{n}" for n in range(3))
    assert canonical("<head>" + many) == Canonical(None, conflicting=first_three)
    assert canonical("<head>" + LINK * 50_000) == Canonical(C)
    assert canonical("<head><x-x></x-x>" + LINK * 50_000) == Canonical(None)
    assert canonical(f"<head><link rel='{'x ' * 500_000}canonical' href=c>") == Canonical(C)


@pytest.mark.slow
@pytest.mark.parametrize(
    "markup",
    [
        lambda n: "<head>" + "".join(f"<link rel=canonical href={number}>" for number in range(n(50_000))),
        lambda n: "<head>" + LINK * n(50_000),
        lambda n: "<head><x-x></x-x>" + LINK * n(50_000),
        lambda n: "<div>" * n(1_500) + LINK * n(50_000),
        lambda n: f"<head><link rel='{'x ' * n(500_000)}canonical' href=c>",
    ],
    ids=["conflicting", "same", "body", "deep", "relations"],
)
def test_hostile_canonicals_take_linear_time(markup):
    assert_linear(
        lambda n: page(markup(n)),
        lambda document: find_canonical(document, [], url=URL, resolve=RESOLVER.resolve),
    )


@given(st.binary(max_size=200), st.lists(st.text(max_size=60), max_size=3))
def test_no_canonical_raises(body, headers):
    canonical(b"<link rel=canonical href=" + body, *headers)
