"""Readers that share no code with the writer accept what was published: another library, and the published schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lxml import etree
from usp.tree import sitemap_tree_for_homepage

from tests.support.paths import SCHEMAS
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

DATE = "Tue, 02 Mar 2021 10:20:30 GMT"


def crawl(program: Program, site: WebServer, *options: str) -> set[str]:
    """Crawl a site of 25 pages and serve what was published on it; the URLs that have to be listed."""
    paths = [f"/{number}?a=1&b=<{number}>" for number in range(24)]
    pages = {
        path.replace("<", "%3C").replace(">", "%3E"): Answer(page(), headers={"Last-Modified": DATE}) for path in paths
    }
    site.pages.update({"/": page(*paths), **pages})
    result = program.crawl(site.url("/"), *options)
    assert result.code == 0, result.err
    for file in program.output.iterdir():
        site.pages[f"/{file.name}"] = Answer(file.read_bytes(), content_type="application/xml")
    return {site.url(path) for path in pages} | {site.url("/")}


@pytest.mark.parametrize("options", [(), ("--max-urls", "10"), ("--max-urls", "10", "--gzip")])
def test_another_library_reads_the_same_pages(program: Program, site: WebServer, options: tuple[str, ...]) -> None:
    expected = crawl(program, site, *options)
    pages = list(sitemap_tree_for_homepage(site.url("/"), use_known_paths=True).all_pages())
    assert {found.url for found in pages} == expected
    assert {found.last_modified.isoformat() for found in pages if found.last_modified} == {"2021-03-02T10:20:30+00:00"}


@pytest.mark.skipif(not SCHEMAS.is_dir(), reason="the published schemas are not beside this checkout")
@pytest.mark.parametrize("options", [(), ("--max-urls", "10")])
def test_the_published_schemas_accept_the_files(program: Program, site: WebServer, options: tuple[str, ...]) -> None:
    crawl(program, site, *options)
    files = sorted(program.output.iterdir())
    assert len(files) == (4 if options else 1)
    for file in files:
        document = etree.parse(file)
        name = "siteindex.xsd" if document.getroot().tag.endswith("sitemapindex") else "sitemap.xsd"
        etree.XMLSchema(etree.parse(SCHEMAS / name)).assertValid(document)
