"""Two sites with one output directory: the second is refused, whoever runs it; a site's own files never are.

The loopback server is the sites /a/ and /b/, each with a page.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def two(site: WebServer) -> None:
    for name in ("a", "b"):
        site.pages[f"/{name}/"] = page(f"/{name}/page", title=name)
        site.pages[f"/{name}/page"] = page(title=f"{name} page")


def files(program: Program) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in program.output.iterdir()}


def refused(result: Result, site: WebServer, listed: str) -> None:
    message = (
        f"sitemaps/sitemap.xml is of another site, it lists {site.url(listed)}: give this site another -o, or "
        "--take-over to replace the files; they are untouched"
    )
    assert (result.code, result.last_line) == (3, message)


def test_the_second_site_is_refused_before_its_first_request(program: Program, site: WebServer) -> None:
    assert program.crawl(site.url("/a/")).code == 0
    before, requests = files(program), len(site.requests)
    result = program.crawl(site.url("/b/"))
    refused(result, site, "/a/")
    assert (result.report["outcome"], result.report["exit_code"], result.report["run"]) == ("refused", 3, 0)
    assert (files(program), len(site.requests)) == (before, requests)
    assert len(list((program.directory / "state").rglob("*.sqlite"))) == 1
    # The first site goes on as before, and needs no URL to name its inventory.
    assert program.crawl(site.url("/a/")).report["outcome"] == "unchanged"
    assert program.run("write").code == 0


def test_another_directory_or_take_over_lifts_the_refusal(program: Program, site: WebServer) -> None:
    assert program.crawl(site.url("/a/")).code == 0
    assert program.crawl(site.url("/b/"), "-o", "b").code == 0
    dry = program.crawl(site.url("/b/"), "--dry-run")
    assert (dry.code, dry.report["outcome"]) == (0, "dry-run")
    [notice] = dry.report["notices"]
    assert notice.startswith("a run without --dry-run would be refused: sitemaps/sitemap.xml is of another site")
    assert notice in " ".join(dry.out.split())
    assert program.crawl(site.url("/b/"), "--take-over").listed() == [site.url("/b/"), site.url("/b/page")]
    # Now the first site is the other one: the two do not replace each other in turn.
    refused(program.crawl(site.url("/a/")), site, "/b/")
    assert program.crawl(site.url("/b/")).report["outcome"] == "unchanged"


def test_write_is_refused_and_takes_over(program: Program, site: WebServer) -> None:
    assert program.crawl(site.url("/a/")).code == 0
    assert program.crawl(site.url("/b/"), "-o", "b").code == 0
    before = files(program)
    refused(program.run("write", site.url("/b/"), "-o", "sitemaps"), site, "/a/")
    assert files(program) == before
    result = program.run("write", site.url("/b/"), "-o", "sitemaps", "--take-over")
    assert (result.code, result.listed()) == (0, [site.url("/b/"), site.url("/b/page")])


def test_a_site_that_comes_between_is_found_before_anything_is_replaced(program: Program, site: WebServer) -> None:
    """Both sites begin with an empty directory. The other one publishes while the first is crawled."""

    def publish_other(_: object) -> Answer:
        program.output.mkdir(exist_ok=True)
        (program.output / "sitemap.xml").write_text(f"<urlset><url><loc>{site.url('/b/')}</loc></url></urlset>")
        return Answer(page(title="late"))

    site.pages["/a/page"] = publish_other
    result = program.crawl(site.url("/a/"))
    refused(result, site, "/b/")
    assert list(files(program)) == ["sitemap.xml"]
    again = program.crawl(site.url("/a/"), "--take-over")
    assert (again.code, again.listed()) == (0, [site.url("/a/"), site.url("/a/page")])


@pytest.mark.parametrize("case", ["lost", "moved", "copied", "restored", "output moved", "edited"])
def test_a_site_may_always_replace_its_own_files(program: Program, site: WebServer, case: str) -> None:
    state = program.directory / "one.sqlite"
    copy = program.directory / "two.sqlite"
    crawl = ("--state", "one.sqlite")
    assert program.crawl(site.url("/a/"), *crawl).code == 0
    shutil.copy(state, copy)
    site.pages["/a/"] = page("/a/page", "/a/more", title="a")
    site.pages["/a/more"] = page(title="more")
    assert program.crawl(site.url("/a/"), *crawl).code == 0
    if case == "lost":
        state.unlink()
    elif case == "restored":
        copy.replace(state)
    elif case == "output moved":
        program.output.rename(program.directory / "public")
        crawl += ("-o", "public")
    elif case == "edited":
        text = (program.output / "sitemap.xml").read_text()
        (program.output / "sitemap.xml").write_text(text.replace("\n", " "))
    elif case == "moved":
        state.rename(program.directory / "three.sqlite")
        crawl = ("--state", "three.sqlite")
    else:
        # Two inventories of one site replace the files in turn: both list the same pages.
        crawl = ("--state", "two.sqlite")
    result = program.crawl(site.url("/a/"), *crawl)
    assert (result.code, result.report["listed"]) == (0, 3), result.err
    assert program.crawl(site.url("/a/"), *crawl).report["outcome"] == "unchanged"


def test_published_files_stay_those_of_the_site_when_its_address_changes(program: Program, site: WebServer) -> None:
    """A preview gets the address of the live site later; a narrower scope is given later."""
    state = ("--state", "one.sqlite")
    assert program.crawl(site.url("/a/"), *state).code == 0
    public = ("--public-url", "https://www.example.com/a/")
    assert program.crawl(site.url("/a/"), *state, *public).listed()[0] == "https://www.example.com/a/"
    assert program.crawl(site.url("/a/"), *state).code == 0
    assert program.crawl(site.url("/a/"), *state, "--sitemap-url", site.url("/sitemap.xml")).code == 0
    assert program.crawl(site.url("/a/"), *state).code == 0


def test_without_the_inventory_a_changed_address_is_another_site(program: Program, site: WebServer) -> None:
    assert program.crawl(site.url("/a/"), "--state", "one.sqlite").code == 0
    host = site.url("/a/").replace("127.0.0.1", "localhost")
    refused(program.crawl(host, "--state", "two.sqlite"), site, "/a/")


def test_the_spider_takes_the_setting(program: Program, site: WebServer) -> None:
    assert program.crawl(site.url("/a/")).code == 0
    spider = (sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={site.url('/b/')}")
    variables = {"SCRAPY_SETTINGS_MODULE": "sitemap_crawler.settings"}
    result = program.execute(*spider, **variables)
    assert result.code == 3, result.err
    assert f"refused: sitemaps/sitemap.xml is of another site, it lists {site.url('/a/')}: " in result.err
    assert program.execute(*spider, "-s", "SITEMAP_TAKE_OVER=1", **variables).code == 0
    assert program.crawl(site.url("/b/")).listed() == [site.url("/b/"), site.url("/b/page")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_the_files_of_another_user_have_an_owner_too(program: Program, site: WebServer) -> None:
    assert program.crawl(site.url("/a/")).code == 0
    for path in (program.output, program.output / "sitemap.xml"):
        os.chown(path, 65534, 65534)
    refused(program.crawl(site.url("/b/")), site, "/a/")
    assert program.crawl(site.url("/a/")).code == 0


def root(program: Program, site: WebServer, *options: str) -> Result:
    site.pages["/"] = page("/a/", "/b/", title="Root")
    return program.crawl(site.url("/"), "--state", "root.sqlite", *options)


@pytest.mark.parametrize("options", [(), ("--format", "txt"), ("--max-urls", "1")])
def test_a_site_above_does_not_replace_the_files_of_one_below(
    program: Program, site: WebServer, options: tuple[str, ...]
) -> None:
    assert program.crawl(site.url("/a/"), *options).code == 0
    before = files(program)
    name = "sitemap.txt" if "txt" in options else "sitemap.xml"
    below = site.url("/a/").removeprefix("http://")
    message = (
        f"sitemaps/{name} is of a narrower site, it lists only pages below {below}: give this site another -o, or "
        "--take-over to replace the files; they are untouched"
    )
    for _ in range(2):
        result = root(program, site, *options)
        assert (result.code, result.last_line, files(program)) == (3, message, before)
    assert root(program, site, *options, "--take-over").code == 0
    assert root(program, site, *options).report["outcome"] == "unchanged"
    assert program.crawl(site.url("/a/"), *options).code == 3


def test_a_site_whose_pages_are_all_in_one_directory_may_replace_its_files(program: Program, site: WebServer) -> None:
    """The root redirects to a directory. The inventory is lost after each run, as in a container."""
    site.pages["/"] = Answer(status=302, headers={"Location": "/a/"})
    assert program.crawl(site.url("/"), "--state", "one.sqlite").listed() == [site.url("/a/"), site.url("/a/page")]
    site.pages["/a/"] = page("/a/page", "/a/more", title="a")
    site.pages["/a/more"] = page(title="more")
    assert program.crawl(site.url("/"), "--state", "two.sqlite").report["listed"] == 3
    # The inventory that has published the files may add pages elsewhere.
    site.pages["/a/more"] = page("/b/", title="more")
    assert program.crawl(site.url("/"), "--state", "two.sqlite").report["listed"] == 5


@pytest.mark.parametrize("last", ["/b/", "/"])
def test_all_pages_of_the_live_file_count(program: Program, site: WebServer, last: str) -> None:
    """The first pieces of a long file have pages of one directory only."""
    urls = [site.url(f"/a/{'x' * 200}/{number}") for number in range(2_000)]
    program.output.mkdir()
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in [*urls, site.url(last)])
    (program.output / "sitemap.xml").write_text(f"<urlset>{entries}</urlset>")
    assert root(program, site).code == 0


def test_a_wider_start_url_of_the_same_inventory_needs_no_option(program: Program, site: WebServer) -> None:
    state = ("--state", "one.sqlite")
    assert program.crawl(site.url("/a/"), *state).code == 0
    site.pages["/a/"] = page("/b/", title="a")
    result = program.crawl(site.url("/a/"), *state, "--sitemap-url", site.url("/sitemap.xml"))
    assert (result.code, site.url("/b/") in result.listed()) == (0, True)
