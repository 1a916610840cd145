"""Modules that each command imports. Their number is the same on every machine, unlike the time that they take."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

DRIVER = """
import json, sys
from sitemap_crawler.__main__ import main

if __name__ == "__main__":
    try:
        main()
    finally:
        print(json.dumps(list(sys.modules)), flush=True)
"""
CRAWL_LIBRARIES = {"scrapy", "twisted", "aiohttp", "lxml"}


def modules_of(program: Program, *arguments: str) -> set[str]:
    """Return the names of the modules that the process has imported when it ends."""
    done = program.execute(sys.executable, "-c", DRIVER, *arguments)
    assert done.code == 0, done.err
    return set(json.loads(done.out.splitlines()[-1]))


def test_help_imports_nothing_of_a_crawl(program: Program) -> None:
    modules = modules_of(program, "crawl", "--help")
    assert {"click", "pydantic"} <= modules
    assert not modules & {*CRAWL_LIBRARIES, "sqlalchemy", "rich", "tldextract", "filelock"}


def test_explain_imports_the_inventory_and_nothing_of_a_crawl(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    assert program.crawl(site.url(), "--state", "state.sqlite").code == 0
    modules = modules_of(program, "explain", site.url(), "--state", "state.sqlite")
    assert "sqlalchemy" in modules
    assert not modules & {*CRAWL_LIBRARIES, "rich", "tldextract"}


def test_a_quiet_crawl_imports_nothing_of_the_terminal(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    modules = modules_of(program, "crawl", site.url(), "-q")
    assert modules >= CRAWL_LIBRARIES
    assert "rich" not in modules


def test_all_that_was_printed_comes_before_the_end(program: Program, site: WebServer) -> None:
    """More than a pipe holds."""
    urls = [f"https://elsewhere.example/{'x' * 200}/{number}" for number in range(1_000)]
    site.pages["/"] = page(*urls)
    assert program.crawl(site.url(), "--state", "state.sqlite").code == 0
    result = program.execute(*program.command("pages", "--format", "jsonl", "--state", "state.sqlite"))
    assert {json.loads(line)["url"] for line in result.out.splitlines()} == {site.url(), *urls}
