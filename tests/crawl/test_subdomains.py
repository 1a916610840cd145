"""All hosts of a domain, one sitemap set for each: crawled through a proxy on this machine that plays them all."""

from __future__ import annotations

import json
from itertools import count, pairwise
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

pytestmark = pytest.mark.slow

WWW, BLOG, SHOP = "http://www.example.co.uk/", "http://blog.example.co.uk/", "http://shop.example.co.uk/"
LOC = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"
OPTIONS = ("--subdomains", "--state", "state.db", "--no-adaptive")


@pytest.fixture
def domain(program: Program, site: WebServer) -> WebServer:
    """A proxy: its pages are called by their whole URLs."""
    program.variables |= {"http_proxy": site.url(), "no_proxy": ""}
    site.pages.update(
        {
            WWW: page(
                "/a", f"{BLOG}post", "http://example.co.uk/", "http://other.co.uk/", "http://www.example.co.uk:81/"
            ),
            f"{WWW}a": page(),
            f"{BLOG}post": page("/", SHOP),
            BLOG: page(),
            SHOP: page("/thing"),
            f"{SHOP}thing": page(),
            "http://example.co.uk/": Answer(status=301, headers={"Location": WWW}),
        }
    )
    return site


def locs(program: Program, name: str) -> list[str]:
    return [one.text or "" for one in etree.parse(program.output / name).iter(LOC)]


def test_each_host_has_a_set_of_its_own(program: Program, domain: WebServer) -> None:
    result = program.crawl(WWW, *OPTIONS)
    assert result.code == 0, result.err
    assert sorted(path.name for path in program.output.iterdir()) == [
        "blog.example.co.uk",
        "shop.example.co.uk",
        "www.example.co.uk",
    ]
    assert locs(program, "www.example.co.uk/sitemap.xml") == [WWW, f"{WWW}a"]
    assert locs(program, "blog.example.co.uk/sitemap.xml") == [BLOG, f"{BLOG}post"]
    assert locs(program, "shop.example.co.uk/sitemap.xml") == [SHOP, f"{SHOP}thing"]
    assert result.report["excluded"] == {"out-of-scope": 2, "redirect": 1}
    assert [(row["host"], row["outcome"], row["listed"], row["sitemap_url"]) for row in result.report["hosts"]] == [
        ("blog.example.co.uk", "published", 2, f"{BLOG}sitemap.xml"),
        ("shop.example.co.uk", "published", 2, f"{SHOP}sitemap.xml"),
        ("www.example.co.uk", "published", 2, f"{WWW}sitemap.xml"),
    ]
    assert result.out.splitlines()[-1] == "6 pages of 3 hosts listed in sitemaps"
    assert {file["name"] for file in result.report["files"]} == {
        f"{name}.example.co.uk/sitemap.xml" for name in ("blog", "shop", "www")
    }
    # Each host has a robots.txt that counts for it.
    assert domain.paths().count(f"{BLOG}robots.txt") == 1


def test_an_unchanged_domain_touches_no_file_and_explain_names_it(program: Program, domain: WebServer) -> None:
    program.crawl(WWW, *OPTIONS)
    before = {path: path.stat().st_mtime_ns for path in program.output.rglob("*.xml")}
    result = program.crawl(WWW, *OPTIONS)
    assert (result.code, result.report["outcome"]) == (0, "unchanged")
    assert {path: path.stat().st_mtime_ns for path in program.output.rglob("*.xml")} == before
    facts = json.loads(program.run("explain", f"{SHOP}thing", "--state", "state.db", "--json").out)
    assert (facts["decision"], facts["file"]) == ("listed", "shop.example.co.uk/sitemap.xml")
    del domain.pages[f"{SHOP}thing"]
    result = program.crawl(WWW, *OPTIONS)
    assert [row["outcome"] for row in result.report["hosts"]] == ["unchanged", "published", "unchanged"]
    assert (
        result.report["changes"] == {"added": 0, "changed": 1, "removed": 1} or result.report["changes"]["removed"] == 1
    )
    assert locs(program, "shop.example.co.uk/sitemap.xml") == [SHOP]


def test_each_host_has_its_own_guard(program: Program, domain: WebServer) -> None:
    many = [f"{SHOP}{number}" for number in range(30)]
    domain.pages[SHOP] = page(*many)
    domain.pages.update(dict.fromkeys(many, page()))
    assert program.crawl(WWW, *OPTIONS).code == 0
    before = (program.output / "shop.example.co.uk/sitemap.xml").read_bytes()
    for url in many:
        del domain.pages[url]
    domain.pages[f"{WWW}new"] = page()
    domain.pages[WWW] = page("/a", "/new", BLOG, f"{BLOG}post")
    result = program.crawl(WWW, *OPTIONS)
    assert (result.code, result.report["outcome"]) == (3, "refused")
    assert result.last_line == (
        "shop.example.co.uk: the sitemap would shrink from 31 to 1 pages, more than 30%: if that is right, run again "
        "with --allow-shrink; 5 pages of 2 hosts listed in sitemaps"
    )
    assert (program.output / "shop.example.co.uk/sitemap.xml").read_bytes() == before
    assert locs(program, "www.example.co.uk/sitemap.xml") == [WWW, f"{WWW}a", f"{WWW}new"]
    result = program.crawl(WWW, *OPTIONS, "--allow-shrink")
    assert result.code == 0
    assert locs(program, "shop.example.co.uk/sitemap.xml") == [SHOP]


def test_a_host_whose_robots_txt_fails_is_left_alone_and_keeps_its_pages(program: Program, domain: WebServer) -> None:
    assert program.crawl(WWW, *OPTIONS).code == 0
    domain.pages[f"{SHOP}robots.txt"] = Answer(status=500)
    domain.clear_log()
    result = program.crawl(WWW, *OPTIONS, "-s", "RETRY_TIMES=0")
    assert (result.code, result.report["kept"]) == (0, 2)
    assert locs(program, "shop.example.co.uk/sitemap.xml") == [SHOP, f"{SHOP}thing"]
    assert {path for path in domain.paths() if path.startswith(SHOP)} == {f"{SHOP}robots.txt"}


def test_a_dead_host_does_not_end_the_run(program: Program, domain: WebServer) -> None:
    many = [f"{SHOP}{number}" for number in range(12)]
    domain.pages[SHOP] = page(*many)
    domain.pages.update(dict.fromkeys(many, Answer(status=503)))
    asked = count()
    domain.pages[f"{SHOP}robots.txt"] = lambda _: Answer(status=404 if next(asked) < 1 else 503)
    options = ("-s", "SITEMAP_MAX_OUTAGE=0.5", "-s", "SITEMAP_MAX_BACK_OFF=0.2", "--concurrency", "1")
    result = program.crawl(WWW, *OPTIONS, *options)
    assert result.code == 0, result.err
    assert locs(program, "shop.example.co.uk/sitemap.xml") == [SHOP]
    assert result.report["excluded"]["out-of-scope"] == 2
    assert sum(result.report["excluded"].get(reason, 0) for reason in ("server-error", "unreachable")) == 12


def test_one_slow_host_does_not_hold_the_others_up(program: Program, domain: WebServer) -> None:
    many = [f"{WWW}{number}" for number in range(30)]
    domain.pages[f"{SHOP}robots.txt"] = Answer("User-agent: *\nCrawl-delay: 1\n", content_type="text/plain")
    domain.pages[SHOP] = page("/1", "/2")
    domain.pages.update({f"{SHOP}1": page(), f"{SHOP}2": page()})
    domain.pages[WWW] = page(SHOP, f"{SHOP}1", f"{SHOP}2", *many)
    domain.pages.update(dict.fromkeys(many, page()))
    assert program.crawl(WWW, *OPTIONS).code == 0
    shop = [request.time for request in domain.requests if request.path.startswith(SHOP)]
    others = [request.time for request in domain.requests if request.path.startswith(WWW)]
    assert all(later - earlier >= 1.0 for earlier, later in pairwise(shop))
    assert max(others) < shop[-1]


def test_a_host_that_is_gone_is_withdrawn_when_that_is_said_to_be_right(program: Program, domain: WebServer) -> None:
    assert program.crawl(WWW, *OPTIONS).code == 0
    domain.pages[f"{BLOG}post"] = page("/")
    domain.pages[SHOP] = domain.pages[f"{SHOP}thing"] = Answer(status=410)
    result = program.crawl(WWW, *OPTIONS)
    assert (result.code, (program.output / "shop.example.co.uk/sitemap.xml").exists()) == (3, True)
    result = program.crawl(WWW, *OPTIONS, "--allow-shrink")
    assert (result.code, (program.output / "shop.example.co.uk/sitemap.xml").exists()) == (0, False)
    result = program.crawl(WWW, *OPTIONS)
    assert (result.code, result.report["outcome"]) == (0, "unchanged")


def test_nothing_to_list_at_all_withdraws_nothing(program: Program, domain: WebServer) -> None:
    assert program.crawl(WWW, *OPTIONS).code == 0
    before = {path: path.read_bytes() for path in program.output.rglob("*.xml")}
    for command in (("crawl", WWW, *OPTIONS), ("write", "--state", "state.db")):
        result = program.run(*command, "--allow-shrink", "--exclude-listing", "example")
        assert (result.code, result.last_line) == (
            3,
            "no page of any host can be listed, so nothing is published: see the summary for the reasons",
        )
        assert {path: path.read_bytes() for path in program.output.rglob("*.xml")} == before


def test_a_pause_of_one_host_holds_no_other_up(program: Program, domain: WebServer) -> None:
    many = [f"{WWW}{number}" for number in range(20)]
    domain.pages[WWW] = page(f"{BLOG}post", SHOP, *many)
    domain.pages.update(dict.fromkeys(many, page()))
    asked = count()
    domain.pages[f"{BLOG}post"] = lambda _: (
        Answer(page()) if next(asked) else Answer(status=503, headers={"Retry-After": "2"})
    )
    assert program.crawl(WWW, *OPTIONS, "--concurrency", "1").code == 0
    post = [request.time for request in domain.requests if request.path == f"{BLOG}post"]
    others = [request.time for request in domain.requests if request.path.startswith(WWW)]
    assert post[1] - post[0] >= 2.0
    assert max(others) < post[1]


def test_write_makes_the_same_sets(program: Program, domain: WebServer) -> None:
    assert program.crawl(WWW, *OPTIONS).code == 0
    assert program.run("write", "--state", "state.db", "-o", "copy").code == 0
    for path in program.output.rglob("*.xml"):
        copy = program.directory / "copy" / path.relative_to(program.output)
        assert copy.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("http://127.0.0.1/", "--subdomains"), "127.0.0.1 is not a host of a domain"),
        ((WWW, "--subdomains", "--public-url", "https://x.example/"), "exclude each other"),
        ((f"{WWW}docs/", "--subdomains", "--sitemap-url", f"{WWW}docs/sitemap.xml"), f"give {WWW}sitemap.xml"),
    ],
)
def test_what_makes_no_sense_is_refused(program: Program, options: tuple[str, ...], words: str) -> None:
    result = program.run("crawl", *options)
    assert result.code == 2
    assert words in result.last_line


def test_a_start_page_that_moves_to_www_takes_the_login_along(program: Program, domain: WebServer) -> None:
    domain.pages["http://example.co.uk/"] = Answer(status=301, headers={"Location": WWW})
    result = program.crawl("http://example.co.uk/", *OPTIONS, "--auth", "me:secret")
    assert result.code == 0, result.err
    assert locs(program, "www.example.co.uk/sitemap.xml") == [WWW, f"{WWW}a"]
    logged_in = {request.path for request in domain.requests if "authorization" in request.headers}
    assert {WWW, f"{WWW}a"} <= logged_in
    assert not any(path.startswith((BLOG, SHOP)) for path in logged_in)


def test_a_final_dot_is_no_other_host(program: Program, domain: WebServer) -> None:
    domain.pages[f"{WWW}a"] = page("http://www.example.co.uk./", "http://blog.example.co.uk./")
    result = program.crawl(WWW, *OPTIONS)
    assert [row["host"] for row in result.report["hosts"]] == [
        "blog.example.co.uk",
        "shop.example.co.uk",
        "www.example.co.uk",
    ]


def test_what_leads_out_is_explained_by_what_links_to_it(program: Program, domain: WebServer) -> None:
    program.crawl(WWW, *OPTIONS)
    facts = json.loads(program.run("explain", "http://other.co.uk/", "--state", "state.db", "--json").out)
    assert (facts["reason"], facts["referrer"]) == ("out-of-scope", WWW)


def test_the_files_are_validated_host_by_host(program: Program, domain: WebServer) -> None:
    program.crawl(WWW, *OPTIONS)
    result = program.run("validate", "sitemaps")
    assert (result.code, result.last_line) == (
        2,
        "sitemaps contains no sitemap; give one of its directories, such as sitemaps/blog.example.co.uk",
    )
    assert program.run("validate", "sitemaps/blog.example.co.uk").code == 0
