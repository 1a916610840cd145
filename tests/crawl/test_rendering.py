"""--render with a renderer without a browser: which pages are rendered, what becomes of them, and the next runs."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.validation.entries import read_entries
from tests.support.fake_renderer import SETTING, ordered, rendered, shell
from tests.support.inventories import connect
from tests.support.paths import ROOT
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.program import Program, Result
    from tests.support.webserver import Page

pytestmark = pytest.mark.slow

NOT_DUE = ("-s", "SITEMAP_REVISIT_EXCLUDED=1000000")
"""No page is rendered only because it is its turn."""
GIVEN = ("--render", "auto", "--browser", "/bin/true", "--browser-no-sandbox", "--state", "state.db", "-s", SETTING)


@pytest.fixture
def program(program: Program) -> Program:
    program.variables["FAKE_RENDERER_LOG"] = str(program.directory / "renderings.log")
    # The renderer is imported from the directory of the run: with PYTHONPATH each run would import the program anew.
    (program.directory / "tests").symlink_to(ROOT / "tests")
    return program


TEXT = "<p>" + "A page with a text of its own, as the server sends it. " * 5
"""More than a shell has."""


def crawl(program: Program, site: WebServer, *options: str, mode: str = "auto") -> Result:
    result = program.crawl(site.url("/"), *GIVEN, "--render", mode, *options)
    assert result.code == 0, result.err
    return result


def listed(program: Program, site: WebServer, result: Result) -> set[str]:
    return {url.removeprefix(site.url("")) for url in result.listed()}


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


def explained(program: Program, site: WebServer, path: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(program.run("explain", site.url(path), "--state", "state.db", "--json").out)
    return answer


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


def test_a_failed_rendering_leaves_the_plain_page(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/a", "/b", title="start")
    site.pages["/a"] = ordered("/c", title="a", text=TEXT, problem="the page crashed")
    site.pages["/b"] = shell(problem="the page crashed")
    site.pages["/c"] = page(title="c")
    result = crawl(program, site)
    assert listed(program, site, result) == {"/", "/a", "/b", "/c"}


def validated(body: str | Callable[[], str], *, modified: str = "Mon, 06 Jul 2026 05:00:00 GMT") -> Page:
    """Return a page with validators as a file server sends them."""

    def answer(request: LoggedRequest) -> Answer:
        text = body if isinstance(body, str) else body()
        headers = {"ETag": f'"{blake2b(text.encode(), digest_size=8).hexdigest()}"', "Last-Modified": modified}
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Answer(status=304, headers=headers)
        return Answer(text, headers=headers)

    return answer


class Shop:
    """A start page that leads to two shells, each of which shows the answer to a request of its script."""

    def __init__(self, site: WebServer, *, is_conditional: bool = True) -> None:
        self.data = {"/data/a": "<p>The first thing</p>", "/data/b": "<p>The second thing</p>"}
        answer = validated if is_conditional else _plain
        site.pages["/"] = answer(page("/a", "/b", title="Shop", body=TEXT))
        site.pages["/a"] = answer(shell(fetch=["/data/a"], append='<a href="/c">c</a>'))
        site.pages["/b"] = answer(shell(fetch=["/data/b"], append=TEXT))
        site.pages["/c"] = answer(page(title="c"))
        for path in self.data:
            site.pages[path] = answer(lambda path=path: self.data[path])


def _plain(body: str | Callable[[], str]) -> Page:
    return lambda _: Answer(body if isinstance(body, str) else body())


def lastmods(program: Program, site: WebServer) -> dict[str, str | None]:
    entries = read_entries((program.output / "sitemap.xml").read_bytes())
    return {entry.loc.removeprefix(site.url("")): entry.lastmod for entry in entries}


def test_the_date_of_a_shell_is_not_that_of_its_content(program: Program, site: WebServer) -> None:
    Shop(site)
    crawl(program, site)
    date = "2026-07-06T05:00:00+00:00"
    assert lastmods(program, site) == {"/": date, "/a": None, "/b": None, "/c": date}


@pytest.mark.parametrize("is_conditional", [True, False])
@pytest.mark.parametrize("mode", ["auto", "always"])
@pytest.mark.parametrize("orders", [{"fetch": ["/data"]}, {"moved_by": "/data"}], ids=["adds", "moves"])
def test_the_date_of_a_shell_is_not_that_of_what_its_data_made_of_it_once(
    program: Program, site: WebServer, orders: dict[str, Any], mode: str, is_conditional: bool
) -> None:
    """The first run sees nothing but the shell. It may also have been that of an old version, without --render."""
    answer = validated if is_conditional else _dated
    data = [""]
    full = site.url("/b") if "moved_by" in orders else "<p>The first thing</p>"
    site.pages["/"] = answer(page("/a", "/b", title="start", body=TEXT))
    site.pages["/a"] = answer(shell(**orders))
    site.pages["/b"] = answer(page(title="b"))
    site.pages["/data"] = answer(lambda: data[0])
    assert program.crawl(site.url("/"), "--state", "state.db").code == 0
    dates = [lastmods(program, site).get("/a")]
    for data[0] in ("", full, full, "", "", full):
        crawl(program, site, *NOT_DUE, mode=mode)
        dates.append(lastmods(program, site).get("/a"))
    shell_date = "2026-07-06T05:00:00+00:00"
    assert dates[:2] == [shell_date, None]
    # A run may have seen a change.
    assert all(date is None or date > shell_date for date in dates[2:])


def _dated(body: str | Callable[[], str]) -> Page:
    headers = {"Last-Modified": "Mon, 06 Jul 2026 05:00:00 GMT"}
    return lambda _: Answer(body if isinstance(body, str) else body(), headers=headers)


@pytest.mark.parametrize("is_conditional", [True, False])
def test_an_unchanged_site_is_not_rendered_again(program: Program, site: WebServer, is_conditional: bool) -> None:
    """With validators the second run gets 304; without them it compares what it gets."""
    Shop(site, is_conditional=is_conditional)
    crawl(program, site, *NOT_DUE)
    dates = lastmods(program, site)
    assert sorted(rendered(program)) == ["/a", "/b"]
    site.clear_log()
    second = crawl(program, site, *NOT_DUE)
    assert rendered(program) == []
    assert lastmods(program, site) == dates
    assert listed(program, site, second) == {"/", "/a", "/b", "/c"}
    assert second.report["rendering"]["confirmed"] == 2
    assert [sorted(site.paths()).count(path) for path in ("/data/a", "/data/b", "/a")] == [1, 1, 1]


@pytest.mark.parametrize("is_conditional", [True, False])
def test_changed_data_moves_the_date_of_its_page_alone(program: Program, site: WebServer, is_conditional: bool) -> None:
    shop = Shop(site, is_conditional=is_conditional)
    crawl(program, site, *NOT_DUE)
    dates = lastmods(program, site)
    rendered(program)
    shop.data["/data/b"] = "<p>Something else</p>"
    site.clear_log()
    second = crawl(program, site, *NOT_DUE)
    assert rendered(program) == ["/b"]
    now = lastmods(program, site)
    assert now["/b"] is not None
    assert {**now, "/b": None} == dates
    assert second.report["changes"] == {"added": 0, "changed": 1, "removed": 0}
    assert sorted(site.paths()).count("/data/b") == 1


def test_every_page_is_rendered_at_times(program: Program, site: WebServer) -> None:
    Shop(site)
    options = ("-s", "SITEMAP_REVISIT_EXCLUDED=3")
    crawl(program, site, *options)
    rendered(program)
    runs = []
    for _ in range(3):
        crawl(program, site, *options)
        runs.append(rendered(program))
    assert sorted(path for paths in runs for path in paths) == ["/a", "/b"]


def test_a_changed_shell_is_rendered_again(program: Program, site: WebServer) -> None:
    Shop(site)
    crawl(program, site, *NOT_DUE)
    rendered(program)
    site.pages["/a"] = validated(shell(fetch=["/data/a"], append='<a href="/c">c</a><a href="/d">d</a>'))
    site.pages["/d"] = validated(page(title="d"))
    second = crawl(program, site, *NOT_DUE)
    assert rendered(program) == ["/a"]
    assert "/d" in listed(program, site, second)


def test_pages_that_answer_304_are_requested_again_once_pages_of_their_kind_gain(
    program: Program, site: WebServer
) -> None:
    """They were left without a rendering, and a 304 has no body to render."""
    paths = [f"/p/{number}" for number in range(6)]
    site.pages["/"] = validated(page(*paths, title="start"))
    site.pages |= {path: validated(ordered(title=path, fetch=["/data"], text=TEXT)) for path in paths}
    site.pages["/data"] = page()
    crawl(program, site, *NOT_DUE)
    assert len(rendered(program)) == 3
    site.pages["/p/0"] = validated(shell(fetch=["/data"]))
    site.pages["/data"] = Answer('<a href="/found">found</a>')
    site.pages["/found"] = validated(page(title="found"))
    second = crawl(program, site, *NOT_DUE)
    first_gains = rendered(program)
    assert "/p/0" in first_gains
    assert "/found" in listed(program, site, second)
    site.clear_log()
    crawl(program, site, *NOT_DUE)
    late = rendered(program)
    assert sorted({*first_gains, *late}) == paths
    for path in paths:
        conditions = [request.headers.get("if-none-match") for request in site.requests if request.path == path]
        assert len(conditions) == (2 if path in late and path not in first_gains else 1)
        assert conditions[0] is not None
        assert conditions[1:] in ([], [None])
        assert explained(program, site, path)["rendering"]["state"] == "rendered"
    crawl(program, site, *NOT_DUE)
    assert rendered(program) == []


@pytest.mark.parametrize("is_conditional", [True, False])
def test_samples_that_showed_nothing_are_asked_for_news(
    program: Program, site: WebServer, is_conditional: bool
) -> None:
    """Their kind is rendered as soon as one of them shows something."""
    answer = validated if is_conditional else _plain
    paths, data = [f"/p/{number}" for number in range(6)], [" "]
    site.pages["/"] = answer(page(*paths, title="start"))
    site.pages |= {path: answer(ordered(title=path, fetch=["/data"], text=TEXT)) for path in paths}
    site.pages["/data"] = answer(lambda: data[0])
    crawl(program, site, *NOT_DUE)
    samples = rendered(program)
    assert len(samples) == 3
    for _ in range(2):
        crawl(program, site, *NOT_DUE)
        assert rendered(program) == []
    data[0] = "  "
    crawl(program, site, *NOT_DUE)
    assert sorted(rendered(program)) == sorted(samples)
    crawl(program, site, *NOT_DUE)
    assert rendered(program) == []
    data[0] = "<script type=application/ld+json>1</script><meta name=robots content=noindex>"
    for _ in range(2):
        result = crawl(program, site, *NOT_DUE, "--allow-shrink")
    assert sorted(set(rendered(program))) == paths
    assert listed(program, site, result) == {"/"}


@pytest.mark.parametrize("is_conditional", [True, False])
def test_samples_are_rendered_again_at_times(program: Program, site: WebServer, is_conditional: bool) -> None:
    answer = validated if is_conditional else _plain
    paths = [f"/p/{number}" for number in range(6)]
    site.pages["/"] = answer(page(*paths, title="start"))
    site.pages |= {path: answer(ordered(title=path, text=TEXT)) for path in paths}
    options = ("-s", "SITEMAP_REVISIT_EXCLUDED=3")
    crawl(program, site, *options)
    samples = rendered(program)
    for _ in range(2):
        again = []
        for _ in range(3):
            crawl(program, site, *options)
            again += rendered(program)
        assert sorted(set(again)) == sorted(samples)


@pytest.mark.parametrize("is_conditional", [True, False])
def test_a_small_kind_is_checked_over_the_runs(program: Program, site: WebServer, is_conditional: bool) -> None:
    """One of 25 pages that were left is rendered, whether they answer 304 or not."""
    answer = validated if is_conditional else _plain
    paths = [f"/p/{number}" for number in range(13)]
    site.pages["/"] = answer(page(*paths, title="start"))
    site.pages |= {path: answer(ordered(title=path, text=TEXT)) for path in paths}
    numbers = []
    for _ in range(5):
        crawl(program, site, *NOT_DUE)
        numbers.append(len(rendered(program)))
    assert numbers == [3, 0, 1, 0, 1]


@pytest.mark.parametrize("is_conditional", [True, False])
def test_a_full_crawl_forgets_what_samples_have_shown(program: Program, site: WebServer, is_conditional: bool) -> None:
    answer = validated if is_conditional else _plain
    paths, data = [f"/p/{number}" for number in range(8)], [" "]
    site.pages["/"] = answer(page(*paths, title="start"))
    site.pages |= {path: answer(ordered(title=path, fetch=["/data" + path], text=TEXT)) for path in paths}
    site.pages |= {"/data" + path: answer(lambda: data[0]) for path in paths}
    crawl(program, site, *NOT_DUE)
    assert len(rendered(program)) == 3
    data[0] = "<meta name=robots content=noindex>"
    result = crawl(program, site, "--full", "--allow-shrink")
    assert sorted(rendered(program)) == paths
    assert listed(program, site, result) == {"/"}


@pytest.mark.parametrize("is_conditional", [True, False])
@pytest.mark.parametrize("status", [500, 503, 429])
def test_data_that_fail_for_now_leave_what_is_known(
    program: Program, site: WebServer, status: int, is_conditional: bool
) -> None:
    shop = Shop(site, is_conditional=is_conditional)
    crawl(program, site, *NOT_DUE)
    dates = lastmods(program, site)
    data, site.pages["/data/b"] = site.pages["/data/b"], Answer("<p>Sorry", status=status)
    for number in (1, 1):
        result = crawl(program, site, *NOT_DUE)
        assert lastmods(program, site) == dates
        assert result.report["rendering"]["failed"] == number
    site.pages["/data/b"] = data
    crawl(program, site, *NOT_DUE)
    assert lastmods(program, site) == dates
    shop.data["/data/b"] = "<p>Something else</p>"
    crawl(program, site, *NOT_DUE)
    assert lastmods(program, site)["/b"] is not None


def test_data_that_fail_for_long_count(program: Program, site: WebServer) -> None:
    Shop(site)
    options = ("-s", "SITEMAP_REVISIT_EXCLUDED=1")
    crawl(program, site, *options)
    dates = lastmods(program, site)
    site.pages["/data/a"] = Answer('<a href="/sorry">Sorry</a>', status=500)
    found = ["/sorry" in site.paths() for _ in range(3) if crawl(program, site, *options)]
    assert found == [False, False, True]
    assert lastmods(program, site)["/a"] == dates["/a"]


def test_data_that_could_not_be_fetched_at_first_are_no_change_later(program: Program, site: WebServer) -> None:
    Shop(site)
    data, site.pages["/data/b"] = site.pages["/data/b"], Answer("<p>Sorry", status=503)
    crawl(program, site, *NOT_DUE)
    dates = lastmods(program, site)
    rendered(program)
    site.pages["/data/b"] = data
    crawl(program, site, *NOT_DUE)
    assert rendered(program) == ["/b"]
    assert lastmods(program, site) == dates


@pytest.mark.parametrize("is_conditional", [True, False])
def test_what_scripts_show_by_chance_is_no_change(program: Program, site: WebServer, is_conditional: bool) -> None:
    """The server sends the same page and the same data, and the page says something else in each rendering."""
    answer, data = (validated if is_conditional else _plain), ["<p>first"]
    site.pages["/"] = answer(shell(fetch=["/data"], append=TEXT, clock=True))
    site.pages["/data"] = answer(lambda: data[0])
    dates = []
    for clock, data[0] in (("one", "<p>first"), ("two", "<p>first"), ("three", "<p>second"), ("four", "<p>second")):
        program.variables["FAKE_RENDERER_CLOCK"] = f"<p>It is half past {clock}"
        crawl(program, site, "--full")
        dates.append(lastmods(program, site)["/"])
        assert rendered(program) == ["/"]
    assert dates[:2] == [None, None]
    assert dates[2] is not None
    assert dates[3] == dates[2]


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


@pytest.mark.parametrize("mode", ["never", "auto"])
def test_what_scripts_have_excluded_is_read_again_with_another_mode(
    program: Program, site: WebServer, mode: str
) -> None:
    """Pages that were excluded in three runs are requested in every seventh run otherwise."""
    site.pages["/"] = page("/hidden", "/moved", body=TEXT)
    site.pages["/hidden"] = ordered(text=TEXT + "<p>hidden", add_head="<meta name=robots content=noindex>")
    site.pages["/moved"] = ordered(text=TEXT + "<p>moved", moved_to="/")
    for _ in range(4):
        crawl(program, site, mode="always")
    site.clear_log()
    rendered(program)
    result = crawl(program, site, mode=mode)
    assert {"/hidden", "/moved"} <= set(site.paths())
    is_listed = {"/hidden", "/moved"} <= listed(program, site, result)
    assert is_listed is (mode == "never")


def test_a_rendering_that_fails_later_leaves_what_is_known(program: Program, site: WebServer) -> None:
    """The shell is the same, and only its data has changed: the links of its last rendering stay."""
    shop = Shop(site)
    crawl(program, site, *NOT_DUE)
    dates = lastmods(program, site)
    shop.data["/data/a"] = "<p>new</p>"
    program.variables["FAKE_RENDERER_FAILS"] = "1"
    second = crawl(program, site, *NOT_DUE)
    assert listed(program, site, second) == {"/", "/a", "/b", "/c"}
    assert second.report["rendering"]["failed"] == 1
    assert lastmods(program, site) == dates


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


def test_update_renders_a_page_as_the_crawl_does(program: Program, site: WebServer) -> None:
    shop = Shop(site)
    crawl(program, site, *NOT_DUE)
    rendered(program)
    dates = lastmods(program, site)
    shop.data["/data/b"] = "<p>Something else</p>"
    browser = ("--browser", "/bin/true", "--browser-no-sandbox", "-s", SETTING)
    result = program.run("update", "update", site.url("/b"), "--state", "state.db", *browser)
    assert result.code == 0, result.err
    assert rendered(program) == ["/b"]
    now = lastmods(program, site)
    assert now["/b"] is not None
    assert {**now, "/b": None} == dates


def test_a_page_that_is_rendered_for_the_first_time_has_not_changed(program: Program, site: WebServer) -> None:
    """The first run has seen the shell only. What the second one sees in it may be as old as the shell."""
    Shop(site)
    program.variables["FAKE_RENDERER_FAILS"] = "1"
    first = crawl(program, site, *NOT_DUE)
    assert listed(program, site, first) == {"/", "/a", "/b"}
    assert sorted(set(rendered(program))) == ["/a", "/b"]
    del program.variables["FAKE_RENDERER_FAILS"]
    second = crawl(program, site, *NOT_DUE)
    assert sorted(rendered(program)) == ["/a", "/b"]
    assert listed(program, site, second) == {"/", "/a", "/b", "/c"}
    dates = lastmods(program, site)
    assert (dates["/a"], dates["/b"]) == (None, None)


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


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        ({"headers": {"X-Robots-Tag": "noindex"}}, "noindex"),
        ({"headers": {"Link": '</b>; rel="canonical"'}}, "canonical-elsewhere"),
        ({"headers": {"Refresh": "0; url=/b"}}, "redirect"),
        ({"content_type": "text/plain"}, "not-a-page"),
        ({"status": 404}, "client-error"),
    ],
)
def test_another_answer_with_the_same_body_is_another_page(
    program: Program, site: WebServer, now: dict[str, Any], reason: str
) -> None:
    text = shell(append=TEXT)
    site.pages["/"] = page("/a", "/b", title="start", body=TEXT)
    site.pages["/a"] = Answer(text)
    site.pages["/b"] = page(title="b")
    crawl(program, site, *NOT_DUE)
    assert explained(program, site, "/a")["reason"] == "listed"
    site.pages["/a"] = Answer(text, **now)
    crawl(program, site, *NOT_DUE)
    assert explained(program, site, "/a")["reason"] == reason
