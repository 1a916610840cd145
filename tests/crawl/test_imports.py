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
FRAMEWORK = "scrapy.crawler, aiohttp, click, pydantic.types, sqlalchemy.dialects.sqlite"
"""What every crawl needs. With Scrapy come Twisted's TLS and cryptography, which a crawl of http does not use."""
OPTIONAL = {
    "crawl.access_logs",
    "crawl.listed",
    "crawl.rendering",
    "crawl.rendering.browser",
    "crawl.rendering.protocol",
    "crawl.rendering.renderer",
    "crawl.url_lists",
    "extract.access_logs",
    "extract.url_lists",
    "extract.videos.supplied",
    "inventory.renderings",
    "publish.list_entries",
    "publish.supplied",
    "report.explain",
    "sitemap.page_list",
    "sitemap.page_template",
    "validation",
}
"""Modules for options and commands that a plain crawl does not have."""


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


def test_a_crawl_imports_nothing_of_search_engines(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    modules = modules_of(program, "crawl", site.url(), "-q")
    engines = {"sitemap_crawler.search_engines", "sitemap_crawler.inventory.submissions", "google.auth"}
    assert not [name for name in modules if name in engines or name.startswith("sitemap_crawler.search_engines.")]


def test_a_crawl_imports_nothing_of_tls_that_scrapy_does_not(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    listing = f"import json, sys, {FRAMEWORK}; print(json.dumps(list(sys.modules)))"
    framework = set(json.loads(program.execute(sys.executable, "-c", listing).out))
    added = modules_of(program, "crawl", site.url(), "-q") - framework
    tls = {"twisted", "OpenSSL", "cryptography", "service_identity"}
    assert not [name for name in added if name.partition(".")[0] in tls]
    # Any other library that is imported costs each crawl time.
    libraries = {name.partition(".")[0] for name in added} - sys.stdlib_module_names
    assert libraries <= {"ada_url", "platformdirs", "pydantic", "scrapy", "sitemap_crawler"}


def test_a_plain_crawl_imports_nothing_of_lists_and_other_commands(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    modules = modules_of(program, "crawl", site.url(), "-q")
    assert not modules & {f"sitemap_crawler.{name}" for name in OPTIONAL}


def test_the_modules_of_lists_have_their_names(program: Program) -> None:
    """Else the test above would hold for modules that were renamed."""
    found = "; ".join(f"importlib.util.find_spec('sitemap_crawler.{name}').name" for name in sorted(OPTIONAL))
    done = program.execute(sys.executable, "-c", f"import importlib.util; {found}")
    assert done.code == 0, done.err


def test_all_that_was_printed_comes_before_the_end(program: Program, site: WebServer) -> None:
    """More than a pipe holds."""
    urls = [f"https://elsewhere.example/{'x' * 200}/{number}" for number in range(1_000)]
    site.pages["/"] = page(*urls)
    assert program.crawl(site.url(), "--state", "state.sqlite").code == 0
    result = program.execute(*program.command("pages", "--format", "jsonl", "--state", "state.sqlite"))
    assert {json.loads(line)["url"] for line in result.out.splitlines()} == {site.url(), *urls}
