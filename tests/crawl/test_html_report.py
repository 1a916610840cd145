"""The command `report` and the option --html-report: files, states of a run, refusals and failures. No browser."""

from __future__ import annotations

import html
import json
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.utils.shortage import Shortage
from tests.support.inventories import change, state_beside
from tests.support.made_inventory import make_inventory
from tests.support.paths import ROOT
from tests.support.program import TIMEOUT
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.forks import Fork
    from tests.support.program import Program
    from tests.support.webserver import LoggedRequest

pytestmark = pytest.mark.slow

HEADING = re.compile(r"<h1>(.*?)</h1>")
REQUESTS = re.compile(r"<dt>This run asked for</dt>\s*<dd[^>]*>([0-9,]+)</dd>")
LABEL = re.compile(r'<p class="label"><svg.*?</svg> (.*?)</p>', re.DOTALL)


def not_requested(path: Path) -> list[str]:
    """Return the lines about what the run has not requested."""
    found = re.search(r"<div><p><strong>What this run could not do:</strong> (.*?)</div>", path.read_text(), re.DOTALL)
    if found is None:
        return []
    return [html.unescape(re.sub(r"<[^>]*>", "", line).strip()) for line in found[1].split("</p>") if line.strip()]


def verdict(path: Path) -> tuple[str, str]:
    text = path.read_text(encoding="utf-8")
    return LABEL.findall(text)[0], HEADING.findall(text)[0]


@pytest.fixture
def small(site: WebServer) -> WebServer:
    site.pages = {
        "/": page("/a", "/b", "/gone"),
        "/a": page("/"),
        "/b": page("/", head='<meta name="robots" content="noindex">'),
    }
    return site


def test_crawl_writes_a_report(program: Program, small: WebServer) -> None:
    done = program.crawl(small.url(), "--html-report", "page.html")
    assert done.code == 0
    assert verdict(program.directory / "page.html") == ("Published", "The sitemap is live with 2 pages")


def test_report_writes_the_same_page_from_the_inventory(program: Program, small: WebServer) -> None:
    program.crawl(small.url(), "--html-report", "page.html")
    done = program.run("report", small.url(), "-o", "again.html")
    pages = [(program.directory / name).read_text(encoding="utf-8") for name in ("page.html", "again.html")]
    made = re.compile(r"<dt>Made</dt>.*")
    assert made.sub("", pages[0]) == made.sub("", pages[1])
    assert re.fullmatch(r"report: again\.html \(4 URLs, \d+ kB\)\n", done.out)
    assert program.run("report", "-q").out == ""
    assert (program.directory / "sitemap-report.html").exists()


def test_the_output_may_have_any_encoding(program: Program, small: WebServer) -> None:
    small.pages["/a"] = page("/", title="Schöne neue Welt 中")
    program.crawl(small.url())
    program.variables["PYTHONIOENCODING"] = "ascii"
    done = program.run("report", "-o", "-")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("<!DOCTYPE html>")
    assert done.out.isascii()
    assert r"Sch\u00f6ne neue Welt \u4e2d" in done.out


def test_a_refused_run_has_a_report(program: Program, small: WebServer) -> None:
    program.crawl(small.url())
    small.pages["/"] = Answer("", status=404)
    done = program.crawl(small.url(), "--html-report", "page.html")
    assert done.code == 3
    assert verdict(program.directory / "page.html") == (
        "Refused", "The live sitemap stays as it is, with 2 pages",
    )  # fmt: skip
    assert "/ is not usable" in (program.directory / "page.html").read_text(encoding="utf-8")


def test_a_crawl_that_cannot_begin_has_a_report(program: Program, small: WebServer) -> None:
    program.crawl(small.url(), "--html-report", "page.html")
    (program.directory / "file").write_text("in the way")
    blocked = ("crawl", small.url(), "-o", "file/sitemaps", "--html-report", "page.html")
    done = program.run(*blocked)
    assert done.code == 1
    assert "cannot write to the output directory file/sitemaps" in done.last_line
    assert verdict(program.directory / "page.html") == ("Failed", "The latest crawl could not begin")
    text = (program.directory / "page.html").read_text(encoding="utf-8")
    assert "Cannot write to the output directory file/sitemaps" in text
    assert "The live sitemap has 2 pages." in text
    assert "All that follows is what run 1 found." in text
    # The report of a crawl that begins is as before.
    program.crawl(small.url(), "--html-report", "page.html")
    assert verdict(program.directory / "page.html") == ("Nothing has changed", "The sitemap is live with 2 pages")


def test_without_an_inventory_the_message_names_the_report_that_stays(program: Program, small: WebServer) -> None:
    program.crawl(small.url(), "--html-report", "page.html")
    before = (program.directory / "page.html").read_bytes()
    (program.directory / "file").write_text("in the way")
    options = ("-o", "file/sitemaps", "--state", "absent.sqlite", "--html-report", "page.html")
    done = program.run("crawl", small.url(), *options)
    assert done.code == 1
    assert done.last_line.endswith("; the HTML report page.html is that of an earlier run")
    assert (program.directory / "page.html").read_bytes() == before
    done = program.run("crawl", small.url(), *options[:-1], "new.html")
    assert "HTML report" not in done.err
    assert not (program.directory / "new.html").exists()


def test_a_dry_run_says_what_it_would_do(program: Program, small: WebServer) -> None:
    program.crawl(small.url(), "--dry-run", "--html-report", "page.html")
    assert verdict(program.directory / "page.html") == ("Dry run, nothing published", "The sitemap would have 2 pages")


def test_a_limited_run_says_so(program: Program, small: WebServer) -> None:
    words = (
        "--max-depth 0 left out 3 URLs that are more clicks away; crawl with a larger --max-depth, or without it, to "
    )
    done = program.crawl(small.url(), "--max-depth", "0", "--html-report", "page.html")
    assert verdict(program.directory / "page.html") == ("Published, up to a limit", "The sitemap is live with 1 page")
    assert done.report["notices"] == [f"{words}request all"]
    assert not_requested(program.directory / "page.html") == [f"{words}request all."]
    program.run("report", small.url(), "-o", "again.html")
    assert not_requested(program.directory / "again.html") == [f"{words}request all."]
    program.crawl(small.url(), "--html-report", "page.html")
    assert not_requested(program.directory / "page.html") == []


def test_a_limit_of_pages_is_named_with_what_waits(program: Program, small: WebServer) -> None:
    program.crawl(small.url(), "--max-pages", "1", "--html-report", "page.html")
    waiting = "3 known URLs were not requested and may be missing in the sitemap"
    assert not_requested(program.directory / "page.html") == [
        f"--max-pages 1 ended the run: {waiting}; crawl with a larger --max-pages, or without it, to request all."
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--allow-shrink",), "1 page left the sitemap in this run: it now says noindex."),
        (("--dry-run",), "1 page would leave the live sitemap: it now says noindex."),
    ],
)
def test_pages_that_now_say_noindex_are_the_first_alarm(
    program: Program, small: WebServer, options: tuple[str, ...], words: str
) -> None:
    program.crawl(small.url())
    noindex = '<meta name="robots" content="noindex">'
    # One page says it now, one was never listed, and one is new.
    small.pages |= {"/": page("/a", "/b", "/gone", "/new"), "/a": page(head=noindex), "/new": page(head=noindex)}
    program.crawl(small.url(), *options, "--html-report", "page.html")
    text = (program.directory / "page.html").read_text(encoding="utf-8")
    assert words in text
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    marks = {row[1].rpartition("/")[2]: row[10] & 3 for row in data["rows"]}
    # 1: the reason is new, 2: the page leaves the sitemap. The link of the alarm shows those.
    assert {name: marks[name] for name in ("a", "b", "new")} == {"a": 3, "b": 0, "new": 1}


def test_what_is_newly_wrong_is_said_once(program: Program, site: WebServer) -> None:
    paths = [f"/p/{number}" for number in range(40)]
    site.pages = {"/": page(*paths, "/login")} | {path: page("/") for path in (*paths, "/login")}
    alarms = []
    redirect = Answer("", status=302, headers=(("Location", "/login"),))
    for new in ({}, {**dict.fromkeys(paths[:20], redirect), "/login": page("/", "/gone")}, {}):
        site.pages |= new
        program.crawl(site.url(), "--html-report", "page.html", "--allow-shrink")
        text = (program.directory / "page.html").read_text(encoding="utf-8")
        alarms.append(re.findall(r'<li class="a-\w+"><svg.*?</svg><p><strong>(.*?)</strong>', text, re.DOTALL))
    assert alarms == [
        [],
        [
            "20 pages (48 %) left the sitemap in this run: they now redirect.",
            "Broken links: 1, none in the run before.",
        ],
        [],
    ]
    # The last run changed nothing. The one before did.
    assert re.findall(r">sitemap-crawler diff [^<]* (\d+)</code>", text) == ["2"]


def test_write_reports_what_it_decides(program: Program, small: WebServer) -> None:
    crawled = program.crawl(small.url())
    done = program.run("write", "--exclude", "/a", "--allow-shrink", "--dry-run", "--html-report", "page.html")
    assert done.code == 0
    assert verdict(program.directory / "page.html") == ("Dry run, nothing published", "The sitemap would have 1 page")
    # The requests are those of the crawl.
    assert REQUESTS.findall((program.directory / "page.html").read_text()) == [str(crawled.report["requests"])]
    # The decisions of a trial are taken back.
    program.run("report", "-o", "again.html")
    assert verdict(program.directory / "again.html")[1] == "The sitemap is live with 2 pages"


def test_the_report_is_kept_out_of_the_public_directory(program: Program, small: WebServer) -> None:
    done = program.crawl(small.url(), "--html-report", "sitemaps/page.html")
    # The directory does not exist before the first run.
    assert done.code == 2
    program.crawl(small.url())
    done = program.crawl(small.url(), "--html-report", "sitemaps/page.html")
    assert done.code == 2
    assert "is public, and it names what robots.txt hides" in done.last_line
    done = program.run("report", "-o", "sitemaps/page.html")
    assert done.code == 2
    assert "give another file, or --force" in done.last_line
    assert not (program.output / "page.html").exists()
    assert program.run("report", "-o", "sitemaps/page.html", "--force").code == 0
    assert (program.output / "page.html").exists()


def test_bad_files_are_one_line(program: Program, small: WebServer) -> None:
    program.crawl(small.url())
    for arguments in (
        ["report", "-o", "absent/page.html"],
        ["crawl", small.url(), "--html-report", "absent/page.html"],
    ):
        done = program.run(*arguments)
        assert done.code == 2
        assert "absent/page.html" in done.last_line
    assert program.run("report", "--state", "absent.sqlite").code == 2


def test_an_inventory_is_not_replaced_by_a_file_with_its_name(program: Program, small: WebServer) -> None:
    program.crawl(small.url(), "--state", "other.sqlite")
    program.crawl(small.url(), "--state", "state.sqlite")
    before = (program.directory / "other.sqlite").read_bytes()
    names = ("report", "html-report", "status", "log-file")
    for arguments in (
        ("report", "--state", "state.sqlite", "-o", "other.sqlite"),
        ("report", "--state", "other.sqlite", "-o", "other.sqlite"),
        *(("crawl", small.url(), "--state", "state.sqlite", f"--{name}", "other.sqlite") for name in names),
        ("write", "--state", "state.sqlite", "--report", "other.sqlite"),
    ):
        done = program.run(*arguments)
        assert (done.code, "It is an SQLite database" in done.last_line) == (2, True), done.err
    assert (program.directory / "other.sqlite").read_bytes() == before


def test_a_full_disk_is_one_line_and_leaves_the_old_report(program: Program, small: WebServer) -> None:
    program.crawl(small.url())
    program.run("report", "-o", "page.html")
    old = (program.directory / "page.html").read_bytes()
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)); "
    limited += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limited += "from sitemap_crawler.__main__ import main; main()"
    done = program.execute(sys.executable, "-c", limited, "report", "-o", "page.html")
    assert done.code == 1
    assert done.last_line == f"cannot write the report page.html: File too large; {Shortage.FILE_SIZE}"
    assert (program.directory / "page.html").read_bytes() == old
    assert not list(program.directory.glob(".page*"))


def test_a_kill_while_writing_leaves_the_old_report(program: Program, small: WebServer) -> None:
    program.crawl(small.url())
    program.run("report", "-o", "page.html")
    old = (program.directory / "page.html").read_bytes()
    program.crawl(small.url())
    killed = "import os, signal; os.replace = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL); "
    killed += "from sitemap_crawler.__main__ import main; main()"
    assert program.execute(sys.executable, "-c", killed, "report", "-o", "page.html").code == -signal.SIGKILL
    assert (program.directory / "page.html").read_bytes() == old
    assert program.run("report", "-o", "page.html").code == 0
    assert (program.directory / "page.html").read_bytes() != old


def test_a_report_that_fails_is_the_failure_of_the_run(program: Program, small: WebServer) -> None:
    (program.directory / "page.html").mkdir()
    done = program.crawl(small.url(), "--html-report", "page.html")
    assert done.code == 2
    assert "page.html" in done.last_line


def test_an_open_run_is_watched_to_its_end(program: Program) -> None:
    state, file = program.directory / "a.sqlite", program.directory / "sitemap-report.html"
    make_inventory(state, "https://www.example.com/", ended_by=None)
    watching = program.start("report", "--state", str(state), "--watch", "1")
    try:
        assert wait_for(file.exists)
        assert '<meta http-equiv="refresh" content="1">' in file.read_text(encoding="utf-8")
        change(state, "UPDATE runs SET finished = started + 1, outcome = 'refused', ended_by = 'refused'")
        assert watching.wait(TIMEOUT) == 0
    finally:
        watching.kill()
        watching.wait()
    assert 'http-equiv="refresh"' not in file.read_text(encoding="utf-8")
    assert verdict(file) == ("Refused", "Nothing was published")


def wait_for(condition: Callable[[], bool]) -> bool:
    """Return whether the condition holds in time."""
    end = time.monotonic() + TIMEOUT
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def test_several_sites_get_a_report_each_and_an_index(program: Program, site: WebServer) -> None:
    site.pages = {"/one/": page("/one/a"), "/one/a": page(), "/two/": page()}
    sites = program.directory / "sites"
    sites.mkdir()
    for name in ("one", "two", "three"):
        state = state_beside(program.directory / f"{name}.sqlite", sites)
        values = f'start_url = "{site.url(f"/{name}/")}"\noutput = "../out/{name}"\nstate = "{state}"\n'
        (sites / f"{name}.toml").write_text(values)
        if name != "three":
            assert program.run("crawl", "--config", f"sites/{name}.toml", "-q").code == 0
    done = program.run("report", "--config", "sites", "-o", "reports")
    assert done.code == 0
    assert sorted(path.name for path in (program.directory / "reports").iterdir()) == [
        "index.html", "one.html", "two.html",
    ]  # fmt: skip
    index = (program.directory / "reports" / "index.html").read_text(encoding="utf-8")
    # The site that was never crawled needs a person first.
    assert re.findall(r'<th scope="row">(?:<a href="([^"]*)">)?(\w+)', index) == [
        ("", "three"), ("./one.html", "one"), ("./two.html", "two"),
    ]  # fmt: skip
    assert "there is no inventory" in index


def test_without_rows_no_link_leads_to_them(program: Program, small: WebServer) -> None:
    program.crawl(small.url())
    assert program.run("report", "--rows", "0", "-o", "page.html").code == 0
    text = (program.directory / "page.html").read_text(encoding="utf-8").partition("<body>")[2].partition("<script")[0]
    targets = set(re.findall(r'href="#([^"]*)"', text))
    assert "urls" not in targets
    assert targets <= set(re.findall(r' id="([^"]*)"', text))


def test_the_hosts_of_a_domain_are_the_first_lines_of_the_tree(program: Program, site: WebServer) -> None:
    shop, blog = "http://shop.example.com", "http://blog.example.com"
    site.pages = {f"{shop}/": page(f"{shop}/a/b", f"{blog}/"), f"{shop}/a/b": page(), f"{blog}/": page(f"{blog}/c/d")}
    site.pages[f"{blog}/c/d"] = page()
    program.variables |= {"http_proxy": site.url(), "no_proxy": ""}
    done = program.crawl(f"{shop}/", "--subdomains", "--html-report", "page.html")
    assert done.code == 0, done.err
    text = (program.directory / "page.html").read_text(encoding="utf-8")
    assert re.findall(r'<span class="name">([^<]*)</span> <span class="total">(\d+)', text)[:2] == [
        ("http://blog.example.com/", "2"), ("a/", "1"),
    ]  # fmt: skip


def test_an_interrupted_run_says_so(program: Program) -> None:
    state = make_inventory(program.directory / "a.sqlite", "https://www.example.com/", ended_by=None)
    totals = '{"outcome": "interrupted", "message": "interrupted; run the same command to continue"}'
    change(state, f"UPDATE runs SET totals = '{totals}'")
    assert program.run("report", "--state", str(state), "-o", "page.html").code == 0
    assert verdict(program.directory / "page.html") == ("Interrupted", "Run 1 is not finished")
    text = (program.directory / "page.html").read_text(encoding="utf-8")
    assert "The latest run has not judged its pages: a run does so at its end." in text
    assert "found nothing" not in text


def test_a_resumed_run_is_watched_until_it_is_killed(program: Program, small: WebServer) -> None:
    def hang(_: LoggedRequest) -> Answer:
        asked.set()
        released.wait(TIMEOUT)
        return Answer("<p>late</p>")

    def start(*arguments: str, errors: int = subprocess.DEVNULL) -> Fork:
        process = program.start(*arguments, stdout=subprocess.DEVNULL, stderr=errors)
        started.append(process)
        return process

    started: list[Fork] = []
    asked, released = threading.Event(), threading.Event()
    small.pages = {**small.pages, "/a": hang}
    crawl = ("crawl", small.url(), "--state", "a.sqlite", "--output", "public")
    file = program.directory / "page.html"
    try:
        first = start(*crawl)
        assert asked.wait(TIMEOUT)
        first.kill()
        first.wait()
        # As if it had been interrupted.
        change(program.directory / "a.sqlite", """UPDATE runs SET totals = '{"outcome": "interrupted"}'""")
        asked.clear()
        resumed = start(*crawl)
        assert asked.wait(TIMEOUT)
        watching = start("report", "--state", "a.sqlite", "--watch", "1", "-o", str(file), errors=subprocess.PIPE)
        assert wait_for(file.exists)
        assert verdict(file) == ("Not finished", "Run 1 is under way, or was interrupted")
        assert 'http-equiv="refresh"' in file.read_text(encoding="utf-8")
        resumed.kill()
        resumed.wait()
        _, errors = watching.communicate(timeout=TIMEOUT)
    finally:
        released.set()
        for process in started:
            process.kill()
            process.wait()
    assert errors == "the crawl was killed: run the same crawl command to continue, then watch again\n"
    assert 'http-equiv="refresh"' not in file.read_text(encoding="utf-8")


def test_the_templates_are_found_in_an_archive(program: Program) -> None:
    # Scrapyd imports the project from an egg.
    archive = program.directory / "egg.zip"
    with zipfile.ZipFile(archive, "w") as egg:
        for path in (ROOT / "sitemap_crawler").rglob("*.*"):
            if path.suffix in {".py", ".html", ".css", ".js", ".typed"}:
                egg.write(path, path.relative_to(ROOT))
    code = "import sys; sys.path.insert(0, 'egg.zip'); from sitemap_crawler.report.html import render; "
    code += (
        "print(render.__file__, render.static('report.css')[:0], render.environment('').get_template('page.html').name)"
    )
    done = program.execute(sys.executable, "-c", code)
    assert done.code == 0, done.err
    assert done.out.startswith("egg.zip/")


def test_the_public_address_stands_in_the_report(program: Program, small: WebServer) -> None:
    program.crawl(small.url(), "--public-url", "https://www.example.com/", "--html-report", "page.html")
    text = (program.directory / "page.html").read_text(encoding="utf-8")
    assert 'href="https://www.example.com/a"' in text
    assert f'href="{small.url("/a")}"' not in text


def test_no_secret_is_in_the_report(program: Program, small: WebServer) -> None:
    secrets = ["--header", "X-Key: geheim-eins", "--auth", "user:geheim-zwei"]
    assert program.crawl(small.url(), *secrets, "--html-report", "page.html").code == 0
    report = program.directory / "page.html"
    assert "geheim" not in report.read_text(encoding="utf-8")
    assert report.stat().st_mode & 0o077 == 0
    program.run("report", "-o", "again.html")
    assert (program.directory / "again.html").stat().st_mode & 0o077 == 0
