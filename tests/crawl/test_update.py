"""`update`: single pages are requested, decided and published now, and everything else stays as it is."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock
from lxml import etree

from sitemap_crawler.validation.entries import read_entries
from tests.crawl.test_schemas import check_text
from tests.support.inventories import connect, state_beside
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.forks import Fork
    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow

PATHS = ["/", *(f"/{number:02}" for number in range(30))]
STATE = ("--state", "state.db")
SHARDS = ("--max-urls", "10")
NOINDEX = '<meta name="robots" content="noindex">'
LASTMOD = '<meta property="article:modified_time" content="{}">'


def text(words: str, *, head: str = "", links: tuple[str, ...] = ()) -> str:
    return page(*links, title=words, head=head, body=f"<p>{words}</p>")


@pytest.fixture
def crawled(program: Program, site: WebServer) -> WebServer:
    """A site of 31 pages in four shards that has been crawled; the server's log is empty again."""
    site.pages.update({path: text(path) for path in PATHS[1:]})
    site.pages["/"] = page(*PATHS)
    assert program.crawl(site.url("/"), *STATE, *SHARDS).code == 0
    site.clear_log()
    return site


def update(program: Program, *arguments: str) -> Result:
    return program.run("update", *arguments, *STATE)


def live(program: Program, *, once: bool = True) -> dict[str, str | None]:
    """Follow the entry file, and return the lastmods by URL. `once`: assert that no URL is listed twice."""
    entries: dict[str, str | None] = {}
    for entry in program.output.rglob("sitemap.xml"):
        root = etree.parse(entry).getroot()
        names = [loc.text.rpartition("/")[2] for loc in root.iter("{*}loc")]
        # With --media-files the images of a page have entries of their own.
        names = [name for name in names if not name.startswith("sitemap-images-")]
        files = [entry] if root.tag.endswith("urlset") else [entry.with_name(name) for name in names]
        for file in files:
            for found in etree.fromstring(unzipped(file)).iter("{*}url"):
                loc = found.findtext("{*}loc")
                assert loc not in entries or not once
                entries[loc] = found.findtext("{*}lastmod")
    return entries


def unzipped(file: Path) -> bytes:
    import gzip

    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def paths(program: Program, site: WebServer) -> list[str]:
    return sorted(url.removeprefix(site.url("")) for url in live(program))


def files(program: Program) -> dict[str, tuple[bytes, int]]:
    found = (path for path in program.output.rglob("*") if path.is_file())
    return {str(path.relative_to(program.output)): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


def decided(program: Program) -> list[Any]:
    with closing(connect(program.directory / "state.db")) as connection:
        query = "SELECT url_id, decision, reason, evidence, lastmod FROM decisions ORDER BY url_id"
        return connection.execute(query).fetchall()


def assert_settled(program: Program, *, decisions_too: bool = True) -> None:
    """Assert that a `write` touches no file and decides the same."""
    before, decisions = files(program), decided(program)
    result = program.run("write", *STATE, "--report", "again.json")
    report = json.loads((program.directory / "again.json").read_text(encoding="utf-8"))
    assert (result.code, report["outcome"]) == (0, "unchanged"), report["changes"]
    assert files(program) == before
    assert decided(program) == decisions or not decisions_too


def results(result: Result) -> dict[str, tuple[str, str | None]]:
    return {row["url"]: (row["outcome"], row["reason"]) for row in check_text(result.out, "update")["results"]}


def test_a_new_page_is_listed_now_and_stays_without_a_link(program: Program, crawled: WebServer) -> None:
    before = files(program)
    crawled.pages["/new"] = text("new", links=("/found",))
    result = update(program, "add", crawled.url("/new"))
    assert (result.code, result.err) == (0, "")
    written = r"(1 file|2 files) written"  # The index keeps its bytes if the crawl was in the same second.
    assert re.match(f"1 added, 0 changed, 0 removed; {written} in ", result.out.splitlines()[-1])
    assert crawled.paths() == ["/robots.txt", "/new"]
    assert paths(program, crawled) == sorted([*PATHS, "/new"])
    changed = {name for name, value in files(program).items() if value != before.get(name)}
    assert changed - {"sitemap.xml"} == {"sitemap-4.xml"}
    assert_settled(program)
    difference = program.run("diff", *STATE).out
    assert f"added {crawled.url('/new')}" in difference
    assert difference.splitlines()[-1] == "1 added, 0 changed, 0 removed, after the end of run 1"
    # The next crawls keep it, and find what it links to. The hint of `explain` says why it is there.
    crawled.pages["/found"] = text("found")
    for _ in range(3):
        assert program.crawl(crawled.url("/"), *STATE, *SHARDS).code == 0
        assert paths(program, crawled) == sorted([*PATHS, "/new", "/found"])
    assert "added with update" in program.run("explain", crawled.url("/new"), *STATE).out


def test_a_changed_page_gets_its_date_and_the_next_crawl_asks_on_condition(
    program: Program, crawled: WebServer
) -> None:
    def answer(request: LoggedRequest) -> Answer:
        if request.headers.get("if-none-match") == '"2"':
            return Answer(status=304)
        return Answer(text("other", head=LASTMOD.format("2026-02-03T04:05:06Z")), headers={"ETag": '"2"'})

    crawled.pages["/05"] = answer
    result = update(program, "update", crawled.url("/05"), "--json")
    assert result.code == 0, result.err
    report = check_text(result.out, "update")
    assert report["results"] == [
        {
            "url": crawled.url("/05"),
            "outcome": "changed",
            "listed": True,
            "reason": "listed",
            "evidence": None,
            "lastmod": "2026-02-03T04:05:06+00:00",
            "file": "sitemap-1.xml",
        }
    ]
    assert report["changes"] == {"added": 0, "changed": 1, "removed": 0}
    written = {file["name"] for file in report["files"] if file["written"]}
    assert written - {"sitemap.xml"} == {"sitemap-1.xml"}
    assert live(program)[crawled.url("/05")] == "2026-02-03T04:05:06+00:00"
    assert_settled(program)
    crawled.clear_log()
    again = program.crawl(crawled.url("/"), *STATE, *SHARDS).report
    assert (again["outcome"], again["not_modified"]) == ("unchanged", 1)


def test_nothing_is_written_for_a_page_that_has_not_changed(program: Program, crawled: WebServer) -> None:
    before = files(program)
    result = update(program, "update", crawled.url("/05"), crawled.url("/06"))
    assert (result.code, result.out.splitlines()[-1]) == (0, "nothing had changed")
    assert files(program) == before
    assert_settled(program)


def test_a_page_that_is_gone_is_removed(program: Program, crawled: WebServer) -> None:
    del crawled.pages["/05"]
    result = update(program, "remove", crawled.url("/05"))
    assert result.code == 0, result.err
    assert paths(program, crawled) == [path for path in PATHS if path != "/05"]
    assert_settled(program)
    assert f"removed {crawled.url('/05')}" in program.run("diff", *STATE).out
    crawled.clear_log()
    again = update(program, "remove", crawled.url("/05"))
    assert (again.code, crawled.paths()) == (0, [])
    assert "unchanged: client-error (status 404)" in again.out


def test_a_live_page_is_not_removed(program: Program, crawled: WebServer) -> None:
    before = files(program)
    result = update(program, "remove", crawled.url("/05"))
    assert result.code == 3
    assert "the page is live" in result.last_line
    assert "--exclude or a noindex directive" in result.last_line
    assert files(program) == before
    crawled.pages["/05"] = text("/05", head=NOINDEX)
    assert update(program, "remove", crawled.url("/05")).code == 0
    assert "/05" not in paths(program, crawled)


def test_an_added_page_that_was_removed_is_forgotten(program: Program, crawled: WebServer) -> None:
    crawled.pages["/new"] = text("new")
    assert update(program, "add", crawled.url("/new")).code == 0
    del crawled.pages["/new"]
    assert update(program, "remove", crawled.url("/new")).code == 0
    with closing(connect(program.directory / "state.db")) as connection:
        assert connection.execute("SELECT * FROM added_urls").fetchall() == []


def test_each_url_has_its_own_result(program: Program, crawled: WebServer) -> None:
    crawled.pages |= {
        "/robots.txt": Answer("User-agent: *\nDisallow: /private\n", content_type="text/plain"),
        "/hidden": text("hidden", head=NOINDEX),
        "/old": Answer(status=301, headers={"Location": "/moved-here"}),
        "/moved-here": text("moved here"),
        "/copy": text("copy", head='<link rel="canonical" href="/05">'),
        "/picture": Answer(b"\x89PNG", content_type="image/png"),
        "/broken": Answer(status=500),
        "/good": text("good"),
    }
    named = ["/hidden", "/old", "/copy", "/picture", "/gone", "/private/x", "/broken", "/good", "/05"]
    urls = [*map(crawled.url, named), "http://elsewhere.example/x"]
    result = update(program, "add", *urls, "--json", "-s", "RETRY_TIMES=0")
    assert result.code == 3, result.err
    assert {url.removeprefix(crawled.url("")): row for url, row in results(result).items()} == {
        "/hidden": ("refused", "noindex"),
        "/old": ("refused", "redirect"),
        "/copy": ("refused", "canonical-elsewhere"),
        "/picture": ("refused", "not-a-page"),
        "/gone": ("refused", "client-error"),
        "/private/x": ("refused", "blocked-by-robots"),
        "/broken": ("later", "server-error"),
        "/good": ("added", "listed"),
        "/05": ("unchanged", "listed"),
        "http://elsewhere.example/x": ("refused", "out-of-scope"),
    }
    assert f"/hidden: refused: noindex ({NOINDEX}); and 6 more" in result.last_line
    assert paths(program, crawled) == sorted([*PATHS, "/good", "/moved-here"])
    assert_settled(program)
    explained = json.loads(program.run("explain", crawled.url("/hidden"), *STATE, "--json").out)
    assert (explained["reason"], explained["evidence"]) == ("noindex", NOINDEX)


@pytest.mark.parametrize(
    ("action", "code", "expected"),
    [
        ("update", 3, "refused: it is not known: give it to update add"),
        ("remove", 0, "unchanged: it is not known, so there is nothing to remove"),
    ],
)
def test_an_unknown_url_is_not_requested(
    program: Program, crawled: WebServer, action: str, code: int, expected: str
) -> None:
    crawled.pages["/new"] = text("new")
    result = update(program, action, crawled.url("/new"))
    assert result.code == code
    assert (result.out + result.err).count(f"{crawled.url('/new')}: {expected}\n") == 1
    assert crawled.paths() == []


def test_a_failing_server_takes_nothing_away(program: Program, crawled: WebServer) -> None:
    crawled.pages["/05"] = Answer(status=503)
    for action in ("update", "remove"):
        result = update(program, action, crawled.url("/05"), "-s", "RETRY_TIMES=0")
        assert (result.code, "/05" in paths(program, crawled)) == (4, True)
        assert "kept-after-error" in result.last_line
        assert result.last_line.endswith("run the same command later")
        assert_settled(program)
    # The failure counts from the next crawl on, as if there had been no update.
    with closing(connect(program.directory / "state.db")) as connection:
        assert connection.execute("SELECT failed_since FROM observations WHERE failed_since > 0").fetchall() == [(2,)]


def test_a_page_depends_on_its_canonical(program: Program, site: WebServer) -> None:
    copies = [f"/copy{number}" for number in range(3)]
    site.pages |= {"/": page("/a", *copies), "/a": text("a")}
    site.pages |= {path: text(path, head='<link rel="canonical" href="/a">') for path in copies}
    assert program.crawl(site.url("/"), *STATE).code == 0
    assert paths(program, site) == ["/", "/a"]
    del site.pages["/a"]
    site.clear_log()
    result = update(program, "remove", site.url("/a"))
    assert result.code == 0, result.err
    assert paths(program, site) == ["/", *copies]
    assert site.paths() == ["/robots.txt", "/a"]
    assert_settled(program)
    site.pages["/a"] = text("a again")
    assert update(program, "update", site.url("/a")).code == 0
    assert paths(program, site) == ["/", "/a"]
    assert_settled(program)


def test_an_index_file_depends_on_its_directory(program: Program, site: WebServer) -> None:
    site.pages |= {"/": page("/d/", "/d/index.html", "/D2/Default.aspx"), "/d/": text("d"), "/d/index.html": text("d")}
    site.pages |= {"/D2/": text("d2"), "/D2/Default.aspx": text("d2")}
    assert program.crawl(site.url("/"), *STATE).code == 0
    assert paths(program, site) == ["/", "/D2/Default.aspx", "/d/"]
    site.pages["/d/"] = text("another")
    assert update(program, "update", site.url("/d/")).code == 0
    assert paths(program, site) == ["/", "/D2/Default.aspx", "/d/", "/d/index.html"]
    assert_settled(program)
    assert update(program, "add", site.url("/D2/")).code == 0
    assert paths(program, site) == ["/", "/D2/", "/d/", "/d/index.html"]
    assert_settled(program)


def test_a_moved_start_page_publishes_nothing(program: Program, crawled: WebServer) -> None:
    before = files(program)
    crawled.pages["/"] = Answer(status=301, headers={"Location": "http://elsewhere.example/"})
    result = update(program, "update", crawled.url("/"), crawled.url("/05"))
    assert result.code == 3
    assert result.last_line.startswith("the start page ")
    assert files(program) == before
    crawled.pages["/"] = page(*PATHS)
    assert update(program, "update", crawled.url("/")).code == 0
    assert_settled(program)


def test_the_shrink_guard_holds(program: Program, crawled: WebServer) -> None:
    before = files(program)
    gone = PATHS[1:12]
    for path in gone:
        del crawled.pages[path]
    result = update(program, "remove", *map(crawled.url, gone))
    assert result.code == 3
    assert "would shrink from 31 to 20 pages" in result.last_line
    assert files(program) == before
    assert update(program, "remove", *map(crawled.url, gone), "--allow-shrink").code == 0
    assert len(paths(program, crawled)) == 20
    assert_settled(program)


def test_two_commands_at_once(program: Program, crawled: WebServer) -> None:
    with FileLock(program.directory / "state.db.lock"):
        result = update(program, "update", crawled.url("/05"))
    assert (result.code, crawled.paths()) == (4, [])
    assert "is using the inventory" in result.last_line


def test_an_unfinished_crawl_is_left_alone(program: Program, crawled: WebServer) -> None:
    killed = program.run_killed(6, "crawl", crawled.url("/"), *STATE, *SHARDS)
    assert killed.code == -9
    crawled.clear_log()
    result = update(program, "update", crawled.url("/05"))
    assert (result.code, crawled.paths()) == (4, [])
    assert "unfinished crawl: finish it" in result.last_line
    assert program.crawl(crawled.url("/"), *STATE, *SHARDS).code == 0
    assert update(program, "update", crawled.url("/05")).code == 0


@pytest.mark.parametrize("missing", ["nothing", "run", "crawl"])
def test_without_a_crawl_there_is_nothing_to_update(program: Program, site: WebServer, missing: str) -> None:
    if missing == "run":
        site.pages["/robots.txt"] = Answer(status=503)
        assert program.crawl(site.url("/"), *STATE).code == 3
        assert update(program, "add", site.url("/")).code == 4
        return
    if missing == "crawl":
        (program.directory / "list.txt").write_text(site.url("/a"))
        lists = ("--trust-supplied", "--urls", "list.txt", "--sitemap-url", site.url("/sitemap.xml"))
        assert program.run("write", *lists, *STATE).code == 0
    result = update(program, "add", site.url("/"))
    assert result.code == (2 if missing == "nothing" else 1)
    assert "crawl" in result.last_line


def test_the_inventory_is_found_by_the_urls(program: Program, site: WebServer) -> None:
    site.pages |= {"/": page("/a"), "/a": text("a"), "/docs/": page("b"), "/docs/b": text("b")}
    assert program.crawl(site.url("/"), "-o", "whole", "--exclude", "/docs").code == 0
    assert program.crawl(site.url("/docs/"), "-o", "docs").code == 0
    site.pages["/docs/c"] = text("c")
    assert program.run("update", "add", site.url("/docs/c")).code == 0
    assert site.url("/docs/c").encode() in (program.directory / "docs" / "sitemap.xml").read_bytes()
    result = program.run("update", "update", site.url("/a"), site.url("/docs/b"))
    assert result.code == 2
    assert "are of different sites" in result.last_line


def test_the_site_file_has_the_credentials(program: Program, site: WebServer) -> None:
    def guarded(request: LoggedRequest) -> Answer:
        if "authorization" not in request.headers:
            return Answer(status=401)
        return Answer(page("/a") if request.path == "/" else text(request.path))

    site.pages |= {"/": guarded, "/a": guarded, "/b": guarded}
    state = state_beside(program.directory / "state.db", program.directory)
    config = f'start_url = "{site.url("/")}"\nauth = "me:secret"\noutput = "sitemaps"\nstate = "{state}"\n'
    (program.directory / "site.toml").write_text(config)
    assert program.run("crawl", "--config", "site.toml").code == 0
    assert update(program, "add", site.url("/b")).code == 3
    result = program.run("update", "add", site.url("/b"), "--config", "site.toml")
    assert result.code == 0, result.err
    assert paths(program, site) == ["/", "/a", "/b"]


@pytest.mark.parametrize(
    "options",
    [
        ("--format", "xml", "--format", "txt", "--format", "rss"),
        ("--changefreq", "--priority"),
        ("--news-name", "News", "--news-language", "en"),
    ],
)
def test_other_files_and_elements_are_written_whole(
    program: Program, site: WebServer, options: tuple[str, ...]
) -> None:
    dated = LASTMOD.format("2026-01-02T03:04:05Z")
    site.pages |= {"/": page("/a"), "/a": text("a", head=dated)}
    assert program.crawl(site.url("/"), *STATE, *options).code == 0
    site.pages["/b"] = text("b", head=dated)
    result = update(program, "add", site.url("/b"), "--json")
    assert result.code == 0, result.err
    assert results(result) == {site.url("/b"): ("added", "listed")}
    assert [entry.loc for entry in read_entries((program.output / "sitemap.xml").read_bytes())] == [
        *map(site.url, ("/", "/a", "/b"))
    ]
    if "txt" in options:
        assert site.url("/b") in (program.output / "sitemap.txt").read_text()
        assert site.url("/b") in (program.output / "sitemap.rss").read_text()
    assert program.run("write", *STATE, "--report", "report.json").report["outcome"] == "unchanged"


def test_language_versions_are_clustered_anew(program: Program, site: WebServer) -> None:
    links = '<link rel="alternate" hreflang="{}" href="{}">'

    def version(name: str, *others: str) -> str:
        return text(name, head="".join(links.format(other[-2:], other) for other in (name, *others)))

    site.pages |= {"/": page("/en", "/de"), "/en": version("/en", "/de", "/fr"), "/de": version("/de", "/en", "/fr")}
    assert program.crawl(site.url("/"), *STATE).code == 0
    assert (program.output / "sitemap.xml").read_bytes().count(b"hreflang") == 4
    site.pages["/fr"] = version("/fr", "/en", "/de")
    assert update(program, "add", site.url("/fr")).code == 0
    assert (program.output / "sitemap.xml").read_bytes().count(b"hreflang") == 9
    assert_settled(program)
    site.pages["/de"] = version("/de", "/en", "/fr").replace("<p>/de</p>", "<p>other words</p>")
    assert update(program, "update", site.url("/de")).code == 0
    assert (program.output / "sitemap.xml").read_bytes().count(b"hreflang") == 9
    assert_settled(program)


def test_images_of_the_template_are_left_out(program: Program, site: WebServer) -> None:
    names = [f"/{number:02}" for number in range(60)]

    def with_images(path: str, *, logo: bool = True) -> str:
        return text(path, head="", links=()) + f'<img src="{path}.png">' + ('<img src="/logo.png">' if logo else "")

    site.pages |= {path: with_images(path, logo=number > 5) for number, path in enumerate(names)}
    site.pages["/"] = page(*names)
    assert program.crawl(site.url("/"), *STATE).code == 0
    listed = (program.output / "sitemap.xml").read_bytes()
    # 54 of 61 pages are not enough.
    assert (listed.count(b"/logo.png"), listed.count(b".png</image:loc>")) == (54, 114)
    for path in names[:6]:
        site.pages[path] = with_images(path)
        assert update(program, "update", site.url(path)).code == 0
        assert_settled(program)
    assert b"/logo.png" not in (program.output / "sitemap.xml").read_bytes()


def test_a_changed_robots_txt_decides_on_all_pages(program: Program, crawled: WebServer) -> None:
    rules = "User-agent: *\nDisallow: /2\n"
    crawled.pages["/robots.txt"] = Answer(rules, content_type="text/plain")
    assert update(program, "update", crawled.url("/05"), crawled.url("/20")).code == 0
    assert "/20" not in paths(program, crawled)
    assert_settled(program)


def test_other_hosts_keep_their_sets(program: Program, site: WebServer) -> None:
    www, blog = "http://www.example.co.uk/", "http://blog.example.co.uk/"
    program.variables |= {"http_proxy": site.url(), "no_proxy": ""}
    site.pages |= {www: page("/a", f"{blog}post"), f"{www}a": text("a"), f"{blog}post": page("/"), blog: page("post")}
    assert program.crawl(www, *STATE, "--subdomains", "--no-adaptive").code == 0
    before = files(program)
    site.pages[f"{blog}new"] = text("new")
    result = update(program, "add", f"{blog}new")
    assert result.code == 0, result.err
    assert {name for name, value in files(program).items() if before.get(name) != value} == {
        "blog.example.co.uk/sitemap.xml"
    }
    assert sorted(live(program)) == [blog, f"{blog}new", f"{blog}post", www, f"{www}a"]
    assert_settled(program)


def test_a_preview_is_updated_under_its_public_address(program: Program, site: WebServer) -> None:
    site.pages |= {"/": page("a", "x|y"), "/a": text("a"), "/x%7Cy": text("x")}
    options = ("--public-url", "https://www.example.com/", "--max-urls", "2")
    assert program.crawl(site.url("/"), *STATE, *options).code == 0
    site.pages["/b"] = text("b")
    site.pages["/x%7Cy"] = text("other", head=LASTMOD.format("2026-02-03"))
    assert update(program, "add", "https://www.example.com/b", site.url("/x|y")).code == 0
    assert live(program) == {
        "https://www.example.com/": None,
        "https://www.example.com/a": None,
        "https://www.example.com/b": None,
        "https://www.example.com/x%7Cy": "2026-02-03",
    }
    assert_settled(program)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("--gzip", "--max-urls", "6"),
        ("--max-urls", "6", "--section", "posts=/1", "--section", "more=/2[0-4]"),
        ("--by-directory", "--max-urls", "4"),
        ("--media-files", "--max-urls", "6"),
        (),
    ],
)
def test_after_any_updates_a_write_changes_nothing(program: Program, site: WebServer, options: tuple[str, ...]) -> None:
    """Pages come, change, go, move and hide, some of them with canonicals, in one command or several."""
    names = [f"/{number:02}" for number in range(20)] + [f"/part{number}/x" for number in range(3)]
    site.pages |= {path: text(path) + f'<img src="{path}.png">' for path in names}
    site.pages["/"] = page(*names)
    assert program.crawl(site.url("/"), *STATE, *options).code == 0

    def page_with(path: str, head: str = "") -> str:
        return text(f"{path} again", head=head) + f'<img src="{path}-new.png">'

    steps: list[tuple[str, dict[str, Any]]] = [
        ("add", {"/005": page_with("/005"), "/part1/y": page_with("/part1/y"), "/part9/z": page_with("/part9/z")}),
        ("update", {"/03": page_with("/03", LASTMOD.format("2026-01-01")), "/part2/x": page_with("/part2/x")}),
        ("update", {"/11": page_with("/11", '<link rel="canonical" href="/12">'), "/07": page_with("/07", NOINDEX)}),
        ("remove", {"/12": Answer(status=410), "/13": Answer(status=404)}),
        ("update", {"/07": page_with("/07"), "/14": Answer(status=301, headers={"Location": "/14b"})}),
        ("remove", {"/15": Answer(status=404), "/16": Answer(status=404), "/17": Answer(status=404)}),
        ("add", {f"/1{number}5": page_with(f"/1{number}5") for number in range(8)}),
    ]
    site.pages["/14b"] = page_with("/14b")
    for action, changes in steps:
        site.pages |= changes
        result = update(program, action, *map(site.url, changes), "--allow-shrink")
        assert result.code == 0, (result.err, result.out)
        listed = [path for path, answer in site.pages.items() if isinstance(answer, str) and path in site.pages]
        wanted = {path for path in listed if NOINDEX not in site.pages[path] and path != "/14b"}
        wanted -= {"/11"} if isinstance(site.pages["/12"], str) and "canonical" in str(site.pages["/11"]) else set()
        wanted |= {"/14b"} if not isinstance(site.pages["/14"], str) else set()
        assert set(paths(program, site)) == {path for path in wanted if not path.endswith((".png", ".txt"))}
        assert_settled(program)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "full"), [(0, False), (1, True), (2, False), (3, True)])
def test_a_killed_update_leaves_a_whole_set_and_the_next_command_repairs(
    program: Program, crawled: WebServer, first: int, full: bool
) -> None:
    """Killed before each fourth commit or rename. The page overflows its shard, so that a new one is made.

    `full`: an earlier command was killed, so that everything is decided and written.
    """
    crawled.pages["/045"] = text("new")
    command = ("update", "add", crawled.url("/045"), *STATE)
    program.execute("cp", "-r", "sitemaps", "kept")
    for number in range(first + 1, 60, 4):
        restore(program, unpublished=full)
        done = program.run_killed(number, *command)
        # A page that moves to another file is in both for an instant.
        found = {url.removeprefix(crawled.url("")) for url in live(program, once=False)}
        assert found - {"/045"} == set(PATHS)
        if done.code == 0:
            assert number > 10
            return
        assert done.code == -9, done.err
        # Another page is enough to repair the set. The killed command itself ends in the same way.
        if number % 3 == 0:
            assert update(program, "update", crawled.url("/06")).code == 0
            # A URL that was never requested may have no decision yet.
            assert_settled(program, decisions_too=False)
        assert program.run(*command).code == 0
        assert paths(program, crawled) == sorted([*PATHS, "/045"])
        assert_settled(program)
    pytest.fail("no update has ended")


def restore(program: Program, *, unpublished: bool) -> None:
    """Put files and inventory back as they were before the first update."""
    kept = program.directory / "kept"
    if not (kept / "state.db").exists():
        program.execute("cp", "state.db", "kept")
    program.execute("bash", "-c", "rm -rf sitemaps state.db* && cp -r kept sitemaps && mv sitemaps/state.db .")
    if unpublished:
        with closing(connect(program.directory / "state.db")) as connection:
            connection.execute("INSERT INTO meta VALUES ('unpublished', '1')")
            connection.commit()


def test_an_interrupted_update_can_be_repeated(program: Program, crawled: WebServer) -> None:
    asked: list[str] = []
    process: list[Fork] = []

    def slow(request: LoggedRequest) -> Answer:
        asked.append(request.path)
        if len(asked) == 1:
            process[0].send_signal(signal.SIGINT)
            # The answer comes after the signal, or never.
            time.sleep(0.5)
        return Answer(text("other"))

    before = files(program)
    crawled.pages["/05"] = slow
    command = ("update", "update", crawled.url("/05"), *STATE)
    process.append(program.start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    _, errors = process[0].communicate(timeout=120)
    assert process[0].returncode in (0, 4), errors
    if process[0].returncode == 4:
        assert "run the same command" in errors
        assert files(program) == before
    assert update(program, "update", crawled.url("/05")).code == 0
    assert live(program)[crawled.url("/05")] is not None
    assert_settled(program)
