"""--render with a renderer without a browser: which pages are rendered, and what becomes of them."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.validation.entries import read_entries
from tests.support.fake_renderer import ordered, rendered, shell
from tests.support.fake_rendering import (
    GIVEN,
    TEXT,
    Shop,
    crawl,
    explained,
    lastmods,
    listed,
    with_fake_renderer,
)
from tests.support.inventories import connect
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

pytestmark = pytest.mark.slow


@pytest.fixture
def program(program: Program) -> Program:
    return with_fake_renderer(program)


def test_a_shell_is_rendered_and_its_links_are_followed(program: Program, site: WebServer) -> None:
    site.pages["/"] = shell(append='<a href="/a">a</a>')
    site.pages["/a"] = page()
    result = crawl(program, site)
    assert listed(program, site, result) == {"/", "/a"}
    assert rendered(program) == ["/"]


def test_a_page_without_scripts_is_not_rendered(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/a")
    site.pages["/a"] = page()
    crawl(program, site)
    assert rendered(program) == []


def test_three_samples_that_gain_nothing_leave_the_others(program: Program, site: WebServer) -> None:
    paths = [f"/p/{number}" for number in range(12)]
    site.pages["/"] = page(*paths)
    site.pages |= {path: ordered(title=path, text=TEXT) for path in paths}
    result = crawl(program, site)
    assert listed(program, site, result) == {"/", *paths}
    assert len(rendered(program)) == 3


def test_one_sample_that_gains_links_has_all_rendered(program: Program, site: WebServer) -> None:
    """The others wait for the samples, so that none is missed."""
    paths = [f"/p/{number}" for number in range(12)]
    site.pages["/"] = page(*paths)
    for path in paths:
        site.pages[path] = ordered(title=path, append=f'<a href="{path}/more">more</a>', seconds=0.05)
        site.pages[f"{path}/more"] = page(title=f"{path} more")
    result = crawl(program, site)
    assert listed(program, site, result) == {"/", *paths, *(f"{path}/more" for path in paths)}
    assert sorted(rendered(program)) == sorted(paths)


def test_a_page_that_a_script_moves_is_a_redirect(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/old", "/other")
    site.pages["/old"] = shell(moved_to="/new")
    site.pages["/other"] = shell(moved_to="/other?tab=1", history=True, append="<p>Other")
    site.pages["/new"] = page(title="new")
    site.pages["/other?tab=1"] = page(title="tab")
    result = crawl(program, site)
    assert listed(program, site, result) == {"/", "/new", "/other?tab=1"}
    told = explained(program, site, "/old")
    assert (told["reason"], told["evidence"]) == ("redirect", f"a script leads to {site.url('/new')}")
    assert told["redirects_to"] == site.url("/new")


def test_an_address_that_a_script_sets_does_not_count_beside_a_canonical(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/item")
    site.pages["/item"] = shell(
        moved_to="/item?ref=x",
        history=True,
        add_head=f'<link rel=canonical href="{site.url("/item")}">',
        append="<p>" + TEXT,
    )
    result = crawl(program, site)
    assert listed(program, site, result) == {"/", "/item"}


def test_a_navigation_counts_beside_a_canonical(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/item")
    site.pages["/item"] = shell(moved_to="/new", add_head=f'<link rel=canonical href="{site.url("/item")}">')
    site.pages["/new"] = page(title="new")
    assert listed(program, site, crawl(program, site)) == {"/", "/new"}


def test_directives_that_scripts_add_count(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/hidden", "/copy", "/shown")
    site.pages["/hidden"] = shell(add_head="<meta name=robots content=noindex>")
    site.pages["/copy"] = shell(add_head='<link rel=canonical href="/shown">')
    site.pages["/shown"] = page(title="shown")
    result = crawl(program, site)
    assert listed(program, site, result) == {"/", "/shown"}
    assert explained(program, site, "/hidden")["reason"] == "noindex"
    assert explained(program, site, "/copy")["reason"] == "canonical-elsewhere"


def test_a_noindex_page_is_not_rendered(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/hidden", "/header")
    site.pages["/hidden"] = shell().replace("<title>", "<meta name=robots content=noindex><title>")
    site.pages["/header"] = Answer(shell(), headers={"X-Robots-Tag": "noindex"})
    crawl(program, site)
    assert rendered(program) == []


def test_a_failed_rendering_leaves_theunvalidated_page(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/a", "/b", title="start")
    site.pages["/a"] = ordered("/c", title="a", text=TEXT, problem="the page crashed")
    site.pages["/b"] = shell(problem="the page crashed")
    site.pages["/c"] = page(title="c")
    result = crawl(program, site)
    assert listed(program, site, result) == {"/", "/a", "/b", "/c"}


def test_the_date_of_a_shell_is_not_that_of_its_content(program: Program, site: WebServer) -> None:
    Shop(site)
    crawl(program, site)
    date = "2026-07-06T05:00:00+00:00"
    assert lastmods(program, site) == {"/": date, "/a": None, "/b": None, "/c": date}


def test_a_script_that_states_its_clock_states_no_date(program: Program, site: WebServer) -> None:
    def stating(date: str) -> str:
        return f'<script type="application/ld+json">{{"@type": "WebPage", "dateModified": "{date}"}}</script>'

    site.pages["/"] = page("/now", "/known", body=TEXT)
    modified = '<meta property="article:modified_time" content="2026-02-03T10:00:00Z">'
    site.pages["/known"] = shell(append=TEXT, add_head=modified)
    program.variables["FAKE_RENDERER_CLOCK"] = stating((datetime.now(UTC) + timedelta(seconds=20)).isoformat())
    site.pages["/now"] = shell(append="<p>now" + TEXT, clock=True)
    crawl(program, site)
    dates = lastmods(program, site)
    assert (dates["/now"], dates["/known"]) == (None, "2026-02-03T10:00:00+00:00")


def test_with_always_every_page_with_scripts_is_rendered(program: Program, site: WebServer) -> None:
    paths = [f"/p/{number}" for number in range(6)]
    site.pages["/"] = page(*paths)
    site.pages |= {path: ordered(title=path, text=TEXT) for path in paths}
    crawl(program, site, mode="always")
    assert sorted(rendered(program)) == paths


def test_explain_says_whether_and_why_a_page_was_rendered(program: Program, site: WebServer) -> None:
    paths = [f"/p/{number}" for number in range(4)]
    site.pages["/"] = page("/app", "/bad", "/gone", "/moved", *paths)
    site.pages["/app"] = shell(append='<a href="/c">c</a>' + TEXT, fetch=["/data"])
    site.pages["/bad"] = shell(problem="the page crashed")
    site.pages["/moved"] = Answer(status=301, headers={"Location": "/app"})
    site.pages |= {path: ordered(title=path, text=TEXT) for path in paths}
    site.pages |= {"/c": page(title="c"), "/data": "data"}
    crawl(program, site)
    was_rendered = rendered(program)
    skipped = next(path for path in paths if path not in was_rendered)
    said = {
        path: next((line.split(None, 1)[1] for line in told.splitlines() if line.startswith("  scripts")), None)
        for path in ("/", "/app", "/bad", "/gone", "/moved", skipped)
        for told in [program.run("explain", site.url(path), "--state", "state.db").out]
    }
    assert said == {
        "/": "not rendered: it has no scripts",
        "/app": "rendered: adds 1 link, text (rendered because the server sends hardly any text or links)",
        "/bad": "rendering failed, so the page counts as the server sends it: the page crashed (rendered because the "
        "server sends hardly any text or links)",
        **dict.fromkeys(("/gone", "/moved"), "not rendered: the answer is no page"),
        skipped: "not rendered: 3 samples of its kind showed nothing new",
    }
    facts = explained(program, site, "/app")["rendering"]
    assert (facts["state"], facts["cause"], facts["gains"], facts["links"]) == (
        "rendered",
        "shell",
        ["links", "text"],
        1,
    )
    assert facts["requests"] == [site.url("/data")]


def test_the_report_counts_and_warns(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/app", "/bad")
    site.pages["/app"] = shell(
        append='<a href="/c">c</a>' + TEXT, refuse=["http://cdn.example/a.png", "http://cdn.example/b.png"]
    )
    site.pages |= {"/bad": shell(problem="the page crashed"), "/c": page(title="c")}
    result = crawl(program, site, "--html-report", "report.html")
    html = (program.directory / "report.html").read_text(encoding="utf-8")
    assert "Pages that need JavaScript" in html
    assert re.search(r"cdn\.example</span><span[^>]*>2<", html)
    program.run("report", site.url("/"), "--state", "state.db", "-o", "again.html")
    # `write` decides anew about what the crawl has seen.
    for options in (("--dry-run",), ()):
        done = program.run("write", "--state", "state.db", *options, "--html-report", f"write{len(options)}.html")
        assert done.code == 0
    for name in ("again.html", "write1.html", "write0.html"):
        again = (program.directory / name).read_text(encoding="utf-8")
        assert re.search(r"cdn\.example</span><span[^>]*>2<", again)
    assert result.report["rendering"] == {
        "rendered": 2, "useful": 1, "failed": 1, "confirmed": 0, "seconds": 1.0, "refused": {"cdn.example": 2},
    }  # fmt: skip
    assert [warning for warning in result.report["warnings"] if warning["kind"] == "only-rendered"] == [
        {
            "kind": "only-rendered",
            "url": site.url("/app"),
            "message": "has 1 link and its text only after its scripts have run: other search engines may not see that",
        }
    ]
    lines = [" ".join(line.replace("│", " ").split()) for line in result.out.splitlines()]
    assert "rendered in a browser 2" in lines
    assert "seconds of all renderings together 1.0" in lines
    assert lines[lines.index("requests of scripts refused 2") + 1] == "cdn.example 2"


def test_a_page_that_stays_empty_without_a_post_is_named(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/empty", "/filled", "/plain")
    sorry = "<p>Sorry, it does not work."
    site.pages["/empty"] = shell(append=sorry, refuse=["http://cdn.example/a.png"], post=["/graphql", "/log"])
    site.pages["/filled"] = shell(append=TEXT, post=["/log"])
    site.pages["/plain"] = shell()
    result = crawl(program, site)
    missed = f"{site.url('/graphql')}, which is not fetched: POST requests are not sent"
    assert [warning for warning in result.report["warnings"] if warning["url"] == site.url("/empty")] == [
        {
            "kind": "refused-request",
            "url": site.url("/empty"),
            "message": f"stays nearly empty, as its scripts ask for {missed}",
        }
    ]
    assert "/graphql" not in site.paths()


def test_a_page_that_stays_empty_without_data_that_may_not_be_fetched_is_named(
    program: Program, site: WebServer
) -> None:
    site.pages["/"] = page("/empty", "/filled")
    site.pages["/empty"] = shell(refuse=["http://cdn.example/a.png"], forbidden=["http://cdn.example/x", "/api/a"])
    site.pages["/filled"] = shell(append=TEXT, forbidden=["/api/b"])
    result = crawl(program, site)
    missed = f"its scripts ask for {site.url('/api/a')}, which is not fetched: robots.txt forbids it"
    assert [warning for warning in result.report["warnings"] if warning["kind"] == "refused-request"] == [
        {"kind": "refused-request", "url": site.url("/empty"), "message": f"stays nearly empty, as {missed}"}
    ]
    host = site.url("").removeprefix("http://")
    assert result.report["rendering"]["refused"] == {"cdn.example": 2, host: 2}
    assert explained(program, site, "/empty")["rendering"]["sentence"].endswith(f"; {missed}")
    told = program.run("explain", site.url("/empty"), "--state", "state.db").out
    assert f"; {missed}" in " ".join(told.split())
    assert "its scripts" not in explained(program, site, "/filled")["rendering"]["sentence"]


def test_without_render_the_report_says_nothing_of_it(program: Program, site: WebServer) -> None:
    site.pages["/"] = shell(append='<a href="/a">a</a>')
    result = program.crawl(site.url("/"))
    assert result.code == 0
    assert result.report["rendering"] is None
    assert "browser" not in result.out.replace("in the browser", "")
    assert "--render auto" in result.report["hints"][0]


def test_the_hint_does_not_name_an_option_that_is_given(program: Program, site: WebServer) -> None:
    site.pages["/"] = shell(problem="the page crashed")
    hints = crawl(program, site).report["hints"]
    assert len(hints) == 1
    assert "its rendering has not shown" in hints[0]
    assert "--render" not in hints[0]


def test_a_killed_run_goes_on_alike(program: Program, site: WebServer) -> None:
    """What the samples have shown is known to the next process: no page of their kind is rendered any more."""
    first = [f"/p/{number}" for number in range(5)]
    site.pages["/"] = page(*first)
    site.pages |= {path: ordered(f"/p/late/{path[-1]}", title=path, text=TEXT) for path in first}
    late = [f"/p/late/{number}" for number in range(5)]
    site.pages |= {path: ordered(title=path, text=TEXT) for path in late}
    program.variables["FAKE_RENDERER_KILLS"] = "4"
    killed = program.run("crawl", site.url("/"), *GIVEN)
    assert killed.code == -signal.SIGKILL, killed.err
    before = rendered(program)
    with closing(connect(program.directory / "state.db")) as connection:
        [(stored,)] = connection.execute("SELECT coalesce(sum(rendered), 0) FROM page_templates").fetchall()
    del program.variables["FAKE_RENDERER_KILLS"]
    result = crawl(program, site)
    assert listed(program, site, result) == {"/", *first, *late}
    assert len(before) == 4
    again = rendered(program)
    # Samples whose results were not stored yet are rendered again.
    assert len([path for path in again if path in first]) == 3 - stored
    assert len([path for path in again if path in late]) == 3
    assert result.report["rendering"]["rendered"] == 6


class OneShell(WebServer):
    """A site whose addresses all have the same answer: its script makes the page by the address."""

    def respond(self, request: LoggedRequest) -> Answer:
        if request.path == "/robots.txt":
            return Answer("", status=404)
        return Answer(self.pages["shell"])  # type: ignore[arg-type]


def test_a_probe_is_rendered_where_all_pages_have_the_same_shell(program: Program) -> None:
    """Only the page that shows what an unknown address shows is a soft 404."""
    error = {"title": "Page not found", "append": "<h1>Page not found</h1>" + TEXT}
    paths = [f"/p/{number}" for number in range(52)]
    menu = "".join(f'<a href="{path}">{path}</a>' for path in (*paths, "/gone"))
    routes: dict[str, Any] = {path: {"title": path, "append": f"<p>{path}" + TEXT} for path in paths}
    with OneShell({"shell": shell(routes={"/": {"append": menu + TEXT}, **routes, "*": error})}) as site:
        result = crawl(program, site)
        found = [warning for warning in result.report["warnings"] if warning["kind"] == "soft-404"]
        assert [warning["url"] for warning in found] == [site.url("/gone")]
        assert "an address that cannot exist" in found[0]["message"]
        assert listed(program, site, result) == {"/", "/gone", *paths}


def test_second_addresses_of_directories_are_compared_as_rendered(program: Program) -> None:
    menu = '<a href="/a/">a</a><a href="/a/index.html">a</a><a href="/b/">b</a><a href="/b/index.html">b</a>'
    same, one, other = ({"append": f"<p>{name}" + TEXT} for name in ("same", "one", "other"))
    routes = {"/": {"append": menu}, "/a/": same, "/a/index.html": same, "/b/": one, "/b/index.html": other}
    with OneShell({"shell": shell(routes=routes)}) as site:
        assert listed(program, site, crawl(program, site)) == {"/", "/a/", "/b/", "/b/index.html"}


def test_gains_other_than_links_count(program: Program, site: WebServer) -> None:
    """Dates and pictures that scripts add to complete pages are those of the sitemap."""
    site.pages["/"] = page("/dated", "/pictured")
    head = '<meta property="article:modified_time" content="2026-02-03T10:00:00Z">'
    site.pages["/dated"] = ordered(title="d", text=TEXT, app="/dates.js", add_head=head)
    site.pages["/pictured"] = ordered(title="p", text=TEXT, app="/pictures.js", append='<img src="/picture.jpg">')
    crawl(program, site)
    entries = {entry.loc: entry for entry in read_entries((program.output / "sitemap.xml").read_bytes())}
    assert entries[site.url("/dated")].lastmod == "2026-02-03T10:00:00+00:00"
    assert "picture.jpg" in (program.output / "sitemap.xml").read_text()


def test_an_interruption_waits_for_no_rendering(program: Program, site: WebServer) -> None:
    """Neither the page that is being rendered nor those that wait for it are stored: the next process has them all."""
    paths = [f"/p/{number}" for number in range(6)]
    site.pages["/"] = page(*paths)
    site.pages |= {path: ordered(title=path, text=TEXT, seconds=1_000) for path in paths}
    with program.start("crawl", site.url("/"), *GIVEN, stderr=subprocess.PIPE) as process:
        log = program.directory / "renderings.log"
        while process.poll() is None and (not log.exists() or len(log.read_text().splitlines()) < 3):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 4, errors
    rendered(program)
    site.pages |= {path: ordered(title=path, text=TEXT) for path in paths}
    result = crawl(program, site)
    assert listed(program, site, result) == {"/", *paths}
    assert len(rendered(program)) == 3
