"""The dates of a WordPress site, which it states in its API only.

/           the page of the latest posts, links to the posts
/post/…     posts
/blog/      the page that holds older posts: an entry of the API which is shown as a list
/hidden/    a page that nothing links to
"""

from __future__ import annotations

import json
import signal
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.inventories import connect
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.forks import Fork
    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow

POSTS = 230


class Blog:
    """A WordPress with the answers of its API, as version 6.1 gives them."""

    def __init__(self, site: WebServer, *, plain: bool = False) -> None:
        self.site = site
        self.api = "/index.php?rest_route=" if plain else "/wp-json"
        self.modified = {f"/post/{number}/": day(number) for number in range(1, POSTS + 1)}
        self.modified["/blog/"] = "2019-01-01T08:00:00"
        self.modified["/hidden/"] = "2019-02-02T09:00:00"
        self.types = {
            "post": {"rest_base": "posts", "rest_namespace": "wp/v2"},
            "page": {"rest_base": "pages", "rest_namespace": "wp/v2"},
            "part": {"rest_base": "parts", "rest_namespace": "wp/v2"},
            "attachment": {"rest_base": "media", "rest_namespace": "wp/v2"},
        }
        posts = [path for path in self.modified if path.startswith("/post/")]
        lists = {"posts": posts, "pages": ["/blog/", "/hidden/"], "parts": ["/part/"]}
        site.pages["/"] = self.page(None, *posts, "/blog/")
        site.pages["/blog/"] = self.page(None)
        for number, path in enumerate(posts, 1):
            site.pages[path] = self.page(f"posts/{number}", text=f"Post {number}")
        site.pages["/hidden/"] = self.page("pages/1000", text="Hidden")
        if plain:
            site.pages["/index.php"] = self._by_query(lists)
        else:
            site.pages["/wp-json/wp/v2/types"] = lambda _: as_json(self.types)
            for base, paths in lists.items():
                site.pages[f"/wp-json/wp/v2/{base}"] = self._list(paths)

    def page(self, entry: str | None, *links: str, text: str = "List") -> Answer:
        own = f'<link rel="alternate" type="application/json" href="{self.api}/wp/v2/{entry}">' if entry else ""
        return Answer(page(*links, title=text, head=f'<link rel="https://api.w.org/" href="{self.api}/">{own}'))

    def _list(self, paths: list[str]) -> Callable[[LoggedRequest], Answer]:
        def answer(request: LoggedRequest) -> Answer:
            query = parse_qs(urlsplit(request.path).query)
            per_page, number = int(query["per_page"][0]), int(query["page"][0])
            assert query["_fields"] == ["link,modified_gmt"]
            part = paths[(number - 1) * per_page : number * per_page]
            if not part:
                return Answer(json.dumps({"code": "rest_post_invalid_page_number"}), status=400)
            entries = [{"modified_gmt": self.modified.get(path), "link": self.site.url(path)} for path in part]
            return as_json(entries, {"X-WP-TotalPages": str(-(-len(paths) // per_page))})

        return answer

    def _by_query(self, lists: dict[str, list[str]]) -> Callable[[LoggedRequest], Answer]:
        def answer(request: LoggedRequest) -> Answer:
            route = parse_qs(urlsplit(request.path).query)["rest_route"][0]
            base = route.removeprefix("/wp/v2/")
            return as_json(self.types) if base == "types" else self._list(lists[base])(request)

        return answer


def as_json(value: Any, headers: dict[str, str] | None = None) -> Answer:
    return Answer(json.dumps(value), content_type="application/json", headers=headers or {})


def day(number: int) -> str:
    return f"20{10 + number % 12}-0{1 + number % 9}-1{number % 10}T0{number % 10}:20:30"


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


def crawl(program: Program, site: WebServer, *options: str) -> Result:
    return program.crawl(site.url("/"), "--state", "state.sqlite", "--workers", "0", *options)


def lastmods(program: Program, site: WebServer) -> dict[str, tuple[str, str] | None]:
    result = program.run("pages", "--state", "state.sqlite", "--decision", "listed", "--format", "jsonl")
    rows = map(json.loads, result.out.splitlines())
    return {
        row["url"].removeprefix(site.url("")): (row["lastmod"], row["lastmod_source"]) if row["lastmod"] else None
        for row in rows
    }


def api_requests(site: WebServer) -> list[str]:
    return [path for path in site.paths() if "/wp/v2/" in path]


def expected_dates(blog: Blog) -> dict[str, tuple[str, str] | None]:
    dated = {path: (f"{modified}+00:00", "wordpress") for path, modified in blog.modified.items()}
    return {**dated, "/": None, "/blog/": None}


@pytest.mark.parametrize("plain", [False, True])
def test_entries_are_dated_on_the_first_run(program: Program, site: WebServer, *, plain: bool) -> None:
    blog = Blog(site, plain=plain)
    result = crawl(program, site)
    assert result.code == 0
    # The page of all posts is an entry, too, but what it shows are other entries. Parts are no pages.
    assert lastmods(program, site) == expected_dates(blog)
    sign = "&" if plain else "?"
    query = f"{sign}per_page=100&orderby=id&order=asc&_fields=link,modified_gmt&page="
    lists = [f"posts{query}1", f"pages{query}1", f"parts{query}1", f"posts{query}2", f"posts{query}3"]
    assert api_requests(site) == [f"{blog.api}/wp/v2/{path}" for path in ("types", *lists)]
    assert [w["kind"] for w in result.report["warnings"]] == ["sitemap-only"]
    explained = program.run("explain", site.url("/post/7/"), "--state", "state.sqlite").out
    assert f"{blog.modified['/post/7/']}+00:00 (wordpress)" in explained


def test_dates_stay_until_the_content_changes(program: Program, site: WebServer) -> None:
    blog = Blog(site)
    crawl(program, site)
    files = {path.name: path.read_bytes() for path in program.output.iterdir()}
    before = expected_dates(blog)
    for path in blog.modified:
        blog.modified[path] = "2025-05-05T05:05:05"
    assert crawl(program, site).code == 0
    assert lastmods(program, site) == before
    assert {path.name: path.read_bytes() for path in program.output.iterdir()} == files
    # A post that is edited after the last run has the time of its edit; the lists say it.
    blog.modified["/post/7/"] = hour_after_the_last_run(program)
    site.pages["/post/7/"] = blog.page("posts/7", text="Another text")
    crawl(program, site)
    assert lastmods(program, site) == {**before, "/post/7/": (f"{blog.modified['/post/7/']}+00:00", "wordpress")}


def hour_after_the_last_run(program: Program) -> str:
    """Move all runs back by a day, and return a moment one hour after the last one."""
    with closing(connect(program.directory / "state.sqlite")) as database, database:
        database.execute("UPDATE runs SET started = started - 86400, finished = finished - 86400")
        (finished,) = database.execute("SELECT max(finished) FROM runs").fetchone()
    return datetime.fromtimestamp(finished + 3600, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def test_the_dates_of_the_page_win_over_the_lists_and_these_over_sitemaps(program: Program, site: WebServer) -> None:
    blog = Blog(site)
    head = '<meta property="article:modified_time" content="2020-01-01T00:00:00Z">'
    site.pages["/post/1/"] = page(head=f'{head}<link rel="https://api.w.org/" href="/wp-json/">')
    dates = {"/post/2/": "2011-01-01T00:00:00Z", "/post/3/": "2012-01-01T00:00:00Z", "/": "2013-01-01T00:00:00Z"}
    entries = (f"<url><loc>{site.url(path)}</loc><lastmod>{date}</lastmod></url>" for path, date in dates.items())
    site.pages["/map.xml"] = Answer(f"<urlset>{''.join(entries)}</urlset>", content_type="application/xml")
    assert crawl(program, site, "--seed-sitemap", site.url("/map.xml")).code == 0
    seen = lastmods(program, site)
    assert seen["/post/1/"] == ("2020-01-01T00:00:00+00:00", "article:modified_time")
    assert seen["/post/2/"] == (f"{blog.modified['/post/2/']}+00:00", "wordpress")
    assert seen["/"] == ("2013-01-01T00:00:00+00:00", "sitemap")


FAILURES = {"500": Answer(status=500), "dropped": Answer(drop=True)}
CLOSED = {
    "401": Answer(status=401),
    "404": Answer(status=404),
    **FAILURES,
    "redirect": Answer(status=302, headers={"Location": "/wp-login.php"}),
    "html": Answer("<html>Forbidden"),
    "nested": Answer("[" * 3_000_000),
    "long": Answer("[" + "1," * 3_000_000),
}


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        *(pytest.param("types", answer, id=f"types-{name}") for name, answer in CLOSED.items()),
        *(pytest.param("posts", answer, id=f"posts-{name}") for name, answer in FAILURES.items()),
    ],
)
def test_a_site_with_a_closed_api_has_no_dates_and_no_warning(
    program: Program, site: WebServer, path: str, answer: Answer
) -> None:
    Blog(site)
    site.pages[f"/wp-json/wp/v2/{path}"] = answer
    result = crawl(program, site, "-s", "RETRY_TIMES=0")
    assert result.code == 0
    # The list of pages is readable when that of posts is not.
    found_by_lists = ["sitemap-only"] if path == "posts" else []
    assert [warning["kind"] for warning in result.report["warnings"]] == found_by_lists
    dated = {url for url, date in lastmods(program, site).items() if date is not None}
    assert dated == ({"/hidden/"} if path == "posts" else set())


def test_the_api_is_asked_only_where_the_rules_allow_it(program: Program, site: WebServer) -> None:
    Blog(site)
    site.pages["/robots.txt"] = Answer("User-agent: *\nDisallow: /wp-json/\n", content_type="text/plain")
    result = crawl(program, site)
    assert (result.code, api_requests(site), result.report["warnings"]) == (0, [], [])
    site.pages["/robots.txt"] = Answer(status=404)
    assert crawl(program, site, "--exclude", "wp-json", "--fresh").code == 0
    assert api_requests(site) == []


def test_an_api_of_another_host_is_not_asked(program: Program, site: WebServer) -> None:
    with WebServer() as other:
        site.pages["/"] = page(head=f'<link rel="https://api.w.org/" href="{other.url("/wp-json/")}">')
        assert crawl(program, site).code == 0
        assert other.paths() == []


def test_lists_without_an_end_are_bounded(program: Program, site: WebServer) -> None:
    Blog(site)
    entries = [{"link": site.url(f"/new/{number}"), "modified_gmt": day(number)} for number in range(100)]
    site.pages["/wp-json/wp/v2/posts"] = as_json(entries, {"X-WP-TotalPages": "999999"})
    result = crawl(program, site, "-s", "SITEMAP_MAX_SEED_FILES=7")
    assert result.code == 0
    # robots.txt names no sitemap.
    assert len(api_requests(site)) == 7
    message = "is not read, and neither are further ones: a run reads at most 7 sitemaps"
    assert [w["message"] for w in result.report["warnings"] if w["kind"] == "seed-sitemap"] == [message]


def test_a_resumed_run_reads_the_rest(program: Program, site: WebServer) -> None:
    blog = Blog(site)
    lists = site.pages["/wp-json/wp/v2/posts"]
    processes: list[Fork] = []

    def kill_at_second(request: LoggedRequest) -> Answer:
        if request.path.endswith("page=2"):
            processes[0].kill()
            processes[0].wait(60)
        assert callable(lists)
        return lists(request)

    site.pages["/wp-json/wp/v2/posts"] = kill_at_second
    with program.start(
        "crawl", site.url("/"), "--state", "state.sqlite", "--workers", "0", stderr=subprocess.DEVNULL
    ) as run:
        processes.append(run)
        assert run.wait(60) == -signal.SIGKILL
    site.pages["/wp-json/wp/v2/posts"] = lists
    assert crawl(program, site).code == 0
    assert lastmods(program, site) == expected_dates(blog)
    requested = [path.rpartition("/")[2].partition("?")[0] + path[-2:] for path in api_requests(site)]
    assert requested == ["typeses", "posts=1", "pages=1", "parts=1", "posts=2", "posts=2", "posts=3"]
