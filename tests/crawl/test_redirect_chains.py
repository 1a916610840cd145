"""Redirects to a new address each time: a crawl follows a chain up to its limit, and ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.crawl.pipelines.in_process import MAX_REDIRECTS
from tests.support.webserver import Answer, page

if TYPE_CHECKING:
    from tests.support.program import Program
    from tests.support.webserver import WebServer


def build(site: WebServer, redirects: int) -> list[str]:
    """Build a start page that links to a chain of so many redirects, with a page at its end. Return the chain."""
    names = [f"/chain-{number:03}" for number in range(redirects)]
    for name, target in zip(names, [*names[1:], "/end"], strict=True):
        site.pages[name] = Answer(status=302, headers={"Location": target})
    site.pages.update({"/": page(names[0]), "/end": page(title="The end")})
    return names


@pytest.mark.parametrize(("redirects", "ends"), [(MAX_REDIRECTS, True), (MAX_REDIRECTS + 1, False)])
def test_a_chain_of_redirects_is_followed_up_to_a_limit(
    program: Program, site: WebServer, redirects: int, ends: bool
) -> None:
    names = build(site, redirects)
    result = program.crawl(site.url("/"), "--max-depth", "1")
    assert result.code == 0
    assert result.listed() == [site.url("/"), *([site.url("/end")] if ends else [])]
    assert set(names) <= set(site.paths())
    assert ("/end" in site.paths()) == ends
    assert program.run("explain", site.url(names[-1])).out.startswith("not listed: redirect")


def test_the_check_of_listed_urls_ends_at_the_limit(program: Program, site: WebServer) -> None:
    build(site, MAX_REDIRECTS + 9)
    entry = f"<url><loc>{site.url('/chain-000')}</loc></url>"
    site.pages["/sitemap.xml"] = Answer(
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entry}</urlset>', content_type="application/xml"
    )
    program.run("validate", site.url("/sitemap.xml"), "--check-urls")
    assert f"/chain-{MAX_REDIRECTS:03}" in site.paths()
    assert f"/chain-{MAX_REDIRECTS + 1:03}" not in site.paths()
