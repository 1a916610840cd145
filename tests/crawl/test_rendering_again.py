"""--render with a renderer without a browser: what later runs render, and what they say of dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.fake_renderer import SETTING, ordered, rendered, shell
from tests.support.fake_rendering import (
    NOT_DUE,
    TEXT,
    Shop,
    crawl,
    explained,
    lastmods,
    listed,
    unvalidated,
    validated,
    with_fake_renderer,
)
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.program import Program
    from tests.support.webserver import Page

pytestmark = pytest.mark.slow

ADDS = {"fetch": ["/data"]}
MOVES = {"moved_by": "/data"}


@pytest.fixture
def program(program: Program) -> Program:
    return with_fake_renderer(program)


@pytest.mark.parametrize(
    ("mode", "is_conditional", "orders"),
    [("auto", True, ADDS), ("auto", False, MOVES), ("auto", True, MOVES), ("always", True, ADDS)],
    ids=["adds", "moves", "moves and has a validator", "adds in each page"],
)
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
    answer = validated if is_conditional else unvalidated
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
    answer = validated if is_conditional else unvalidated
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
    answer = validated if is_conditional else unvalidated
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
    answer = validated if is_conditional else unvalidated
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


@pytest.mark.parametrize(("status", "is_conditional"), [(500, True), (500, False), (503, True), (429, False)])
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
    answer, data = (validated if is_conditional else unvalidated), ["<p>first"]
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
