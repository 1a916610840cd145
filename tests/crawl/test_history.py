"""`runs` and `diff`: what past runs did, and how the sitemaps after them differ.

The site of the crawled tests, which is crawled five times:

    1  / /a /b /c /d         /b was modified on 2021-03-02 at 10:20:30; /c says that it was on 2022-05-06; the others
                             have no date, all have ETags
    2  /a leads to /new      another ETag of /a, a later Last-Modified: 2023-01-02 03:04:05
    3  /b is gone            410
    4  nothing
    5  /b is back            as it was
"""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select

from sitemap_crawler.inventory.history import delete_old_changes
from sitemap_crawler.inventory.schema import changes
from tests.support.inventories import change, connect, open_store
from tests.support.made_inventory import STARTED, add_pages, make_inventory
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.support.program import Program, Result

URL = "https://www.example.com/"
DAY = 86_400.0
JAN_1, JAN_2, JAN_3 = 1_704_067_200.0, 1_704_067_200.0 + DAY, 1_704_067_200.0 + 2 * DAY  # 2024-01-01 and so on
STATE = ("--state", "a.db")

OLD = "Tue, 02 Mar 2021 10:20:30 GMT"
NEW = "Mon, 02 Jan 2023 03:04:05 GMT"


def validated(body: str, etag: str, **headers: str) -> Callable[[LoggedRequest], Answer]:
    """A page that answers 304 to whoever has this version."""

    def answer(request: LoggedRequest) -> Answer:
        if request.headers.get("if-none-match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        return Answer(body, headers={"ETag": etag, **headers})

    return answer


def crawl(program: Program, site: WebServer, *options: str) -> Result:
    result = program.crawl(site.url("/"), *STATE, *options)
    assert result.code == 0, result.err
    return result


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterable[tuple[Program, WebServer]]:
    """Nothing that the tests do changes it."""
    from tests.support.program import Program

    program = Program(tmp_path_factory.mktemp("crawled"))
    dated = '<script type="application/ld+json">{"@type": "Article", "dateModified": "2022-05-06"}</script>'
    gone = validated(page(title="B"), '"b1"', **{"Last-Modified": OLD})
    with WebServer() as site:
        site.pages["/"] = validated(page("/a", "/b", "/c", "/d", title="Start"), '"s1"')
        site.pages["/a"] = validated(page(title="A"), '"a1"')
        site.pages["/b"] = gone
        site.pages["/c"] = validated(page(title="C", head=dated), '"c1"')
        site.pages["/d"] = validated(page(title="D"), '"d1"')
        crawl(program, site)
        site.pages["/a"] = validated(page("/new", title="A, revised"), '"a2"', **{"Last-Modified": NEW})
        site.pages["/new"] = validated(page(title="New"), '"n1"')
        crawl(program, site)
        site.pages["/b"] = Answer(status=410)
        crawl(program, site)
        assert crawl(program, site).report["outcome"] == "unchanged"
        site.pages["/b"] = gone
        crawl(program, site)
        yield program, site


def told(program: Program, *arguments: str) -> str:
    done = program.run(*arguments)
    assert (done.code, done.err) == (0, "")
    return done.out


def diff(program: Program, *runs: int) -> list[str]:
    return told(program, "diff", *STATE, *map(str, runs)).splitlines()


def diff_json(program: Program, *runs: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(program, "diff", *STATE, "--json", *map(str, runs)))
    return found


def refusal(program: Program, *arguments: str) -> str:
    done = program.run(*arguments)
    assert (done.code, done.out) == (2, "")
    return done.last_line


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (
            [1],
            [
                "added / -",
                "added /a -",
                "added /b 2021-03-02T10:20:30+00:00",
                "added /c 2022-05-06",
                "added /d -",
                "5 added, 0 changed, 0 removed, before run 1",
            ],
        ),
        (
            [2],
            [
                "changed /a - -> 2023-01-02T03:04:05+00:00",
                "added /new -",
                "1 added, 1 changed, 0 removed, from run 1 to run 2",
            ],
        ),
        ([3], ["removed /b", "0 added, 0 changed, 1 removed, from run 2 to run 3"]),
        ([4], ["0 added, 0 changed, 0 removed, from run 3 to run 4"]),
        (
            [],
            ["added /b 2021-03-02T10:20:30+00:00", "1 added, 0 changed, 0 removed, from run 4 to run 5"],
        ),
        ([2, 5], ["0 added, 0 changed, 0 removed, from run 2 to run 5"]),
        (
            [1, 4],
            [
                "changed /a - -> 2023-01-02T03:04:05+00:00",
                "removed /b",
                "added /new -",
                "1 added, 1 changed, 1 removed, from run 1 to run 4",
            ],
        ),
        (
            [4, 1],
            [
                "changed /a 2023-01-02T03:04:05+00:00 -> -",
                "added /b 2021-03-02T10:20:30+00:00",
                "removed /new",
                "1 added, 1 changed, 1 removed, from run 4 to run 1",
            ],
        ),
        ([3, 3], ["0 added, 0 changed, 0 removed, from run 3 to run 3"]),
    ],
)
def test_what_changed_on_a_site(crawled: tuple[Program, WebServer], numbers: list[int], expected: list[str]) -> None:
    program, site = crawled
    assert [line.replace(site.url(""), "") for line in diff(program, *numbers)] == expected


def test_differences_as_json(crawled: tuple[Program, WebServer]) -> None:
    program, site = crawled
    assert diff_json(program, 1, 4) == {
        "from": 1,
        "to": 4,
        "added": [{"url": site.url("/new"), "lastmod": None}],
        "changed": [{"url": site.url("/a"), "before": None, "after": "2023-01-02T03:04:05+00:00"}],
        "removed": [{"url": site.url("/b"), "lastmod": "2021-03-02T10:20:30+00:00"}],
    }
    assert diff_json(program, 4) == {"from": 3, "to": 4, "added": [], "changed": [], "removed": []}
    first = diff_json(program, 1)
    assert (first["from"], first["to"]) == (None, 1)
    assert [row["url"].removeprefix(site.url("")) for row in first["added"]] == ["/", "/a", "/b", "/c", "/d"]


def test_runs_as_json(crawled: tuple[Program, WebServer]) -> None:
    program, site = crawled
    rows = json.loads(told(program, "runs", *STATE, "--json"))
    assert all(row.pop("sitemap_url") == site.url("/sitemap.xml") for row in rows)
    times = [datetime.fromisoformat(row.pop(name)) for row in reversed(rows) for name in ("started", "finished")]
    assert times == sorted(times)
    assert all(moment.utcoffset() is not None and not moment.microsecond for moment in times)
    assert all(row.pop("seconds") > 0 for row in rows)
    done = {"outcome": "published", "ended_by": "finished"}
    assert rows == [
        {"run": 5, **done, "added": 1, "changed": 0, "removed": 0},
        {"run": 4, **done, "outcome": "unchanged", "added": 0, "changed": 0, "removed": 0},
        {"run": 3, **done, "added": 0, "changed": 0, "removed": 1},
        {"run": 2, **done, "added": 1, "changed": 1, "removed": 0},
        {"run": 1, **done, "added": 5, "changed": 0, "removed": 0},
    ]


def test_the_start_url_finds_the_inventory(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page()})
    assert program.crawl(site.url("/")).code == 0
    expected = f"added {site.url('/')} -\nadded {site.url('/a')} -\n2 added, 0 changed, 0 removed, before run 1\n"
    for arguments in ([], [site.url("/")], ["1"], [site.url("/"), "1"], ["1", site.url("/")]):
        assert told(program, "diff", *arguments) == expected
    listed = told(program, "runs", site.url("/"))
    assert listed == told(program, "runs")
    assert len(listed.splitlines()) == 2
    for command in ("runs", "diff"):
        assert "no crawl of 'https://other.example/'" in refusal(program, command, "https://other.example/")


def test_a_publication_by_write_belongs_to_its_run(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a", "/b"), "/a": page(title="A"), "/b": page(title="B")})
    crawl(program, site)
    assert program.run("write", *STATE, "--exclude", "/b").code == 0
    assert diff(program) == [f"removed {site.url('/b')}", "0 added, 0 changed, 1 removed, after the end of run 1"]
    assert [line.replace(site.url(""), "") for line in diff(program, 1)[:-1]] == ["added / -", "added /a -"]
    [run] = json.loads(told(program, "runs", *STATE, "--json"))
    assert (run["added"], run["changed"], run["removed"]) == (2, 0, 0)


def test_a_run_that_published_nothing_changed_nothing(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page(title="A")})
    crawl(program, site, "--dry-run")
    assert refusal(program, "diff", *STATE) == "nothing has been published yet: finish a run with crawl first"
    crawl(program, site)
    site.pages["/a"] = Answer(status=404)
    crawl(program, site, "--dry-run")
    site.pages["/"] = Answer(status=404)
    assert program.crawl(site.url("/"), *STATE).code == 3
    rows = json.loads(told(program, "runs", *STATE, "--json"))
    assert [(row["outcome"], row["added"] + row["removed"]) for row in rows] == [
        ("refused", 0),
        ("dry-run", 0),
        ("published", 2),
        ("dry-run", 0),
    ]
    assert diff(program)[-1] == "2 added, 0 changed, 0 removed, from run 1 to run 2"


# Made by hand: one page, whose changes are those of the runs from 2 on.


def made(directory: Path, *rows: tuple[int, int, int, str, float | None, float | None], runs: int) -> None:
    """An inventory with three pages and the rows of `changes`: publication, URL, run, kind, before, after."""
    path = make_inventory(directory / "a.db", URL)
    add_pages(path, [(1, URL, 200, None), (2, f"{URL}b", 200, None), (3, f"{URL}a", 200, None)])
    with closing(connect(path)) as connection:
        connection.execute("UPDATE runs SET finished = started + 60, outcome = 'published'")
        for run in range(2, runs + 1):
            values = (run, URL, URL, f"{URL}sitemap.xml", STARTED + run * DAY, STARTED + run * DAY + 60)
            connection.execute(
                "INSERT INTO runs (id, requested_url, start_url, sitemap_url, started, finished, outcome, ended_by) "
                "VALUES (?, ?, ?, ?, ?, ?, 'published', 'finished')",
                values,
            )
        connection.executemany(
            'INSERT INTO changes (publication, url_id, run, kind, "before", "after") VALUES (?, ?, ?, ?, ?, ?)', rows
        )
        connection.commit()


ADDED, CHANGED, REMOVED = "added", "changed", "removed"
Step = tuple[str, float | None, float | None]


@pytest.mark.parametrize(
    ("steps", "forth", "back"),
    [
        ([], None, None),
        ([(ADDED, None, JAN_1)], "added URL 2024-01-01", "removed URL"),
        ([(ADDED, None, None)], "added URL -", "removed URL"),
        ([(REMOVED, JAN_1, None)], "removed URL", "added URL 2024-01-01"),
        ([(REMOVED, None, None)], "removed URL", "added URL -"),
        (
            [(CHANGED, JAN_1, JAN_2 + 1)],
            "changed URL 2024-01-01 -> 2024-01-02T00:00:01+00:00",
            "changed URL 2024-01-02T00:00:01+00:00 -> 2024-01-01",
        ),
        ([(CHANGED, JAN_1, None)], "changed URL 2024-01-01 -> -", "changed URL - -> 2024-01-01"),
        ([(ADDED, None, JAN_1), (REMOVED, JAN_1, None)], None, None),
        ([(ADDED, None, JAN_1), (CHANGED, JAN_1, JAN_2)], "added URL 2024-01-02", "removed URL"),
        ([(ADDED, None, JAN_1), (CHANGED, JAN_1, JAN_2), (REMOVED, JAN_2, None)], None, None),
        ([(REMOVED, JAN_1, None), (ADDED, None, JAN_1)], None, None),
        ([(REMOVED, None, None), (ADDED, None, None)], None, None),
        (
            [(REMOVED, JAN_1, None), (ADDED, None, JAN_2)],
            "changed URL 2024-01-01 -> 2024-01-02",
            "changed URL 2024-01-02 -> 2024-01-01",
        ),
        (
            [(REMOVED, None, None), (ADDED, None, JAN_2)],
            "changed URL - -> 2024-01-02",
            "changed URL 2024-01-02 -> -",
        ),
        (
            [(CHANGED, JAN_1, JAN_2), (CHANGED, JAN_2, JAN_3)],
            "changed URL 2024-01-01 -> 2024-01-03",
            "changed URL 2024-01-03 -> 2024-01-01",
        ),
        ([(CHANGED, JAN_1, JAN_2), (CHANGED, JAN_2, JAN_1)], None, None),
        ([(CHANGED, None, JAN_2), (CHANGED, JAN_2, None)], None, None),
        ([(CHANGED, JAN_1, JAN_2), (REMOVED, JAN_2, None)], "removed URL", "added URL 2024-01-01"),
        (
            [(REMOVED, JAN_1, None), (ADDED, None, JAN_2), (REMOVED, JAN_2, None)],
            "removed URL",
            "added URL 2024-01-01",
        ),
        (
            [(ADDED, None, JAN_1), (REMOVED, JAN_1, None), (ADDED, None, JAN_3)],
            "added URL 2024-01-03",
            "removed URL",
        ),
    ],
)
def test_changes_are_composed(program: Program, steps: list[Step], forth: str | None, back: str | None) -> None:
    rows = [(1, 1, 1, ADDED, None, None)]
    rows += [(number, 2, number, *step) for number, step in enumerate(steps, start=2)]
    last = max(len(steps), 1) + 1
    # What another run does afterwards is no matter.
    rows.append((last + 1, 2, last + 1, CHANGED, JAN_1 + 7, JAN_1 + 8))
    made(program.directory, *rows, runs=last + 1)
    for expected, numbers in ((forth, (1, last)), (back, (last, 1))):
        *lines, counted = diff(program, *numbers)
        assert lines == ([expected.replace("URL", f"{URL}b")] if expected else [])
        assert counted.endswith(f"from run {numbers[0]} to run {numbers[1]}")


def test_several_publications_of_a_run_count_once(program: Program) -> None:
    rows = [
        (1, 1, 1, ADDED, None, None),
        (1, 2, 1, ADDED, None, JAN_1),
        (2, 2, 1, REMOVED, JAN_1, None),
        (3, 3, 1, ADDED, None, JAN_2),
        (4, 3, 2, CHANGED, JAN_2, JAN_3),
        (5, 1, 2, CHANGED, None, JAN_1),
        (6, 1, 2, CHANGED, JAN_1, None),
    ]
    made(program.directory, *rows, runs=2)
    found = json.loads(told(program, "runs", *STATE, "--json"))
    assert [(row["run"], row["added"], row["changed"], row["removed"]) for row in found] == [(2, 0, 1, 0), (1, 2, 0, 0)]
    # In the order of the URLs, which is not that of the ids.
    assert diff(program, 1)[:-1] == [f"added {URL} -", f"added {URL}a 2024-01-02"]
    assert diff(program, 2)[:-1] == [f"changed {URL}a 2024-01-02 -> 2024-01-03"]
    assert diff(program) == [
        f"changed {URL} 2024-01-01 -> -",
        "0 added, 1 changed, 0 removed, after the end of run 2",
    ]


def test_a_publication_that_changed_nothing_is_the_last_one_too(program: Program) -> None:
    made(program.directory, (1, 1, 1, ADDED, None, None), runs=3)
    change(program.directory / "a.db", "UPDATE runs SET outcome = 'unchanged' WHERE id = 2")
    change(program.directory / "a.db", "UPDATE runs SET outcome = 'dry-run' WHERE id = 3")
    assert diff(program) == ["0 added, 0 changed, 0 removed, from run 1 to run 2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["3"], "there is no run 3: those known are 1 to 2"),
        (["0"], "there is no run 0: those known are 1 to 2"),
        (["1", "7"], "there is no run 7: those known are 1 to 2"),
        (["9", "1"], "there is no run 9: those known are 1 to 2"),
        (["1", "2", "2"], "give at most one start URL and two runs"),
        (["first", "https://www.example.com/"], "give at most one start URL and two runs"),
        (["9" * 30], "is neither a start URL nor the number of a run"),
        (["1²"], "is neither a start URL nor the number of a run"),
    ],
)
def test_runs_that_there_are_not(program: Program, arguments: list[str], words: str) -> None:
    made(program.directory, (1, 1, 1, ADDED, None, None), runs=2)
    assert words in refusal(program, "diff", *STATE, *arguments)


HOW_RUNS_ENDED = """\
run  started                    finished                   outcome     ended by  seconds  added  changed  removed
  4  2023-11-18T22:13:20+00:00  -                          unfinished  -               -      0        0        0
  3  2023-11-17T22:13:20+00:00  2023-11-17T22:14:20+00:00  refused     refused         -      0        0        0
  2  2023-11-16T22:13:20+00:00  2023-11-16T22:13:20+00:00  dropped     -               -      0        0        0
  1  2023-11-14T22:13:20+00:00  2023-11-14T22:14:20+00:00  published   finished        -      1        0        0
"""


def test_how_runs_ended(program: Program) -> None:
    made(program.directory, (1, 1, 1, ADDED, None, None), runs=4)
    change(
        program.directory / "a.db",
        "UPDATE runs SET outcome = 'dropped', ended_by = NULL, finished = started WHERE id = 2",
        "UPDATE runs SET outcome = 'refused', ended_by = 'refused' WHERE id = 3",
        "UPDATE runs SET outcome = NULL, ended_by = NULL, finished = NULL WHERE id = 4",
    )
    lines = told(program, "runs", *STATE).splitlines()
    head, *places = [line.rpartition("  ")[2] for line in lines]
    assert (head, places) == ("sitemap url", [f"{URL}sitemap.xml"] * 4)
    assert [line.rpartition("  ")[0] for line in lines] == HOW_RUNS_ENDED.splitlines()
    row = json.loads(told(program, "runs", *STATE, "--json"))[0]
    assert (row["finished"], row["outcome"], row["ended_by"]) == (None, "unfinished", None)
    # The last publication is that of the last run that published.
    assert diff(program)[-1] == "1 added, 0 changed, 0 removed, before run 1"


def test_only_the_changes_of_the_newest_runs_are_kept(program: Program) -> None:
    rows = [
        (1, 1, 1, ADDED, None, None),
        (2, 2, 2, ADDED, None, JAN_1),
        (3, 2, 2, CHANGED, JAN_1, JAN_2),
        (4, 2, 4, REMOVED, JAN_2, None),
        (5, 3, 5, ADDED, None, JAN_3),
    ]
    made(program.directory, *rows, runs=5)
    path = program.directory / "a.db"
    assert [forgotten(path, keep) for keep in (5, 9, 3, 3, 4)] == [5, 5, 2, 2, 2]
    found = json.loads(told(program, "runs", *STATE, "--json"))
    assert [(row["run"], row["added"], row["removed"]) for row in found] == [
        (5, 1, 0),
        (4, 0, 1),
        (3, 0, 0),
        (2, None, None),
        (1, None, None),
    ]
    assert [line.split()[-6:-1] for line in told(program, "runs", *STATE).splitlines()[-2:]] == [
        ["finished", "-", "-", "-", "-"]
    ] * 2
    assert diff(program, 2, 5)[:-1] == [f"added {URL}a 2024-01-03", f"removed {URL}b"]
    assert diff(program, 3)[:-1] == []
    assert diff(program, 1, 1)[:-1] == []
    kept = "is no longer stored (keep_runs): give a run from"
    assert refusal(program, "diff", *STATE, "1", "5") == f"what changed after run 1 {kept} 2 to 5"
    assert refusal(program, "diff", *STATE, "5", "1") == f"what changed after run 1 {kept} 2 to 5"
    assert refusal(program, "diff", *STATE, "2") == f"what run 2 changed {kept} 3 to 5"


def forgotten(path: Path, keep: int) -> int:
    """The rows that are left when only so many runs are kept."""
    store = open_store(path)
    try:
        delete_old_changes(store.connection, keep)
        return store.connection.scalar(select(func.count()).select_from(changes)) or 0
    finally:
        store.close()


def test_a_run_that_publishes_forgets_by_the_setting(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/a")
    site.pages["/a"] = page(title="A")
    for status in (200, 404, 200):
        site.pages["/a"] = Answer(page(title="A"), status=status)
        crawl(program, site, "-s", "SITEMAP_KEEP_RUNS=2")
    rows = json.loads(told(program, "runs", *STATE, "--json"))
    assert [(row["added"], row["removed"]) for row in rows] == [(1, 0), (0, 1), (None, None)]
    # `write` remembers the setting.
    crawl(program, site, "-s", "SITEMAP_KEEP_RUNS=3")
    assert program.run("write", *STATE).code == 0
    assert diff(program, 1, 4)[-1] == "0 added, 0 changed, 0 removed, from run 1 to run 4"


def test_a_hostile_url_steers_no_terminal(program: Program) -> None:
    made(program.directory, (1, 2, 1, ADDED, None, None), runs=1)
    change(program.directory / "a.db", f"UPDATE urls SET url = '{URL}\x1b[2J' WHERE id = 2")
    assert diff(program)[0] == f"added {URL}\\x1b[2J -"
    assert diff_json(program)["added"][0]["url"] == f"{URL}\x1b[2J"


def test_whoever_stops_reading_gets_no_error(program: Program) -> None:
    made(program.directory, runs=1)
    path = program.directory / "a.db"
    add_pages(path, [(number, f"{URL}{number:05}", 200, None) for number in range(4, 9_000)])
    with closing(connect(path)) as connection:
        connection.execute(
            "INSERT INTO changes (publication, url_id, run, kind) SELECT 1, id, 1, 'added' FROM urls WHERE id > 3"
        )
        connection.commit()
    assert len(diff_json(program)["added"]) == 8_996
    with program.start("diff", *STATE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        assert done.stdout.readline() == f"added {URL}00004 -\n"
        done.stdout.close()
        assert done.stderr.read() == ""
        assert done.wait(60) == 0


def test_the_inventory_is_read_without_a_trace(program: Program) -> None:
    made(program.directory, (1, 1, 1, ADDED, None, None), runs=2)
    before = {path.name: path.read_bytes() for path in program.directory.iterdir()}
    told(program, "runs", *STATE)
    told(program, "diff", *STATE, "1", "2")
    assert {path.name: path.read_bytes() for path in program.directory.iterdir()} == before


def test_a_page_whose_entry_fits_no_file_any_more_is_removed(program: Program, site: WebServer) -> None:
    """Its images have become too many for --max-bytes: it is no listed page then, and `diff` tells that it left."""
    images = "".join(f'<img src="/{number}-{"x" * 500}.png">' for number in range(30))
    site.pages.update({"/": page("/a"), "/a": Answer("<title>A</title>")})
    crawl(program, site, "--max-bytes", "10000")
    site.pages["/a"] = Answer(f"<title>A</title>{images}")
    result = crawl(program, site, "--max-bytes", "10000", "--allow-shrink")
    assert result.listed() == [site.url("/")]
    assert (result.report["listed"], result.report["excluded"]) == (1, {"too-long": 1})
    assert result.report["changes"] == {"added": 0, "changed": 0, "removed": 1}
    assert result.report["diff"] == {"added": [], "changed": [], "removed": [{"url": site.url("/a"), "lastmod": None}]}
    assert program.run("diff", *STATE).out.splitlines()[0] == f"removed {site.url('/a')}"
    told = json.loads(program.run("explain", site.url("/a"), *STATE, "--json").out)
    assert (told["decision"], told["reason"], told["file"]) == ("excluded", "too-long", None)
    again = crawl(program, site, "--max-bytes", "10000").report
    assert (again["outcome"], again["changes"]) == ("unchanged", {"added": 0, "changed": 0, "removed": 0})
