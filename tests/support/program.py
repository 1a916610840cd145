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
from tests.support.forks import READ_AT_START, Fork, Forks, Job
from tests.support.inventories import database_url, translated

if TYPE_CHECKING:
    from collections.abc import Sequence
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
        self.hook: Path | None = None
        """A file sitecustomize.py that is executed in each process of the program before its command."""

    def patch(self, code: str) -> None:
        """Execute Python code in each process of the program before its command, which may change the program."""
        self.hook = self.directory / "patch" / "sitecustomize.py"
        self.hook.parent.mkdir(exist_ok=True)
        self.hook.write_text(code)

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SCRAPY_", "SITEMAP_"))}
        database = database_url()
        given = {"SITEMAP_STATE": database} if database else {}
        if self.hook is not None:
            # The program itself may be on that path.
            path = [str(self.hook.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
            given["PYTHONPATH"] = os.pathsep.join(path)
        return {**kept, "XDG_STATE_HOME": str(self.directory / "state"), **given, **self.variables}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "sitemap_crawler", *translated(arguments, self.directory)]

    def run(self, *arguments: str, text: str | None = None) -> Result:
        """Run the command. `text` is its standard input."""
        if text is not None:
            running = self.start(*arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            out, err = running.communicate(TIMEOUT, text=text)
            result = Result(running.wait(), out, err, self.directory)
        elif any(name.startswith(READ_AT_START) for name in self.variables):
            result = self.execute(*self.command(*arguments))
        else:
            done = forks().run(self._job(arguments), timeout=TIMEOUT)
            result = Result(done.code, done.out, done.err, self.directory)
        assert "Traceback" not in result.err, result.err
        return result

    def run_killed(self, number: int, *arguments: str) -> Result:
        """Run the command, which kills itself just before the given one of its commits and renames."""
        done = forks().run(self._job(arguments, killed_at=number), timeout=TIMEOUT)
        return Result(done.code, done.out, done.err, self.directory)

    def start(
        self,
        *arguments: str,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        new_session: bool = False,
        **variables: str,
    ) -> Fork:
        """Start the command, which runs while the test goes on. The streams are as for `subprocess.Popen`."""
        job = self._job(arguments, new_session=new_session, **variables)
        return forks().start(job, stdin=stdin, stdout=stdout, stderr=stderr)

    def _job(
        self, arguments: Sequence[str], *, killed_at: int | None = None, new_session: bool = False, **variables: str
    ) -> Job:
        environment = {**self.environment(), **variables}
        unseen = [name for name in (*self.variables, *variables) if name.startswith(READ_AT_START)]
        assert not unseen, f"a fork does not see {unseen}: execute the command"
        given = translated(arguments, self.directory)
        return Job(given, self.directory, environment, self.hook, killed_at, new_session)

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
