"""What each command imports: counted in modules, as the time that it takes is another on every machine."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

DRIVER = """
import gc, json, ssl, sys
from sitemap_crawler.__main__ import main

def tell():
    gc.unfreeze()
    contexts = [found for found in gc.get_objects() if isinstance(found, ssl.SSLContext)]
    authorities = sum(context.cert_store_stats()["x509"] for context in contexts)
    print(json.dumps({"modules": list(sys.modules), "contexts": len(contexts), "authorities": authorities}), flush=True)

if __name__ == "__main__":
    try:
        main()
    finally:
        tell()
"""
THE_CRAWL = {"scrapy", "twisted", "aiohttp", "lxml"}
TLS_OF_TWISTED = {"twisted.internet.tcp", "twisted.internet.ssl", "OpenSSL", "cryptography", "service_identity"}
POSTPONED = {*TLS_OF_TWISTED, "twisted.web.iweb", "twisted.internet.base", "charset_normalizer.api"}
ADDED = """
import atexit

from twisted.internet.task import LoopingCall

print("imported")


class Ticks(LoopingCall):
    pass


class Extension:
    def __init__(self):
        print(Ticks.__mro__[1], isinstance(self, LoopingCall))
        atexit.register(print, "called at the end", end="")

    @classmethod
    def from_crawler(cls, crawler):
        return cls()
"""


def run(program: Program, *arguments: str) -> dict[str, Any]:
    """What the process had at its end."""
    done = program.execute(sys.executable, "-c", DRIVER, *arguments)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out.splitlines()[-1])
    return found


def test_help_imports_nothing_of_a_crawl(program: Program) -> None:
    modules = set(run(program, "crawl", "--help")["modules"])
    assert {"click", "pydantic"} <= modules
    assert not modules & {*THE_CRAWL, "sqlalchemy", "rich", "tldextract", "filelock"}


def test_explain_imports_the_inventory_and_nothing_of_a_crawl(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    assert program.crawl(site.url(), "--state", "state.sqlite").code == 0
    modules = set(run(program, "explain", site.url(), "--state", "state.sqlite")["modules"])
    assert "sqlalchemy" in modules
    assert not modules & {*THE_CRAWL, "rich", "tldextract"}


def test_a_crawl_leaves_what_it_does_not_use(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    found = run(program, "crawl", site.url(), "-q")
    assert set(found["modules"]) >= THE_CRAWL
    assert not set(found["modules"]) & {*POSTPONED, "rich"}
    # Those of aiohttp.
    assert (found["contexts"], found["authorities"]) == (2, 0)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("LOG_VERSIONS=Scrapy,pyOpenSSL", "'pyOpenSSL': '"),
        ("RETRY_TIMES=1", "500 Internal Server Error"),
        ("TWISTED_REACTOR_ENABLED=1", "twisted.internet.asyncioreactor.AsyncioSelectorReactor"),
    ],
)
def test_what_is_left_is_there_when_it_is_asked_for(
    program: Program, site: WebServer, setting: str, words: str
) -> None:
    site.pages.update({"/": page("/a"), "/a": Answer(status=500)})
    result = program.crawl(site.url(), "-vv", "-s", setting)
    assert result.code == 0, result.err
    assert words in result.err


def test_an_added_component_gets_the_real_thing_and_is_called_at_the_end(program: Program, site: WebServer) -> None:
    """It may derive a class of what Scrapy got a stand-in for; what it registers for the exit is done before that."""
    site.pages["/"] = page()
    (program.directory / "added.py").write_text(ADDED, encoding="utf-8")
    program.variables = {"PYTHONPATH": os.pathsep.join([str(program.directory), os.environ.get("PYTHONPATH", "")])}
    command = program.command("crawl", site.url(), "-q", "-s", 'EXTENSIONS={"added.Extension": 1}')
    result = program.execute(*command)
    assert (result.code, result.err) == (0, "")
    assert result.out == "imported\n<class 'twisted.internet.task.LoopingCall'> False\ncalled at the end"


def test_what_was_registered_before_it_began_is_called_at_the_end(program: Program) -> None:
    """As agents and `.pth` files do."""
    code = "import atexit; atexit.register(print, 'called last'); from sitemap_crawler.__main__ import main; main()"
    result = program.execute(sys.executable, "-c", code, "validate", "missing.xml")
    assert (result.code, result.out) == (2, "called last\n")


def test_all_that_was_printed_comes_before_the_end(program: Program, site: WebServer) -> None:
    """More than a pipe holds."""
    urls = [f"https://elsewhere.example/{'x' * 200}/{number}" for number in range(1_000)]
    site.pages["/"] = page(*urls)
    assert program.crawl(site.url(), "--state", "state.sqlite").code == 0
    result = program.execute(*program.command("pages", "--format", "jsonl", "--state", "state.sqlite"))
    assert {json.loads(line)["url"] for line in result.out.splitlines()} == {site.url(), *urls}
