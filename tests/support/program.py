"""The program, run as a user runs it, and the result that a user sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sitemap_crawler.validation.entries import read_entries
from tests.support.forks import READ_AT_START, Forks
from tests.support.inventories import database_url, translated

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT = 120


@cache
def forks() -> Forks:
    return Forks()


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one run of the command, as a user sees it."""

    code: int
    out: str
    err: str
    directory: Path

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.directory / "report.json").read_text(encoding="utf-8"))
        return report

    @property
    def last_line(self) -> str:
        """The message of a failed run: the one line on standard error that is no log line."""
        lines = [line for line in self.err.splitlines() if line.startswith("sitemap-crawler: ")]
        assert len(lines) == 1, self.err
        return lines[0].removeprefix("sitemap-crawler: ")

    def listed(self, name: str = "sitemap.xml") -> list[str]:
        return [entry.loc for entry in read_entries((self.directory / "sitemaps" / name).read_bytes())]


class Program:
    """The command `sitemap-crawler`, run in a directory of its own that also holds its state."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.output = directory / "sitemaps"
        self.variables: dict[str, str] = {}

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SCRAPY_", "SITEMAP_"))}
        database = database_url()
        given = {"SITEMAP_STATE": database} if database else {}
        return {**kept, "XDG_STATE_HOME": str(self.directory / "state"), **given, **self.variables}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "sitemap_crawler", *translated(arguments, self.directory)]

    def run(self, *arguments: str) -> Result:
        if any(name.startswith(READ_AT_START) for name in self.variables):
            result = self.execute(*self.command(*arguments))
        else:
            given = translated(arguments, self.directory)
            done = forks().run(given, cwd=self.directory, environment=self.environment(), timeout=TIMEOUT)
            result = Result(done.code, done.out, done.err, self.directory)
        assert "Traceback" not in result.err, result.err
        return result

    def run_killed(self, number: int, *arguments: str) -> Result:
        """Run the command, which kills itself just before the given one of its commits and renames."""
        assert not any(name.startswith(READ_AT_START) for name in self.variables)
        given = translated(arguments, self.directory)
        environment = self.environment()
        done = forks().run(given, cwd=self.directory, environment=environment, timeout=TIMEOUT, killed_at=number)
        return Result(done.code, done.out, done.err, self.directory)

    def execute(self, *command: str, **variables: str) -> Result:
        """Run any other command in the directory and the environment of the program."""
        done = subprocess.run(
            translated(command, self.directory),
            cwd=self.directory,
            env={**self.environment(), **variables},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr, self.directory)

    def crawl(self, url: str, *options: str) -> Result:
        return self.run("crawl", url, "--report", "report.json", *options)
