"""Sites whose pages link to ever new addresses: what a user is told of a crawl that does not end."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

FAST = ("--no-adaptive", "--workers", "0")


def build_endless(site: WebServer) -> None:
    """Each page of a list links to two further pages of the list, and to one of a list that each project has."""

    def numbered(request: LoggedRequest) -> Answer:
        number = int(request.path.rpartition("=")[2])
        further = (2 * number + 1, 2 * number + 2)
        links = [f"/issues?sort={one}" for one in further]
        links.append(f"/projects/p{'abcdefghij'[number % 10]}{number}/issues?sort={number}")
        return Answer(page(*links, title=f"Issue {number}"))

    site.pages.update({"/": page("/issues?sort=0"), "/issues": numbered})
    site.respond = lambda request: (  # type: ignore[method-assign]
        Answer(page(title=request.path)) if request.path.startswith("/projects/") else WebServer.respond(site, request)
    )


def test_the_summary_says_that_max_pages_ended_the_run(program: Program, site: WebServer) -> None:
    build_endless(site)
    result = program.crawl(site.url("/"), *FAST, "--max-pages", "20", "--state", "state.db")
    assert (result.code, result.report["requests"]) == (0, 21)
    waiting = result.report["waiting"]
    assert waiting > 0
    line = (
        f"--max-pages 20 ended the run: {waiting:,} known URLs were not requested and may be missing in the sitemap; "
        "crawl with a larger --max-pages, or without it, to request all"
    )
    assert result.report["notices"][0] == line
    assert line in result.out.splitlines()
    again = program.run("write", "--state", "state.db")
    assert again.code == 0
    assert line.replace("--max-pages 20", "--max-pages") in again.out.splitlines()


def test_a_limit_that_leaves_nothing_out_is_not_mentioned(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page("/")})
    result = program.crawl(site.url("/"), "--max-pages", "2")
    assert (result.code, result.report["notices"], result.report["waiting"]) == (0, [], 0)
    assert "--max-pages" not in result.out


def test_urls_of_a_shape_that_keeps_failing_are_tried_once(program: Program, site: WebServer) -> None:
    broken = [f"/show/{number}?raw=1" for number in range(40)]
    site.pages["/"] = page(*broken, "/other/1", "/other/2")
    for path in (*broken, "/other/1", "/other/2"):
        site.pages[path] = Answer("broken", status=500)
    result = program.crawl(site.url("/"), *FAST, "--concurrency", "1")
    assert result.code == 0, result.err
    requests = Counter(site.paths())
    assert [requests[path] for path in broken[:15]] == [3] * 15
    assert [requests[path] for path in broken[-15:]] == [1] * 15
    assert [requests[path] for path in ("/other/1", "/other/2")] == [3, 3]
    assert result.report["excluded"] == {"server-error": 42}


def test_an_answer_brings_back_the_attempts(program: Program, site: WebServer) -> None:
    broken = [f"/show/{number}" for number in range(60)]
    site.pages["/"] = page(*broken)
    site.pages.update(dict.fromkeys(broken, Answer("broken", status=500)))
    site.pages[broken[30]] = page(title="It works again")
    result = program.crawl(site.url("/"), *FAST, "--concurrency", "1")
    assert result.code == 0, result.err
    requests = Counter(site.paths())
    assert requests[broken[28]] == 1
    assert [requests[path] for path in broken[33:45]] == [3] * 12
    assert requests[broken[-1]] == 1
