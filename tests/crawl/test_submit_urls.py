"""`submit` to IndexNow: which URLs are sent, when, and how often."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.inventory.unlocked import UnlockedInventory
from sitemap_crawler.search_engines.changed_urls import crawled_urls, listed_urls
from tests.support.announced_site import AnnouncedSite
from tests.support.search_engines import INDEXNOW_KEY, FakeIndexNow, indexnow_error
from tests.support.webserver import Answer

if TYPE_CHECKING:
    from tests.support.program import Program
    from tests.support.webserver import WebServer

pytestmark = pytest.mark.slow


@pytest.fixture
def announced(program: Program, site: WebServer, engine: FakeIndexNow) -> AnnouncedSite:
    return AnnouncedSite.for_indexnow(program, site, engine)


def sent(engine: FakeIndexNow) -> list[list[str]]:
    """The paths of each batch."""
    return [[url.partition("/p/")[2] or "/" for url in batch["urlList"]] for batch in engine.batches()]


def test_the_first_use_sends_nothing_and_later_ones_send_changes(
    announced: AnnouncedSite, engine: FakeIndexNow
) -> None:
    assert announced.publish("/p/a", "/p/b").code == 0
    result = announced.submit()
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        f"indexnow {announced.host}: unchanged: first use, so nothing was sent: changes from now on are sent; "
        "--all sends all pages (3)\n"
    )
    assert engine.requests == []
    assert announced.publish("/p/a", "/p/c", dates={"/p/a": "2024-02-02"}).code == 0
    result = announced.submit()
    assert (result.code, result.err) == (0, "")
    assert result.out == f"indexnow {announced.host}: accepted (200): 1 added, 2 changed, 1 removed\n"
    urls = [announced.server.url(path) for path in ("/", "/p/a", "/p/b", "/p/c")]
    assert engine.batches() == [{"host": announced.host, "key": INDEXNOW_KEY, "urlList": urls}]
    assert announced.submit().out.endswith("unchanged: nothing has changed since the last submission\n")
    assert len(engine.requests) == 1


def test_a_refused_batch_is_sent_again_and_others_are_not(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    """The 10,000 URLs of a batch are too many for a crawl: the inventory gets pages that were not crawled."""
    announced.publish("/p/a")
    announced.submit()
    announced.add_listed(20_001)
    engine.answer_next("send", Answer(), indexnow_error(422, "InvalidUrls"), Answer())
    result = announced.submit()
    assert (result.code, len(result.err.splitlines())) == (1, 1)
    assert [len(batch["urlList"]) for batch in engine.batches()] == [10_000, 10_000, 1]
    refused = engine.batches()[1]["urlList"]
    for wait in (0, 601):
        announced.let_pass(wait)
        engine.clear_log()
        assert announced.submit().code == 0
        assert [batch["urlList"] for batch in engine.batches()] == ([] if wait else [refused])


def test_all_pages_are_sent_once(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    announced.publish("/p/a", "/p/b")
    for wait in (0, 601):
        announced.let_pass(wait)
        assert announced.submit("--all").code == 0
    assert sent(engine) == [["/", "a", "b"]]
    assert announced.submit("--all", "--force").code == 0
    assert len(engine.requests) == 2
    announced.publish("/p/b", "/p/c")
    announced.let_pass(601)
    assert announced.submit("--all").code == 0
    assert sent(engine)[-1] == ["/", "a", "b", "c"]


def test_what_a_refused_submission_of_all_pages_left_is_sent_later(
    announced: AnnouncedSite, engine: FakeIndexNow
) -> None:
    announced.publish("/p/a", "/p/b")
    engine.answer_next("send", indexnow_error(422, "InvalidUrls"))
    assert announced.submit("--all").code == 1
    assert announced.submit().code == 0
    assert sent(engine) == [["/", "a", "b"]] * 2
    announced.let_pass(601)
    announced.submit()
    assert len(engine.requests) == 2


def test_a_dry_run_says_what_would_not_be_sent(announced: AnnouncedSite) -> None:
    announced.publish("/p/a")
    start = f"indexnow {announced.host}:"
    first = "first use, so nothing would be sent: changes from now on are sent; --all sends all pages (2)"
    assert announced.submit("--dry-run").out == f"{start} planned: {first}\n"
    pages = "".join(f"  added {announced.server.url(path)}\n" for path in ("/", "/p/a"))
    assert announced.submit("--all", "--dry-run").out == f"{pages}{start} planned: 2 added; not sent: --dry-run\n"
    assert announced.submit("--all", "--dry-run", "--quiet").out == ""
    assert announced.submit("--all").code == 0
    assert announced.submit("--dry-run").out == f"{start} unchanged: nothing has changed since the last submission\n"
    accepted = "all pages were accepted as they are; --force sends them again"
    assert announced.submit("--all").out == f"{start} unchanged: {accepted}\n"


def test_a_dry_run_counts_what_would_be_sent_at_this_moment(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    def rehearsed(*options: str) -> list[tuple[str, dict[str, int]]]:
        before = announced.state.read_bytes()
        rows = announced.results("--dry-run", *options)
        assert announced.state.read_bytes() == before
        return [(row["outcome"], row["urls"]) for row in rows]

    def counts(added: int) -> dict[str, int]:
        return {"added": added, "changed": 0, "removed": 0}

    announced.publish("/p/a", "/p/b")
    assert rehearsed("--all") == [("planned", counts(3))]
    engine.answer_next("send", Answer(drop=True))
    assert announced.submit("--all").code == 4
    assert rehearsed("--all") == [("later", counts(0))]
    announced.let_pass(601)
    assert rehearsed("--all") == [("planned", counts(3))]
    assert announced.submit("--all").code == 0
    assert rehearsed("--all") == [("unchanged", counts(0))]
    # What was accepted ten minutes ago is sent again by --force.
    assert rehearsed("--all", "--force") == [("unchanged", counts(0))]
    announced.let_pass(601)
    assert rehearsed("--all", "--force") == [("planned", counts(3))]
    announced.publish("/p/a", "/p/b", "/p/c")
    # The start page links to the new page.
    assert rehearsed() == [("planned", {"added": 1, "changed": 1, "removed": 0})]
    assert len(engine.requests) == 2


def test_changes_are_netted(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    announced.publish("/p/a")
    announced.submit()
    announced.publish("/p/a", "/p/b", "/p/c")
    announced.publish("/p/a", "/p/b")
    assert announced.submit().code == 0
    assert sent(engine) == [["/", "b"]]


def test_a_page_that_changes_again_is_sent_after_ten_minutes(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    announced.publish("/p/a")
    announced.submit()
    announced.publish("/p/a", "/p/b")
    announced.submit()
    announced.publish("/p/a")
    [row] = announced.results()
    assert (row["outcome"], row["retry_after"], len(engine.requests)) == ("later", 600.0, 1)
    assert announced.submit().code == 4
    announced.let_pass(601)
    assert announced.submit().code == 0
    assert sent(engine) == [["/", "b"], ["/", "b"]]


def test_a_removed_page_is_sent_with_proof_only(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    names = ("gone", "moved", "hidden", "elsewhere", "asset")
    announced.publish(*(f"/p/{name}" for name in names))
    announced.submit()
    pages = announced.server.pages
    canonical = f'<link rel="canonical" href="{announced.server.url("/")}">'
    robots = '<meta name="robots" content="noindex">'
    answers = {
        "gone": Answer(status=410),
        "moved": Answer(status=301, headers={"Location": "/"}),
        "hidden": Answer(f"<html><head>{robots}</head></html>"),
        "elsewhere": Answer(f"<html><head>{canonical}</head></html>"),
        "asset": Answer("x", content_type="text/css"),
    }
    pages.update({f"/p/{name}": answer for name, answer in answers.items()})
    assert announced.program.run("crawl", "--config", "site.toml", "-q", "--allow-shrink").code == 0
    assert announced.submit().out.endswith("accepted (200): 3 removed\n")
    assert sent(engine) == [["gone", "hidden", "moved"]]


def test_changes_that_are_not_kept_are_not_guessed(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    announced.publish("/p/a")
    announced.submit()
    announced.options["keep_runs"] = 1
    announced.publish("/p/a", "/p/b")
    announced.publish("/p/a", "/p/c")
    result = announced.submit()
    assert result.code == 3
    assert "the changes up to run 2 are no longer stored (keep_runs)" in result.last_line
    assert "--all" in result.last_line
    assert "--rebase" in result.last_line
    assert announced.submit("--rebase").code == 0
    assert engine.requests == []
    announced.publish("/p/a", "/p/c", "/p/d")
    assert announced.submit().code == 0
    assert sent(engine) == [["/", "d"]]


def test_the_numbers_of_publications_go_on_when_their_changes_are_forgotten(
    announced: AnnouncedSite, engine: FakeIndexNow
) -> None:
    announced.options["keep_runs"] = 1
    announced.publish("/p/a")
    announced.submit()
    announced.publish("/p/a")
    announced.publish("/p/a")
    assert announced.rows("SELECT count(*) FROM changes") == [(0,)]
    announced.publish("/p/a", "/p/b")
    assert announced.submit().code == 0
    assert sent(engine) == [["/", "b"]]


@pytest.mark.parametrize(
    ("answer", "code", "words", "goes_on"),
    [
        (Answer(status=202), 0, "", True),
        (indexnow_error(400, "InvalidRequestParameters"), 1, "report a bug", False),
        (indexnow_error(403, "UserForbiddedToAccessSite"), 1, "make a new key", False),
        (indexnow_error(403, "SiteVerificationNotCompleted"), 4, "being verified", False),
        (indexnow_error(429, "TooManyRequests"), 4, "in 600 s or later", False),
        (indexnow_error(429, "TooManyRequests", Retry_After="1200"), 4, "in 1200 s or later", False),
        (Answer(status=500), 4, "later", False),
        (Answer(drop=True), 4, "later", False),
        (Answer("<html>", content_type="text/html"), 4, "another program", False),
    ],
)
def test_answers(
    announced: AnnouncedSite, engine: FakeIndexNow, answer: Answer, code: int, words: str, goes_on: bool
) -> None:
    announced.publish("/p/a")
    announced.submit()
    announced.add_listed(10_001)
    engine.answer_next("send", answer)
    result = announced.submit()
    assert result.code == code
    assert len(result.err.splitlines()) == bool(code)
    assert words in result.err
    assert len(engine.requests) == (2 if goes_on else 1)
    row = announced.rows("SELECT outcome FROM submissions ORDER BY id LIMIT 1")
    assert row == [({0: "pending", 1: "failed", 4: "sending" if answer.drop else "later"}[code],)]


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (indexnow_error(429, "TooManyRequests"), 600),
        (indexnow_error(429, "TooManyRequests", Retry_After="1200"), 1200),
        (indexnow_error(429, "TooManyRequests", Retry_After="100000000"), 86_400),
        (indexnow_error(403, "SiteVerificationNotCompleted"), 120),
        (Answer(status=503), 600),
        (Answer(status=503, headers={"Retry-After": "700"}), 700),
    ],
)
def test_no_later_command_sends_before_the_service_allows_it(
    announced: AnnouncedSite, engine: FakeIndexNow, answer: Answer, seconds: int
) -> None:
    announced.publish("/p/a")
    announced.submit()
    announced.publish("/p/b")
    engine.answer_next("send", answer)
    assert announced.submit().code == 4
    announced.let_pass(seconds - 60)
    for options in ((), ("--force",), ("--all",), ("--dry-run",)):
        result = announced.submit(*options)
        assert result.code == 4
        assert " has asked for a pause until 20" in result.last_line
        assert result.last_line.endswith(": run the same command then")
    [row] = announced.results()
    assert 0 < row["retry_after"] <= 60
    assert len(engine.requests) == 1
    announced.let_pass(61)
    assert announced.submit().code == 0
    assert sent(engine) == [["/", "a", "b"]] * 2


def test_a_pause_of_a_clock_that_was_ahead_is_void(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    announced.publish("/p/a")
    announced.submit()
    announced.publish("/p/b")
    engine.answer_next("send", indexnow_error(429, "TooManyRequests"))
    assert announced.submit().code == 4
    announced.let_pass(-10 * 365 * 86_400)
    announced.change("UPDATE submissions SET at = 1700000000")
    assert announced.submit().code == 0
    assert len(engine.requests) == 2


def test_a_lost_answer_is_followed_by_another_attempt_after_ten_minutes(
    announced: AnnouncedSite, engine: FakeIndexNow
) -> None:
    announced.publish("/p/a")
    announced.submit()
    announced.publish("/p/b")
    engine.answer_next("send", Answer(drop=True))
    assert announced.submit().code == 4
    result = announced.submit()
    assert (result.code, len(engine.requests)) == (4, 1)
    assert "run the same command again in 10 minutes" in result.last_line
    assert "3 URLs were sent less than 10 minutes ago, " in result.last_line
    announced.let_pass(601)
    assert announced.submit().code == 0
    assert sent(engine) == [["/", "a", "b"]] * 2


def test_explain_prints_what_was_sent(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    announced.publish("/p/a")
    announced.submit()
    explain = ("explain", announced.server.url("/p/b"), "--state", "state.sqlite")
    announced.publish("/p/a", "/p/b")
    assert json.loads(announced.program.run(*explain, "--json").out)["submissions"] == []
    engine.answer_next("send", indexnow_error(422, "InvalidUrls"))
    announced.submit()
    announced.submit()
    announced.change("UPDATE submissions SET at = 1700000000 + id")
    assert announced.program.run(*explain).out.splitlines()[-2:] == [
        "  sent to IndexNow 2023-11-14T22:13:22+00:00: accepted (200)",
        "  sent to IndexNow 2023-11-14T22:13:21+00:00: failed (422)",
    ]
    rows = json.loads(announced.program.run(*explain, "--json").out)["submissions"]
    assert rows[0] == {
        "at": "2023-11-14T22:13:22+00:00",
        "service": "indexnow",
        "kind": "added",
        "outcome": "accepted",
        "http_status": 200,
    }


def test_a_million_urls_would_take_nine_megabytes(announced: AnnouncedSite) -> None:
    """Ids and kinds of the URLs are in memory, and the URLs of one batch."""
    announced.publish("/p/a")
    announced.add_listed(10_000)
    small = peak_of_a_plan(announced)
    announced.add_listed(50_000)
    assert (peak_of_a_plan(announced) - small) / 50_000 < 60


def peak_of_a_plan(announced: AnnouncedSite) -> int:
    """The most bytes in use while all listed URLs are planned and read in batches."""
    with UnlockedInventory(announced.state) as inventory, inventory.snapshot() as connection:
        tracemalloc.start()
        try:
            plan = listed_urls(connection, prefixes=[])
            for batch in plan.batches():
                crawled_urls(connection, batch[:100])
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
