"""Language versions that a sitemap of somebody else names, from there to our own sitemap.

/            links to /de/ and /fr/
/de/ /fr/    no page says anything of its language versions, unless a test makes it
/it/         nothing links to it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lxml import etree

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.program import Program, Result

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
XHTML = "{http://www.w3.org/1999/xhtml}"
NAMESPACES = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'

Versions = dict[str, str]
SET = {"de": "/de/", "en": "/", "x-default": "/"}


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as server:
        server.pages.update({"/": page("/de/", "/fr/", title="English"), "/de/": page(title="Deutsch")})
        server.pages.update({"/fr/": page(title="Français"), "/it/": page(title="Italiano")})
        server.pages["/robots.txt"] = Answer("Sitemap: /foreign.xml\n", content_type="text/plain")
        yield server


def foreign(site: WebServer, entries: dict[str, Versions]) -> Answer:
    """A sitemap with these pages and their versions; codes and paths, or whole URLs."""
    written = "".join(
        f"<url><loc>{absolute(site, path)}</loc>{''.join(link(site, *version) for version in versions.items())}</url>"
        for path, versions in entries.items()
    )
    return Answer(f"<urlset {NAMESPACES}>{written}</urlset>", content_type="application/xml")


def link(site: WebServer, code: str, path: str) -> str:
    return f'<xhtml:link rel="alternate" hreflang="{code}" href="{absolute(site, path)}"/>'


def absolute(site: WebServer, path: str) -> str:
    return site.url(path) if path.startswith("/") else path


def crawl(program: Program, site: WebServer, *options: str) -> Result:
    result = program.crawl(site.url("/"), "--state", "state.sqlite", *options)
    assert result.code == 0, result.err
    return result


def published(program: Program, site: WebServer) -> dict[str, Versions]:
    """The pages of our sitemap, and what their entries name."""
    root = etree.parse(program.output / "sitemap.xml").getroot()
    found = {}
    for entry in root:
        links = entry.findall(f"{XHTML}link")
        assert {element.get("rel") for element in links} <= {"alternate"}
        versions = {element.get("hreflang"): element.get("href").removeprefix(site.url("")) for element in links}
        assert len(versions) == len(links)
        found[entry.findtext(f"{SITEMAP}loc").removeprefix(site.url(""))] = versions
    return found


def warnings(result: Result, site: WebServer) -> list[tuple[str, str, str]]:
    """Those of language versions: kind, path and message."""
    found: list[dict[str, Any]] = result.report["warnings"]
    rows = [(warning["kind"], warning["url"], warning["message"]) for warning in found]
    return [(kind, *(text.replace(site.url(""), "") for text in texts)) for kind, *texts in rows if "alternate" in kind]


def test_versions_of_a_foreign_sitemap_are_written(program: Program, site: WebServer) -> None:
    site.pages["/foreign.xml"] = foreign(site, {"/": SET, "/de/": SET, "/fr/": {}})
    result = crawl(program, site)
    assert published(program, site) == {"/": SET, "/de/": SET, "/fr/": {}}
    assert warnings(result, site) == []


def test_pages_and_a_sitemap_complete_each_other(program: Program, site: WebServer) -> None:
    """The start page speaks for itself; what the sitemap says of it counts where it is silent."""
    heads = "".join(f'<link rel="alternate" hreflang="{code}" href="{path}">' for code, path in SET.items())
    site.pages["/"] = page("/de/", "/fr/", head=heads)
    whole = {**SET, "fr": "/fr/"}
    site.pages["/foreign.xml"] = foreign(
        site, {"/": {"fr": "/fr/", "de": "/gone", "en": "/de/"}, "/de/": whole, "/fr/": whole}
    )
    result = crawl(program, site)
    assert published(program, site) == {"/": whole, "/de/": whole, "/fr/": whole}
    assert warnings(result, site) == []


def test_what_is_only_named_as_a_version_is_crawled(program: Program, site: WebServer) -> None:
    pair = {"en": "/", "it": "/it/"}
    heads = "".join(f'<link rel="alternate" hreflang="{code}" href="{path}">' for code, path in pair.items())
    site.pages["/it/"] = page(head=heads)
    site.pages["/foreign.xml"] = foreign(site, {"/": pair})
    crawl(program, site)
    assert published(program, site) == {"/": pair, "/it/": pair, "/de/": {}, "/fr/": {}}


def test_what_is_wrong_is_told(program: Program, site: WebServer) -> None:
    out = "https://example.com/es/"
    named = {"en": "/", "de": "/de/", "it": "/gone", "es": out, "en_GB": "/fr/"}
    site.pages["/foreign.xml"] = foreign(site, {"/": named})
    result = crawl(program, site)
    assert published(program, site) == {"/": {}, "/de/": {}, "/fr/": {}}
    unlisted = f"names versions that are not listed: es {out} (out-of-scope), it /gone (client-error)"
    assert warnings(result, site) == [
        ("one-way-alternate", "/", "names versions that do not name it back by a valid code: de /de/"),
        ("unlisted-alternate", "/", unlisted),
    ]


def test_what_the_sitemap_names_no_more_is_gone(program: Program, site: WebServer) -> None:
    site.pages["/foreign.xml"] = foreign(site, {"/": SET, "/de/": SET, "/fr/": {}})
    crawl(program, site)
    other = {"en": "/", "fr": "/fr/"}
    site.pages["/foreign.xml"] = foreign(site, {"/": other, "/fr/": other})
    result = crawl(program, site)
    assert published(program, site) == {"/": other, "/de/": {}, "/fr/": other}
    assert warnings(result, site) == []


@pytest.mark.parametrize(("status", "kept"), [(503, True), (404, False)])
def test_a_sitemap_that_is_not_to_be_had(program: Program, site: WebServer, status: int, kept: bool) -> None:
    """What may pass takes nothing away."""
    site.pages["/foreign.xml"] = foreign(site, {"/": SET, "/de/": SET})
    crawl(program, site)
    site.pages["/foreign.xml"] = Answer(status=status)
    crawl(program, site)
    expected = SET if kept else {}
    assert published(program, site) == {"/": expected, "/de/": expected, "/fr/": {}}


def test_when_ours_takes_the_place_of_theirs_nothing_is_lost(program: Program, site: WebServer) -> None:
    site.pages["/robots.txt"] = Answer("Sitemap: /sitemap.xml\n", content_type="text/plain")
    site.pages["/sitemap.xml"] = foreign(site, {"/": SET, "/de/": SET})
    crawl(program, site)
    first = (program.output / "sitemap.xml").read_bytes()
    # What stands there now is ours, and no source, whatever it says.
    lie = {"en": "/", "fr": "/fr/"}
    site.pages["/sitemap.xml"] = foreign(site, {"/": lie, "/fr/": lie})
    crawl(program, site)
    assert (program.output / "sitemap.xml").read_bytes() == first
    assert published(program, site) == {"/": SET, "/de/": SET, "/fr/": {}}


def test_none_are_wanted(program: Program, site: WebServer) -> None:
    site.pages["/foreign.xml"] = foreign(site, {"/": {"en": "/", "it": "/it/"}, "/it/": {"en": "/", "it": "/it/"}})
    crawl(program, site, "--no-alternates")
    assert published(program, site) == {"/": {}, "/de/": {}, "/fr/": {}, "/it/": {}}
    site.pages["/foreign.xml"] = foreign(site, {"/": {"it": "/only-a-version"}})
    site.clear_log()
    crawl(program, site, "--no-alternates")
    assert "/only-a-version" not in site.paths()
