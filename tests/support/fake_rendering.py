"""Crawls with a renderer without a browser, and a shop whose pages need one."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from sitemap_crawler.validation.entries import read_entries
from tests.support.fake_renderer import SETTING, shell
from tests.support.paths import ROOT
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.program import Program, Result
    from tests.support.webserver import Page

NOT_DUE = ("-s", "SITEMAP_REVISIT_EXCLUDED=1000000")
"""No page is rendered only because it is its turn."""
GIVEN = ("--render", "auto", "--browser", "/bin/true", "--browser-no-sandbox", "--state", "state.db", "-s", SETTING)
TEXT = "<p>" + "A page with a text of its own, as the server sends it. " * 5
"""More than a shell has."""


def with_fake_renderer(program: Program) -> Program:
    """Prepare the directory of a program for crawls with the options `GIVEN`."""
    program.variables["FAKE_RENDERER_LOG"] = str(program.directory / "renderings.log")
    # The renderer is imported from the directory of the run: with PYTHONPATH each run would import the program anew.
    (program.directory / "tests").symlink_to(ROOT / "tests")
    return program


def crawl(program: Program, site: WebServer, *options: str, mode: str = "auto") -> Result:
    result = program.crawl(site.url("/"), *GIVEN, "--render", mode, *options)
    assert result.code == 0, result.err
    return result


def listed(program: Program, site: WebServer, result: Result) -> set[str]:
    return {url.removeprefix(site.url("")) for url in result.listed()}


def explained(program: Program, site: WebServer, path: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(program.run("explain", site.url(path), "--state", "state.db", "--json").out)
    return answer


def lastmods(program: Program, site: WebServer) -> dict[str, str | None]:
    entries = read_entries((program.output / "sitemap.xml").read_bytes())
    return {entry.loc.removeprefix(site.url("")): entry.lastmod for entry in entries}


def validated(body: str | Callable[[], str], *, modified: str = "Mon, 06 Jul 2026 05:00:00 GMT") -> Page:
    """Return a page with validators as a file server sends them."""

    def answer(request: LoggedRequest) -> Answer:
        text = body if isinstance(body, str) else body()
        headers = {"ETag": f'"{blake2b(text.encode(), digest_size=8).hexdigest()}"', "Last-Modified": modified}
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Answer(status=304, headers=headers)
        return Answer(text, headers=headers)

    return answer


def unvalidated(body: str | Callable[[], str]) -> Page:
    return lambda _: Answer(body if isinstance(body, str) else body())


class Shop:
    """A start page that leads to two shells, each of which shows the answer to a request of its script."""

    def __init__(self, site: WebServer, *, is_conditional: bool = True) -> None:
        self.data = {"/data/a": "<p>The first thing</p>", "/data/b": "<p>The second thing</p>"}
        answer = validated if is_conditional else unvalidated
        site.pages["/"] = answer(page("/a", "/b", title="Shop", body=TEXT))
        site.pages["/a"] = answer(shell(fetch=["/data/a"], append='<a href="/c">c</a>'))
        site.pages["/b"] = answer(shell(fetch=["/data/b"], append=TEXT))
        site.pages["/c"] = answer(page(title="c"))
        for path in self.data:
            site.pages[path] = answer(lambda path=path: self.data[path])
