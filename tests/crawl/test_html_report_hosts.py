"""The HTML reports of the hosts of a domain: one for each host and an index, with exact numbers."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from lxml import html

from sitemap_crawler.report.html import host_reports
from sitemap_crawler.report.html.writer import write_reports
from tests.support.inventories import change, connect
from tests.support.made_inventory import add_pages, make_inventory
from tests.support.program import TIMEOUT
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow

WWW, BLOG, SHOP = "http://www.example.co.uk/", "http://blog.example.co.uk/", "http://shop.example.co.uk/"
HOSTS = ["blog.example.co.uk", "shop.example.co.uk", "www.example.co.uk"]
OPTIONS = ("--subdomains", "--state", "state.db", "--no-adaptive", "-s", "RETRY_TIMES=0")
NOINDEX = '<meta name="robots" content="noindex">'


class Line(NamedTuple):
    """A line of the index."""

    host: str
    href: str | None
    state: str
    live: int
    listed: int
    broken: int
    tasks: int


class Shown(NamedTuple):
    """What a report shows."""

    label: str
    heading: str
    total: int
    by_reason: dict[str, int]
    urls: set[str]
    tiles: list[str]


@pytest.fixture
def domain(program: Program, site: WebServer) -> WebServer:
    """A proxy: its pages are called by their whole URLs."""
    program.variables |= {"http_proxy": site.url(), "no_proxy": ""}
    site.pages.update(
        {
            WWW: page("/a", "/gone", f"{BLOG}post", "http://example.co.uk/", "http://other.co.uk/"),
            f"{WWW}a": page(title="A page of its own"),
            BLOG: page("/missing", "/hidden", title="All posts"),
            f"{BLOG}post": page("/", SHOP, title="A post"),
            f"{BLOG}hidden": page(head=NOINDEX),
            SHOP: page("/thing", f"{BLOG}missing", title="Things"),
            f"{SHOP}thing": page(title="One thing"),
            "http://example.co.uk/": Answer(status=301, headers={"Location": WWW}),
        }
    )
    return site


def files_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir()) if directory.exists() else []


def read_index(directory: Path) -> list[Line]:
    tree = html.parse(str(directory / "index.html"))
    lines = []
    for row in tree.iterfind(".//tbody/tr"):
        head, state, *cells = row
        link = head.find("a")
        numbers = [int(cell.text_content().replace(",", "")) for cell in cells[:4]]
        name = (head if link is None else link).text_content()
        lines.append(Line(name, None if link is None else link.get("href"), state.text_content().strip(), *numbers))
    return lines


def notes_in(directory: Path) -> list[str]:
    return [note.text_content() for note in html.parse(str(directory / "index.html")).iterfind(".//p[@class='mute']")]


def read(file: Path) -> Shown:
    tree = html.parse(str(file))
    data: dict[str, Any] = json.loads(tree.find(".//script[@id='data']").text)
    address, shown = "", set()
    for shared, rest, *_ in data["rows"]:
        address = address[:shared] + rest
        shown.add(address)
    label = tree.find(".//p[@class='label']").text_content().strip()
    tiles = [tile.text_content() for tile in tree.iterfind(".//dd[@class='figure']")]
    return Shown(label, tree.find(".//h1").text_content(), data["total"], data["reasonTotals"], shown, tiles)


def csv_rows(program: Program, *arguments: str) -> dict[str, list[dict[str, str]]]:
    """Return the URLs in scope by host, as the command `pages` has them."""
    out = program.run("pages", "--state", "state.db", "--format", "csv", "--no-referrers", *arguments).out
    found: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(out)):
        if row["reason"] != "out-of-scope":
            found.setdefault(urlsplit(row["url"]).hostname or "", []).append(row)
    return found


def agree(program: Program, file: str) -> None:
    """Compare the reports and the index with the output of `pages`."""
    rows = csv_rows(program)
    redirecting = {host for host, pages in rows.items() if {row["reason"] for row in pages} == {"redirect"}}
    directory = program.directory / file.replace(".html", "-hosts")
    expected = sorted(set(rows) - redirecting)
    assert files_in(directory) == sorted(["index.html", *(f"{host}.html" for host in expected)])
    lines = {line.host: line for line in read_index(directory)}
    assert sorted(lines) == expected
    for host in expected:
        shown, pages = read(directory / f"{host}.html"), rows[host]
        assert shown.total == len(pages)
        assert shown.by_reason == Counter(row["reason"] for row in pages)
        assert shown.urls == {row["url"] for row in pages}
        listed = sum(row["decision"] == "listed" for row in pages)
        broken = sum(row["reason"] in {"client-error", "server-error"} for row in pages)
        assert shown.tiles[:2] == [str(listed), str(len(pages) - listed)]
        assert (lines[host].href, lines[host].listed, lines[host].broken) == (f"./{host}.html", listed, broken)
    whole = read(program.directory / file)
    assert whole.total == sum(map(len, rows.values()))
    assert whole.urls == {row["url"] for pages in rows.values() for row in pages}


def test_each_host_has_a_report_with_its_own_numbers(program: Program, domain: WebServer) -> None:
    done = program.crawl(WWW, *OPTIONS, "--html-report", "page.html")
    assert done.code == 0, done.err
    agree(program, "page.html")
    lines = read_index(program.directory / "page-hosts")
    assert [(line.host, line.state, line.live, line.listed, line.broken) for line in lines] == [
        ("blog.example.co.uk", "Published", 2, 2, 1),
        ("shop.example.co.uk", "Published", 2, 2, 0),
        ("www.example.co.uk", "Published", 2, 2, 1),
    ]
    assert read(program.directory / "page-hosts/blog.example.co.uk.html").heading == "The sitemap is live with 2 pages"
    # Each warning is told on the host of its page.
    warned = Counter(urlsplit(row["url"]).hostname for row in done.report["warnings"])
    assert {line.host: line.tasks for line in lines} == {host: warned[host] for host in HOSTS}
    assert warned["blog.example.co.uk"] > 0
    assert notes_in(program.directory / "page-hosts") == [
        "1 more host only redirects: example.co.uk, with 1 URL in scope."
    ]


def test_the_command_writes_the_same_reports(program: Program, domain: WebServer) -> None:
    program.crawl(WWW, *OPTIONS, "--html-report", "page.html")
    program.crawl(WWW, *OPTIONS, "--html-report", "page.html")
    done = program.run("report", "--state", "state.db", "-o", "again.html")
    assert (done.code, done.out.splitlines()[1:]) == (0, ["index: again-hosts/index.html (3 hosts)"])
    agree(program, "again.html")
    # Time and place of the inventory are said in another way.
    other = re.compile(r"<dt>(?:Made|Inventory|This report again|All URLs)</dt>.*|sitemap-crawler [a-z]+ --state.*")
    for name in [*HOSTS, "index"]:
        first, second = (
            (program.directory / directory / f"{name}.html").read_text(encoding="utf-8").partition("<script")[0]
            for directory in ("page-hosts", "again-hosts")
        )
        assert other.sub("", first).replace("page.html", "again.html") == other.sub("", second)
    assert program.run("report", "--state", "state.db", "-q", "-o", "again.html").out == ""


def test_the_reports_lead_to_each_other(program: Program, domain: WebServer) -> None:
    program.crawl(WWW, *OPTIONS, "--html-report", "100% page.html")
    start = program.directory / "100% page.html"
    assert './100%25%20page-hosts/index.html">reports of 3 hosts</a>' in start.read_text(encoding="utf-8")
    directory = program.directory / "100% page-hosts"
    assert '<a href="../100%25%20page.html">' in (directory / "index.html").read_text(encoding="utf-8")
    assert '<a href="index.html">all hosts</a>' in (directory / f"{HOSTS[0]}.html").read_text(encoding="utf-8")
    printed = program.run("report", "--state", "state.db", "-o", "-").out
    assert "index.html" not in printed


def test_where_a_page_was_found_first_is_said_although_that_is_another_host(
    program: Program, domain: WebServer
) -> None:
    program.crawl(WWW, *OPTIONS, "--html-report", "page.html")
    data = html.parse(str(program.directory / "page-hosts/blog.example.co.uk.html")).find(".//script[@id='data']").text
    values = json.loads(data)
    [row] = [row for row in values["rows"] if row[1].endswith("post")]
    assert values["texts"][row[-2]] == WWW
    text = (program.directory / "page-hosts/blog.example.co.uk.html").read_text(encoding="utf-8")
    assert "out of the scope" not in text.partition("<script")[0]


def test_a_single_host_has_one_file(program: Program, domain: WebServer) -> None:
    domain.pages[WWW] = page("/a", "http://example.co.uk/")
    done = program.crawl(WWW, *OPTIONS, "--html-report", "page.html")
    assert (done.code, files_in(program.directory / "page-hosts")) == (0, [])
    assert not (program.directory / "page-hosts").exists()
    assert "page-hosts" not in (program.directory / "page.html").read_text(encoding="utf-8")
    # The host that only redirects is in it.
    assert read(program.directory / "page.html").by_reason == {"listed": 2, "redirect": 1}


def test_the_report_of_a_host_that_is_gone_does_not_stay(program: Program, domain: WebServer) -> None:
    program.crawl(WWW, *OPTIONS, "--html-report", "page.html")
    directory = program.directory / "page-hosts"
    (directory / "notes.html").write_text("<p>mine</p>")
    domain.pages[f"{BLOG}post"] = page("/")
    program.crawl(WWW, "--subdomains", "--state", "later.db", "--take-over", "--html-report", "page.html")
    assert files_in(directory) == ["blog.example.co.uk.html", "index.html", "notes.html", "www.example.co.uk.html"]
    assert [line.host for line in read_index(directory)] == ["blog.example.co.uk", "www.example.co.uk"]
    # The last but one goes as well: a file beside the report would speak of yesterday.
    domain.pages[WWW] = page("/a")
    program.crawl(WWW, "--subdomains", "--state", "latest.db", "--take-over", "--html-report", "page.html")
    assert files_in(directory) == ["notes.html"]
    assert read(program.directory / "page.html").total == 2


def test_a_host_whose_pages_fail_keeps_its_report_and_says_so(program: Program, domain: WebServer) -> None:
    program.crawl(WWW, *OPTIONS)
    domain.pages[SHOP] = domain.pages[f"{SHOP}thing"] = Answer(status=410)
    done = program.crawl(WWW, *OPTIONS, "--html-report", "page.html")
    assert done.code == 3
    agree(program, "page.html")
    directory = program.directory / "page-hosts"
    lines = read_index(directory)
    assert [(line.host, line.state, line.live, line.listed, line.broken) for line in lines] == [
        ("shop.example.co.uk", "Refused", 2, 0, 2),
        ("blog.example.co.uk", "Nothing has changed", 2, 2, 1),
        ("www.example.co.uk", "Nothing has changed", 2, 2, 1),
    ]
    [refused] = [row for row in done.report["hosts"] if row["outcome"] == "refused"]
    text = html.parse(str(directory / "shop.example.co.uk.html")).getroot().text_content()
    assert refused["message"][1:] in " ".join(text.split())
    # The inventory says the same later on, of this run and of past ones.
    program.run("report", "--state", "state.db", "-o", "again.html")
    assert [line[2:] for line in read_index(program.directory / "again-hosts")] == [line[2:] for line in lines]
    program.crawl(WWW, *OPTIONS, "--allow-shrink", "--html-report", "page.html")
    shown = read(directory / "shop.example.co.uk.html")
    assert (shown.label, shown.heading) == ("Nothing to publish", "There is no sitemap, as no page can be listed")
    tree = html.parse(str(directory / "shop.example.co.uk.html"))
    runs = tree.xpath("//section[@id='runs']//tbody/tr")
    assert [[cell.text_content() for cell in (row[3], row[4], row[7])] for row in runs] == [
        ["published", "0", "2"], ["refused", "2", "0"], ["published", "2", "0"],
    ]  # fmt: skip


def test_write_reports_what_it_decides_on_each_host(program: Program, domain: WebServer) -> None:
    program.crawl(WWW, *OPTIONS)
    done = program.run(
        "write", "--state", "state.db", "--exclude", "/thing", "--dry-run", "--allow-shrink", "--html-report",
        "page.html",
    )  # fmt: skip
    assert done.code == 0, done.err
    directory = program.directory / "page-hosts"
    shop = read(directory / "shop.example.co.uk.html")
    assert (shop.label, shop.heading) == ("Dry run, nothing published", "The sitemap would have 1 page")
    assert shop.by_reason == {"listed": 1, "excluded-by-rule": 1}
    assert {line.host: (line.live, line.listed) for line in read_index(directory)} == {
        "blog.example.co.uk": (2, 2), "shop.example.co.uk": (2, 1), "www.example.co.uk": (2, 2),
    }  # fmt: skip


def test_a_run_that_is_interrupted_and_resumed_says_so_on_each_host(program: Program, domain: WebServer) -> None:
    reached, opened = threading.Event(), threading.Event()

    def thing(_: LoggedRequest) -> Answer:
        reached.set()
        opened.wait(TIMEOUT)
        return Answer(page(title="One thing"))

    domain.pages[f"{SHOP}thing"] = thing
    arguments = ("crawl", WWW, *OPTIONS, "--html-report", "page.html")
    process = program.start(*arguments, stderr=subprocess.PIPE)
    try:
        assert reached.wait(TIMEOUT)
        process.send_signal(signal.SIGINT)
        opened.set()
        process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 4
    directory = program.directory / "page-hosts"
    # That a host has nothing but redirects is decided at the end of a run.
    assert {(line.host, line.state, line.live, line.listed) for line in read_index(directory)} == {
        (host, "Interrupted", 0, 0) for host in (*HOSTS, "example.co.uk")
    }
    assert read(directory / "www.example.co.uk.html").heading == "Run 1 is not finished"
    assert program.run(*arguments).code == 0
    agree(program, "page.html")
    assert {(line.state, line.live) for line in read_index(directory)} == {("Published", 2)}


def test_the_reports_of_hosts_are_kept_out_of_the_way(program: Program, domain: WebServer) -> None:
    done = program.crawl(WWW, *OPTIONS, "-o", "page-hosts", "--html-report", "page.html")
    assert done.code == 2
    assert "the reports of hosts would lie in the directory of the sitemaps" in done.last_line
    done = program.run("crawl", WWW, *OPTIONS, "--report", "page-hosts/report.json", "--html-report", "page.html")
    assert done.code == 2
    (program.directory / "page-hosts").mkdir()
    done = program.run("crawl", WWW, *OPTIONS, "--report", "page-hosts/report.json", "--html-report", "page.html")
    assert (done.code, "in the directory of the hosts' reports" in done.last_line) == (2, True)
    (program.directory / "page-hosts").rmdir()
    (program.directory / "page-hosts").write_text("a file")
    done = program.crawl(WWW, *OPTIONS, "--html-report", "page.html")
    assert (done.code, done.last_line.startswith("cannot write html_report page-hosts/index.html: ")) == (2, True)
    assert not program.output.exists()
    assert program.crawl(WWW, *OPTIONS, "-o", "reports-hosts").code == 0
    done = program.run("report", "--state", "state.db", "-o", "reports.html")
    assert (done.code, (program.directory / "reports.html").exists()) == (2, False)


def full_disk(program: Program, *arguments: str) -> Result:
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)); "
    limited += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limited += "from sitemap_crawler.__main__ import main; main()"
    return program.execute(sys.executable, "-c", limited, *arguments)


def test_a_full_disk_is_one_line_and_leaves_all_old_reports(program: Program, domain: WebServer) -> None:
    program.crawl(WWW, *OPTIONS, "--html-report", "page.html")
    files = [program.directory / "page.html", *(program.directory / "page-hosts").iterdir()]
    old = {path: path.read_bytes() for path in files}
    done = full_disk(program, "report", "--state", "state.db", "-o", "page.html")
    assert (done.code, "cannot write the report page.html: " in done.last_line) == (1, True)
    assert {path: path.read_bytes() for path in files} == old
    assert len(list((program.directory / "page-hosts").iterdir())) == len(files) - 1


def test_a_kill_while_writing_leaves_whole_files(program: Program, domain: WebServer) -> None:
    program.crawl(WWW, *OPTIONS, "--html-report", "page.html")
    # The file itself and one host are replaced, then the process dies.
    killed = "import os, signal; replace, calls = os.replace, iter(range(3)); "
    killed += "os.replace = lambda *a, **k: replace(*a, **k) if next(calls) < 2 else os.kill(os.getpid(), 9); "
    killed += "from sitemap_crawler.__main__ import main; main()"
    done = program.execute(sys.executable, "-c", killed, "report", "--state", "state.db", "-o", "page.html")
    assert done.code == -signal.SIGKILL
    for name in HOSTS:
        assert read(program.directory / f"page-hosts/{name}.html").heading == "The sitemap is live with 2 pages"
    program.run("report", "--state", "state.db", "-o", "page.html")
    # No temporary file stays.
    assert files_in(program.directory / "page-hosts") == [f"{HOSTS[0]}.html", "index.html"] + [
        f"{host}.html" for host in HOSTS[1:]
    ]


def test_a_secret_makes_all_reports_private(program: Program, domain: WebServer) -> None:
    program.crawl(WWW, *OPTIONS, "--auth", "user:geheim", "--html-report", "page.html")
    files = [program.directory / "page.html", *(program.directory / "page-hosts").iterdir()]
    assert len(files) == 5
    assert {path.stat().st_mode & 0o077 for path in files} == {0}


SITE = "https://www.example.com/"


def made(directory: Path, addresses: list[str]) -> Path:
    """Make an inventory of a crawl with --subdomains, whose pages are listed and live."""
    path = make_inventory(directory / "a.sqlite", SITE)
    add_pages(path, [(number, url, 200, None) for number, url in enumerate(addresses, 1)])
    change(
        path,
        f"""UPDATE runs SET finished = started + 9, outcome = 'published',
            options = '{{"start_url": "{SITE}", "subdomains": true, "output": "/nonexistent"}}'""",
        "INSERT INTO listings (url_id) SELECT url_id FROM decisions",
        "INSERT INTO changes (publication, url_id, run, kind) SELECT 1, url_id, 1, 'added' FROM listings",
    )
    return path


def test_of_many_hosts_the_largest_have_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_reports, "MAX_REPORTS", 3)
    monkeypatch.setattr(host_reports, "MAX_NAMED", 2)
    addresses = [SITE, *(f"https://h{host}.example.com/{page}" for host in range(6) for page in range(host + 1))]
    path = made(tmp_path, addresses)
    page = write_reports(tmp_path / "page.html", path)
    assert (page.hosts, page.urls) == (3, 22)
    assert [(line.host, line.live) for line in read_index(tmp_path / "page-hosts")] == [
        ("h4.example.com", 5), ("h5.example.com", 6), ("www.example.com", 1),
    ]  # fmt: skip
    [note] = notes_in(tmp_path / "page-hosts")
    assert note == (
        "4 more hosts have no report here, as at most 3 have one: h3.example.com, h2.example.com and 2 more, with 10 "
        "URLs in scope, 10 of them listed. The report of all hosts together counts them."
    )


@pytest.mark.parametrize(
    "command", [("report", "-o", "page.html"), ("write", "--dry-run", "--html-report", "page.html")]
)
def test_the_garbage_of_each_report_is_collected(program: Program, command: tuple[str, ...]) -> None:
    """Else the memory grows with each host, and with each round of --watch."""
    path = made(program.directory, [SITE, *(f"https://h{host}.example.com/" for host in range(12))])
    change(path, "UPDATE observations SET content_type = 'text/html'")
    code = "import atexit, gc; gc.disable(); begun = gc.get_stats()[0]['collections']; "
    code += "atexit.register(lambda: print('collections', gc.get_stats()[0]['collections'] - begun)); "
    code += "from sitemap_crawler.__main__ import main; main()"
    done = program.execute(sys.executable, "-c", code, *command, "--state", "a.sqlite")
    assert done.code == 0, done.err
    assert files_in(program.directory / "page-hosts")
    assert int(done.out.split()[-1]) > 0


def test_names_of_hosts_cannot_lead_elsewhere(tmp_path: Path) -> None:
    hostile = [
        "https://../x", "https://..%2f..%2fetc.example.com/", "https://<script>alert(1)</script>.example.com/",
        "https://index/", "https://www.example.com:81/", f"https://{'a.' * 121}example.com/", "x:no-slash",
        "https://www.other.com/",
    ]  # fmt: skip
    path = made(tmp_path, [SITE, "https://blog.example.com/", *hostile])
    write_reports(tmp_path / "page.html", path)
    directory = tmp_path / "page-hosts"
    assert files_in(directory) == ["blog.example.com.html", "index.html", "www.example.com.html"]
    assert files_in(tmp_path) == ["a.sqlite", "a.sqlite.lock", "page-hosts", "page.html"]
    text = (directory / "index.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "8 more hosts have no report here" in text


def test_a_link_in_the_directory_is_not_followed_by_the_removal(tmp_path: Path) -> None:
    path = made(tmp_path, [SITE, "https://blog.example.com/"])
    write_reports(tmp_path / "page.html", path)
    directory = tmp_path / "page-hosts"
    (directory / "blog.example.com.html").rename(tmp_path / "kept.html")
    (directory / "gone.example.com.html").symlink_to(tmp_path / "kept.html")
    write_reports(tmp_path / "page.html", path)
    assert (tmp_path / "kept.html").exists()
    assert (directory / "gone.example.com.html").is_symlink()


def test_warnings_that_are_not_stored_are_said(tmp_path: Path) -> None:
    path = made(tmp_path, [SITE, "https://blog.example.com/"])
    rows = [("broken-link", f"{SITE}a"), ("broken-link", "https://blog.example.com/"), ("seed-sitemap", "list.txt")]
    with connect(path) as connection:
        connection.executemany(
            "INSERT INTO warnings (id, run, kind, url, message) VALUES (?, 1, ?, ?, 'x')",
            [(number, *row) for number, row in enumerate(rows, 1)],
        )
    totals = json.dumps(
        {"outcome": "published", "message": "", "warning_counts": {"broken-link": 9, "seed-sitemap": 1}}
    )
    change(path, f"UPDATE runs SET totals = '{totals}'")
    write_reports(tmp_path / "page.html", path)
    # The start host has those about no host.
    assert [(line.host, line.tasks) for line in read_index(tmp_path / "page-hosts")] == [
        ("blog.example.com", 1), ("www.example.com", 2),
    ]  # fmt: skip
    [note] = notes_in(tmp_path / "page-hosts")
    assert "too few of broken-link. The report of all hosts together counts them all." in note


def test_a_page_that_left_the_scope_is_still_a_change(tmp_path: Path) -> None:
    path = made(tmp_path, [SITE, f"{SITE}old", "https://blog.example.com/"])
    change(
        path,
        "DELETE FROM listings WHERE url_id = 2",
        "UPDATE decisions SET decision = 'excluded', reason = 'out-of-scope' WHERE url_id = 2",
        "UPDATE changes SET kind = 'removed' WHERE url_id = 2",
    )
    write_reports(tmp_path / "page.html", path)
    shown = read(tmp_path / "page-hosts/www.example.com.html")
    assert (shown.total, shown.tiles[2]) == (1, "0")
