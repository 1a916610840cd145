"""`explain`: any spelling of any URL gets an answer, from the inventory alone.

/            links to all below; /hidden only by a nofollow link
/docs/       a page, known with its slash only
/docs/a.html a page, canonical of /docs/b.html
/docs/b.html
/Docs/With%20Space.html
/old         301 to /docs/
/gone        404
/private     noindex
/skip/x      excluded by a rule
"""

from __future__ import annotations

import json
import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.inventory.schema import UrlState
from sitemap_crawler.inventory.sql import encode_links, url_key
from sitemap_crawler.urls.normalise import Resolver
from sitemap_crawler.urls.spelling import variants
from tests.support.inventories import change, connect
from tests.support.made_inventory import STARTED, add_pages, make_inventory
from tests.support.program import Program
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.webserver import LoggedRequest

KEYS = [
    "url", "decision", "reason", "evidence", "status", "referrer", "depth", "canonical", "lastmod", "lastmod_source",
    "first_seen", "last_fetched", "file", "redirects_to", "title", "nearest", "submissions", "google",
    "rendering", "listed_url",
]  # fmt: skip
NO_PATH_TO_IT = "no page that was fetched links to it, and no sitemap names it"


class Crawled:
    def __init__(self, program: Program, site: WebServer) -> None:
        self.program = program
        self.site = site

    def explain(self, text: str, *options: str) -> dict[str, Any]:
        done = self.program.run("explain", text, "--json", *options)
        assert (done.code, done.err) == (0, "")
        answer: dict[str, Any] = json.loads(done.out)
        return answer

    def files(self) -> dict[str, int]:
        state = self.program.directory / "state" / "sitemap-crawler"
        return {path.name: path.stat().st_mtime_ns for path in state.iterdir()}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    with WebServer() as site:
        site.pages.update(
            {
                "/": page(
                    *("/docs/", "/docs/a.html", "/docs/b.html", "/Docs/With%20Space.html", "/old", "/gone", "/private"),
                    *("/skip/x", "https://elsewhere.example/x"),
                    body='<a href="/hidden" rel="nofollow">hidden</a>',
                ),
                "/docs/": page("/", title="Docs"),
                "/docs/a.html": Answer(
                    page("/", title="A"), headers={"Last-Modified": "Wed, 01 May 2024 10:00:00 GMT"}
                ),
                "/docs/b.html": page("/", title="B", head='<link rel="canonical" href="/docs/a.html">'),
                "/Docs/With%20Space.html": page("/", title="C"),
                "/old": Answer(status=301, headers={"Location": "/docs/"}),
                "/private": page("/", title="Private", head='<meta name="robots" content="noindex">'),
            }
        )
        program = Program(tmp_path_factory.mktemp("crawled"))
        done = program.crawl(site.url(), "--exclude", "/skip/")
        assert done.code == 0, done.err
        yield Crawled(program, site)


def test_a_listed_page(crawled: Crawled) -> None:
    answer = crawled.explain(crawled.site.url("/docs/a.html"))
    assert list(answer) == KEYS
    times = {answer.pop(name) for name in ("first_seen", "last_fetched")}
    assert all(time.endswith("+00:00") and time.startswith("20") for time in times)
    assert answer == {
        "url": crawled.site.url("/docs/a.html"),
        "decision": "listed",
        "reason": "listed",
        "evidence": None,
        "status": 200,
        "referrer": crawled.site.url("/"),
        "depth": 1,
        "canonical": None,
        "lastmod": "2024-05-01T10:00:00+00:00",
        "lastmod_source": "last-modified",
        "file": "sitemap.xml",
        "redirects_to": None,
        "title": "A",
        "nearest": None,
        "submissions": [],
        "google": None,
        "rendering": None,
        "listed_url": None,
    }


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", {"decision": "listed", "depth": 0, "referrer": None, "file": "sitemap.xml"}),
        ("/gone", {"decision": "excluded", "reason": "client-error", "status": 404, "file": None, "lastmod": None}),
        ("/private", {"decision": "excluded", "reason": "noindex", "status": 200, "file": None}),
        (
            "/skip/x",
            {"reason": "excluded-by-rule", "evidence": "--exclude /skip/", "status": None, "last_fetched": None},
        ),
    ],
)
def test_what_was_decided(crawled: Crawled, path: str, expected: dict[str, Any]) -> None:
    answer = crawled.explain(crawled.site.url(path))
    assert {name: answer[name] for name in expected} == expected


def test_redirects_and_canonicals_are_named(crawled: Crawled) -> None:
    old = crawled.explain("/old")
    assert (old["reason"], old["status"], old["redirects_to"]) == ("redirect", 301, crawled.site.url("/docs/"))
    other = crawled.explain("/docs/b.html")
    assert (other["reason"], other["canonical"]) == ("canonical-elsewhere", crawled.site.url("/docs/a.html"))


def test_another_site(crawled: Crawled) -> None:
    answer = crawled.explain("https://elsewhere.example/x")
    assert (answer["decision"], answer["reason"]) == ("excluded", "out-of-scope")


@pytest.mark.parametrize(
    "text",
    ["{origin}/docs/a.html", " <{origin}/docs/a.html#part> ", "{host}/docs/a.html", "/docs/a.html", "docs/a.html"],
)
def test_any_spelling_will_do(crawled: Crawled, text: str) -> None:
    origin = crawled.site.url("")
    answer = crawled.explain(text.format(origin=origin, host=origin.removeprefix("http://")))
    assert (answer["url"], answer["decision"]) == (f"{origin}/docs/a.html", "listed")


def test_tracking_parameters_and_passwords_are_removed(crawled: Crawled) -> None:
    url = crawled.site.url("/docs/a.html?utm_source=x").replace("://", "://me:secret@")
    assert crawled.explain(url)["url"] == crawled.site.url("/docs/a.html")


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("/docs", "/docs/"),
        ("/gone/", "/gone"),
        ("/docs/index.html", "/docs/"),
        ("/docs/index.php?id=1", "/docs/"),
        ("/docs/a.html?page=2", "/docs/a.html"),
        ("/DOCS/A.HTML", "/docs/a.html"),
        ("/Docs/With%2520Space.html", "/Docs/With%20Space.html"),
        ("/Docs/With+Space.html", "/Docs/With%20Space.html"),
    ],
)
def test_variants_are_unknown_and_name_what_is_known(crawled: Crawled, asked: str, known: str) -> None:
    answer = crawled.explain(crawled.site.url(asked))
    expected = {"url": crawled.site.url(asked), "decision": "unknown", "evidence": NO_PATH_TO_IT, "submissions": []}
    assert answer == {**dict.fromkeys(KEYS), **expected, "nearest": crawled.site.url(known)}


def test_the_other_scheme(crawled: Crawled) -> None:
    answer = crawled.explain(crawled.site.url("/docs/a.html").replace("http:", "https:"))
    assert (answer["decision"], answer["reason"]) == ("unknown", "out-of-scope")
    assert answer["evidence"] == f"not at or below {crawled.site.url('/')}"
    assert answer["nearest"] == crawled.site.url("/docs/a.html")


@pytest.mark.parametrize(
    ("path", "reason", "evidence", "nearest"),
    [
        ("/docs/a.htm", None, NO_PATH_TO_IT, "/docs/a.html"),
        ("/docs/quite-another-thing", None, NO_PATH_TO_IT, "/docs/"),
        ("/private-x", None, NO_PATH_TO_IT, "/private"),
        ("/skip/y", "excluded-by-rule", "--exclude /skip/", "/skip/x"),
        ("/hidden", None, "only nofollow links, first on {root}", None),
        ("/" + "a" * 8192, "too-long", "longer than 8,192 characters: counted, not stored", None),
    ],
)
def test_likely_causes(crawled: Crawled, path: str, reason: str | None, evidence: str, nearest: str | None) -> None:
    answer = crawled.explain(crawled.site.url(path))
    assert (answer["decision"], answer["reason"]) == ("unknown", reason)
    assert answer["evidence"] == evidence.format(root=crawled.site.url("/"))
    if nearest is not None:
        assert answer["nearest"] == crawled.site.url(nearest)


def test_out_of_scope_names_the_scope(crawled: Crawled) -> None:
    answer = crawled.explain("https://nowhere.example/")
    expected = ("unknown", "out-of-scope", f"not at or below {crawled.site.url('/')}", None)
    assert (answer["decision"], answer["reason"], answer["evidence"], answer["nearest"]) == expected


def test_the_answer_for_people(crawled: Crawled) -> None:
    lines = crawled.program.run("explain", "/old").out.splitlines()
    assert lines[0].startswith("not listed: redirect (")
    assert f"  redirects to  {crawled.site.url('/docs/')}" in lines
    assert "  depth         1 click from the start page" in lines
    lines = crawled.program.run("explain", "/docs/a.html").out.splitlines()
    assert lines[0] == "listed"
    assert "  file          sitemap.xml" in lines
    lines = crawled.program.run("explain", "/gone/").out.splitlines()
    assert lines[0] == f"unknown: {NO_PATH_TO_IT}"
    assert lines[-1] == f"nearest known: {crawled.site.url('/gone')}: not listed: client-error (status 404)"


def test_asking_touches_nothing(crawled: Crawled) -> None:
    before = crawled.files()
    requests = len(crawled.site.requests)
    crawled.explain("/gone")
    assert crawled.program.run("pages").code == 0
    assert crawled.files() == before
    assert len(crawled.site.requests) == requests


@pytest.mark.parametrize("text", ["", "mailto:me@example.com", "http://"])
def test_what_is_no_url(crawled: Crawled, text: str) -> None:
    done = crawled.program.run("explain", text)
    assert (done.code, done.out) == (2, "")
    assert done.last_line == f"{text!r} is not an http or https URL: give a URL of the site"


def test_no_inventory(program: Program) -> None:
    done = program.run("explain", "https://www.example.com/")
    assert (done.code, done.out) == (2, "")
    assert "crawl first" in done.last_line
    assert list(program.directory.iterdir()) == []


def test_a_damaged_inventory(program: Program) -> None:
    path = make_inventory(program.directory / "a.db", "https://www.example.com/")
    add_pages(path, [(number, f"https://www.example.com/{number}", 200, None) for number in range(1, 500)])
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    for command in (("explain", "https://www.example.com/7"), ("pages",)):
        done = program.run(*command, "--state", "a.db")
        assert done.code == 1
        assert done.last_line.endswith(
            "a.db is damaged (database disk image is malformed): restore a copy, or move it away and crawl again"
        )


def test_a_page_that_only_a_sitemap_names(program: Program) -> None:
    url = "https://www.example.com/"
    path = make_inventory(program.directory / "a.db", url)
    add_pages(path, [(1, url, 200, None), (2, f"{url}alone", 200, None)])
    change(path, "UPDATE urls SET depth = 65535, referrer = NULL, named = 1 WHERE id = 2")
    answer = ask(program, "/alone")
    assert (answer["depth"], answer["referrer"], answer["first_seen"]) == (None, None, "2023-11-14T22:13:20+00:00")
    assert "  linked from   no followed link; a sitemap names it" in lines_of(program, "/alone")


def ask(program: Program, text: str) -> dict[str, Any]:
    done = program.run("explain", text, "--state", "a.db", "--json")
    assert (done.code, done.err) == (0, "")
    answer: dict[str, Any] = json.loads(done.out)
    return answer


def lines_of(program: Program, text: str) -> list[str]:
    done = program.run("explain", text, "--state", "a.db")
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()


@pytest.fixture
def made(program: Program) -> Path:
    """The start page and /a, which it links to."""
    url = "https://www.example.com/"
    path = make_inventory(program.directory / "a.db", url)
    add_pages(path, [(1, url, 200, encode_links([2])), (2, f"{url}a", 200, None)])
    return path


@pytest.mark.parametrize("named", ["NULL", "1"])
def test_the_start_page_is_called_so(program: Program, made: Path, named: str) -> None:
    change(made, f"UPDATE urls SET named = {named} WHERE id = 1")
    lines = lines_of(program, "/")
    assert "  depth         0, it is the start page" in lines
    assert not [line for line in lines if "linked" in line or "a sitemap" in line]


def test_where_the_start_page_redirects_to_takes_no_click(program: Program, made: Path) -> None:
    change(made, "UPDATE urls SET depth = 0 WHERE id = 2")
    lines = lines_of(program, "/a")
    assert "  linked from   https://www.example.com/" in lines
    assert "  depth         0 clicks from the start page" in lines


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE urls SET unlinked_since = 1 WHERE id = 2", "no page now; was linked from https://www.example.com/"),
        (
            "UPDATE urls SET unlinked_since = 1, referrer = NULL, named = 1, depth = 65535 WHERE id = 2",
            "no followed link; a sitemap named it",
        ),
    ],
)
@pytest.mark.parametrize(
    ("decision", "reason"), [("excluded", "orphan"), ("excluded", "client-error"), ("listed", "listed")]
)
def test_what_nothing_leads_to_any_more_is_not_linked(
    program: Program, made: Path, statement: str, words: str, decision: str, reason: str
) -> None:
    change(made, statement, f"UPDATE decisions SET decision = '{decision}', reason = '{reason}' WHERE url_id = 2")
    answer = ask(program, "/a")
    assert (answer["reason"], answer["referrer"], answer["depth"]) == (reason, None, None)
    lines = lines_of(program, "/a")
    assert f"  linked from   {words}" in lines
    assert not [line for line in lines if line.startswith("  depth")]


def test_what_robots_txt_blocks_was_never_fetched(program: Program, made: Path) -> None:
    change(made, "UPDATE observations SET status = NULL, blocked_by = 'Disallow: /a' WHERE url_id = 2")
    assert (ask(program, "/a")["status"], ask(program, "/a")["last_fetched"]) == (None, None)


@pytest.mark.parametrize(
    ("failed_status", "failed_error", "status"), [("503", "NULL", 503), ("NULL", "'the connection was reset'", None)]
)
def test_a_failing_page(
    program: Program, made: Path, failed_status: str, failed_error: str, status: int | None
) -> None:
    change(
        made,
        f"UPDATE observations SET failed_since = 1, failed_status = {failed_status}, failed_error = {failed_error} "
        "WHERE url_id = 2",
        "UPDATE decisions SET reason = 'kept-after-error', evidence = 'server-error: status 503' WHERE url_id = 2",
    )
    answer = ask(program, "/a")
    found = {name: answer[name] for name in ("decision", "reason", "evidence", "status", "last_fetched")}
    assert found == {
        "decision": "listed",
        "reason": "kept-after-error",
        "evidence": "server-error: status 503",
        "status": status,
        "last_fetched": "2023-11-14T22:13:20+00:00",
    }
    assert lines_of(program, "/a")[0] == "listed: kept-after-error (server-error: status 503), not published yet"


def test_a_date_without_a_time_is_shown_as_one(program: Program, made: Path) -> None:
    # 2024-05-17T00:00:00+00:00
    dated = "UPDATE decisions SET lastmod = 1715904000, lastmod_source = 'json-ld', lastmod_day = {} WHERE url_id = 2"
    change(made, dated.format("true"))
    assert ask(program, "/a")["lastmod"] == "2024-05-17"
    assert "  lastmod       2024-05-17 (json-ld)" in lines_of(program, "/a")
    change(made, dated.format("false"))
    assert ask(program, "/a")["lastmod"] == "2024-05-17T00:00:00+00:00"


def test_a_nofollow_link_on_a_page_that_is_no_row_any_more(program: Program, made: Path) -> None:
    key = url_key("https://www.example.com/hidden")
    change(made, f"INSERT INTO nofollowed (key, referrer) VALUES ({key}, 2)")
    assert ask(program, "/hidden")["evidence"] == "only nofollow links, first on https://www.example.com/a"
    change(made, "DELETE FROM urls WHERE id = 2")
    assert ask(program, "/hidden")["evidence"] == NO_PATH_TO_IT


def test_several_inventories(program: Program) -> None:
    state = program.directory / "state" / "sitemap-crawler"
    state.mkdir(parents=True)
    for name in ("a", "b"):
        make_inventory(state / f"{name}.example-00000000.sqlite", f"https://{name}.example/")
    done = program.run("explain", "/docs/")
    assert (done.code, done.out) == (2, "")
    remedy = "crawl that site first, or name one with --state"
    assert done.last_line == f"none of the inventories has '/docs/' in its scope: {remedy}:"
    assert [line.split()[0] for line in done.err.splitlines()[1:]] == ["https://a.example/", "https://b.example/"]


@pytest.mark.parametrize(
    ("ended_by", "evidence"),
    [
        ("finished", NO_PATH_TO_IT),
        ("limit", "the crawl has not finished: it ended at a limit before it saw the whole site"),
        ("repeats", "no page that was fetched links to it; the crawl ended when its pages only repeated others"),
        ("refused", "the last crawl was refused at its start page, so it saw nothing of the site"),
        (None, "the crawl has not finished"),
    ],
)
def test_a_crawl_that_did_not_finish_proves_nothing(program: Program, ended_by: str | None, evidence: str) -> None:
    make_inventory(program.directory / "a.db", "https://www.example.com/", ended_by=ended_by)
    done = program.run("explain", "/never-seen", "--state", "a.db", "--json")
    assert json.loads(done.out)["evidence"] == evidence


@pytest.mark.parametrize(
    ("left_out", "listed_url"),
    [("dir?ci=tip", "dir"), ("view/2", "dir"), ("other?ci=tip", "dir"), ("never", None)],
)
def test_which_url_shows_what_a_page_shows_that_was_left_out_at_the_end(
    program: Program, left_out: str, listed_url: str | None
) -> None:
    site = "https://www.example.com/"
    path = make_inventory(program.directory / "a.db", site, ended_by="repeats")
    add_pages(path, [(1, site, 200, None), (2, f"{site}dir", 200, None), (3, site + left_out, 200, None)])
    with closing(connect(path)) as connection:
        content = b"other" if left_out == "never" else b"same"
        connection.execute("UPDATE observations SET fingerprint = ? WHERE url_id = 2", (b"same",))
        connection.execute("UPDATE observations SET fingerprint = ? WHERE url_id = 3", (content,))
        connection.execute("UPDATE urls SET state = ? WHERE id = 3", (int(UrlState.EXHAUSTED),))
        connection.execute("UPDATE decisions SET decision = 'excluded', reason = 'limit' WHERE url_id = 3")
        connection.commit()
    answer = json.loads(program.run("explain", site + left_out, "--state", "a.db", "--json").out)
    assert answer["listed_url"] == (listed_url and site + listed_url)


def test_which_file_holds_a_page(program: Program) -> None:
    url = "https://www.example.com/"
    path = make_inventory(program.directory / "a.db", url)
    names = ["a", "b", "c", "d"]
    add_pages(path, [(number, url + name, 200, None) for number, name in enumerate(names, 1)])
    files = [("sitemap.xml", 0, ""), ("sitemap-1.xml", 1, f"{url}a"), ("sitemap-2.xml", 2, f"{url}b")]
    with closing(connect(path)) as connection:
        connection.executemany(
            "INSERT INTO published VALUES ('/o', 'sitemap.xml', ?, ?, ?, 9, 'x', 1, ?, '', '')",
            [(name, url + name, urls, first) for name, urls, first in files],
        )
        # d was listed by the last run, and is not published yet
        connection.execute("INSERT INTO listings (url_id) VALUES (1), (2), (3)")
        connection.commit()
    done = program.run("pages", "--state", "a.db", "--format", "jsonl")
    found = [json.loads(line)["file"] for line in done.out.splitlines()]
    assert found == ["sitemap-1.xml", "sitemap-2.xml", "sitemap-2.xml", None]


def test_answers_while_a_crawl_is_under_way(program: Program, site: WebServer) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def held(_request: LoggedRequest) -> Answer:
        asked.set()
        go_on.wait(60)
        return Answer(page())

    site.pages.update({"/": page("/held", "https://elsewhere.example/"), "/held": held})
    with program.start("crawl", site.url(), "-q") as crawl:
        try:
            assert asked.wait(60)
            answers = {
                path: json.loads(program.run("explain", site.url(path), "--json").out)
                for path in ("/", "/held", "/new")
            }
            other = json.loads(program.run("explain", "https://elsewhere.example/", "--json").out)
            pages = program.run("pages", "--decision", "unknown")
        finally:
            go_on.set()
        assert crawl.wait(60) == 0
    assert {answer["decision"] for answer in answers.values()} == {"unknown"}
    assert answers["/"]["evidence"] == "fetched with status 200, not decided yet"
    assert answers["/held"]["evidence"] == "queued, not fetched yet"
    assert answers["/new"]["evidence"] == "the crawl has not finished"
    assert other["reason"] == "out-of-scope"
    assert pages.code == 0
    assert pages.out.splitlines()[-1] == "3 of 3 URLs"
    assert json.loads(program.run("explain", site.url("/held"), "--json").out)["decision"] == "listed"


@pytest.mark.parametrize(
    ("url", "variant"),
    [
        ("https://www.example.com/a", "https://www.example.com/a/"),
        ("https://www.example.com/a/", "https://www.example.com/a"),
        ("https://www.example.com/a?x=1", "https://www.example.com/a/?x=1"),
        ("https://www.example.com/a", "http://www.example.com/a"),
        ("https://www.example.com/a", "https://example.com/a"),
        ("http://example.com/a", "https://www.example.com/a"),
        ("http://example.com/a", "https://www.example.com/a/"),
        ("https://www.example.com/a/", "https://www.example.com/a/index.html"),
        ("https://www.example.com/a/Index.HTM", "https://www.example.com/a/"),
        ("https://www.example.com/a?x=1", "https://www.example.com/a"),
        ("https://www.example.com/A/B", "https://www.example.com/a/b"),
        ("https://www.example.com/a%2Fb", "https://www.example.com/a/b"),
        ("https://www.example.com/it's", "https://www.example.com/it%27s"),
        ("https://www.example.com/it%27s", "https://www.example.com/it's"),
        ("https://www.example.com/a?q=x%2Cy", "https://www.example.com/a?q=x,y"),
    ],
)
def test_variants(url: str, variant: str) -> None:
    assert variant in variants(url, Resolver())


def test_the_likeliest_variants_come_first() -> None:
    assert variants("https://www.example.com/a?x=1", Resolver())[:4] == [
        "https://www.example.com/a/?x=1",
        "http://www.example.com/a?x=1",
        "https://example.com/a?x=1",
        "http://example.com/a?x=1",
    ]


def test_a_page_made_to_keep_the_comparison_busy(program: Program) -> None:
    url = "https://www.example.com/"
    path = make_inventory(program.directory / "a.db", url)
    pages = [(number, f"{url}{'a' * 4000}{number}", 200, None) for number in range(2, 2500)]
    add_pages(path, [(1, url, 200, encode_links(range(1, 2500))), *pages])
    work = counted_work(program, "explain", f"{url}{'a' * 4000}", "--state", "a.db")
    # Of 2,000 links, 200 characters each; the exact similarity of 64 of them takes up to the square of that.
    assert 0 < work["counted_characters"] <= 2_000 * 2 * 200
    assert 0 < work["compared_pairs"] <= 64 * 200**2


@pytest.mark.slow
def test_a_large_inventory_answers_at_once(program: Program) -> None:
    url = "https://www.example.com/"
    path = make_inventory(program.directory / "a.db", url)
    fill(path, url, 200_000)
    small = make_inventory(program.directory / "small.db", url)
    fill(small, url, 10_000)
    for asked, decision in (
        ("/77777/page", "listed"),
        ("/77777/pages", "unknown"),
        ("http://example.com/7", "unknown"),
    ):
        steps = counted_work(program, "explain", asked, "--state", "a.db")["database_steps"]
        in_small = counted_work(program, "explain", asked.replace("77777", "7777"), "--state", "small.db")
        assert 0 < steps < 1.5 * in_small["database_steps"]
        assert json.loads(program.run("explain", asked, "--state", "a.db", "--json").out)["decision"] == decision


def fill(path: Path, url: str, count: int) -> None:
    numbers = range(2, count + 1)
    add_pages(path, [(1, url, 200, encode_links(range(2, 5000)))])
    with closing(connect(path)) as connection:
        connection.executemany(
            "INSERT INTO urls (id, key, url, state, depth, referrer, first_seen) VALUES (?, ?, ?, 3, 1, 1, 1)",
            ((number, url_key(f"{url}{number}/page"), f"{url}{number}/page") for number in numbers),
        )
        connection.execute(
            "INSERT INTO observations (url_id, run, fetched, status, body_bytes, noindex, nofollow) "
            "SELECT id, 1, ?, 200, 100, false, false FROM urls WHERE id > 1",
            (STARTED,),
        )
        connection.execute(
            "INSERT INTO decisions (url_id, decision, reason, since) "
            "SELECT id, 'listed', 'listed', 1 FROM urls WHERE id > 1"
        )
        connection.commit()


COUNTED = """
import difflib, json, sqlite3, sys
from collections import Counter

work = Counter()

class Matcher(difflib.SequenceMatcher):
    def quick_ratio(self):
        work["counted_characters"] += len(self.a) + len(self.b)
        return super().quick_ratio()

    def ratio(self):
        work["compared_pairs"] += len(self.a) * len(self.b)
        return super().ratio()

class Connection(sqlite3.Connection):
    def __init__(self, *given, **options):
        super().__init__(*given, **options)
        self.set_progress_handler(lambda: work.update(database_steps=10), 10)

difflib.SequenceMatcher = Matcher
driver = sqlite3.connect
sqlite3.connect = lambda *given, **options: driver(*given, **options, factory=Connection)

from sitemap_crawler.cli.main import run

code = run()
print(json.dumps(work), file=sys.stderr)
sys.exit(code)
"""


def counted_work(program: Program, *arguments: str) -> dict[str, int]:
    """Return what a run of the command compares, in characters and their pairs, and the steps of its queries."""
    done = program.execute(sys.executable, "-c", COUNTED, *arguments)
    assert done.code == 0, done.err
    work: dict[str, int] = json.loads(done.err)
    return work


@pytest.mark.parametrize("ending", [("--dry-run",), ()])
def test_a_page_that_an_unpublished_run_no_longer_lists_is_still_in_its_file(
    program: Program, site: WebServer, ending: tuple[str, ...]
) -> None:
    site.pages["/"] = page(*(f"/{number}" for number in range(30)))
    site.pages |= {f"/{number}": page("/") for number in range(30)}
    assert program.crawl(site.url("/"), "--state", "a.db").code == 0
    excluded = ("--exclude", "/1$") if ending else ("--exclude", "/[0-9]+$")
    assert program.crawl(site.url("/"), "--state", "a.db", *excluded, *ending).code == (0 if ending else 3)
    first = lines_of(program, site.url("/1"))[0]
    assert first.startswith("not listed: excluded-by-rule")
    assert first.endswith(", still in sitemap.xml until the next publication")
    assert program.crawl(site.url("/"), "--state", "a.db", "--exclude", "/1$", "--allow-shrink").code == 0
    assert "still in" not in lines_of(program, site.url("/1"))[0]
