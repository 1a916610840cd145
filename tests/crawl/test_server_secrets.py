"""A password of the database, marked, in every place from which it comes: nothing that is printed or stored has it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.postgres_server import ICU, USER, needs_postgres
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from tests.support.postgres_server import PostgresServer
    from tests.support.program import Program

pytestmark = [needs_postgres, pytest.mark.slow]
PASSWORD = "marked-Secret-9"
WARNING = "Warning: all users of this machine can read the password of --state"
GIVEN_FILES = {"site.toml", "other.toml"}


@pytest.fixture
def watched(site: WebServer) -> WebServer:
    """A site that reads the command lines of all processes at each request."""
    site.pages["/a"] = page()

    def start(_: LoggedRequest) -> Answer:
        seen.extend(command_lines())
        return Answer(page("/a"))

    seen: list[str] = []
    site.pages["/"] = start
    site.seen = seen  # type: ignore[attr-defined]
    return site


def command_lines() -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.append((process / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return found


def stored(postgres: PostgresServer, schema: str) -> str:
    """Return all rows of all tables of a schema as text."""
    tables = postgres.execute(ICU, f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'")
    rows = [postgres.execute(ICU, f'SELECT t::text FROM "{schema}"."{name}" t') for (name,) in tables]
    assert len(tables) > 10
    assert any(rows)
    return repr(rows)


def written(program: Program) -> str:
    files = [path for path in program.directory.rglob("*") if path.is_file() and path.name not in GIVEN_FILES]
    return "".join(path.read_bytes().decode(errors="replace") for path in files)


@pytest.mark.parametrize("place", ["environment", "PGPASSWORD", "site file", "several sites", "command line", "Scrapy"])
def test_it_is_in_no_output(program: Program, watched: WebServer, postgres: PostgresServer, place: str) -> None:
    schema = postgres.url().rpartition("=")[2]
    plain = postgres.url(schema=schema)
    secret = plain.replace(f"{USER}@", f"{USER}:{PASSWORD}@")
    files = ("--report", "report.json", "--status", "status.json", "--html-report", "html/report.html")
    (program.directory / "html").mkdir()
    logged = ("--log-file", "log.txt", "-vv")
    crawl = ["crawl", watched.url(), *files, *logged]
    options: tuple[str, ...] = ("--state", plain)
    if place in ("environment", "PGPASSWORD"):
        name, value = ("SITEMAP_STATE", secret) if place == "environment" else ("PGPASSWORD", PASSWORD)
        program.variables[name] = value
        options = () if place == "environment" else options
    elif place in ("site file", "several sites"):
        text = f'start_url = "{watched.url()}"\nstate = "{secret}"\noutput = "sitemaps"\n'
        (program.directory / "site.toml").write_text(text)
        options = ("--config", "site.toml")
        if place == "several sites":
            other = text.replace(schema, f"{schema}_b").replace("sitemaps", "others").replace('/"', '/a"', 1)
            (program.directory / "other.toml").write_text(other)
            crawl = ["crawl", "--config", "site.toml", "--config", "other.toml", "-v"]
        else:
            crawl = ["crawl", *files, *logged]
    elif place == "command line":
        options = ("--state", secret)
    if place == "Scrapy":
        command = [
            str(Path(program.command("x")[0]).with_name("scrapy")),
            "crawl",
            "site",
            "-a",
            f"url={watched.url()}",
        ]
        command += ["-s", f"SITEMAP_STATE={secret}", "-s", "LOG_LEVEL=DEBUG", "-s", "SITEMAP_REPORT=report.json"]
        settings = {"SCRAPY_SETTINGS_MODULE": "sitemap_crawler.settings", "PYTHONPATH": os.getcwd()}  # noqa: PTH109
        result = program.execute(*command, **settings)
        options = ("--state", plain)
    else:
        result = program.run(*crawl, *(options if place != "several sites" else ()))
    assert result.code == 0, result.err
    printed = result.out + result.err
    on_command_line = place in ("command line", "Scrapy")
    assert (WARNING in result.err) is on_command_line
    seen: list[str] = watched.seen  # type: ignore[attr-defined]
    assert seen
    # The user has written it on the command line; processes that the program starts have it there never.
    holders = [line for line in seen if PASSWORD in line]
    assert len(set(holders)) <= (1 if on_command_line else 0)
    for arguments in (
        ("explain", watched.url("/a")),
        ("pages",),
        ("runs", "--json"),
        ("report", "-o", "again.html"),
        ("write", "--dry-run", "-vv"),
        ("check-inventory",),
        ("explain", "https://elsewhere.example/"),
        ("monitor", "--offline"),
    ):
        done = program.run(*arguments, *options)
        printed += done.out + done.err
    # Failures name the inventory, too.
    postgres.execute(ICU, f"DROP SCHEMA {schema} CASCADE") if place == "PGPASSWORD" else None
    if place != "PGPASSWORD":
        assert PASSWORD not in stored(postgres, schema)
        postgres.execute(ICU, f"UPDATE {schema}.meta SET value = '99' WHERE name = 'schema_version'")
    for arguments in (("write", "-vv"), ("explain", watched.url("/a")), ("pages",)):
        done = program.run(*arguments, *options)
        assert done.code != 0
        printed += done.out + done.err
    assert PASSWORD not in printed
    assert PASSWORD not in written(program)


def test_a_process_that_submits_gets_it_by_its_environment(
    program: Program, watched: WebServer, postgres: PostgresServer
) -> None:
    """`crawl --submit` starts another process for the services."""
    secret = postgres.url().replace(f"{USER}@", f"{USER}:{PASSWORD}@")
    program.variables["SITEMAP_STATE"] = secret
    before = set(command_lines())
    process = subprocess.Popen(
        program.command(
            "crawl", watched.url(), "--submit", "--indexnow-key", "k" * 32, "-q", "--report", "report.json"
        ),
        cwd=program.directory,
        env=program.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seen: set[str] = set()
    while process.poll() is None:
        seen |= set(command_lines()) - before
    assert process.stdout is not None
    printed = process.stdout.read()
    process.stdout.close()
    assert any("submit" in line for line in seen)
    assert not [line for line in seen if PASSWORD in line]
    assert PASSWORD not in printed + written(program)
