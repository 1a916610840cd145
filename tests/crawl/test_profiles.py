"""Which settings a run builds on: Scrapy's environment variables, our scrapy.cfg, and one of somebody else."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.paths import ROOT
from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program, Result

OURS = "[settings]\ndefault = sitemap_crawler.settings\nnightly = profile_nightly\n"
BASE = "from sitemap_crawler.settings import *\n"


def in_checkout(program: Program, *command: str, **variables: str) -> Result:
    """Run it in the directory of the project, but for what it writes."""
    from tests.support.program import Result

    environment = {**program.environment(), **variables}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return Result(done.returncode, done.stdout, done.stderr, program.directory)


def places(program: Program) -> list[str]:
    directory = program.directory
    return [f"-sSITEMAP_OUTPUT={directory / 'sitemaps'}", f"-sSITEMAP_STATE={directory / 'state.sqlite'}"]


def test_the_command_by_the_profile_for_cron(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/a")
    command = program.command("crawl", site.url("/"), *places(program))
    result = in_checkout(program, *command, SCRAPY_PROJECT="cron")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert result.listed() == [site.url("/")]


def test_scrapy_crawl_by_the_profile_for_cron(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={site.url('/')}", *places(program)]
    result = in_checkout(program, *command, SCRAPY_PROJECT="cron")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert result.listed() == [site.url("/")]


def test_options_win_over_the_profile(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    command = program.command("crawl", site.url("/"), "-v", *places(program))
    result = in_checkout(program, *command, SCRAPY_PROJECT="cron")
    assert "INFO: published" in result.err


def test_what_cannot_be_used_is_one_line(program: Program, site: WebServer) -> None:
    program.variables["SCRAPY_SETTINGS_MODULE"] = "os.path"
    result = program.run("crawl", site.url("/"))
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "SCRAPY_SETTINGS_MODULE=os.path" in result.last_line
    assert site.paths() == []


def test_the_children_of_several_sites_have_the_profile(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    (program.directory / "scrapy.cfg").write_text(OURS)
    (program.directory / "profile_nightly.py").write_text(BASE + "USER_AGENT = 'nightly/1.0'\nSITEMAP_QUIET = True\n")
    (program.directory / "sites").mkdir()
    (program.directory / "sites" / "a.toml").write_text(f'start_url = "{site.url("/")}"\n')
    program.variables["SCRAPY_PROJECT"] = "nightly"
    result = program.run("crawl", "--config", "sites")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert {request.headers["user-agent"] for request in site.requests} == {"nightly/1.0"}
    assert os.listdir(program.directory / "sitemaps") == ["sitemap.xml"]  # noqa: PTH208 - names are all that is asked
