"""A real Scrapyd in a virtual environment of its own, on a free loopback port.

The environment has the dependencies that these tests run with (its path leads to links to them), but not the package
itself: that comes in an egg, by scrapyd-deploy, or not at all.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TIMEOUT = 60
REQUIREMENTS = ("scrapyd==1.6.*", "scrapyd-client", "setuptools>=77,<81")
"""Requirements as in docs/deploy/scrapyd.md: older setuptools lack the license field, newer ones lack pkg_resources."""

NOT_LENT = ("sitemap_crawler", "__editable__", "pip", "setuptools", "pkg_resources", "_distutils_hack", "__pycache__")
PROJECT = ("pyproject.toml", "setup.py", "scrapy.cfg", "README.md", "LICENSE", "sitemap_crawler")

_open = build_opener(ProxyHandler({})).open


class NoIndexError(Exception):
    """No package index can be reached."""


def make_environment(directory: Path) -> Path:
    """Create a virtual environment with Scrapyd and return its directory of programs. Raises NoIndexError."""
    venv.create(directory, with_pip=False, symlinks=True)
    lent = directory / "lent"
    lent.mkdir()
    for entry in _installed():
        if not entry.name.startswith(NOT_LENT) and entry.suffix != ".pth":
            (lent / entry.name).symlink_to(entry)
    python = directory / "bin" / "python"
    (_site_packages(directory) / "lent.pth").write_text(f"{lent}\n")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--retries", "1"]
    done = subprocess.run(
        [*command, *REQUIREMENTS], env=environment(), capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode:
        unreachable = ("(from versions: none)", "Max retries", "ConnectionError", "ConnectTimeoutError")
        if any(word in done.stderr for word in unreachable):
            raise NoIndexError(done.stderr.strip().splitlines()[-1])
        raise AssertionError(done.stderr)
    return python.parent


def _installed() -> Iterable[Path]:
    entries = {}
    for key in ("purelib", "platlib"):
        for entry in Path(sysconfig.get_path(key)).iterdir():
            entries[entry.name] = entry
    return entries.values()


def _site_packages(directory: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(directory), "platbase": str(directory)}))


def environment(**variables: str) -> dict[str, str]:
    """Return an environment that neither leads to the package nor chooses settings."""
    ours = ("SCRAPY_", "SITEMAP_", "PYTHON", "COV_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | variables


def copy_checkout(directory: Path) -> None:
    directory.mkdir()
    for name in PROJECT:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, directory / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, directory / name)


class Scrapyd:
    """Scrapyd server that runs during a `with` block, in a directory that also holds the state of its user."""

    def __init__(self, programs: Path, directory: Path, settings: Mapping[str, str]) -> None:
        self.directory = directory
        self.programs = programs
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        lines = [f"{name} = {value}" for name, value in settings.items()]
        config = ["[scrapyd]", f"http_port = {port}", "poll_interval = 0.1", *lines, ""]
        (directory / "scrapyd.conf").write_text("\n".join(config))
        self._log = directory / "scrapyd.log"

    def __enter__(self) -> Scrapyd:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [self.programs / "scrapyd"],
                cwd=self.directory,
                env=environment(no_proxy="127.0.0.1", XDG_STATE_HOME=str(self.directory / "state")),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._until(self._answers, "Scrapyd does not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(TIMEOUT)

    def _answers(self) -> bool:
        try:
            return bool(self.get("daemonstatus.json")["status"] == "ok")
        except OSError:
            assert self._process.poll() is None, self.own_log()
            return False

    def _until(self, reached: Any, otherwise: str) -> None:
        end = time.monotonic() + TIMEOUT
        while not reached():
            assert time.monotonic() < end, f"{otherwise}: {self.own_log()}"
            time.sleep(0.05)

    def own_log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def get(self, service: str, **query: str) -> dict[str, Any]:
        with _open(f"{self.url}/{service}?{urlencode(query)}", timeout=TIMEOUT) as answer:
            return dict(json.load(answer))

    def post(self, service: str, fields: Iterable[tuple[str, str]]) -> dict[str, Any]:
        with _open(f"{self.url}/{service}", urlencode(list(fields)).encode(), timeout=TIMEOUT) as answer:
            return dict(json.load(answer))

    def schedule(self, job: str, *, settings: Iterable[str] = (), **arguments: str) -> None:
        fields = [("project", "sitemap_crawler"), ("spider", "site"), ("jobid", job), *arguments.items()]
        answer = self.post("schedule.json", [*fields, *(("setting", text) for text in settings)])
        assert (answer["status"], answer["jobid"]) == ("ok", job), answer

    def cancel(self, job: str) -> dict[str, Any]:
        return self.post("cancel.json", [("project", "sitemap_crawler"), ("job", job)])

    def wait(self, job: str) -> str:
        """Wait until the job has finished and return its log."""

        def finished() -> bool:
            return any(entry["id"] == job for entry in self.get("listjobs.json")["finished"])

        self._until(finished, f"job {job} does not end")
        log = self.directory / "logs" / "sitemap_crawler" / "site" / f"{job}.log"
        text = log.read_text(encoding="utf-8")
        assert "Traceback" not in text + self.own_log()
        return text

    def exit_of(self, job: str) -> str:
        """Return the line of Scrapyd's own log about the end of the job's process."""
        [line] = [
            line for line in self.own_log().splitlines() if f"job='{job}'" in line and "Process started" not in line
        ]
        return line.partition("] ")[2].partition(" project=")[0]
