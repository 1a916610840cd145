"""Dates in the footers of generators. Each row is an excerpt of the real output of the version that it names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.generator_dates import GeneratorDate, generator_date
from sitemap_crawler.extract.page_dates import PageDate, modified_date
from tests.support.reading_page import page

NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
MARCH = datetime(2024, 3, 5, 13, 20, 30, tzinfo=UTC)


def day(text: str, source: str) -> PageDate:
    return PageDate(datetime.fromisoformat(text).replace(tzinfo=UTC), has_time=False, source=source)


DOKUWIKI = '<meta name="generator" content="DokuWiki"/>'
MEDIAWIKI = '<meta name="generator" content="MediaWiki 1.39.17"/>'
MKDOCS = '<meta name="generator" content="mkdocs-1.6.1, mkdocs-material-9.7.7">'

FOOTERS = [
    pytest.param(
        DOKUWIKI + '<div class="docInfo"><bdi>guide/start.txt</bdi> · Last modified: 2021/03/21 04:50 by '
        "<bdi>127.0.0.1</bdi></div>",
        day("2021-03-21", "dokuwiki-footer"),
        id="DokuWiki 2022-07-31a",
    ),
    pytest.param(
        MEDIAWIKI
        + '<ul id="footer-info"><li id="footer-info-lastmod"> This page was last edited on 23 February 2023, at 15:31.'
        "</li></ul>",
        day("2023-02-23", "mediawiki-footer"),
        id="MediaWiki 1.39.17",
    ),
    pytest.param(
        MKDOCS + '<aside class="md-source-file"><span class="md-source-file__fact"><span class="md-icon" '
        'title="Last update"><svg></svg></span><span class="git-revision-date-localized-plugin '
        'git-revision-date-localized-plugin-date" title="March 5, 2024 13:20:30 UTC">March 5, 2024</span></span>'
        '<span class="md-source-file__fact"><span class="md-icon" title="Created"><svg></svg></span>'
        '<span class="git-revision-date-localized-plugin git-revision-date-localized-plugin-date" '
        'title="January 2, 2023 13:20:30 UTC">January 2, 2023</span></span></aside>',
        day("2024-03-05", "mkdocs-footer"),
        id="MkDocs Material with mkdocs-git-revision-date-localized-plugin",
    ),
    pytest.param(
        MKDOCS + '<aside class="md-source-file"><span class="md-source-file__fact"><span class="md-icon" '
        'title="Last update"><svg></svg></span><span class="git-revision-date-localized-plugin '
        'git-revision-date-localized-plugin-timeago" title="March 5, 2024 13:20:30 UTC"><span class="timeago" '
        'datetime="2024-03-05T13:20:30+00:00" locale="en"></span></span><span class="git-revision-date-localized-plugin'
        ' git-revision-date-localized-plugin-iso_date" title="March 5, 2024 13:20:30 UTC">2024-03-05</span></span>'
        "</aside>",
        day("2024-03-05", "mkdocs-footer"),
        id="MkDocs Material, type timeago",
    ),
    # These generators write what other readers read.
    pytest.param(
        '<meta name="generator" content="Hugo 0.111.3">'
        '<meta property="article:published_time" content="2023-01-02T03:04:05+00:00" />'
        '<meta property="article:modified_time" content="2024-03-05T14:20:30+01:00" />'
        '<meta itemprop="datePublished" content="2023-01-02T03:04:05+00:00" />'
        '<meta itemprop="dateModified" content="2024-03-05T14:20:30+01:00" />',
        PageDate(MARCH, has_time=True, source="article:modified_time"),
        id="Hugo 0.111.3 with its templates for Open Graph and schema.org",
    ),
    pytest.param(
        '<meta name="generator" content="Docusaurus v3.10.2"><article><footer class="theme-doc-footer">'
        '<span class="theme-last-updated">Last updated<!-- --> on <b><time datetime="2024-03-05T13:20:30.000Z" '
        'itemprop="dateModified">Mar 5, 2024</time></b></span></footer></article>',
        PageDate(MARCH, has_time=True, source="microdata"),
        id="Docusaurus 3.10.2 with showLastUpdateTime",
    ),
    pytest.param(
        '<meta name="generator" content="Jekyll v4.3.1" /><script type="application/ld+json">'
        '{"@context":"https://schema.org","@type":"BlogPosting","dateModified":"2024-03-05T13:20:30+00:00",'
        '"datePublished":"2023-01-02T03:04:05+00:00","headline":"A"}</script><article class="post h-entry" itemscope '
        'itemtype="http://schema.org/BlogPosting"><time class="dt-published" datetime="2023-01-02T03:04:05+00:00" '
        'itemprop="datePublished">Jan 2, 2023</time></article>',
        PageDate(MARCH, has_time=True, source="json-ld"),
        id="Jekyll 4.3.1 with minima and jekyll-seo-tag",
    ),
    pytest.param(
        '<meta property="article:modified_time" content="2024-03-05T13:20:30+00:00" />'
        '<div class="footer">Last updated on Mar 05, 2024. Created using Sphinx</div>',
        PageDate(MARCH, has_time=True, source="article:modified_time"),
        id="Sphinx with sphinx-last-updated-by-git",
    ),
    # The moment of generation dates no page.
    pytest.param(
        '<div class="footer">Last updated on Nov 23, 2026. Created using <a href="https://www.sphinx-doc.org/">Sphinx'
        "</a></div>",
        None,
        id="Sphinx with html_last_updated_fmt",
    ),
    pytest.param(
        '<meta name="generator" content="Doxygen 1.9.4"/><address class="footer"><small>'
        'Generated on Mon Nov 23 2026 00:47:38 for P by&#160;<a href="https://www.doxygen.org/index.html">doxygen</a>'
        " 1.9.4</small></address>",
        None,
        id="Doxygen 1.9.4",
    ),
    pytest.param(
        '<meta name="generator" content="Antora 3.1.15"><article><div class="paragraph"><p>Text.</p></div></article>',
        None,
        id="Antora 3.1.15",
    ),
]


@pytest.mark.parametrize(("markup", "expected"), FOOTERS)
def test_the_footer_of_a_generator(markup: str, expected: PageDate | None) -> None:
    assert modified_date(page(markup), now=NOW) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("on 5 January 2024, at 12:34.", "2024-01-05"),
        ("on January 5, 2024, at 12:34.", "2024-01-05"),
        ("on 2024 January 5, at 12:34.", "2024-01-05"),
        ("on 2024-01-05T12:34:56.", "2024-01-05"),
        ("on 5 may 2024", "2024-05-05"),
        ("on 05 Sep 2024", "2024-09-05"),
        # Any doubt: another language, a day or a month that is none, several days, numbers in an unknown order
        ("am 5. Januar 2024 um 12:34 Uhr", None),
        ("on 31 February 2024", None),
        ("on 2024/13/01", None),
        ("on 5 January 2024, created 4 January 2024", None),
        ("on 03/04/2024", None),
        ("on 5 January 24", None),
        ("never", None),
        ("", None),
    ],
)
def test_days_that_leave_no_doubt(written: str, expected: str | None) -> None:
    found = generator_date(page(f'{MEDIAWIKI}<li id="footer-info-lastmod">This page was last edited {written}</li>'))
    assert found == (GeneratorDate(expected, "mediawiki-footer") if expected else None)


@pytest.mark.parametrize(
    "markup",
    [
        '<li id="footer-info-lastmod">on 5 January 2024</li>',
        DOKUWIKI + '<li id="footer-info-lastmod">on 5 January 2024</li>',
        DOKUWIKI + '<div class="docInfo"><bdi>log/2021/03/21.txt</bdi> · Last modified: 21.3. by <bdi>jo</bdi></div>',
        DOKUWIKI + '<div class="docInfo"><bdi>a.txt</bdi> · Last modified: 03/04/21 by <bdi>2021/03/21</bdi></div>',
        MKDOCS + '<p class="git-revision-date-localized-plugin" title="March 5, 2024 13:20:30 UTC">March 5, 2024</p>',
        '<meta name="generator" content="WordPress 6.1.9"><p>Last modified: 2024/03/05</p>',
    ],
)
def test_other_dates_are_none_of_a_generator(markup: str) -> None:
    assert generator_date(page(markup)) is None


def test_a_long_footer_is_bounded() -> None:
    assert (
        generator_date(page(MEDIAWIKI + '<li id="footer-info-lastmod">' + 50 * "<b>x</b>" + "5 May 2024</li>")) is None
    )
    assert generator_date(page(MEDIAWIKI + f'<li id="footer-info-lastmod">{400 * "x"} 5 May 2024</li>')) is None


@given(st.text(alphabet="0123456789 ,./-JanMyT:"))
def test_no_text_raises(text: str) -> None:
    generator_date(page(f'{MEDIAWIKI}<li id="footer-info-lastmod">{text}</li>'))
