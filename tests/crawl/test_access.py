"""Headers and logins: the hosts that get them, refused values; neither is written anywhere."""

from __future__ import annotations

import json
import shlex
import stat
import sys
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

from tests.support.inventories import connect
from tests.support.names import give_names
from tests.support.program import Result
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.program import Program

pytestmark = pytest.mark.slow

LOGIN = "nightly:correct horse:battery"
TOKEN = "tok-8f14e45fceea167a"
COOKIE = "preview=c9f0f895fb98ab91"
BASIC = "Basic " + b64encode(LOGIN.encode()).decode()


def guarded(name: str, value: str) -> Callable[[LoggedRequest], Answer]:
    """Return a page that is only shown to clients with the header."""

    def answer(request: LoggedRequest) -> Answer:
        if request.headers.get(name) == value:
            return Answer(page("/a"))
        return Answer("who are you?", status=401, headers={"WWW-Authenticate": 'Basic realm="preview"'})

    return answer


@pytest.fixture
def other() -> Iterator[WebServer]:
    with WebServer({"/robots.txt": "", "/": page()}) as server:
        yield server


def modes(program: Program, *names: str) -> dict[str, int]:
    return {name: (program.directory / name).stat().st_mode & 0o777 for name in names}


FILES = ("state.db", "state.db.lock", "report.json", "status.json")


@pytest.mark.parametrize("earlier", [None, 0o640, 0o604])
def test_files_of_a_run_with_secrets_are_private(program: Program, site: WebServer, earlier: int | None) -> None:
    """So are those that replace files of an earlier run, whatever their mode was."""
    site.pages["/"] = page()
    options = ["--state", "state.db", "--status", "status.json"]
    if earlier is not None:
        assert program.crawl(site.url("/"), *options).code == 0
        for name in FILES:
            (program.directory / name).chmod(earlier)
    assert program.crawl(site.url("/"), *options, "--auth", LOGIN).code == 0
    assert modes(program, *FILES) == dict.fromkeys(FILES, 0o600)
    # `write` knows no secrets, but the mode of the inventory.
    (program.directory / "report.json").chmod(0o644)
    assert program.run("write", "--state", "state.db", "--report", "report.json").code == 0
    assert modes(program, *FILES) == dict.fromkeys(FILES, 0o600)


def test_the_owner_of_a_private_lock_is_private(program: Program, site: WebServer) -> None:
    seen: list[dict[str, int]] = []
    names = ("state.db.owner", "state.db-wal", "status.json")

    def answer(_request: LoggedRequest) -> Answer:
        seen.append(modes(program, *names))
        return Answer(page())

    site.pages["/"] = answer
    options = ["--state", "state.db", "--status", "status.json", "--header", f"X-Preview: {TOKEN}"]
    assert program.crawl(site.url("/"), *options).code == 0
    assert seen == [dict.fromkeys(names, 0o600)]


def test_report_and_status_keep_the_mode_of_the_file_that_they_replace(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    options = ["--state", "state.db", "--status", "status.json"]
    assert program.crawl(site.url("/"), *options).code == 0
    (program.directory / "report.json").chmod(0o640)
    (program.directory / "status.json").chmod(0o604)
    assert program.crawl(site.url("/"), *options).code == 0
    assert modes(program, "report.json", "status.json") == {"report.json": 0o640, "status.json": 0o604}


def everything_written(program: Program, result: Result) -> bytes:
    """Return all that a run leaves: the content of all its files, and its output."""
    files = [path.read_bytes() for path in program.directory.rglob("*") if path.is_file()]
    assert files
    return b"\n".join([*files, result.out.encode(), result.err.encode()])


def assert_kept_secret(program: Program, result: Result) -> None:
    written = everything_written(program, result)
    user, _, password = LOGIN.partition(":")
    encoded = b64encode(LOGIN.encode())
    for secret in (password.encode(), f"{user}:".encode(), encoded, TOKEN.encode(), COOKIE.partition("=")[2].encode()):
        assert secret not in written


@pytest.mark.parametrize(
    ("options", "variables", "header", "value"),
    [
        (["--auth", LOGIN], {}, "authorization", BASIC),
        (["--header", f"Authorization: Bearer {TOKEN}"], {}, "authorization", f"Bearer {TOKEN}"),
        (["--header", f"Cookie: {COOKIE}", "--header", "cookie:b=2;"], {}, "cookie", f"{COOKIE}; b=2"),
        (["--header", "Accept-Language: de"], {}, "accept-language", "de"),
        (["-s", f"SITEMAP_AUTH={LOGIN}"], {}, "authorization", BASIC),
        (["-s", f'SITEMAP_HEADER=["X-Key: {TOKEN}"]'], {}, "x-key", TOKEN),
        ([], {"SITEMAP_CRAWLER_AUTH": LOGIN}, "authorization", BASIC),
        ([], {"SITEMAP_CRAWLER_HEADERS": f"\nX-A: 1\r\n X-Key:{TOKEN}\n"}, "x-key", TOKEN),
        (["--auth", LOGIN], {"SITEMAP_CRAWLER_AUTH": "another:one"}, "authorization", BASIC),
        (["--auth", LOGIN], {"SITEMAP_CRAWLER_HEADERS": "Authorization: Bearer no"}, "authorization", BASIC),
        (["--header", f"x-key: {TOKEN}"], {"SITEMAP_CRAWLER_HEADERS": "X-Key: another"}, "x-key", TOKEN),
        (["--header", f"authorization: {BASIC}"], {"SITEMAP_CRAWLER_AUTH": "another:one"}, "authorization", BASIC),
    ],
)
def test_every_request_to_the_site_carries_it(
    program: Program, site: WebServer, options: list[str], variables: dict[str, str], header: str, value: str
) -> None:
    site.pages.update({"/robots.txt": "", "/": guarded(header, value), "/a": guarded(header, value)})
    program.variables.update(variables)
    result = program.crawl(site.url(), *options, "-v", "-v", "--log-file", "run.log")
    assert (result.code, result.listed()) == (0, [site.url("/"), site.url("/a")])
    assert [request.headers.get(header) for request in site.requests] == [value] * 3
    assert_kept_secret(program, result)


def test_the_log_has_neither_cookies_nor_other_readers(program: Program, site: WebServer) -> None:
    site.pages["/"] = Answer(page("/a"), headers={"Set-Cookie": f"sid={TOKEN}; Path=/"})
    site.pages["/a"] = page()
    settings = ("-s", "COOKIES_ENABLED=1", "-s", "COOKIES_DEBUG=1", "-s", "LOG_LEVEL=DEBUG")
    result = program.crawl(site.url(), *settings, "--log-file", "run.log", "--auth", LOGIN)
    assert [request.headers.get("cookie") for request in site.requests if request.path == "/a"] == [f"sid={TOKEN}"]
    log = program.directory / "run.log"
    assert_kept_secret(program, result)
    assert "received cookies from <200 " in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_the_start_url_brings_the_login(program: Program, site: WebServer) -> None:
    site.pages.update({"/": guarded("authorization", BASIC), "/a": page()})
    url = site.url().replace("//", "//nightly:correct%20horse%3Abattery@")
    program.variables["SITEMAP_CRAWLER_AUTH"] = "another:one"
    result = program.crawl(url, "-v", "-v")
    assert result.listed() == [site.url("/"), site.url("/a")]
    assert result.report["start_url"] == site.url()
    assert_kept_secret(program, result)
    # The next run is of the same site, with or without a login in its URL.
    assert program.crawl(site.url(), "--auth", LOGIN).report["run"] == 2
    explained = program.run("explain", url)
    assert explained.code == 0
    assert "battery" not in explained.out + explained.err


def test_the_site_file_may_hold_them(program: Program, site: WebServer) -> None:
    site.pages.update({"/": guarded("authorization", BASIC), "/a": page()})
    config = program.directory / "site.toml"
    config.write_text(f'start_url = "{site.url()}"\nauth = "{LOGIN}"\nheader = ["X-Key: {TOKEN}"]\n')
    result = program.run("crawl", "--config", "site.toml")
    assert result.code == 0
    assert site.requests[-1].headers["x-key"] == TOKEN
    config.unlink()
    assert_kept_secret(program, result)


def test_no_other_host_gets_them(program: Program, site: WebServer, other: WebServer) -> None:
    # The same address with another port is another origin: its sitemap, its robots.txt, where a redirect leads.
    other.pages["/sitemap.xml"] = Answer("", status=301, headers={"Location": site.url("/seed.txt")})
    site.pages.update(
        {
            "/robots.txt": f"Sitemap: {other.url('/sitemap.xml')}\nSitemap: {site.url('/hop.xml')}",
            "/hop.xml": Answer("", status=302, headers={"Location": other.url("/hopped.xml")}),
            "/": page("/a", "/away", other.url("/page")),
            "/a": page(),
            "/away": Answer("", status=302, headers={"Location": other.url("/target")}),
            "/seed.txt": Answer(site.url("/b"), content_type="text/plain"),
            "/b": page(),
        }
    )
    options = ["--auth", LOGIN, "--header", f"X-Key: {TOKEN}", "--header", f"Cookie: {COOKIE}"]
    result = program.crawl(site.url(), *options, "--seed-sitemap", other.url("/more.xml"))
    assert result.listed() == [site.url("/"), site.url("/a"), site.url("/b")]
    assert set(other.paths()) == {"/robots.txt", "/sitemap.xml", "/hopped.xml", "/more.xml"}
    for request in other.requests:
        assert {"authorization", "x-key", "cookie"} & set(request.headers) == set()
    assert all(request.headers["authorization"] == BASIC for request in site.requests)
    assert {"/robots.txt", "/seed.txt", "/b", "/hop.xml"} <= set(site.paths())


def test_second_tries_and_conditional_requests_carry_them_once(program: Program, site: WebServer) -> None:
    answers = [Answer("", status=500), Answer(page("/a"), headers={"ETag": '"1"'}), Answer("", status=304)]
    site.pages.update({"/": lambda _: answers.pop(0), "/a": page()})
    options = ["--header", f"Cookie: {COOKIE}", "--auth", LOGIN]
    program.crawl(site.url(), *options)
    program.crawl(site.url(), *options)
    asked = [request.headers for request in site.requests if request.path == "/"]
    assert [(headers["cookie"], headers["authorization"]) for headers in asked] == [(COOKIE, BASIC)] * 3
    assert asked[2]["if-none-match"] == '"1"'


def test_cookies_of_the_site_join_those_given(program: Program, site: WebServer) -> None:
    site.pages.update(
        {"/": Answer(page("/a"), headers=[("Set-Cookie", "sid=1"), ("Set-Cookie", "b=new")]), "/a": page()}
    )
    program.crawl(site.url(), "--header", f"Cookie: {COOKIE}; b=old", "-s", "COOKIES_ENABLED=1")
    cookies = {request.path: request.headers["cookie"] for request in site.requests}
    assert cookies["/"] == f"{COOKIE}; b=old"
    assert sorted(cookies["/a"].split("; ")) == sorted([COOKIE, "b=new", "sid=1"])


def test_cookies_of_the_site_stay_at_its_port(program: Program, site: WebServer, other: WebServer) -> None:
    cookie = [("Set-Cookie", "sid=secret")]
    site.pages.update({"/": Answer(page("/a"), headers=cookie), "/a": page()})
    other.pages["/map.txt"] = Answer(site.url("/a"), content_type="text/plain", headers=[("Set-Cookie", "o=1")])
    options = ["-s", "COOKIES_ENABLED=1", "--seed-sitemap", other.url("/map.txt")]
    program.crawl(site.url(), *options, "--seed-sitemap", site.url("/last.txt"))
    assert {request.path for request in other.requests} == {"/robots.txt", "/map.txt"}
    assert [request.headers.get("cookie") for request in other.requests] == [None, None]
    assert {request.headers.get("cookie") for request in site.requests if request.path in ("/a", "/last.txt")} == {
        "sid=secret"
    }


@pytest.mark.parametrize("obey", ["0", "1"])
@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ([], 3, ["status 401", "give --auth USER:PASSWORD"]),
        (["--auth", f"{LOGIN}x", "--header", f"X-Key: {TOKEN}", "--header", f"Cookie: {COOKIE}"], 3, ["status 401"]),
    ],
)
def test_a_start_page_that_asks_for_a_login(
    program: Program, site: WebServer, obey: str, options: list[str], code: int, words: list[str]
) -> None:
    site.pages["/"] = guarded("authorization", BASIC)
    result = program.crawl(site.url(), "-v", "-v", "-s", f"ROBOTSTXT_OBEY={obey}", *options)
    assert result.code == code
    assert all(word in result.last_line for word in words)
    assert_kept_secret(program, result)


def test_failing_runs_keep_secrets(program: Program, site: WebServer) -> None:
    options = ["--header", f"X-Key: {TOKEN}", "--header", f"Cookie: {COOKIE}", "-v", "-v", "-s", "RETRY_TIMES=0"]
    url = site.url().replace("//", "//nightly:correct%20horse%3Abattery@")
    site.pages["/"] = Answer(drop=True)
    dropped = program.crawl(url, *options)
    assert dropped.code == 3
    assert_kept_secret(program, dropped)
    (program.directory / "taken").write_text("a file")
    unwritable = program.crawl(url, *options, "-o", "taken/below")
    assert unwritable.code == 1
    assert_kept_secret(program, unwritable)


def test_the_inventory_remembers_none(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    program.crawl(site.url(), "--auth", LOGIN, "--header", f"X-Key: {TOKEN}", "--state", "state.sqlite")
    with connect(program.directory / "state.sqlite") as connection:
        (options,) = connection.execute("SELECT options FROM runs").fetchone()
    connection.close()
    assert {"auth", "header", "client_key", "client_certificate"} & set(json.loads(options)) == set()
    # A run without them has the same options, and `write` needs none.
    assert program.run("write", "--state", "state.sqlite").code == 0


def test_under_scrapy_they_are_kept_as_well(program: Program, site: WebServer) -> None:
    site.pages.update({"/": guarded("authorization", BASIC), "/a": page()})
    program.variables.update(
        SITEMAP_CRAWLER_HEADERS=f"X-Key: {TOKEN}", SCRAPY_SETTINGS_MODULE="sitemap_crawler.settings"
    )
    url = site.url().replace("//", "//nightly:correct%20horse%3Abattery@")
    command = [
        sys.executable,
        "-m",
        "scrapy",
        "crawl",
        "site",
        "-a",
        f"url={url}",
        "-s",
        f"SITEMAP_HEADER=Cookie: {COOKIE}",
    ]
    result = program.execute(*command, "-s", "SITEMAP_REPORT=report.json", "-s", "LOG_LEVEL=DEBUG")
    assert result.report["listed"] == 2, result.err
    assert {(request.headers["x-key"], request.headers["cookie"]) for request in site.requests} == {(TOKEN, COOKIE)}
    assert_kept_secret(program, result)


def test_the_recipe_for_cron(program: Program, site: WebServer) -> None:
    site.pages.update({"/": guarded("authorization", BASIC), "/a": page()})
    secrets = program.directory / "preview.env"
    (program.directory / "preview.toml").write_text(f'start_url = "{site.url()}"\n')
    secrets.write_text(f"SITEMAP_CRAWLER_AUTH='{LOGIN}'\nSITEMAP_CRAWLER_HEADERS='X-Key: {TOKEN}\nCookie: {COOKIE}'\n")
    command = shlex.join(program.command("crawl", "--config", "preview.toml", "-q"))
    script = f"set -a; . ./preview.env; exec {command}"
    done = program.execute("sh", "-c", script)
    assert (done.code, done.out, done.err) == (0, "", "")
    for request in site.requests:
        assert (request.headers["x-key"], request.headers["cookie"]) == (TOKEN, COOKIE)
    secrets.unlink()
    assert_kept_secret(program, Result(0, "", "", program.directory))


@pytest.mark.parametrize(
    ("options", "variables", "words"),
    [
        (["--auth", "hunter2"], {}, ["auth", "USER:PASSWORD"]),
        (["--auth", "me:hunter2\n"], {}, ["auth", "one line"]),
        (["--header", "hunter2"], {}, ["header", "Name: value"]),
        (["--header", "X-hunter2 key: a"], {}, ["header", "Name: value"]),
        (["--header", "X-Key: hunter2\r\nX-More: 1"], {}, ["X-Key", "one line"]),
        (["--header", "X-Key:"], {}, ["X-Key", "not empty"]),
        (["--header", "X-Key: " + "hunter2" * 2000], {}, ["X-Key", "8,000"]),
        (["--header", "X-Key: hunter2", "--header", "x-key: 2"], {}, ["x-key", "twice"]),
        (["--header", "host: hunter2"], {}, ["host"]),
        (["--header", "Content-Length: 1"], {}, ["Content-Length"]),
        (["--header", "Transfer-Encoding: chunked"], {}, ["Transfer-Encoding"]),
        (["--header", "Connection: close"], {}, ["Connection"]),
        (["--header", "If-None-Match: *"], {}, ["If-None-Match", "--full"]),
        (["--header", "If-Modified-Since: hunter2"], {}, ["If-Modified-Since"]),
        (["--header", "Range: bytes=0-1"], {}, ["Range"]),
        (["--header", "Accept-Encoding: br"], {}, ["Accept-Encoding", "COMPRESSION_ENABLED"]),
        (["--header", "User-Agent: hunter2"], {}, ["User-Agent", "--user-agent"]),
        (["--header", "Proxy-Authorization: hunter2"], {}, ["http_proxy"]),
        (
            ["--auth", "me:hunter2", "--header", "Authorization: Bearer hunter2"],
            {},
            ["Authorization", "one of the two"],
        ),
        ([], {"SITEMAP_CRAWLER_AUTH": "hunter2"}, ["SITEMAP_CRAWLER_AUTH", "USER:PASSWORD"]),
        ([], {"SITEMAP_CRAWLER_HEADERS": "X-A: 1\nhunter2"}, ["SITEMAP_CRAWLER_HEADERS", "Name: value"]),
        (["-s", "SITEMAP_HEADER=hunter2"], {}, ["header", "Name: value"]),
        (["-s", "SITEMAP_AUTH=hunter2"], {}, ["auth", "USER:PASSWORD"]),
        (["--sitemap-url", "https://me:hunter2@example.com/sitemap.xml"], {}, ["sitemap_url", "--auth"]),
    ],
)
def test_what_cannot_be_used(program: Program, options: list[str], variables: dict[str, str], words: list[str]) -> None:
    program.variables.update(variables)
    result = program.run("crawl", "https://example.com/", *options)
    assert result.code == 2
    assert all(word in result.last_line for word in words), result.last_line
    assert "hunter2" not in result.out + result.err


@pytest.mark.parametrize(
    "url", ["https://me:hunter2@example.com/", "https://me%3Ahunter2@example.com/", "https://me:hunter2/@example.com/"]
)
def test_a_start_url_with_a_login_that_cannot_be_used(program: Program, url: str) -> None:
    result = program.run("crawl", url, "--auth", "somebody:else")
    assert result.code == 2
    assert "start" in result.last_line
    assert "hunter2" not in result.out + result.err


@pytest.mark.parametrize("option", ["", "--sitemap-url", "--public-url", "--seed-sitemap"])
def test_a_login_in_what_is_no_url_is_not_repeated(program: Program, option: str) -> None:
    given = ["me:hunter2@127.0.0.1:1/"]
    result = program.run("crawl", *(["http://127.0.0.1:1/", option, *given] if option else given))
    assert result.code == 2
    assert "hunter2" not in result.out + result.err


def test_help_shows_no_secret(program: Program) -> None:
    program.variables["SITEMAP_CRAWLER_AUTH"] = LOGIN
    shown = program.run("crawl", "--help")
    assert "--auth USER:PASSWORD" in shown.out
    assert "battery" not in shown.out


def test_a_start_page_that_moved_within_the_site_takes_them_along(program: Program) -> None:
    give_names(program, {"example.com": "127.0.0.1", "www.example.com": "127.0.0.1"})
    with WebServer() as server:
        apex, www = f"http://example.com:{server.port}/", f"http://www.example.com:{server.port}/"

        def start(request: LoggedRequest) -> Answer:
            if request.headers["host"].startswith("www."):
                return Answer(page("/a"))
            return Answer("", status=301, headers={"Location": www})

        server.pages.update({"/": start, "/a": guarded("authorization", BASIC)})
        result = program.crawl(apex, "--auth", LOGIN)
        assert result.listed() == [www, f"{www}a"]
        assert all(request.headers["authorization"] == BASIC for request in server.requests)
