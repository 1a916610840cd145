"""What docs/deploy/cron.md and contrib/ recommend for schedules, run as it stands there but for the paths."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import threading
import tomllib
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.config.options import Options
from sitemap_crawler.validation.entries import read_entries
from tests.support.documents import blocks
from tests.support.paths import ROOT
from tests.support.tools import MUST_RUN, find_tool, needs
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program

pytestmark = pytest.mark.slow

CRON_PAGE = ROOT / "docs" / "deploy" / "cron.md"
PROGRAM = "/opt/sitemap-crawler/bin/sitemap-crawler"


@pytest.fixture
def place(program: Program, site: WebServer) -> Path:
    """The machine's directories, with the site file of the page on cron in them."""
    root = program.directory
    for directory in ("etc/sitemap-crawler/sites", "var/lib/sitemap-crawler", "var/log/sitemap-crawler", "var/www"):
        (root / directory).mkdir(parents=True)
    [(_, text)] = blocks(CRON_PAGE, "toml")
    text = text.replace("https://www.example.com/", site.url("/"))
    (root / "etc/sitemap-crawler/sites/www.toml").write_text(relocated(text, root))
    site.pages.update({"/": page("/a"), "/a": page(title="a")})
    return root


def relocated(text: str, root: Path) -> str:
    return re.sub(r"(?<![\w:/])/(?=etc/|var/)", f"{root}/", text)


def crontab_line(document: Path) -> str:
    [(_, text)] = blocks(document, "crontab")
    return text.rstrip("\n")


def test_the_readme_has_the_same_line() -> None:
    assert crontab_line(ROOT / "README.md") == crontab_line(CRON_PAGE)


def crontab_command(root: Path) -> str:
    """What cron hands to the shell; the delay is left out, for half an hour is long."""
    line = crontab_line(CRON_PAGE)
    times = line.split()[:5]
    assert all(re.fullmatch(r"\*|\d+", time) for time in times)
    command = line.split(maxsplit=5)[5]
    assert "%" not in command
    [delay] = re.findall(r" --random-delay \d+", command)
    program = shlex.join([sys.executable, "-m", "sitemap_crawler"])
    return relocated(command.replace(delay, "").replace(PROGRAM, program), root)


def run_by_cron(root: Path, *, home: bool) -> subprocess.CompletedProcess[str]:
    # What Debian's cron gives: https://manpages.debian.org/bookworm/cron/crontab.5.en.html
    environment = {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "LOGNAME": "root"}
    if home:
        environment["HOME"] = str(root)
    if "PYTHONPATH" in os.environ:
        environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    return subprocess.run(
        ["/bin/sh", "-c", crontab_command(root)],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("home", [True, False])
def test_the_crontab_line_says_nothing_on_success(place: Path, site: WebServer, *, home: bool) -> None:
    for _ in range(2):
        done = run_by_cron(place, home=home)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    entries = read_entries((place / "var/www/html/sitemap.xml").read_bytes())
    assert [entry.loc for entry in entries] == [site.url("/"), site.url("/a")]
    log = (place / "var/log/sitemap-crawler/www.example.com.log").read_text()
    assert "published: 2 pages listed" in log
    assert "unchanged: " in log
    assert (place / "var/lib/sitemap-crawler/report.json").exists()


def test_the_crontab_line_says_one_line_on_failure(place: Path, site: WebServer) -> None:
    site.pages["/"] = Answer("down", status=500)
    done = run_by_cron(place, home=True)
    assert (done.returncode, done.stdout) == (3, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(
        f"sitemap-crawler: {place}/etc/sitemap-crawler/sites/www.toml: the start page {site.url('/')} "
    )
    assert "status 500" in line


def test_the_crontab_line_meets_a_run_that_is_at_work(place: Path, program: Program, site: WebServer) -> None:
    reached, released = threading.Event(), threading.Event()

    def slow(_request: LoggedRequest) -> Answer:
        reached.set()
        released.wait(60)
        return Answer(page())

    site.pages["/a"] = slow
    command = program.command("crawl", "-q", "-v", "--config", "etc/sitemap-crawler/sites/www.toml")
    first = subprocess.Popen(command, cwd=place, env=program.environment())
    try:
        assert reached.wait(60)
        done = run_by_cron(place, home=True)
        assert (done.returncode, done.stdout) == (4, "")
        [line] = done.stderr.splitlines()
        assert "another run (process " in line
        rotate(place)
        released.set()
        assert first.wait(60) == 0
    finally:
        released.set()
        first.kill()
        first.wait()
    if find_tool("logrotate") is not None:
        # The run wrote on to the file that was renamed.
        logs = place / "var/log/sitemap-crawler"
        assert sorted(path.name for path in logs.iterdir()) == ["www.example.com.log.1"]
        assert "published: " in (logs / "www.example.com.log.1").read_text()


def rotate(root: Path) -> None:
    logrotate = find_tool("logrotate")
    if logrotate is None and not MUST_RUN:
        return
    assert logrotate is not None
    rules = root / "rules"
    rules.write_text(relocated((ROOT / "contrib/logrotate/sitemap-crawler").read_text(), root))
    (root / "var/log/sitemap-crawler").chmod(0o755)
    rules.chmod(0o644)
    command = [str(logrotate), "--force", "--state", str(root / "rotated"), str(rules)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@needs("logrotate")
def test_logs_are_rotated(place: Path) -> None:
    logs = place / "var/log/sitemap-crawler"
    for _ in range(3):
        assert run_by_cron(place, home=True).returncode == 0
        rotate(place)
    assert sorted(path.name for path in logs.iterdir()) == [
        "www.example.com.log.1",
        "www.example.com.log.2.gz",
        "www.example.com.log.3.gz",
    ]


@needs("systemd-analyze")
def test_the_units_are_valid(tmp_path: Path) -> None:
    for unit in ("sitemap-crawler.service", "sitemap-crawler.timer"):
        text = (ROOT / "contrib/systemd" / unit).read_text()
        (tmp_path / unit).write_text(text.replace(PROGRAM, sys.executable))
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(tmp_path / unit)], capture_output=True, text=True, check=False
        )
        ours = [line for line in done.stderr.splitlines() if "sitemap-crawler" in line or str(tmp_path) in line]
        assert (done.returncode, ours) == (0, [])


def test_the_service_runs_the_command(place: Path, program: Program, site: WebServer) -> None:
    text = (ROOT / "contrib/systemd/sitemap-crawler.service").read_text()
    [command] = re.findall(r"(?m)^ExecStart=(.*)$", text)
    command = relocated(command.replace("${STATE_DIRECTORY}", "/var/lib/sitemap-crawler"), place)
    program_name, *arguments = shlex.split(command)
    assert program_name == PROGRAM
    result = program.run(*arguments)
    assert result.code == 0, result.err
    assert (place / "var/www/html/sitemap.xml").exists()


def test_the_site_file_is_usable(place: Path) -> None:
    values = tomllib.loads((place / "etc/sitemap-crawler/sites/www.toml").read_text())
    assert Options.parse(values).output == place / "var/www/html"


def test_the_readmes_site_file_is_the_same_but_for_the_log() -> None:
    [(_, short)], [(_, long)] = blocks(ROOT / "README.md", "toml"), blocks(CRON_PAGE, "toml")
    assert {**tomllib.loads(long), "log_file": None} == {**tomllib.loads(short), "log_file": None}
