"""Crawls whose inventory is in PostgreSQL: the same sitemaps as with SQLite, also after kills and restarts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.support.postgres_server import ICU, USER, C, PostgresServer, needs_postgres
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.program import Program

pytestmark = [needs_postgres, pytest.mark.slow]
PAGES = 300
# By bytes, and by a language: A B a a-b a_b / a a_b a-b A B.
NAMES = ("a", "a_b", "a-b", "A", "B", "b", "%C3%A9", "z")
DATE = "Tue, 07 May 2024 08:09:10 GMT"
PASSWORD = "marked-Secret-7"


def path_of(number: int) -> str:
    return f"/{NAMES[number % len(NAMES)]}{number or ''}" if number else "/"


def serve(site: WebServer, *, changed: int = -1) -> None:
    """A tree of pages, each with a date that no run makes up. Some are not to be listed."""
    for number in range(PAGES):
        below = [path_of(child) for child in range(number * 3 + 1, number * 3 + 4) if child < PAGES]
        head = '<meta name="robots" content="noindex">' if number % 50 == 7 else ""
        date = "Wed, 08 May 2024 08:09:10 GMT" if number == changed else DATE
        body = f"Words of {number} {'changed' if number == changed else ''}"
        site.pages[path_of(number)] = Answer(
            page(*below, "/gone", title=f"Page {number}", head=head, body=body), headers={"Last-Modified": date}
        )
    site.pages["/gone"] = Answer("Gone", status=404)


def sitemap(program: Program, directory: str = "sitemaps") -> bytes:
    return (program.directory / directory / "sitemap.xml").read_bytes()


@pytest.mark.parametrize("database", [ICU, C])
def test_the_files_are_those_of_sqlite(
    program: Program, site: WebServer, postgres: PostgresServer, database: str
) -> None:
    serve(site)
    state = postgres.url(database)
    for changed in (-1, 30):
        serve(site, changed=changed)
        done = {}
        for output, place in (("file", "state.sqlite"), ("server", state)):
            site.clear_log()
            result = program.crawl(site.url(), "--state", place, "-o", output)
            assert result.code == 0, result.err
            report = result.report
            counts = {
                name: report[name] for name in ("outcome", "decisions", "changes", "requests", "urls") if name in report
            }
            done[output] = (sitemap(program, output), counts, sorted(site.paths()))
        assert done["file"] == done["server"]
    for output, place in (("file", "state.sqlite"), ("server", state)):
        result = program.run("write", site.url(), "--state", place, "-o", f"{output}-again", "--exclude-listing", "/a")
        assert result.code == 0, result.err
    assert sitemap(program, "file-again") == sitemap(program, "server-again") != sitemap(program, "file")


def test_all_commands_read_it(program: Program, site: WebServer, postgres: PostgresServer) -> None:
    state = postgres.url()
    for changed in (-1, 30):
        serve(site, changed=changed)
        for output, place in (("file", "state.sqlite"), ("server", state)):
            assert program.crawl(site.url(), "--state", place, "-o", output).code == 0
    listed = path_of(30)
    for command in (
        ("pages", "--format", "jsonl"),
        ("pages", "--reason", "noindex"),
        ("explain", site.url(listed), "--json"),
        ("diff",),
        ("runs", "--json"),
        ("validate", "file/sitemap.xml", "--against"),
        ("report", "-o", "-"),
    ):
        results = []
        for place in ("state.sqlite", state):
            named = (*command, place) if command[0] == "validate" else (*command, "--state", place)
            results.append(program.run(*named))
        assert [result.code for result in results] == [0, 0], (command, results[1].err)
        if command[0] != "report":
            varies = r'20\d\d-\d\d-\d\dT[\d:.+]+|(?<="seconds": )[\d.]+'
            first, second = (re.sub(varies, "VARIES", result.out) for result in results)
            assert first.replace("/file", "/server") == second.replace("/file", "/server"), command
    result = program.run("check-inventory", "--state", state)
    assert (result.code, result.err) == (0, "")
    assert "is not damaged: 301 URLs" in result.out


def test_check_inventory_finds_values_that_no_release_writes(
    program: Program, site: WebServer, postgres: PostgresServer
) -> None:
    serve(site)
    state = postgres.url()
    assert program.crawl(site.url(), "--state", state).code == 0
    schema = state.rpartition("=")[2]
    postgres.execute(ICU, f"UPDATE {schema}.urls SET key = key + 1 WHERE id = 5")
    # The numbers of pages depend on the order of answers. The start page is always listed.
    postgres.execute(ICU, f"DELETE FROM {schema}.observations WHERE url_id = 1")
    result = program.run("check-inventory", "--state", state)
    assert result.code == 1
    assert {"table urls, row 5, column key", "table observations, row 1 is missing"} <= set(result.out.splitlines())
    assert "is damaged (table urls, row 5, column key)" in result.last_line


def stop_at(site: WebServer, number: int, action: Callable[[], None]) -> None:
    """Do something when a page is requested."""
    answer = site.pages[path_of(number)]
    asked: list[int] = []

    def answered(_: LoggedRequest) -> Answer:
        if not asked:
            asked.append(1)
            action()
        assert isinstance(answer, Answer)
        return answer

    site.pages[path_of(number)] = answered


def test_killed_and_resumed_it_writes_the_same(program: Program, site: WebServer, postgres: PostgresServer) -> None:
    serve(site)
    assert program.crawl(site.url(), "--state", "state.sqlite", "-o", "file").code == 0
    state = postgres.url()
    for number in (60, 200):
        process = program.start("crawl", site.url(), "--state", state, "-q")
        stop_at(site, number, process.kill)
        assert process.wait(120) == -9
    schema = state.rpartition("=")[2]
    assert postgres.execute(ICU, f"SELECT count(*) FROM {schema}.owner") == [(1,)]
    result = program.crawl(site.url(), "--state", state)
    assert result.code == 0, result.err
    assert sitemap(program) == sitemap(program, "file")
    assert postgres.execute(ICU, f"SELECT count(*) FROM {schema}.owner") == [(0,)]


def test_one_process_at_a_time(program: Program, site: WebServer, postgres: PostgresServer) -> None:
    serve(site)
    state = postgres.url()
    results = []
    stop_at(site, 40, lambda: results.append(program.run("crawl", site.url(), "--state", state, "-o", "other")))
    assert program.crawl(site.url(), "--state", state).code == 0
    [second] = results
    assert second.code == 4
    assert re.fullmatch(
        r"another run \(process \d+ on .*\) is using the inventory postgresql://.*; wait for it to end or choose "
        "another --state",
        second.last_line,
    )


def test_a_crawl_ends_without_its_server_and_the_same_command_resumes_it(program: Program, site: WebServer) -> None:
    serve(site)
    assert program.crawl(site.url(), "--state", "state.sqlite", "-o", "file").code == 0
    with PostgresServer() as server:
        state = server.url()
        stop_at(site, 100, server.stop)
        # It waits for twice the lease.
        result = program.crawl(site.url(), "--state", state, "-s", "SITEMAP_LEASE=1")
        assert result.code == 1
        assert result.last_line.startswith("cannot use the inventory postgresql://")
        result = program.crawl(site.url(), "--state", state)
        assert result.code == 1
        assert result.last_line.endswith("make the server available, then run the same command")
        server.start()
        result = program.crawl(site.url(), "--state", state)
        assert result.code == 0, result.err
    assert sitemap(program) == sitemap(program, "file")


def test_a_password_is_shown_and_stored_nowhere(program: Program, site: WebServer, postgres: PostgresServer) -> None:
    serve(site)
    url = postgres.url()
    state = url.replace(f"{USER}@", f"{USER}:{PASSWORD}@")
    files = ("--report", "report.json", "--status", "status.json", "--log-file", "log.txt", "-vv")
    printed = ""
    for place in (state, state.replace("host=", "port=1&host="), f"{state}x y", f"{url}&password={PASSWORD}"):
        for command in (("crawl", site.url(), *files), ("write", site.url()), ("check-inventory",), ("runs",)):
            result = program.run(*command, "--state", place)
            printed += result.out + result.err
            assert result.code in (0, 1, 2), result.err
    assert "Warning: all users of this machine can read the password of --state" in printed
    program.variables["SITEMAP_STATE"] = state
    result = program.crawl(site.url(), *files)
    assert result.code == 0
    assert "can read the password" not in result.err
    written = [path for path in program.directory.rglob("*") if path.is_file()]
    assert {"report.json", "status.json", "log.txt", "sitemap.xml"} <= {path.name for path in written}
    assert [path.name for path in written if PASSWORD.encode() in path.read_bytes()] == []
    assert PASSWORD not in printed + result.out + result.err
    schema = url.rpartition("=")[2]
    [(options, totals)] = postgres.execute(ICU, f"SELECT options, totals FROM {schema}.runs ORDER BY id DESC LIMIT 1")
    assert PASSWORD not in json.dumps([options, totals])
    assert "postgresql" not in json.dumps(options)


def test_a_report_of_a_run_that_may_have_had_secrets_is_private(
    program: Program, site: WebServer, postgres: PostgresServer
) -> None:
    serve(site)
    state = ("--state", postgres.url())
    modes = []
    for secrets in ((), ("--auth", "user:geheim")):
        assert program.crawl(site.url(), *state, *secrets, "--html-report", "page.html").code == 0
        modes.append((program.directory / "page.html").stat().st_mode & 0o077)
        assert program.run("report", *state, "-o", "again.html").code == 0
        modes.append((program.directory / "again.html").stat().st_mode & 0o077)
    assert [bool(mode) for mode in modes] == [True, False, False, False]


def test_without_the_driver_it_says_what_to_install(program: Program, site: WebServer, tmp_path: Path) -> None:
    """And a crawl with SQLite needs it not."""
    serve(site)
    (tmp_path / "stub").mkdir()
    (tmp_path / "stub" / "psycopg.py").write_text("raise ImportError('no psycopg')\n")
    program.variables["PYTHONPATH"] = str(tmp_path / "stub")
    for command in (("crawl", site.url()), ("runs",), ("check-inventory",)):
        result = program.run(*command, "--state", "postgresql://host/db?schema=a")
        assert result.code == 2
        assert result.last_line == (
            "state: a PostgreSQL database needs the driver psycopg: pip install 'sitemap-crawler[postgresql]'"
        )
    assert program.crawl(site.url(), "--state", "state.sqlite").code == 0


@pytest.mark.parametrize(
    "value",
    [
        f"postgresql://u:{PASSWORD}@host/db?schema=a b",
        f"postgresql://u:{PASSWORD}@host/db?schema=pg_x",
        f"postgresql://u:{PASSWORD}@host/db?schema=a&schema=b",
        f"postgresql://u:{PASSWORD}@host:port/db",
        f"postgresql://host/db?password={PASSWORD}&schema=;",
        f"mysql://u:{PASSWORD}@host/db",
    ],
)
def test_bad_urls_are_refused_without_their_password(program: Program, site: WebServer, value: str) -> None:
    for command in (("crawl", site.url()), ("runs",)):
        result = program.run(*command, "--state", value)
        assert result.code == 2
        assert PASSWORD not in result.out + result.err
        assert result.last_line


def test_sites_of_one_database_have_schemas_of_their_own(program: Program, postgres: PostgresServer) -> None:
    database = postgres.new_database()
    state = postgres.url(database).partition("&schema")[0]
    program.variables["SITEMAP_STATE"] = state
    with WebServer() as one, WebServer() as other:
        for server, output in ((one, "one"), (other, "other")):
            serve(server)
            assert program.crawl(server.url(), "-o", output).code == 0
        schemas = postgres.execute(database, "SELECT nspname FROM pg_namespace WHERE nspname LIKE '127_0_0_1_%'")
        assert len(schemas) == 2
        for server in (one, other):
            result = program.run("pages", server.url(), "--limit", "1", "--format", "jsonl")
            assert result.code == 0, result.err
            assert json.loads(result.out)["url"].startswith(server.url())
            assert json.loads(program.run("explain", server.url(path_of(9)), "--json").out)["url"] == server.url(
                path_of(9)
            )
            assert program.run("check-inventory", server.url()).code == 0
        result = program.run("runs")
        assert result.code == 2
        assert "there are several inventories" in result.err
        assert not list(program.directory.rglob("*.sqlite"))


def test_texts_and_addresses_that_postgresql_would_refuse(
    program: Program, site: WebServer, postgres: PostgresServer
) -> None:
    """NUL in texts and JSON, and URLs longer than an entry of an index."""
    serve(site)
    long = "/" + "x".join(map(str, range(1500)))[:7_900]
    article = {"@type": "NewsArticle", "headline": "a\0b", "dateModified": "2024-01-01"}
    data = f'<script type="application/ld+json">{json.dumps(article)}</script>'
    site.pages["/"] = Answer(page(path_of(1), long, head=data, title="a\0b&#0;c"), headers={"ETag": '"a"'})
    site.pages[long] = Answer(page("/"))
    site.pages["/robots.txt"] = Answer(f"Sitemap: {site.url(long)}.xml\n", content_type="text/plain")
    state = postgres.url()
    for _ in range(2):
        result = program.crawl(site.url(), "--state", state)
        assert result.code == 0, result.err
    assert program.run("check-inventory", "--state", state).code == 0


@pytest.mark.parametrize("columns", ["theirs (a int)", "meta (id int)", "meta (name text, value text)"])
def test_a_schema_of_another_program_is_left_alone(
    program: Program, site: WebServer, postgres: PostgresServer, columns: str
) -> None:
    serve(site)
    state = postgres.url()
    schema = state.rpartition("=")[2]
    postgres.execute(ICU, f"CREATE SCHEMA {schema}")
    postgres.execute(ICU, f"CREATE TABLE {schema}.{columns}")
    result = program.crawl(site.url(), "--state", state)
    assert result.code == 2
    assert "belongs to another program" in result.last_line
    result = program.run("explain", site.url(), "--state", state)
    assert result.code == 2
    assert "give the right --state" in result.last_line
    tables = postgres.execute(ICU, f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'")
    assert tables == [(columns.partition(" ")[0],)]


def test_single_pages_are_updated_as_with_sqlite(program: Program, site: WebServer, postgres: PostgresServer) -> None:
    serve(site)
    state = postgres.url()
    for output, place in (("file", "state.sqlite"), ("server", state)):
        serve(site)
        assert program.crawl(site.url(), "--state", place, "-o", output).code == 0
        serve(site, changed=30)
        site.pages["/new"] = Answer(page(body="Words of a new page"), headers={"Last-Modified": DATE})
        for action, path in (("add", "/new"), ("update", path_of(30)), ("remove", path_of(299))):
            if action == "remove":
                del site.pages[path]
            result = program.run("update", action, site.url(path), "--state", place)
            assert result.code == 0, result.err
    assert sitemap(program, "file") == sitemap(program, "server")
    assert site.url("/new").encode() in sitemap(program, "server")
    assert site.url(path_of(299)).encode() not in sitemap(program, "server")
