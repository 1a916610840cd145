"""The second run and those after it: what is asked for, what is kept, and which dates move."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.inventory.schema import TRAPPED
from sitemap_crawler.validation.entries import read_entries
from tests.support.inventories import connect
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.support.program import Program

PATHS = ["/", "/a", "/b", "/c"]


def validated(body: str, etag: str, **headers: str) -> Callable[[LoggedRequest], Answer]:
    """A page that answers 304 to whoever has this version."""

    def answer(request: LoggedRequest) -> Answer:
        if request.headers.get("if-none-match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        return Answer(body, headers={"ETag": etag, **headers})

    return answer


def build(site: WebServer) -> None:
    """/ leads to /a, that to /b, that to /c."""
    for path, link in zip(PATHS, [*PATHS[1:], "/"], strict=True):
        site.pages[path] = validated(page(link, title=path), f'"{path}-1"')


def crawl(program: Program, site: WebServer, *options: str) -> dict[str, Any]:
    result = program.crawl(site.url("/"), "--state", "state.db", *options)
    assert result.code == 0, result.err
    return result.report


def lastmods(program: Program, site: WebServer) -> dict[str, str | None]:
    entries = read_entries((program.output / "sitemap.xml").read_bytes())
    return {entry.loc.removeprefix(site.url("")): entry.lastmod for entry in entries}


def reason(program: Program, site: WebServer, path: str) -> str:
    told: dict[str, str] = json.loads(program.run("explain", site.url(path), "--state", "state.db", "--json").out)
    return told["reason"]


def reasons(program: Program, site: WebServer, paths: Iterable[str]) -> set[str]:
    lines = program.run("pages", "--state", "state.db", "--format", "jsonl").out.splitlines()
    told = {row["url"]: row["reason"] for row in map(json.loads, lines)}
    return {told[site.url(path)] for path in paths}


def test_an_unchanged_site_costs_nothing(program: Program, site: WebServer) -> None:
    build(site)
    crawl(program, site)
    before = (program.output / "sitemap.xml").read_bytes(), (program.output / "sitemap.xml").stat().st_mtime_ns
    site.clear_log()
    report = crawl(program, site)
    assert (report["outcome"], report["not_modified"], report["bytes"]) == ("unchanged", 4, 0)
    assert report["listed"] == 4
    assert sorted(site.paths()) == sorted([*PATHS, "/robots.txt"])
    assert before == (
        (program.output / "sitemap.xml").read_bytes(),
        (program.output / "sitemap.xml").stat().st_mtime_ns,
    )


@pytest.mark.parametrize(
    "options", [["--full"], ["--follow-nofollow"], ["-s", "SITEMAP_MAX_BODY=1000000"], ["-s", "SITEMAP_MAX_LINKS=100"]]
)
def test_everything_is_read_again_when_asked_or_when_the_readers_are_others(
    program: Program, site: WebServer, options: list[str]
) -> None:
    build(site)
    crawl(program, site)
    assert crawl(program, site, *options)["not_modified"] == 0


def test_what_a_page_led_to_stays_when_it_answers_304(program: Program, site: WebServer) -> None:
    build(site)
    crawl(program, site)
    site.pages["/c"] = validated(page("/new", title="changed"), '"c-2"')
    site.pages["/new"] = page(title="New")
    report = crawl(program, site)
    assert (report["listed"], report["not_modified"]) == (5, 3)
    report = crawl(program, site)
    assert (report["listed"], report["not_modified"], report["outcome"]) == (5, 4, "unchanged")


@pytest.mark.slow
@pytest.mark.parametrize("failing", [Answer(status=503), Answer(status=429), Answer(drop=True)])
def test_a_listed_page_stays_while_its_server_fails(program: Program, site: WebServer, failing: Answer) -> None:
    build(site)
    dated = {"Last-Modified": "Tue, 02 Mar 2021 10:20:30 GMT"}
    site.pages["/b"] = validated(page("/c", title="/b"), '"b-1"', **dated)
    options = ["-s", "RETRY_TIMES=0", "-s", "SITEMAP_KEEP_ERRORS=2"]
    crawl(program, site, *options)
    before = lastmods(program, site)
    site.pages["/b"] = failing
    for _ in range(2):
        report = crawl(program, site, *options)
        assert (report["listed"], report["kept"], report["outcome"]) == (4, 1, "unchanged")
        assert lastmods(program, site) == before
    answer = json.loads(program.run("explain", site.url("/b"), "--state", "state.db", "--json").out)
    assert (answer["decision"], answer["reason"]) == ("listed", "kept-after-error")
    # What it led to is still led to; it itself goes now, and comes back.
    report = crawl(program, site, *options)
    assert (report["listed"], report["kept"]) == (3, 0)
    site.pages["/b"] = validated(page("/c", title="/b"), '"b-1"', **dated)
    assert crawl(program, site, *options)["listed"] == 4
    assert lastmods(program, site) == before


def test_a_page_that_is_gone_goes_at_once(program: Program, site: WebServer) -> None:
    build(site)
    crawl(program, site)
    site.pages["/c"] = Answer(status=410)
    report = crawl(program, site)
    assert (report["listed"], report["excluded"]) == (3, {"client-error": 1})


def test_new_renderings_of_the_same_content_move_no_date(program: Program, site: WebServer) -> None:
    numbers = count(1)

    def fresh(request: LoggedRequest) -> Answer:
        token = next(numbers)
        body = page(*PATHS, title=request.path, body=f'<input type="hidden" name="csrf" value="{token}">')
        modified = datetime.now(UTC).replace(second=token % 60, minute=0, hour=0)
        return Answer(body, headers={"Last-Modified": f"{modified:%a, %d %b %Y %H:%M:%S} GMT"})

    site.pages.update(dict.fromkeys(PATHS, fresh))
    crawl(program, site)
    before = (program.output / "sitemap.xml").read_bytes()
    for _ in range(3):
        assert crawl(program, site)["outcome"] == "unchanged"
    assert (program.output / "sitemap.xml").read_bytes() == before


# Pages of an archive of mails, a tracker, a code browser and a blog, each at three times.
AGED = {
    "/thread": (
        "<h1>Tides</h1><p>Jo, %s</p><dl><dt>Age (days ago)<dd>%s</dl>",
        ("29 minutes ago", 1_003), ("3 days ago", 1_006), ("2 weeks ago", 1_017),
    ),
    "/issue": (
        "<h1>Quay #7</h1><p>Added by <a href='/jo'>Jo</a> <a title='2026-11-20'>%s</a> ago.<p>Updated %s.",
        ("about 1 hour", "less than a minute ago"), ("3 days", "3 days ago"), ("about 1 month", "18 days ago"),
    ),
    "/log": (
        "<table><tr><th>Age<th>Log<tr><td>%s<td>Fix the quay<tr><td><span title='2026-10-01'>%s</span><td>Add</table>",
        ("29 min.", "8 weeks"), ("3 days", "8 weeks"), ("2 weeks", "3 months"),
    ),
    "/artikel": (
        "<html lang='de'><h1>Kai</h1><p>Geschrieben %s, geändert %s.",
        ("vor 2 Jahren", "vor einer Stunde"), ("vor 2 Jahren", "vor 3 Tagen"), ("vor 3 Jahren", "vor etwa 2 Wochen"),
    ),
    "/billet": (
        "<html lang='fr'><h1>Quai</h1><p>Écrit %s, modifié %s.",
        ("il y a 2 ans", "il y a moins d'une minute"), ("il y a 2 ans", "il y a 3 jours"),
        ("il y a 3 ans", "il y a environ un mois"),
    ),
}  # fmt: skip


def test_the_ages_on_pages_move_no_date(program: Program, site: WebServer) -> None:
    site.pages["/"] = page(*AGED)
    for time in range(1, 4):
        for path, (body, *times) in AGED.items():
            site.pages[path] = Answer(body % times[time - 1])
        report = crawl(program, site)
        assert report["outcome"] == ("published" if time == 1 else "unchanged")
        assert lastmods(program, site) == dict.fromkeys(("/", *AGED))
    site.pages["/issue"] = Answer(AGED["/issue"][0].replace("Quay", "Harbour") % ("3 days", "3 days ago"))
    assert crawl(program, site)["changes"]["changed"] == 1


def test_a_change_that_nobody_dates_has_the_time_at_which_it_was_seen(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a", title="Start"), "/a": page(body="<p>First words.</p>")})
    crawl(program, site)
    assert lastmods(program, site) == {"/": None, "/a": None}
    site.pages["/a"] = page(body="<p>Other words.</p>")
    before = datetime.now(UTC).replace(microsecond=0)
    report = crawl(program, site)
    assert report["changes"] == {"added": 0, "changed": 1, "removed": 0}
    found = lastmods(program, site)
    assert found["/"] is None
    assert found["/a"] is not None
    moment = datetime.fromisoformat(found["/a"])
    assert before <= moment <= datetime.now(UTC)
    answer = json.loads(program.run("explain", site.url("/a"), "--state", "state.db", "--json").out)
    assert answer["lastmod_source"] == "observed-change"
    assert crawl(program, site)["outcome"] == "unchanged"
    assert lastmods(program, site) == found


def test_a_page_that_only_a_sitemap_named_stays_when_ours_takes_its_place(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page(title="A"), "/lonely": page(title="Lonely")})
    site.pages["/robots.txt"] = Answer(f"Sitemap: {site.url('/sitemap.xml')}\n", content_type="text/plain")
    site.pages["/sitemap.xml"] = Answer(site.url("/lonely"), content_type="text/plain")
    assert crawl(program, site)["listed"] == 3
    for _ in range(4):
        site.pages["/sitemap.xml"] = Answer((program.output / "sitemap.xml").read_bytes(), content_type="text/xml")
        assert crawl(program, site)["listed"] == 3
    site.pages["/lonely"] = Answer(status=404)
    assert crawl(program, site)["listed"] == 2


def test_what_never_changes_its_mind_is_asked_now_and_then(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a", "/gone"), "/a": page(title="A")})
    asked = []
    for _ in range(11):
        site.clear_log()
        report = crawl(program, site)
        assert report["excluded"] == {"client-error": 1}
        asked.append("/gone" in site.paths())
    # Three runs, and one of each seven after them.
    assert asked[:3] == [True, True, True]
    assert sum(asked[3:10]) == 1


def test_headers_that_come_with_a_304_count(program: Program, site: WebServer) -> None:
    """A server's configuration says noindex of /a, and not of /b any more; neither file has changed, nor its ETag."""
    noindex = {"/b"}

    def answer(request: LoggedRequest) -> Answer:
        headers = {"ETag": '"1"', **({"X-Robots-Tag": "noindex"} if request.path in noindex else {})}
        if request.headers.get("if-none-match") == '"1"':
            return Answer(status=304, headers=headers)
        return Answer(page("/a", "/b", "/c", title=request.path), headers=headers)

    site.pages.update(dict.fromkeys(PATHS, answer))
    crawl(program, site)
    assert set(lastmods(program, site)) == {"/", "/a", "/c"}
    noindex.symmetric_difference_update({"/a", "/b"})
    report = crawl(program, site)
    assert set(lastmods(program, site)) == {"/", "/b", "/c"}
    assert report["not_modified"] == 2
    assert crawl(program, site)["outcome"] == "unchanged"


@pytest.mark.parametrize("failing", [500, 412, 200])
def test_a_server_that_fails_for_conditional_requests_only(program: Program, site: WebServer, failing: int) -> None:
    def answer(request: LoggedRequest) -> Answer:
        if "if-none-match" in request.headers:
            return Answer(status=failing)
        return Answer(page("/a"), headers={"ETag": '"1"'})

    site.pages.update({"/": page("/a"), "/a": answer})
    crawl(program, site)
    for _ in range(2):
        report = crawl(program, site, "-s", "RETRY_TIMES=0")
        assert (report["outcome"], report["listed"], report["errors"]) == ("unchanged", 2, 0)
    assert reason(program, site, "/a") == "listed"


def test_a_304_that_nobody_asked_for_is_no_answer(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page()})
    crawl(program, site)
    site.pages["/a"] = Answer(status=304)
    assert crawl(program, site)["listed"] == 2
    assert reason(program, site, "/a") == "kept-after-error"


def test_what_was_listed_is_asked_for_again_after_an_outage(program: Program, site: WebServer) -> None:
    """Most pages answer 404 in four nights, in which nothing is published; the next night all is as it was."""
    paths = [f"/{number}" for number in range(30)]
    site.pages.update({"/": page(*paths), **{path: page(title=path) for path in paths}})
    crawl(program, site)
    before = (program.output / "sitemap.xml").read_bytes()
    healthy = dict(site.pages)
    site.pages.update(dict.fromkeys(paths[5:], Answer("Gone", status=404)))
    for _ in range(4):
        assert program.crawl(site.url("/"), "--state", "state.db").code == 3
    site.pages.update(healthy)
    assert crawl(program, site)["outcome"] == "unchanged"
    assert (program.output / "sitemap.xml").read_bytes() == before


def test_full_asks_for_what_has_been_settled_too(program: Program, site: WebServer) -> None:
    paths = [f"/{number}" for number in range(14)]
    site.pages.update({"/": page(*paths), **dict.fromkeys(paths, Answer("Gone", status=404))})
    for _ in range(5):
        crawl(program, site)
    site.clear_log()
    crawl(program, site)
    assert 0 < len(set(site.paths()) & set(paths)) < 5
    site.clear_log()
    crawl(program, site, "--full")
    assert set(site.paths()) >= set(paths)


def test_a_refused_run_proves_no_absence(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a", "/b"), "/a": page(), "/b": page()})
    crawl(program, site)
    site.pages["/"] = Answer("Gone", status=404)
    assert program.crawl(site.url("/"), "--state", "state.db").code == 3
    site.pages["/"] = page("/a")
    assert crawl(program, site)["listed"] == 3
    assert crawl(program, site)["listed"] == 2
    assert reason(program, site, "/b") == "orphan"


def test_refused_runs_do_not_count_as_those_for_which_a_failing_page_stays(program: Program, site: WebServer) -> None:
    down = Answer(status=503)
    site.pages.update({"/": page("/a"), "/a": page()})
    options = ("-s", "SITEMAP_KEEP_ERRORS=2", "-s", "RETRY_TIMES=0")
    crawl(program, site)
    site.pages.update({"/": down, "/a": down})
    for _ in range(3):
        assert program.crawl(site.url("/"), "--state", "state.db", *options).code == 3
    site.pages["/"] = page("/a")
    assert [crawl(program, site, *options)["listed"] for _ in range(3)] == [2, 2, 1]


def lose_the_links(program: Program, site: WebServer, *options: str) -> list[str]:
    """Return eight pages, after a run that saw them and one in which the only page that linked to them is gone."""
    paths = [f"/{number}" for number in range(8)]
    site.pages.update({"/": page("/hub"), "/hub": page(*paths), **{path: page(title=path) for path in paths}})
    assert crawl(program, site, *options)["listed"] == 10
    site.pages["/hub"] = Answer("Gone", status=404)
    assert crawl(program, site, *options)["listed"] == 9
    return paths


@pytest.mark.slow
def test_a_limited_run_makes_no_orphans(program: Program, site: WebServer) -> None:
    paths = lose_the_links(program, site)
    for limit in (("--max-pages", "4"), ("--max-depth", "9"), ("--max-depth", "9")):
        assert crawl(program, site, *limit)["listed"] == 9
    assert program.run("write", "--state", "state.db").code == 0
    assert reasons(program, site, paths) == {"listed"}
    # The second run that sees the whole site.
    assert crawl(program, site)["listed"] == 1
    assert reasons(program, site, paths) == {"orphan"}
    # They stay orphans when a later run proves nothing.
    assert crawl(program, site, "--max-pages", "4")["listed"] == 1


def test_a_page_that_has_lost_a_link_is_not_named_for_it_by_a_limited_run(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a", "/b"), "/a": page("/gone", "/moved"), "/b": page("/lost"), "/gone": page()})
    assert crawl(program, site)["listed"] == 4
    site.pages["/a"] = page()
    site.pages["/gone"] = site.pages["/lost"] = Answer("Not found", status=404)
    site.pages["/moved"] = Answer(status=301, headers={"Location": "/b"})
    report = crawl(program, site, "--max-depth", "5")
    assert [warning["url"] for warning in report["warnings"] if warning["kind"] == "broken-link"] == [site.url("/b")]
    assert "link-to-redirect" not in report["warning_counts"]
    for path, linked in {
        "/gone": f"no page now; was linked from {site.url('/a')}",
        "/moved": f"no page now; was linked from {site.url('/a')}",
        "/lost": site.url("/b"),
    }.items():
        told = program.run("explain", site.url(path), "--state", "state.db").out
        assert f"linked from {linked}" in [" ".join(line.split()) for line in told.splitlines()], told


def test_a_page_that_is_no_longer_requested_is_not_named_for_a_link(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a?sort=x"), "/a?sort=x": page("/gone")})
    assert crawl(program, site)["warning_counts"] == {"broken-link": 1}
    with closing(connect(program.directory / "state.db")) as connection, connection:
        assert connection.execute(f"UPDATE urls SET state = {TRAPPED[0]} WHERE url LIKE '%sort%'").rowcount == 1
    assert program.run("write", "--state", "state.db", "--report", "again.json").code == 0
    assert json.loads((program.directory / "again.json").read_text())["warning_counts"] == {"trap": 1}


@pytest.mark.parametrize("limit", [(), ("--max-pages", "6")])
def test_an_interrupted_run_makes_no_orphans(program: Program, site: WebServer, limit: tuple[str, ...]) -> None:
    lose_the_links(program, site)
    site.pages["/2"] = Answer(status=503, headers={"Retry-After": "3600"})
    assert program.crawl(site.url("/"), "--state", "state.db", *limit).code == 4
    assert program.run("write", "--state", "state.db").code == 0
    assert reasons(program, site, [f"/{number}" for number in (0, 1, 3, 4, 5, 6, 7)]) == {"listed"}


def test_a_limited_run_does_not_count_for_orphans_that_go_after_one_run(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a", "/b"), "/a": page(), "/b": page()})
    options = ("-s", "SITEMAP_ORPHAN_RUNS=1")
    assert crawl(program, site, *options)["listed"] == 3
    site.pages["/"] = page("/a")
    assert crawl(program, site, *options, "--max-depth", "5")["listed"] == 3
    assert crawl(program, site, *options)["listed"] == 2


@pytest.mark.parametrize("first", [(), ("--max-depth", "5")])
def test_limited_runs_do_not_count_as_those_for_which_a_failing_page_stays(
    program: Program, site: WebServer, first: tuple[str, ...]
) -> None:
    """Whether the page begins to fail in a run that saw the whole site, or in a limited one."""
    site.pages.update({"/": page("/a"), "/a": page()})
    options = ("-s", "SITEMAP_KEEP_ERRORS=2", "-s", "RETRY_TIMES=0")
    crawl(program, site, *options)
    site.pages["/a"] = Answer(status=503)
    limited = ("--max-depth", "5")
    runs = [first, limited, limited, limited, *[()] * (3 if first else 2)]
    listed = [crawl(program, site, *options, *limit)["listed"] for limit in runs]
    assert listed == [2] * (len(runs) - 1) + [1]
    assert crawl(program, site, *options, *limited)["listed"] == 1


def test_errors_that_do_not_last_at_all_end_a_listing_in_a_limited_run_too(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page()})
    options = ("-s", "SITEMAP_KEEP_ERRORS=0", "-s", "RETRY_TIMES=0")
    assert crawl(program, site, *options)["listed"] == 2
    site.pages["/a"] = Answer(status=503)
    assert crawl(program, site, *options, "--max-depth", "5")["listed"] == 1


@pytest.mark.parametrize("etag", ['"a\x01b"', '"a\x1b[31mb"', '"a\tb"', '"a\x7fb"'])
def test_an_etag_that_cannot_be_sent_is_not_kept(program: Program, site: WebServer, etag: str) -> None:
    site.pages.update({"/": page("/a"), "/a": validated(page(title="A"), etag)})
    for _ in range(2):
        assert crawl(program, site)["listed"] == 2
    asked = [request for request in site.requests if request.path == "/a"]
    assert [request.headers.get("if-none-match") for request in asked] == [None, None]
    assert reason(program, site, "/a") == "listed"


def test_a_request_that_the_client_refuses_is_sent_without_conditions(program: Program, site: WebServer) -> None:
    """An inventory of an earlier version may hold such a validator."""
    site.pages.update({"/": page("/a"), "/a": validated(page(title="A"), '"1"')})
    crawl(program, site)
    with connect(program.directory / "state.db") as database:
        database.execute("UPDATE observations SET etag = ? WHERE etag IS NOT NULL", ("a\nb",))
    database.close()
    site.clear_log()
    report = crawl(program, site)
    assert (report["listed"], report["errors"]) == (2, 0)
    assert site.paths().count("/a") == 1


def test_a_304_to_the_first_request_is_an_error(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": Answer(status=304)})
    assert crawl(program, site)["excluded"] == {"unreachable": 1}
    explained = json.loads(program.run("explain", site.url("/a"), "--state", "state.db", "--json").out)
    evidence = "status 304, not modified, to a request without conditions: the server sends no page"
    assert (explained["decision"], explained["reason"], explained["evidence"]) == ("excluded", "unreachable", evidence)
    assert f"not listed: unreachable ({evidence})" in program.run("explain", site.url("/a"), "--state", "state.db").out


def test_a_start_page_that_answers_304_says_so(program: Program, site: WebServer) -> None:
    site.pages["/"] = Answer(status=304)
    result = program.crawl(site.url("/"), "--state", "state.db")
    assert result.code == 3
    assert "304, not modified, to a request without conditions" in result.last_line
