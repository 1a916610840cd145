"""Backups of an inventory in PostgreSQL, made and restored with the commands of the documentation."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.crawl.test_postgresql import path_of, serve, sitemap
from tests.support.paths import ROOT
from tests.support.postgres_server import USER, needs_postgres, programs

if TYPE_CHECKING:
    from tests.support.postgres_server import PostgresServer
    from tests.support.program import Program
    from tests.support.webserver import LoggedRequest, WebServer

pytestmark = [needs_postgres, pytest.mark.slow]
SCHEMA = "example"


class Backup:
    """The two databases, and the commands of the documentation, which name one database for both."""

    def __init__(self, program: Program, postgres: PostgresServer) -> None:
        text = (ROOT / "docs" / "deploy" / "postgresql.md").read_text(encoding="utf-8")
        found = re.search(r"## Backups\n+```sh\n(.*?)```", text, re.DOTALL)
        assert found is not None
        self._commands = found[1].splitlines()
        self._program = program
        self._server = postgres
        self._databases = [postgres.new_database(), postgres.new_database()]
        self.state, self.restored = (postgres.url(name, schema=SCHEMA) for name in self._databases)

    def make(self) -> None:
        self._run(self._commands[0], "pg_dump ", self._databases[0])

    def restore(self) -> None:
        self._run(self._commands[1], "pg_restore ", self._databases[1])

    def _run(self, command: str, tool: str, database: str) -> None:
        assert command.startswith(tool)
        assert command.count("sitemaps") == 1
        environment = {
            **os.environ,
            "PATH": f"{programs()}{os.pathsep}{os.environ['PATH']}",
            "PGHOST": str(self._server.directory),
            "PGUSER": USER,
        }
        words = command.replace("sitemaps", database).split()
        subprocess.run(words, cwd=self._program.directory, env=environment, check=True)


@pytest.fixture
def backup(program: Program, postgres: PostgresServer) -> Backup:
    return Backup(program, postgres)


def test_all_goes_on_with_a_restored_inventory_as_with_the_first_one(
    program: Program, site: WebServer, backup: Backup
) -> None:
    serve(site)
    assert program.crawl(site.url(), "--state", backup.state).code == 0
    backup.make()
    backup.restore()
    shown = []
    for state in (backup.state, backup.restored):
        commands = (("explain", site.url(path_of(30)), "--json"), ("pages", "--format", "jsonl"), ("runs", "--json"))
        results = [program.run(*command, "--state", state) for command in commands]
        assert [result.code for result in results] == [0, 0, 0], results
        shown.append([result.out.replace(state, "STATE") for result in results])
    assert shown[0] == shown[1]
    serve(site, changed=30)
    reports = []
    for output, state in (("first", backup.state), ("restored", backup.restored)):
        result = program.crawl(site.url(), "--state", state, "-o", output)
        assert result.code == 0, result.err
        reports.append({name: result.report[name] for name in ("outcome", "run", "listed", "changes", "requests")})
    assert reports[0] == reports[1]
    assert reports[0]["run"] == 2
    assert sitemap(program, "first") == sitemap(program, "restored")
    assert program.run("check-inventory", "--state", backup.restored).code == 0


def test_a_run_goes_on_from_the_moment_of_the_backup(program: Program, site: WebServer, backup: Backup) -> None:
    serve(site)
    late = site.pages[path_of(200)]

    def answer(request: LoggedRequest) -> object:
        backup.make()
        return late

    site.pages[path_of(200)] = answer  # type: ignore[assignment]
    assert program.crawl(site.url(), "--state", backup.state, "-o", "first").code == 0
    site.pages[path_of(200)] = late
    backup.restore()
    site.clear_log()
    result = program.crawl(site.url(), "--state", backup.restored, "-o", "restored")
    assert result.code == 0, result.err
    assert result.report["run"] == 1
    assert path_of(200) in site.paths()
    assert len(site.paths()) < 302
    assert sitemap(program, "first") == sitemap(program, "restored")
