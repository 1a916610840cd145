"""Sitemaps in the forms that programs write, with the findings of a reader who knows the protocol.

The files in programs/ have the form that the source or the documentation of each program states, and contents of their
own. The findings were written down before the validator read the files.
"""

from __future__ import annotations

import gzip
import shutil
from collections import Counter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import pytest

from sitemap_crawler.validation.targets import validate

if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAMS = Path(__file__).parent / "programs"


class Case(NamedTuple):
    """The sitemaps of a program."""

    directory: str
    target: str
    """File that is validated; empty for the whole directory."""
    findings: Mapping[tuple[str, str], int] = MappingProxyType({})
    """Number of findings by file and rule."""
    compressed: tuple[str, ...] = ()
    """Files that the program compresses."""


CASES = [
    # https://github.com/WordPress/WordPress: wp-includes/sitemaps/class-wp-sitemaps-renderer.php
    Case("wordpress", "wp-sitemap.xml"),
    # https://github.com/Yoast/wordpress-seo: inc/sitemaps/class-sitemaps-renderer.php
    Case("yoast", "sitemap_index.xml"),
    # https://rankmath.com/kb/configure-sitemaps/: titles and captions of images as in its older versions
    Case("rank_math", "sitemap_index.xml", {
        ("post-sitemap.xml", "image-retired"): 2,
        ("post-sitemap.xml", "loc-tracking"): 1,
        ("sitemap_index.xml", "index-lastmod-old"): 1,
    }),
    # https://github.com/wikimedia/mediawiki: maintenance/generateSitemap.php, called without --urlpath
    Case("mediawiki", "", {("sitemap-index-wiki.xml", "loc-not-absolute"): 2},
         ("sitemap-wiki-NS_0-0.xml", "sitemap-wiki-NS_1-0.xml")),
    # https://github.com/dokuwiki/dokuwiki: inc/Sitemap/Item.php
    Case("dokuwiki", "sitemap.xml.gz", compressed=("sitemap.xml",)),
    # https://www.drupal.org/project/simple_sitemap: DefaultSitemapGenerator.php, with Simple English
    Case("drupal", "sitemap.xml", {("sitemap.xml", "alternate-hreflang"): 2}),
    # https://github.com/iamvishnusankar/next-sitemap: builders/sitemap-builder.ts, with its defaults
    Case("next_sitemap", "sitemap.xml", {
        ("sitemap-0.xml", "lastmod-generated"): 1,
        ("sitemap-0.xml", "priority-all-equal"): 1,
    }),
    # https://github.com/gohugoio/hugo: tpl/tplimpl/embedded/templates/sitemap.xml, for a site in two languages
    Case("hugo", "sitemap.xml"),
    # https://github.com/jekyll/jekyll-sitemap: lib/sitemap.xml, with and without the option url
    Case("jekyll", "sitemap.xml"),
    Case("jekyll_without_url", "sitemap.xml", {("sitemap.xml", "loc-not-absolute"): 4}),
    # https://github.com/jdillard/sphinx-sitemap: sphinx_sitemap/__init__.py, with translations
    Case("sphinx", "sitemap.xml", {("sitemap.xml", "alternate-self"): 4}),
    # https://github.com/ekalinin/sitemap.js: lib/sitemap-stream.ts and lib/sitemap-item-stream.ts
    Case("sitemap_js", "sitemap.xml", {
        ("sitemap.xml", "video-retired"): 2,
        ("sitemap.xml", "alternate-not-reciprocal"): 1,
        ("sitemap.xml", "unknown-element"): 1,
        ("sitemap.xml", "alternate-incomplete"): 1,
        ("sitemap.xml", "alternate-href"): 1,
        ("sitemap.xml", "alternate-rel"): 1,
        ("sitemap.xml", "news-old"): 1,
        ("sitemap.xml", "news-retired"): 2,
        ("sitemap.xml", "image-retired"): 1,
    }),
    # https://github.com/kjvarga/sitemap_generator: builder/sitemap_file.rb and builder/sitemap_url.rb. A reader objects
    # also that the only language version of one page is not the page itself. The tool does not, as its rel is wrong.
    Case("sitemap_generator", "sitemap.xml.gz", {
        ("sitemap.xml.gz", "unknown-element"): 1,
        ("sitemap.xml.gz", "mobile-retired"): 1,
        ("sitemap.xml.gz", "alternate-rel"): 1,
        ("sitemap.xml.gz", "image-retired"): 1,
        ("sitemap.xml.gz", "lastmod-generated"): 1,
    }, ("sitemap.xml",)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.directory for case in CASES])
def test_sitemaps_of_programs_get_the_findings_of_a_reader(case: Case, tmp_path: Path) -> None:
    shutil.copytree(PROGRAMS / case.directory, tmp_path, dirs_exist_ok=True)
    for name in case.compressed:
        plain = tmp_path / name
        plain.with_name(f"{name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    report = validate(str(tmp_path / case.target))
    found = Counter((finding.file, finding.rule) for finding in report.findings)
    assert found == case.findings
    assert report.counts.total() == sum(case.findings.values())


def test_every_directory_has_a_case() -> None:
    assert {path.name for path in PROGRAMS.iterdir()} == {case.directory for case in CASES}
