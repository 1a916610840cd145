"""`--changefreq` and `--priority`: what is written, and that nothing is unless it is asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

from lxml import etree

from tests.support.inventories import change
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

AGES = {"/hours": 3 / 24, "/days": 3, "/weeks": 10, "/months": 100, "/years": 800}
WORDS = {"/hours": "hourly", "/days": "daily", "/weeks": "weekly", "/months": "monthly", "/years": "yearly"}


def written(program: Program, site: WebServer, tag: str) -> dict[str, str | None]:
    tree = etree.parse(program.output / "sitemap.xml")
    return {url.findtext("{*}loc").removeprefix(site.url("")): url.findtext(f"{{*}}{tag}") for url in tree.getroot()}


def modified(body: str, days_ago: float) -> Answer:
    moment = datetime.now(UTC) - timedelta(days=days_ago)
    return Answer(body, headers={"Last-Modified": format_datetime(moment, usegmt=True)})


def test_nothing_of_it_by_default(program: Program, site: WebServer) -> None:
    site.pages["/"] = modified(page(), 3)
    assert program.crawl(site.url("/")).code == 0
    content = (program.output / "sitemap.xml").read_bytes()
    assert b"<lastmod>" in content
    assert b"changefreq" not in content
    assert b"priority" not in content


def test_frequency_from_ages_and_then_from_what_runs_saw(program: Program, site: WebServer) -> None:
    site.pages["/"] = page(*AGES)
    site.pages.update({path: modified(page(title=path), days) for path, days in AGES.items()})
    assert program.crawl(site.url("/"), "--state", "s.db", "--changefreq").code == 0
    assert written(program, site, "changefreq") == {"/": None, **WORDS}

    site.pages["/months"] = modified(page(title="another text"), 3 / 24)
    assert program.crawl(site.url("/"), "--state", "s.db", "--changefreq").code == 0
    # About a hundred days between its two versions, though the second one is only hours old.
    assert program.run("write", "--state", "s.db").code == 0
    assert written(program, site, "changefreq") == {"/": None, **WORDS}


def test_priority_counts_clicks_and_pages_that_link(program: Program, site: WebServer) -> None:
    leaves = [f"/leaf-{number}" for number in range(9)]
    site.pages["/"] = page("/hub", "/lonely")
    site.pages["/hub"] = page(*leaves, "/hub")
    site.pages["/lonely"] = page()
    # With the start page these are ten that link to the hub; its link to itself doesn't count.
    site.pages.update({path: page("/hub", "/hub") for path in leaves})
    assert program.crawl(site.url("/"), "--state", "s.db").code == 0
    assert program.run("write", "--state", "s.db", "--priority").code == 0
    expected = {"/": "1.0", "/hub": "0.9", "/lonely": "0.8", **dict.fromkeys(leaves, "0.6")}
    assert written(program, site, "priority") == expected


def test_write_counts_the_links_of_an_inventory_without_counts(program: Program, site: WebServer) -> None:
    """As one that an earlier release has filled."""
    leaves = [f"/leaf-{number}" for number in range(9)]
    site.pages["/"] = page("/hub")
    site.pages["/hub"] = page(*leaves)
    site.pages.update({path: page("/hub", title=path) for path in leaves})
    assert program.crawl(site.url("/"), "--state", "s.db", "--priority").code == 0
    content = (program.output / "sitemap.xml").read_bytes()
    assert written(program, site, "priority")["/hub"] == "0.9"
    change(program.directory / "s.db", "UPDATE urls SET inlinks = NULL")
    assert program.run("write", "--state", "s.db").code == 0
    assert (program.output / "sitemap.xml").read_bytes() == content
