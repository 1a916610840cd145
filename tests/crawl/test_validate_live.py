"""`validate --check-urls` and `--against`: what the site answers, and what a crawl knows, beside what is listed."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.cli.validate.live import is_login
from sitemap_crawler.inventory.schema import UrlState
from sitemap_crawler.validation.catalogue import RULES
from sitemap_crawler.validation.statistics import LIVE_NUMBERS
from tests.support.gated_site import Gate
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.support.program import Program

pytestmark = pytest.mark.slow

CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
IMAGE = "http://www.google.com/schemas/sitemap-image/1.1"


def moved(target: str) -> Answer:
    return Answer(status=301, headers={"Location": target})


def site_pages() -> dict[str, Any]:
    return {
        "/robots.txt": Answer("User-agent: *\nDisallow: /private\n", content_type="text/plain"),
        "/": page("/unlisted", title="Start"),
        "/good": page("/unlisted", title="Good"),
        "/gone": Answer(status=404),
        "/broken": Answer(status=500),
        "/silent": Answer(drop=True),
        "/moved": moved("/good"),
        "/chain": moved("/chain-2"),
        "/chain-2": moved("/gone"),
        "/loop": moved("/loop-2"),
        "/loop-2": moved("/loop"),
        "/orders": moved("/account/login?next=%2Forders"),
        "/account/login": page(title="Log in"),
        "/noindex": page(title="Hidden", head='<meta name="robots" content="noindex">'),
        "/copy": page(title="Copy", head='<link rel="canonical" href="/good">'),
        "/private": page(title="Private"),
        "/style.css": Answer("a {}", content_type="text/css"),
        "/guide.pdf": Answer("%PDF-1.4", content_type="application/pdf"),
        "/lost": page(title="404 Page not found"),
        "/dated": page(title="Dated", head='<meta property="article:modified_time" content="2024-05-01T10:00:00Z">'),
        "/unlisted": page(title="Unlisted"),
    }


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer(site_pages()) as server:
        yield server


def entry(url: str, more: str = "") -> str:
    return f"<url><loc>{url}</loc>{more}</url>"


def write_sitemap(program: Program, entries: Sequence[str], name: str = "map.xml") -> None:
    body = "\n".join(entries)
    text = f'<?xml version="1.0"?>\n<urlset xmlns="{CORE}" xmlns:image="{IMAGE}">\n{body}\n</urlset>\n'
    (program.directory / name).write_text(text, encoding="utf-8")


def found(report: dict[str, Any]) -> set[tuple[str, str]]:
    return {(finding["rule"], finding["url"]) for finding in report["findings"]}


LISTED = (
    "/", "/good", "/gone", "/broken", "/silent", "/moved", "/chain", "/loop", "/noindex", "/copy", "/private",
    "/style.css", "/guide.pdf", "/lost", "/orders",
)  # fmt: skip


def test_the_listed_urls_are_asked_for_and_judged(program: Program, site: WebServer) -> None:
    dated = entry(site.url("/dated"), "<lastmod>2020-01-01</lastmod>")
    write_sitemap(program, [*(entry(site.url(path)) for path in LISTED), dated])
    result = program.run("validate", "map.xml", "--check-urls", "--json", "-s", "RETRY_TIMES=0")
    report = json.loads(result.out)
    assert (result.code, len(result.err.splitlines())) == (1, 1)
    expected = {
        "/gone": "live-broken", "/broken": "live-broken", "/silent": "live-unreachable", "/moved": "live-redirect",
        "/chain": "live-broken-redirect", "/loop": "live-broken-redirect", "/noindex": "live-noindex",
        "/copy": "live-canonical", "/private": "live-blocked", "/style.css": "live-not-a-page",
        "/lost": "live-soft-404", "/dated": "live-lastmod", "/orders": "live-login",
    }  # fmt: skip
    assert found(report) == {(rule, site.url(path)) for path, rule in expected.items()}
    messages = {finding["url"]: finding["message"] for finding in report["findings"]}
    assert messages[site.url("/broken")] == "the URL answers with status 500"
    assert messages[site.url("/copy")] == f"the page names another canonical: rel=canonical {site.url('/good')}"
    assert messages[site.url("/private")].startswith(f"the URL is disallowed: {site.url('/robots.txt')}: ")
    assert messages[site.url("/moved")] == f"the URL redirects: status 301 to {site.url('/good')}"
    assert f"ends at {site.url('/gone')} (client-error: status 404)" in messages[site.url("/chain")]
    assert "loop" in messages[site.url("/loop")]
    assert "2024-05-01" in messages[site.url("/dated")]
    statistics = report["statistics"]
    assert statistics["checked_urls"] == statistics["total_urls"] == len(LISTED) + 1
    numbers = {name: statistics[name] for name in ("valid_urls", *LIVE_NUMBERS)}
    assert numbers == {
        "valid_urls": 4, "broken_urls": 3, "redirect_urls": 4, "noindex_urls": 1, "canonical_urls": 1,
        "not_a_page_urls": 1, "soft_404_urls": 1, "blocked_urls": 1, "limited_urls": 0, "unchecked_urls": 0,
    }  # fmt: skip
    assert sum(numbers.values()) == statistics["total_urls"]
    lines = {finding["url"]: finding["line"] for finding in report["findings"]}
    assert lines[site.url("/gone")] == 5
    # No link is followed, and what robots.txt forbids is not asked for.
    assert not {"/unlisted", "/private"} & set(site.paths())


def test_a_server_that_has_had_too_many_requests_is_not_at_fault(program: Program, site: WebServer) -> None:
    site.pages["/busy"] = Answer(status=429)
    write_sitemap(program, [entry(site.url("/good")), entry(site.url("/busy")), entry("ftp://www.example.com/")])
    result = program.run("validate", "map.xml", "--check-urls", "--json", "-s", "RETRY_TIMES=0")
    report = json.loads(result.out)
    live = {finding["rule"]: finding for finding in report["findings"] if finding["rule"].startswith("live-")}
    assert set(live) == {"live-limited", "live-incomplete"}
    assert (live["live-limited"]["url"], live["live-limited"]["status"]) == (site.url("/busy"), 429)
    assert "Remove" not in live["live-limited"]["remedy"]
    assert live["live-incomplete"]["message"] == "1 URL answers with status 429 only: too many requests"
    numbers = report["statistics"]
    assert [numbers[name] for name in ("valid_urls", "limited_urls", "broken_urls", "unchecked_urls")] == [1, 1, 0, 1]
    assert result.code == 1


def test_a_canonical_that_answers_with_an_error_is_named(program: Program, site: WebServer) -> None:
    site.pages["/lost-copy"] = page(title="Lost copy", head='<link rel="canonical" href="/gone">')
    write_sitemap(program, [entry(site.url("/lost-copy"))])
    report = json.loads(program.run("validate", "map.xml", "--check-urls", "--json").out)
    [finding] = report["findings"]
    assert (finding["rule"], finding["severity"]) == ("live-broken-canonical", "warning")
    assert finding["message"] == f"the page names the canonical {site.url('/gone')} (client-error: status 404)"
    assert report["statistics"]["canonical_urls"] == 1


def test_each_answer_is_a_row_with_status_and_target(program: Program, site: WebServer) -> None:
    write_sitemap(program, [entry(site.url(name)) for name in ("/good", "/gone", "/moved", "/chain", "/noindex")])
    done = program.run("validate", "map.xml", "--check-urls", "--format", "csv")
    rows = [row for row in csv.DictReader(io.StringIO(done.out)) if row["rule"].startswith("live-")]
    columns = ("rule", "file", "url", "status", "target")
    assert done.code == 1
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("live-broken", "map.xml", site.url("/gone"), "404", ""),
        ("live-redirect", "map.xml", site.url("/moved"), "301", site.url("/good")),
        ("live-broken-redirect", "map.xml", site.url("/chain"), "301", site.url("/gone")),
        ("live-noindex", "map.xml", site.url("/noindex"), "200", ""),
    ]


def test_a_limit_of_rows_is_said(program: Program) -> None:
    write_sitemap(program, [entry(f"https://www.example.com/{number}#x") for number in range(6)])
    done = program.run("validate", "map.xml", "--format", "jsonl", "--max-findings", "2")
    assert done.code == 1
    assert [json.loads(line)["line"] for line in done.out.splitlines()] == [3, 4]
    assert done.err.splitlines()[0] == "4 more findings are left out: --max-findings is 2"
    done = program.run("validate", "map.xml", "--format", "jsonl", "--max-findings", "6")
    assert len(done.out.splitlines()) == 6
    assert "left out" not in done.err


def has_login(request: LoggedRequest) -> bool:
    return request.headers.get("authorization") == "Basic dTpw" and request.headers.get("x-key") == "k"


def test_credentials_open_the_sitemap_and_go_to_its_site_only(program: Program, site: WebServer) -> None:
    def locked(request: LoggedRequest) -> Answer:
        return Answer(body, content_type="application/xml") if has_login(request) else Answer(status=401)

    with WebServer({"/": page(title="Other")}) as other:
        body = f'<urlset xmlns="{CORE}">{entry(site.url("/good"))}</urlset>'
        site.pages["/map.xml"] = locked
        site.pages["/away.xml"] = moved(other.url("/map.xml"))
        login = ("--auth", "u:p", "--header", "X-Key: k")
        assert program.run("validate", site.url("/map.xml")).code == 1
        assert program.run("validate", site.url("/map.xml"), *login).code == 0
        assert program.run("validate", site.url("/map.xml"), *login, "--check-urls").code == 0
        assert program.run("validate", site.url("/away.xml"), other.url("/x.xml"), *login).code == 1
    assert not any("authorization" in request.headers or "x-key" in request.headers for request in other.requests)


@pytest.mark.parametrize("source", ["options", "environment"])
def test_listed_urls_of_another_site_get_no_credentials(program: Program, site: WebServer, source: str) -> None:
    with WebServer({"/": page(title="Other")}) as other:
        write_sitemap(program, [entry(site.url("/good")), entry(other.url("/"))])
        given = ("--auth", "u:p", "--header", "X-Key: k") if source == "options" else ()
        if source == "environment":
            program.variables |= {"SITEMAP_CRAWLER_AUTH": "u:p", "SITEMAP_CRAWLER_HEADERS": "X-Key: k"}
        result = program.run("validate", "map.xml", "--check-urls", "--json", *given)
    assert json.loads(result.out)["statistics"]["checked_urls"] == 2
    assert all(map(has_login, site.requests))
    assert "/" in other.paths()
    assert not any("authorization" in request.headers or "x-key" in request.headers for request in other.requests)


def test_a_sample_asks_for_its_number_of_urls_only(program: Program, site: WebServer) -> None:
    site.pages.update({f"/p/{number}": page(title=f"P {number}") for number in range(60)})
    write_sitemap(program, [entry(site.url(f"/p/{number}")) for number in range(60)])
    result = program.run("validate", "map.xml", "--check-urls", "--sample", "12", "--json")
    report = json.loads(result.out)
    assert result.code == 0
    assert len([path for path in site.paths() if path.startswith("/p/")]) == 12
    shares = report["statistics"]["sample"]
    assert (shares["checked"], shares["of"], shares["wrong"], shares["share_low"]) == (12, 60, 0, 0.0)
    assert 0.1 < shares["share_high"] < 0.3
    # The numbers of the sample are not those of all.
    assert (shares["valid_urls"], shares["broken_urls"], shares["unchecked_urls"]) == (12, 0, 0)
    assert {report["statistics"][name] for name in LIVE_NUMBERS} == {None}


def test_images_that_are_not_there(program: Program, site: WebServer) -> None:
    site.pages["/here.png"] = Answer("png", content_type="image/png")
    images = "".join(
        f"<image:image><image:loc>{site.url(path)}</image:loc></image:image>" for path in ("/here.png", "/gone.png")
    )
    write_sitemap(program, [entry(site.url("/good"), images)])
    report = json.loads(program.run("validate", "map.xml", "--check-urls", "--check-media", "--json").out)
    assert found(report) == {("media-broken", site.url("/gone.png"))}
    assert [finding["message"] for finding in report["findings"]] == ["the medium is not there: status 404"]


COUNTER = """
import sys
from sitemap_crawler.validation.session import Validation

calls = 0
listed_urls = Validation.listed_urls

def counted(self):
    global calls
    calls += 1
    return listed_urls(self)

Validation.listed_urls = counted
from sitemap_crawler.__main__ import main

if __name__ == "__main__":
    try:
        main()
    finally:
        print(calls, file=sys.stderr)
"""


def test_the_files_are_not_read_again_for_each_origin(program: Program, site: WebServer) -> None:
    with WebServer(site_pages()) as second, WebServer(site_pages()) as third:
        passes = []
        for servers in ([site], [site, second, third]):
            write_sitemap(program, [entry(server.url(path)) for path in ("/good", "/gone") for server in servers])
            result = program.execute(sys.executable, "-c", COUNTER, "validate", "map.xml", "--check-urls", "--json")
            report = json.loads(result.out)
            broken = {url for rule, url in found(report) if rule == "live-broken"}
            assert broken == {server.url("/gone") for server in servers}
            assert report["statistics"]["checked_urls"] == 2 * len(servers)
            passes.append(int(result.err.splitlines()[-1]))
    assert passes[0] == passes[1]


def test_urls_of_too_many_origins_are_named(program: Program, site: WebServer) -> None:
    """The origins are ports at which nothing listens."""
    origins = [f"http://127.0.0.1:{port}/" for port in range(1, 52)]
    write_sitemap(program, [entry(site.url("/good")), *map(entry, origins)])
    options = ("-s", "RETRY_TIMES=0", "-s", "ROBOTSTXT_OBEY=0", "--no-adaptive")
    report = json.loads(program.run("validate", "map.xml", "--check-urls", "--json", *options).out)
    (message,) = (item["message"] for item in report["findings"] if item["rule"] == "live-incomplete")
    assert "the URLs have more than 50 origins" in message
    assert report["statistics"]["checked_urls"] == 50


def test_a_page_in_the_place_of_an_image(program: Program, site: WebServer) -> None:
    def head_has_another_type(request: LoggedRequest) -> Answer:
        return Answer("x", content_type="text/html" if request.method == "HEAD" else "image/png")

    site.pages["/login.png"] = page(title="Log in")
    site.pages["/odd.png"] = head_has_another_type
    write_sitemap(program, [entry(site.url("/good"), images(site.url("/login.png"), site.url("/odd.png")))])
    report = json.loads(program.run("validate", "map.xml", "--check-urls", "--check-media", "--json").out)
    assert found(report) == {("media-broken", site.url("/login.png"))}
    [finding] = report["findings"]
    assert finding["message"] == "the medium is not there: a page of HTML is sent in its place"


def images(*urls: str) -> str:
    return "".join(f"<image:image><image:loc>{url}</image:loc></image:image>" for url in urls)


def test_a_medium_that_many_pages_list_is_requested_once(program: Program, site: WebServer) -> None:
    site.pages["/here.png"] = Answer("png", content_type="image/png")
    site.pages.update({f"/p/{number}": page(title=f"P {number}") for number in range(20)})
    media = images(*map(site.url, ("/here.png", "/gone.png", "/private.png")))
    write_sitemap(program, [entry(site.url(f"/p/{number}"), media) for number in range(20)])
    report = json.loads(program.run("validate", "map.xml", "--check-urls", "--check-media", "--json").out)
    # The server refuses HEAD for a URL that it does not have, so GET follows. What robots.txt forbids is not asked for.
    requests = Counter((request.method, request.path) for request in site.requests if request.path.endswith(".png"))
    assert requests == {("HEAD", "/here.png"): 1, ("HEAD", "/gone.png"): 1, ("GET", "/gone.png"): 1}
    assert report["counts"] == {"media-broken": 20, "media-blocked": 20}
    assert found(report) == {("media-broken", site.url("/gone.png")), ("media-blocked", site.url("/private.png"))}
    assert (report["verdict"], report["complete"]) == ("valid", True)
    (message,) = {finding["message"] for finding in report["findings"] if finding["rule"] == "media-blocked"}
    assert message.startswith("the medium was not requested: ")
    assert "Disallow: /private" in message


def test_media_that_could_not_be_checked_make_the_check_incomplete(program: Program, site: WebServer) -> None:
    site.pages["/here.png"] = Answer("png", content_type="image/png")
    site.pages["/limited.png"] = Answer(status=429, headers={"Retry-After": "0"})
    with WebServer() as other:
        media = images(site.url("/here.png"), other.url("/a.png"), other.url("/b.png"), site.url("/limited.png"))
        write_sitemap(program, [entry(site.url("/good"), media)])
        options = ("--check-urls", "--check-media", "-s", "RETRY_TIMES=0")
        done = program.run("validate", "map.xml", *options, "--json")
        assert other.requests == []
    report = json.loads(done.out)
    assert (done.code, report["verdict"], report["complete"]) == (1, "incomplete", False)
    (finding,) = report["findings"]
    assert finding["rule"] == "live-incomplete"
    first = min(site.url("/limited.png"), other.url("/a.png"))
    assert f"3 images and videos were not checked, such as {first}: " in finding["message"]


@pytest.mark.parametrize(
    "event",
    [
        "INSERT ON observations",
        # The canonical is queued when all listed URLs are checked.
        f"UPDATE ON urls WHEN old.state = {UrlState.KNOWN:d}",
        # The decisions are stored when the check closes.
        "INSERT ON decisions",
    ],
)
def test_an_inventory_that_cannot_be_written_ends_the_check(program: Program, site: WebServer, event: str) -> None:
    (program.directory / "tmp").mkdir()
    program.variables["TMPDIR"] = str(program.directory / "tmp")

    def fail_from_now_on(_request: LoggedRequest) -> Answer:
        (path,) = (program.directory / "tmp").glob("*/check.sqlite")
        with contextlib.closing(sqlite3.connect(path)) as inventory:
            inventory.execute(f"CREATE TRIGGER full BEFORE {event} BEGIN SELECT RAISE(FAIL, 'the disk is full'); END")
        return page(title="Copy", head='<link rel="canonical" href="/elsewhere">')

    site.pages["/good"] = fail_from_now_on
    write_sitemap(program, [entry(site.url("/good"))])
    result = program.run("validate", "map.xml", "--check-urls", "--json")
    assert (result.code, "Traceback" in result.err) == (1, False), result.err
    assert "the disk is full" in result.last_line
    (finding,) = json.loads(result.out)["findings"]
    assert finding["rule"] == "live-incomplete"


def test_a_site_without_an_answer_is_named(program: Program) -> None:
    with WebServer() as server:
        url = server.url("/a")
    write_sitemap(program, [entry(url)])
    result = program.run("validate", "map.xml", "--check-urls", "--json", "-s", "RETRY_TIMES=0")
    assert result.code == 1
    report = json.loads(result.out)
    assert {finding["rule"] for finding in report["findings"]} == {"live-incomplete"}
    assert (report["verdict"], report["valid"], report["complete"]) == ("incomplete", False, False)
    numbers = report["statistics"]
    assert [numbers[name] for name in ("total_urls", "valid_urls", "checked_urls", "unchecked_urls")] == [1, 0, 0, 1]
    assert "1 of 1 URLs were not checked" in result.last_line


def test_a_sitemap_beside_the_crawl_of_its_site(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/good", "/gone", "/noindex", "/unlisted", "/lost", title="Start")
    assert program.crawl(site.url(), "--dry-run").code == 0
    write_sitemap(
        program, [entry(site.url(path)) for path in ("/", "/good", "/gone", "/noindex", "/lost", "/elsewhere")]
    )
    result = program.run("validate", "map.xml", "--against", site.url(), "--json")
    report = json.loads(result.out)
    assert result.code == 1
    assert found(report) == {
        ("against-extra", site.url("/gone")),
        ("against-extra", site.url("/noindex")),
        ("against-extra", site.url("/elsewhere")),
        ("against-missing", site.url("/unlisted")),
        ("against-soft-404", site.url("/lost")),
    }
    messages = {finding["url"]: finding["message"] for finding in report["findings"]}
    assert "client-error: status 404" in messages[site.url("/gone")]
    assert "noindex" in messages[site.url("/noindex")]


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_the_check_with_what_is_known(program: Program, site: WebServer, times: int) -> None:
    gate = Gate(30)

    def gone(_request: LoggedRequest) -> Answer:
        gate.pass_through()
        return Answer(status=404)

    site.pages.update({f"/p/{number}": gone for number in range(100)})
    write_sitemap(program, [entry(site.url(f"/p/{number}")) for number in range(100)])
    process = program.start(
        "validate", "map.xml", "--check-urls", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert gate.reached.wait(60)
        process.send_signal(signal.SIGINT)
        if times == 1:
            gate.open()
        while times == 2 and process.poll() is None:
            # Only a later signal stops a check that waits for answers.
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.3)
        out, err = process.communicate(timeout=60)
    finally:
        gate.open()
        process.kill()
        process.communicate()
    report = json.loads(out)
    (line,) = err.splitlines()
    assert (process.returncode, "map.xml is not valid" in line or "were not checked" in line) == (1, True)
    rules = Counter(finding["rule"] for finding in report["findings"])
    assert rules["live-incomplete"] == 1
    checked = report["statistics"]["checked_urls"]
    assert report["counts"].get("live-broken", 0) == checked
    if times == 1:
        assert 22 <= checked < 100


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--sample", "3"], "--sample needs --check-urls"),
        (["--check-media"], "--check-media needs --check-urls"),
        (["--delay", "1"], "--delay needs --check-urls"),
        (["--json", "--format", "junit"], "exclude each other"),
        (["www.example.com"], "www.example.com does not exist; for a site give its URL, https://www.example.com"),
        (["absent.xml"], "absent.xml does not exist; give a sitemap file"),
        (["--against", "absent.sqlite"], "absent.sqlite"),
        (["--against", "http://127.0.0.1:9/"], "http://127.0.0.1:9/"),
    ],
)
def test_options_that_do_not_fit_are_one_line(program: Program, options: list[str], part: str) -> None:
    write_sitemap(program, [entry("http://127.0.0.1:9/a")])
    result = program.run("validate", "map.xml", *options)
    assert (result.code, part in result.last_line) == (2, True)


def test_all_rules_are_printed_with_remedy_and_source(program: Program) -> None:
    done = program.run("validate", "--rules")
    assert (done.code, done.err) == (0, "")
    for rule in RULES.values():
        assert f"  {rule.id} ({rule.severity})\n    {rule.problem}\n    {rule.remedy}\n    {rule.source}" in done.out


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/login?next=%2Forders", True),
        ("/account/Sign-In.aspx", True),
        ("/wp-login.php", True),
        ("/users/login/new", True),
        ("/auth/index.html", True),
        ("/login/help", False),
        ("/blog/how-to-login", False),
        ("/?login", False),
    ],
)
def test_a_login_is_known_by_its_name(path: str, expected: bool) -> None:
    assert is_login(f"https://www.example.com{path}") == expected
