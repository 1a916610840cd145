"""What each command imports: counted in modules, as the time that it takes is another on every machine."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from conftest import Program

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
POSTPONED = {*TLS_OF_TWISTED, "twisted.web.iweb", "charset_normalizer.api"}


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
