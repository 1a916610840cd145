"""The commands and examples of README.md and docs/, run as they stand there.

The program reaches the hosts of the examples through a proxy on loopback (tests/support/example_site.py). Only https is
made http, and absolute paths get a directory of the test in front.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import TYPE_CHECKING

import click
import pytest

from sitemap_crawler.cli.main import commands as command_line
from sitemap_crawler.config.options import Options
from tests.support.documents import blocks, commands, documents, examples, name_of
from tests.support.example_site import WWW, pages
from tests.support.terminal import PROGRAM, Terminal, first_crawl_is_silent
from tests.support.webserver import page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program
    from tests.support.webserver import WebServer

pytestmark = pytest.mark.slow

RUN = (PROGRAM, "scrapy crawl")
"""Beginnings of commands that are run."""
NOT_RUN = {
    "https_proxy=": "needs a proxy with a login: tests/crawl/test_proxies.py has one",
    f"{PROGRAM} monitor": "needs accounts of search engines: tests/crawl/test_monitor.py has services on loopback",
    f"{PROGRAM} submit": "needs accounts of search engines: tests/crawl/test_submit_urls.py has services on loopback",
    "postgresql://": "needs a server: tests/crawl/test_postgresql.py has one",
    "--client-certificate": "needs a server with certificates: tests/crawl/test_certificates.py has one",
}
"""What commands of the program contain that are parsed and not run, and why."""
OTHERS = {
    "python3 -m venv": "installs; .ci/run runs the README's line with the tests",
    "/opt/sitemap-crawler/bin/pip": "installs",
    ".venv/bin/pip install": "installs",
    ".ci/run": "runs these tests",
    ".venv/bin/python -m pytest": "runs these tests",
    "/srv/scrapyd/bin/": "is Scrapyd's: tests/crawl/test_scrapyd.py installs, deploys and runs the same",
    "mkdir ": "makes the directories of Scrapyd",
    "cd ": "changes the directory",
    "printf ": "writes the configuration of Scrapyd",
    "curl ": "talks to Scrapyd: tests/crawl/test_scrapyd.py sends the same requests",
    "systemctl ": "needs systemd as the first process; the units are verified by tests/crawl/test_recipes.py",
    "journalctl ": "reads the journal of systemd",
    "install ": "makes files and directories as root",
    "useradd ": "adds a user as root",
    "apt-get ": "installs as root",
    "pg_dump ": "copies a schema of a database that is not here",
    "pg_restore ": "restores it",
    ".venv/bin/python benchmarks/": "takes hours: tests/crawl/test_benchmarks.py runs --quick",
    "SITEMAP_CRAWLER_": "are variables, set and checked by tests/crawl/test_access.py",
}
"""Beginnings of commands of other programs, and why they are not run here. The shell checks their form."""


def documents_with(language: str) -> list[Path]:
    return [document for document in documents() if blocks(document, language)]


def all_commands() -> list[str]:
    return [
        command for document in documents() for block in blocks(document, "sh") for command in commands(block)
    ]  # fmt: skip


def is_run(command: str) -> bool:
    return command.startswith(RUN) and not any(part in command for part in NOT_RUN)


@pytest.fixture
def terminal(program: Program, site: WebServer) -> Terminal:
    return Terminal(program, site)


def commands_run(document: Path) -> list[str]:
    return [command for block in blocks(document, "sh") for command in filter(is_run, commands(block))]


@pytest.mark.parametrize("document", [one for one in documents() if commands_run(one)], ids=name_of)
def test_the_commands_of_a_document_work(document: Path, program: Program, terminal: Terminal, site: WebServer) -> None:
    """They run after two crawls, between which the site has changed; each has to exit with 0."""
    assert program.run("crawl", "-q", f"{WWW}/").code == 0
    site.pages[f"{WWW}/docs/page"] = page("/docs/", title="A page", body="<p>Now with another paragraph.</p>")
    site.pages[f"{WWW}/new"] = page("/", title="New")
    site.pages[f"{WWW}/about"] = page("/team", "/new", title="About")
    assert program.run("crawl", "-q", f"{WWW}/").code == 0
    for command in commands_run(document):
        done = terminal.run(command)
        # The sitemap of the example site has faults, and the validator has to name them.
        found_faults = " validate " in f" {command} " and "is not valid" in done.err
        assert (done.code, command) == (int(found_faults), command), done.err


@pytest.mark.parametrize("document", documents_with("console"), ids=name_of)
def test_the_examples_of_a_document_are_what_the_program_prints(document: Path, terminal: Terminal) -> None:
    """They run in order, after a crawl if they do not begin with one; times are not compared."""
    shown = [example for block in blocks(document, "console") for example in examples(block)]
    if first_crawl_is_silent(shown):
        assert terminal.run(f"{PROGRAM} crawl -q {WWW}/").code == 0
    for command, output in shown:
        printed = terminal.printed(command)
        assert timeless(printed) == timeless(output), f"{command}: run python -m tests.support.write_examples"


def timeless(output: str) -> str:
    """Leave out times of day of this run, and how long it took."""
    output = re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00(?!\s*\()", "TIME", output)
    output = re.sub(r"(?m)^(│ seconds +│ +)[\d.]+( │)$", lambda match: f"{match[1].rstrip()} SECONDS{match[2]}", output)
    return output.rstrip()


@pytest.mark.parametrize("part", NOT_RUN)
def test_commands_that_cannot_run_here_have_good_options(part: str) -> None:
    chosen = [command for command in all_commands() if part in command and is_parsed(command)]
    assert chosen, f"no document has a command with {part}: remove it from NOT_RUN"
    for command in chosen:
        words = shlex.split(command[command.rindex(f"{PROGRAM} ") :], comments=True)
        name, *arguments = words[1:]
        parsed = command_line.commands[name].make_context(name, arguments).params
        given = {key: value for key, value in parsed.items() if key in Options.model_fields and value}
        Options.parse({"start_url": WWW, **given})


def test_every_other_command_is_known() -> None:
    others = [command for command in all_commands() if not command.startswith(RUN) and not is_parsed(command)]
    unknown = [command for command in others if not command.startswith(tuple(OTHERS))]
    assert unknown == [], "run them here, or say in OTHERS why not"
    unused = [start for start in OTHERS if not any(command.startswith(start) for command in others)]
    assert unused == []


def is_parsed(command: str) -> bool:
    return f"{PROGRAM} " in command and any(part in command for part in NOT_RUN)


def test_there_are_commands_and_examples() -> None:
    assert len([command for command in all_commands() if is_run(command)]) >= 40
    assert len(documents_with("console")) >= 2
    assert {
        command for command, known in command_line.commands.items() if not (known.hidden or shown(command))
    } == set()


def shown(name: str) -> bool:
    return any(command.startswith(f"{PROGRAM} {name} ") for command in all_commands())


@pytest.mark.parametrize("document", documents_with("sh"), ids=name_of)
def test_the_shell_understands_every_block(document: Path) -> None:
    for block in blocks(document, "sh"):
        done = subprocess.run(["/bin/sh", "-n", "-c", block.text], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_example_site_has_what_the_documents_name() -> None:
    """An address that does not exist would be explained as unknown, with exit code 0."""
    known = {url.replace("http://", "https://") for url in pages()} | {"https://www.example.com/docs/removed"}
    named = {word for command in all_commands() if f"{PROGRAM} explain" in command for word in shlex.split(command)}
    assert {word for word in named if word.startswith("https://")} <= known


def test_wrong_options_are_noticed(terminal: Terminal) -> None:
    assert terminal.run(f"{PROGRAM} crawl {WWW}/ --no-such-option").code == 2
    with pytest.raises(click.NoSuchOption):
        command_line.commands["crawl"].make_context("crawl", ["--no-such-option"])
