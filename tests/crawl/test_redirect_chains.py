"""Redirects to a new address each time: a crawl follows a chain up to its limit, and ends."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.crawl.pipelines.in_process import MAX_REDIRECTS
from tests.support.webserver import Answer, page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.program import Program
    from tests.support.webserver import WebServer


def redirect(kind: str, target: str) -> Answer:
    """Return a redirect as a status, as an element of a page, or as a header of one."""
    if kind == "status":
        return Answer(status=302, headers={"Location": target})
    refresh = f"0; url={target}"
    if kind == "header":
        return Answer("<title>Moved</title>", headers={"Refresh": refresh})
    return page(title="Moved", head=f'<meta http-equiv="refresh" content="{refresh}">')


def build(site: WebServer, redirects: int, kinds: Sequence[str] = ("status",)) -> list[str]:
    """Build a start page that links to a chain of so many redirects, with a page at its end. Return the chain."""
    names = [f"/chain-{number:03}" for number in range(redirects)]
    for name, target, kind in zip(names, [*names[1:], "/end"], cycle(kinds), strict=False):
        site.pages[name] = redirect(kind, target)
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


@pytest.mark.parametrize("kinds", [("element",), ("header",), ("element", "status"), ("status", "header")])
def test_a_refresh_is_a_redirect_of_a_chain(program: Program, site: WebServer, kinds: Sequence[str]) -> None:
    names = build(site, MAX_REDIRECTS + 20, kinds)
    result = program.crawl(site.url("/"))
    assert (result.code, result.listed()) == (0, [site.url("/")])
    followed = [name for name in names if name in site.paths()]
    assert followed == names[: MAX_REDIRECTS + 1]
    # The last page of the chain is not listed, although its target is dropped.
    last = program.run("explain", site.url(followed[-1])).out.splitlines()[0]
    if kinds[MAX_REDIRECTS % len(kinds)] == "status":
        assert last.startswith("not listed: redirect")
    else:
        assert program.run("check-inventory", site.url()).code == 0
        assert last == "not listed: unreachable (the page can't be read: it is redirect number 51 in a row)"


def test_the_check_of_listed_urls_ends_at_the_limit(program: Program, site: WebServer) -> None:
    build(site, MAX_REDIRECTS + 9)
    entry = f"<url><loc>{site.url('/chain-000')}</loc></url>"
    site.pages["/sitemap.xml"] = Answer(
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entry}</urlset>', content_type="application/xml"
    )
    program.run("validate", site.url("/sitemap.xml"), "--check-urls")
    assert f"/chain-{MAX_REDIRECTS:03}" in site.paths()
    assert f"/chain-{MAX_REDIRECTS + 1:03}" not in site.paths()
