"""Lists of the owner as a source of URLs, on a site whose start page links to /linked and to nothing else.

/hidden/1 …  pages that only lists name
"""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.inventories import connect
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow

HIDDEN = range(1, 8)


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as server:
        server.pages.update({"/": page("/linked"), "/linked": page()})
        server.pages.update({f"/hidden/{number}": page(title=f"Hidden {number}") for number in HIDDEN})
        yield server


def crawl(program: Program, site: WebServer, *options: str) -> Result:
    return program.crawl(site.url("/"), "--state", "state.sqlite", *options)


def crawl_with_input(program: Program, site: WebServer, text: str, *options: str) -> Result:
    arguments = ("crawl", site.url("/"), "--state", "state.sqlite", "--report", "report.json", "--urls", "-", *options)
    return program.run(*arguments, text=text)


def listed(result: Result, site: WebServer) -> list[str]:
    assert result.code == 0, result.err
    return [url.removeprefix(site.url("")) for url in result.listed()]


def warnings(result: Result, kind: str) -> list[tuple[str, str]]:
    found: list[dict[str, Any]] = result.report["warnings"]
    return [(one["url"], one["message"]) for one in found if one["kind"] == kind]


def write(program: Program, name: str, text: str | bytes) -> str:
    path = program.directory / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def query(program: Program, statement: str, *, state: str = "state.sqlite") -> list[tuple[Any, ...]]:
    with closing(connect(program.directory / state)) as database:
        return database.execute(statement).fetchall()


def stored_inputs(program: Program) -> list[Path]:
    """Return the stored standard inputs: next to the file of an inventory, or in the user's state directory."""
    return sorted(program.directory.rglob("*.stdin"))


@pytest.mark.parametrize("arguments", [["crawl", "--urls", "-"], ["crawl", "--access-log", "-"], ["validate", "-"]])
def test_a_closed_standard_input_is_an_error_of_the_command(
    program: Program, site: WebServer, arguments: list[str]
) -> None:
    if arguments[0] == "crawl":
        arguments = [*arguments, site.url("/"), "--state", "state.sqlite"]
    done = program.execute("sh", "-c", 'exec "$@" <&-', "sh", *program.command(*arguments))
    assert (done.code, done.last_line) == (2, "the standard input is closed: give a file")
    assert "Traceback" not in done.err
    if arguments[0] == "crawl":
        result = crawl_with_input(program, site, f"{site.url('/hidden/1')}\n")
        assert listed(result, site) == ["/", "/hidden/1", "/linked"]


def test_lists_of_all_forms_are_crawled_and_judged_like_other_pages(program: Program, site: WebServer) -> None:
    site.pages["/hidden/5"] = page(head='<meta name="robots" content="noindex">')
    site.pages["/robots.txt"] = Answer("User-agent: *\nDisallow: /hidden/6\n", content_type="text/plain")
    text = write(program, "a.txt", f"{site.url('/hidden/1')}\n{site.url('/hidden/5')}\n{site.url('/hidden/6')}\n")
    rows = f'name,loc\n"a, b",{site.url("/hidden/2")}\n,{site.url("/hidden/9")}\n'
    packed = write(program, "b.csv.gz", gzip.compress(rows.encode()))
    site.pages["/c.jsonl"] = Answer(json.dumps({"url": site.url("/hidden/3")}), content_type="application/json")
    result = crawl(program, site, "--urls", text, "--urls", packed, "--urls", site.url("/c.jsonl"))
    assert listed(result, site) == ["/", "/hidden/1", "/hidden/2", "/hidden/3", "/linked"]
    assert result.report["excluded"] == {"blocked-by-robots": 1, "client-error": 1, "noindex": 1}
    assert warnings(result, "url-list") == []
    words = "only a list of --urls names it, no followed link leads to it"
    assert warnings(result, "sitemap-only") == [(site.url(f"/hidden/{number}"), words) for number in (1, 2, 3)]
    [noindex, _, gone] = warnings(result, "sitemap-unlistable")
    assert noindex[0] == site.url("/hidden/5")
    assert noindex[1].startswith("a list of --urls names it, and it can't be listed (noindex: ")
    words = "a list of --urls names it, and it can't be listed (client-error: status 404)"
    assert gone == (site.url("/hidden/9"), words)
    assert "/hidden/6" not in site.paths()
    # Each request is counted, that for the list, too.
    assert result.report["requests"] == len(site.paths())
    explained = program.run("explain", "--state", "state.sqlite", site.url("/hidden/1"))
    assert "no followed link; a list of --urls names it" in explained.out


def test_faults_of_a_list_are_counted_with_an_example(program: Program, site: WebServer) -> None:
    long = site.url("/" + "x" * 9_000)
    lines = ["no url", "/relative", f"{site.url('/hidden/1')}\0", b"\xff\xfe".decode("latin-1"), long, "x" * 2_000_000]
    lines += ["https://other.example/a", "https://other.example/b", site.url("/hidden/2")]
    path = write(program, "a.txt", "\n".join([site.url("/hidden/3"), *lines]))
    result = crawl(program, site, "--urls", path)
    assert listed(result, site) == ["/", "/hidden/2", "/hidden/3", "/linked"]
    outside = "for example 'https://other.example/a' in line 8: out of the scope, neither requested nor listed"
    assert warnings(result, "url-list") == [
        (path, "4 of its 10 entries are no absolute http or https URLs, for example 'no url' in line 2: fix them"),
        (path, "2 of its 10 entries are too long to be read, more than 8,192 characters: shorten them"),
        (path, f"2 entries, {outside}"),
    ]
    assert result.report["excluded"] == {}
    assert query(program, "SELECT count(*) FROM urls") == [(4,)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ('[{"url": "x"}]', "is a JSON array, not JSON lines: write one object a line; URLs may be missing"),
        (gzip.compress(b"a", mtime=0)[:-3], "is a gzip file that ends too early; URLs may be missing"),
    ],
)
def test_an_unusable_list_is_a_warning(program: Program, site: WebServer, content: str | bytes, words: str) -> None:
    path = write(program, "a", content)
    result = crawl(program, site, "--urls", path)
    assert listed(result, site) == ["/", "/linked"]
    assert warnings(result, "url-list")[-1] == (path, words)


def test_a_list_that_is_not_there_ends_the_command_before_the_crawl(program: Program, site: WebServer) -> None:
    result = crawl(program, site, "--urls", "none.csv")
    assert (result.code, result.last_line) == (
        2,
        "cannot read the list or log none.csv: No such file or directory; give a file, or -",
    )
    assert crawl(program, site, "--urls", ".").code == 2
    assert crawl(program, site, "--urls", "", "--urls-columns", "a=b").code == 2
    assert crawl(program, site, "--urls-columns", "name=b").code == 2
    assert site.paths() == []
    # Nothing was begun that would have to be finished.
    assert listed(crawl(program, site), site) == ["/", "/linked"]


def test_a_limit_of_lines_is_a_warning_and_proves_no_absence(program: Program, site: WebServer) -> None:
    path = write(program, "a.txt", "".join(f"{site.url(f'/hidden/{number}')}\n" for number in HIDDEN))
    result = crawl(program, site, "--urls", path)
    assert len(result.listed()) == 9
    for _ in range(3):
        result = crawl(program, site, "--urls", path, "-s", "SITEMAP_MAX_LIST_LINES=2")
        assert len(result.listed()) == 9
    words = "has more than 2 lines; URLs may be missing"
    assert warnings(result, "url-list") == [(path, words)]


def test_a_list_at_another_host_is_asked_for_and_what_it_redirects_to_is_not(program: Program, site: WebServer) -> None:
    with WebServer() as other, WebServer() as third:
        other.pages["/a.txt"] = Answer(site.url("/hidden/1"), content_type="text/plain")
        other.pages["/b.txt"] = Answer(status=302, headers={"Location": third.url("/b.txt")})
        third.pages["/b.txt"] = Answer(site.url("/hidden/2"), content_type="text/plain")
        other.pages["/robots.txt"] = Answer("User-agent: *\nDisallow: /c.txt\n", content_type="text/plain")
        names = [other.url(f"/{name}.txt") for name in "abcd"]
        result = crawl(program, site, *(word for name in names for word in ("--urls", name)))
        assert listed(result, site) == ["/", "/hidden/1", "/linked"]
        assert third.paths() == []
        found = dict(warnings(result, "url-list"))
        assert list(found) == names[1:]
        assert "is another site than" in found[names[1]]
        assert "robots.txt forbids it" in found[names[2]]
        assert found[names[3]] == "cannot be read as a list of URLs: it answers 404"


def test_dates_are_supplied_and_believed_as_those_of_sitemaps(program: Program, site: WebServer) -> None:
    site.pages["/hidden/1"] = page(head='<meta property="article:modified_time" content="2023-01-02T03:04:05Z">')
    rows = {1: "2024-05-01", 2: "2024-05-02 10:00:00", 3: "2999-01-01", 4: "yesterday", 5: "2024-05-05"}
    listing = "url,updated\n" + "".join(f"{site.url(f'/hidden/{number}')},{date}\n" for number, date in rows.items())
    columns = ("--urls-columns", "lastmod=updated")
    result = crawl(program, site, "--urls", write(program, "a.csv", listing), *columns)
    assert result.code == 0
    dates = {
        f"{site.url('/hidden/')}{number}": found
        for number, found in ((1, ("2023-01-02T03:04:05+00:00", "article:modified_time")), (3, (None, None)))
    }
    dates[site.url("/hidden/2")] = ("2024-05-02T10:00:00+00:00", "supplied")
    dates[site.url("/hidden/5")] = ("2024-05-05", "supplied")
    dates[site.url("/hidden/4")] = (None, None)
    for url, expected in dates.items():
        facts = json.loads(program.run("explain", "--state", "state.sqlite", "--json", url).out)
        assert (facts["lastmod"], facts["lastmod_source"]) == expected, url
    # A list that stamps all entries with its own moment is not believed.
    stamped = "".join(f"{site.url(f'/hidden/{number}')},2024-05-01T10:00:00Z\n" for number in (2, 3, 4, 5))
    stamped_list = write(program, "b.csv", f"url,lastmod\n{stamped}")
    program.crawl(site.url("/"), "--state", "stamped.sqlite", "--urls", stamped_list)
    assert query(
        program, "SELECT count(*) FROM decisions WHERE lastmod_source = 'supplied'", state="stamped.sqlite"
    ) == [(0,)]


def test_what_the_list_names_is_no_orphan_and_what_it_names_no_longer_becomes_one(
    program: Program, site: WebServer
) -> None:
    both = write(program, "a.txt", f"{site.url('/hidden/1')}\n{site.url('/hidden/2')}\n")
    one = write(program, "b.txt", f"{site.url('/hidden/1')}\n")
    assert listed(crawl(program, site, "--urls", both), site) == ["/", "/hidden/1", "/hidden/2", "/linked"]
    for _ in range(3):
        assert listed(crawl(program, site, "--urls", both), site) == ["/", "/hidden/1", "/hidden/2", "/linked"]
    assert listed(crawl(program, site, "--urls", one), site) == ["/", "/hidden/1", "/hidden/2", "/linked"]
    result = crawl(program, site, "--urls", one)
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]
    assert result.report["excluded"] == {"orphan": 1}
    # Named again, it is listed again.
    assert listed(crawl(program, site, "--urls", both), site) == ["/", "/hidden/1", "/hidden/2", "/linked"]


def test_the_standard_input_is_a_list(program: Program, site: WebServer) -> None:
    result = crawl_with_input(program, site, f"{site.url('/hidden/1')}\nno url\n")
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]
    words = "1 of its 2 entries is no absolute http or https URL, for example 'no url' in line 2: fix it"
    assert warnings(result, "url-list") == [("standard input", words)]
    assert stored_inputs(program) == []


@pytest.mark.parametrize("where", ["/linked", "/hidden/2"])
def test_a_resumed_run_has_the_standard_input_of_the_first_process(
    program: Program, site: WebServer, where: str
) -> None:
    """Killed before the list is read, and while its pages are requested."""
    reached, go_on = threading.Event(), threading.Event()
    answer = site.pages[where]

    def held(_: LoggedRequest) -> Answer:
        reached.set()
        assert go_on.wait(60)
        assert isinstance(answer, str)
        return Answer(answer)

    site.pages[where] = held
    named = "".join(f"{site.url(f'/hidden/{number}')}\n" for number in HIDDEN)
    process = program.start(
        "crawl",
        site.url("/"),
        "--state",
        "state.sqlite",
        "--urls",
        "-",
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    process.stdin.write(named)
    process.stdin.close()
    try:
        assert reached.wait(60)
        if where == "/linked":
            [spool] = stored_inputs(program)
            assert (spool.read_text(), spool.stat().st_mode & 0o777) == (named, 0o600)
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    finally:
        go_on.set()
        process.kill()
    result = crawl_with_input(program, site, "https://other.example/\n")
    assert listed(result, site) == ["/", *(f"/hidden/{number}" for number in HIDDEN), "/linked"]
    assert result.report["run"] == 1
    assert warnings(result, "url-list") == []
    assert stored_inputs(program) == []


def test_several_sites_have_no_standard_input(program: Program, site: WebServer) -> None:
    for name in "ab":
        write(program, f"{name}.toml", f'start_url = "{site.url(f"/{name}/")}"\nurls = ["-"]\noutput = "{name}"\n')
    result = program.run("crawl", "--config", "a.toml", "--config", "b.toml")
    assert result.code == 2
    assert "the standard input can't be for several sites" in result.err


def test_a_site_file_names_lists_beside_it(program: Program, site: WebServer) -> None:
    (program.directory / "sites").mkdir()
    write(program, "sites/a.txt", site.url("/hidden/1"))
    write(program, "sites/a.toml", f'start_url = "{site.url("/")}"\nurls = ["a.txt"]\noutput = "../sitemaps"\n')
    result = program.run("crawl", "--config", "sites/a.toml", "--report", "report.json")
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]
