"""`pages`: the inventory as a table, CSV and JSON lines.

The inventory of most tests:

    1 /        200, links to 2, 3, 4, 5 and itself
    2 /b       404, as evidence has what a spreadsheet would take for a formula
    3 /a       200, links to 2
    4 /c       redirect to /a
    5 /d       found, not decided yet
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.cli import inventory as cli_inventory
from sitemap_crawler.inventory.lookup import Inventory, Referrers
from sitemap_crawler.inventory.sql import encode_links
from tests.support.inventories import change, connect, open_inventory
from tests.support.made_inventory import add_pages, make_inventory
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from array import array

    from tests.support.program import Program, Result

URL = "https://www.example.com/"
KEYS = [
    "url", "decision", "reason", "evidence", "status", "referrer", "depth", "canonical", "lastmod", "lastmod_source",
    "first_seen", "last_fetched", "file", "redirects_to", "title", "nearest",
]  # fmt: skip


@pytest.fixture
def asked(program: Program) -> Program:
    path = make_inventory(program.directory / "a.db", URL)
    links = {1: encode_links([1, 2, 3, 4, 5]), 3: encode_links([2])}
    rows = [(1, "", 200), (2, "b", 404), (3, "a", 200), (4, "c", 301), (5, "d", 200)]
    add_pages(path, [(number, URL + name, status, links.get(number)) for number, name, status in rows])
    with closing(connect(path)) as connection:
        connection.execute("UPDATE decisions SET evidence = '=HYPERLINK(1)' WHERE url_id = 2")
        connection.execute("UPDATE decisions SET reason = 'redirect', evidence = 'status 301' WHERE url_id = 4")
        connection.execute("UPDATE observations SET location = 3 WHERE url_id = 4")
        connection.execute("DELETE FROM decisions WHERE url_id = 5")
        connection.commit()
    return program


def pages(program: Program, *options: str) -> Result:
    done = program.run("pages", "--state", "a.db", *options)
    assert (done.code, done.err) == (0, "")
    return done


def rows(program: Program, *options: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in pages(program, "--format", "jsonl", *options).out.splitlines()]


def names(program: Program, *options: str) -> list[str]:
    return [row["url"].removeprefix(URL) for row in rows(program, *options)]


def test_json_lines_are_the_answers_of_explain_in_the_order_of_their_urls(asked: Program) -> None:
    found = rows(asked)
    assert [row["url"] for row in found] == [URL, f"{URL}a", f"{URL}b", f"{URL}c", f"{URL}d"]
    assert all(list(row) == KEYS for row in found)
    for row in found:
        answer = asked.run("explain", row["url"], "--state", "a.db", "--json")
        explained = json.loads(answer.out)
        # Only explain tells what search engines were told and have answered, what was rendered, and what is listed
        # in the place of a URL.
        more = ("submissions", "google", "rendering", "listed_url")
        assert [explained.pop(name) for name in more] == [[], None, None, None]
        assert explained == row
    assert found[3]["redirects_to"] == f"{URL}a"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--decision", "listed"], ["", "a"]),
        (["--decision", "excluded"], ["b", "c"]),
        (["--decision", "unknown"], ["d"]),
        (["--reason", "client-error"], ["b"]),
        (["--reason", "client-error", "--reason", "redirect"], ["b", "c"]),
        (["--decision", "listed", "--reason", "redirect"], []),
        (["--match", "[ad]$"], ["a", "d"]),
        (["--limit", "2"], ["", "a"]),
        (["--match", "/[b-d]$", "--limit", "2"], ["b", "c"]),
    ],
)
def test_filters(asked: Program, options: list[str], expected: list[str]) -> None:
    assert names(asked, *options) == expected


def test_csv(asked: Program) -> None:
    header, *lines = csv.reader(io.StringIO(pages(asked, "--format", "csv").out))
    assert header == KEYS
    assert [line[0] for line in lines] == [URL, f"{URL}a", f"{URL}b", f"{URL}c", f"{URL}d"]
    broken = dict(zip(header, lines[2], strict=True))
    assert (broken["decision"], broken["reason"], broken["status"]) == ("excluded", "client-error", "404")
    assert (broken["canonical"], broken["referrer"]) == ("", URL)


@pytest.mark.parametrize(
    ("start", "shown"),
    [
        ("=", "'="),
        ("+", "'+"),
        ("-", "'-"),
        ("@", "'@"),
        ("|", "'|"),
        ("\uff1d", "'\uff1d"),
        ("\t=", "\\t="),
        ("\r=", "\\r="),
    ],
)
def test_a_spreadsheet_sees_no_formula(asked: Program, start: str, shown: str) -> None:
    with closing(connect(asked.directory / "a.db")) as connection:
        connection.execute("UPDATE decisions SET evidence = ? WHERE url_id = 2", (f"{start}cmd|' /C calc'!A0",))
        connection.commit()
    done = subprocess.run(
        asked.command("pages", "--state", "a.db", "--format", "csv", "--reason", "client-error"),
        cwd=asked.directory,
        env=asked.environment(),
        capture_output=True,
        check=True,
    )
    line = list(csv.reader(io.StringIO(done.stdout.decode(), newline="")))[1]
    assert line[3] == f"{shown}cmd|' /C calc'!A0"


def test_csv_steers_no_terminal_and_is_never_cut(asked: Program) -> None:
    text = "\x1b[2J\u009b2J\u202egone\nlist\u0085ed " + "a" * 5000
    with closing(connect(asked.directory / "a.db")) as connection:
        connection.execute("UPDATE decisions SET evidence = ? WHERE url_id = 2", (text,))
        connection.commit()
    done = pages(asked, "--format", "csv", "--reason", "client-error", "--no-referrers")
    cell = list(csv.reader(io.StringIO(done.out)))[1][3]
    assert cell == "\\x1b[2J\\x9b2J\\u202egone\\nlist\\x85ed " + "a" * 5000


def test_the_table(asked: Program) -> None:
    assert pages(asked).out.splitlines() == [
        f"listed               200    {URL}",
        f"listed               200    {URL}a",
        f"client-error         404    {URL}b  =HYPERLINK(1)",
        f"redirect             301    {URL}c  status 301",
        f"unknown              200    {URL}d  fetched with status 200, not decided yet",
        "5 of 5 URLs",
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--limit", "1"], "1 of 5 URLs"),
        (["--decision", "listed"], "2 of 5 URLs"),
        (["--decision", "listed", "--limit", "1"], "1 of 2 matching, 5 URLs in all"),
        (["--decision", "listed", "--limit", "2"], "2 of 5 URLs"),
        (["--match", "[abc]$", "--limit", "2"], "2 of 3 matching, 5 URLs in all"),
        (["--match", "nothing", "--limit", "2"], "0 of 5 URLs"),
    ],
)
def test_the_end_of_the_table_says_how_many_there_are(asked: Program, options: list[str], words: str) -> None:
    assert pages(asked, *options).out.splitlines()[-1] == words


def test_long_urls_stay_whole(program: Program) -> None:
    url = f"{URL}{'a' * 8000}"
    add_pages(make_inventory(program.directory / "a.db", URL), [(1, url, 200, None)])
    assert pages(program).out.splitlines()[0].split() == ["listed", "200", url]


def test_the_table_steers_no_terminal(asked: Program) -> None:
    with closing(connect(asked.directory / "a.db")) as connection:
        connection.execute("UPDATE decisions SET evidence = ? WHERE url_id = 2", ("\x1b[2J\u009b2J\u202egone",))
        connection.commit()
    line = pages(asked, "--decision", "excluded").out.splitlines()[0]
    assert line.endswith("\\x1b[2J\\x9b2J\\u202egone")


def test_broken_links_and_redirects_come_with_the_pages_that_have_them(asked: Program) -> None:
    found = rows(asked, "--reason", "client-error", "--reason", "redirect")
    assert [list(row) for row in found] == [[*KEYS, "referrers", "referrer_count"]] * 2
    linked = [(row["referrers"], row["referrer_count"]) for row in found]
    assert linked == [([URL, f"{URL}a"], 2), ([URL], 1)]
    assert pages(asked, "--reason", "client-error").out.splitlines()[1:] == [
        f"                       linked from {URL}",
        f"                       linked from {URL}a",
        "1 of 5 URLs",
    ]
    table = list(csv.DictReader(io.StringIO(pages(asked, "--reason", "client-error", "--format", "csv").out)))
    assert (table[0]["referrers"], table[0]["referrer_count"]) == (f"{URL} {URL}a", "2")


def test_referrers_are_shown_or_not_as_asked(asked: Program) -> None:
    assert list(rows(asked, "--reason", "client-error", "--no-referrers")[0]) == KEYS
    # /a is linked by the start page; that /c redirects to it is no link
    assert [row["referrers"] for row in rows(asked, "--match", "/a$", "--referrers")] == [[URL]]


def test_many_referrers_are_counted(program: Program) -> None:
    path = make_inventory(program.directory / "a.db", URL)
    linking = [(number, f"{URL}{number:02}", 200, encode_links([1])) for number in range(2, 27)]
    add_pages(path, [(1, f"{URL}gone", 404, None), *linking])
    row = rows(program, "--reason", "client-error")[0]
    assert row["referrer_count"] == 25
    assert row["referrers"] == [f"{URL}{number:02}" for number in range(2, 22)]
    _, *linked, more, _ = pages(program, "--reason", "client-error").out.splitlines()
    assert [line.split()[-1] for line in linked] == [f"{URL}{number:02}" for number in range(2, 7)]
    assert more.strip() == "and from 20 more"


def test_pages_kept_after_an_error_come_with_the_pages_that_link_to_them(asked: Program) -> None:
    kept = "UPDATE decisions SET reason = 'kept-after-error', evidence = 'server-error: status 503' WHERE url_id = 3"
    change(asked.directory / "a.db", kept)
    (row,) = rows(asked, "--reason", "kept-after-error")
    assert (row["url"], row["decision"], row["referrers"]) == (f"{URL}a", "listed", [URL])
    assert names(asked, "--decision", "listed") == ["", "a"]


@pytest.mark.parametrize("pass_rows", [2, 4])
def test_referrers_are_looked_for_in_passes_of_bounded_size(
    asked: Program, monkeypatch: pytest.MonkeyPatch, pass_rows: int
) -> None:
    asked_of: list[int] = []

    def counted(inventory: Inventory, wanted: array[int]) -> dict[int, Referrers]:
        asked_of.append(len(wanted))
        return scan(inventory, wanted)

    scan = Inventory.referrers
    monkeypatch.setattr(Inventory, "referrers", counted)
    monkeypatch.setattr(cli_inventory, "BATCH_ROWS", 2)
    monkeypatch.setattr(cli_inventory, "SCAN_ROWS", pass_rows)
    with open_inventory(asked.directory / "a.db") as inventory:
        found = list(cli_inventory._rows(inventory, inventory.select(), referrers=True))
    assert asked_of == {2: [2, 2, 1], 4: [4, 1]}[pass_rows]
    assert [row["referrers"] for row in found] == [[URL], [URL], [URL, f"{URL}a"], [URL], [URL]]


def test_a_pass_is_so_many_batches() -> None:
    assert cli_inventory.SCAN_ROWS % cli_inventory.BATCH_ROWS == 0


def test_pages_that_are_gone_link_to_nothing(asked: Program) -> None:
    change(asked.directory / "a.db", "UPDATE urls SET unlinked_since = 1 WHERE id = 3")
    assert rows(asked, "--reason", "client-error")[0]["referrers"] == [URL]


def test_links_of_a_crawled_site(program: Program, site: WebServer) -> None:
    site.pages.update(
        {
            "/": page("/a", "/b"),
            "/a": page("/missing", "/missing#part"),
            "/b": page("/missing", "/moved"),
            "/moved": Answer(status=302, headers={"Location": "/missing"}),
        }
    )
    assert program.crawl(site.url()).code == 0
    done = program.run("pages", site.url(), "--reason", "client-error", "--format", "jsonl")
    row = json.loads(done.out)
    assert (row["url"], row["referrers"]) == (site.url("/missing"), [site.url("/a"), site.url("/b")])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--reason", "no-index"], "unknown reason no-index: did you mean noindex?"),
        (
            ["--reason", "nosuch"],
            (
                "unknown reason nosuch: give one of listed, kept-after-error, out-of-scope, excluded-by-rule, "
                "blocked-by-robots, noindex, canonical-elsewhere, redirect, client-error, server-error, unreachable, "
                "not-a-page, duplicate-index-file, too-long, duplicate-parameters, limit, orphan"
            ),
        ),
        (["--decision", "maybe"], "'maybe' is not one of 'listed', 'excluded', 'unknown'"),
        (["--match", "["], "--match: '[' is not a regular expression"),
        (["--limit", "0"], "--limit"),
        (["--hosts", "mine"], "'mine' is not one of 'own', 'other'"),
        (["--format", "xml"], "--format"),
    ],
)
def test_usage(asked: Program, options: list[str], words: str) -> None:
    done = asked.run("pages", "--state", "a.db", *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.last_line


def test_urls_of_other_hosts_are_counted_and_selected_apart(program: Program, site: WebServer) -> None:
    others = [f"https://{name}.example/" for name in ("one", "two", "three")]
    site.pages.update({"/docs/": page("/docs/a", "/outside", "/docs/gone", *others), "/docs/a": page("/also-outside")})
    done = program.crawl(site.url("/docs/"))
    assert done.report["excluded"] == {"client-error": 1, "out-of-scope": 5}
    assert done.report["other_hosts"] == 3
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in done.out.splitlines()]
    table = cells[
        2 : cells.index(next(cell for cell in cells if len(cell) == 2 and cell[0] == "added, changed, removed"))
    ]
    assert table == [
        ["listed", "2"],
        ["broken: not found or refused (client-error)", "1"],
        ["left out as a matter of course: outside the scope (out-of-scope)", "2"],
    ]
    assert [cell for cell in cells if len(cell) == 2][-1] == ["links to other hosts", "3"]

    def selected(*options: str) -> set[str]:
        lines = program.run("pages", site.url("/docs/"), "--format", "jsonl", *options).out.splitlines()
        return {json.loads(line)["url"] for line in lines}

    assert selected("--hosts", "other") == set(others)
    own = {site.url(path) for path in ("/docs/", "/docs/a", "/docs/gone", "/outside", "/also-outside")}
    assert selected("--hosts", "own") == own
    assert selected("--hosts", "own", "--reason", "out-of-scope", "--limit", "1") == {site.url("/also-outside")}


def test_several_inventories_are_listed(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page(), "/docs/": page()})
    for path in ("/", "/docs/"):
        assert program.crawl(site.url(path), "-o", f"out{path.strip('/')}").code == 0
    done = program.run("pages")
    assert done.code == 2
    assert site.url("/") in done.err
    assert site.url("/docs/") in done.err
    for path in ("/docs/", "/docs/about.html"):
        assert program.run("pages", site.url(path), "--match", "docs").out.splitlines()[-1] == "1 of 1 URLs"


def test_whoever_stops_reading_gets_no_error(program: Program) -> None:
    path = make_inventory(program.directory / "a.db", URL)
    add_pages(path, [(number, f"{URL}{number:05}", 200, None) for number in range(1, 5000)])
    with program.start(
        "pages", "--state", "a.db", "--format", "jsonl", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        assert json.loads(done.stdout.readline())["url"] == f"{URL}00001"
        done.stdout.close()
        assert done.stderr.read() == ""
        assert done.wait(60) == 0


def test_the_inventory_is_read_without_a_trace(asked: Program) -> None:
    before = {path.name: path.read_bytes() for path in asked.directory.iterdir()}
    pages(asked, "--referrers")
    assert {path.name: path.read_bytes() for path in asked.directory.iterdir()} == before
