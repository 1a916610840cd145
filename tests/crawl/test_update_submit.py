"""`update` tells the configured search engines what it has published, after the files are in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.test_schemas import check_text
from tests.support.announced_site import SITE_FILE, AnnouncedSite
from tests.support.search_engines import INDEXNOW_KEY, FakeIndexNow
from tests.support.webserver import Answer

if TYPE_CHECKING:
    from tests.support.program import Program, Result
    from tests.support.webserver import WebServer


@pytest.fixture
def announced(program: Program, site: WebServer, engine: FakeIndexNow) -> AnnouncedSite:
    """A site that has been published and submitted once, and has a new page since."""
    made = AnnouncedSite.for_indexnow(program, site, engine)
    made.begin()
    made.serve("/p/b", Answer("<p>b</p>"))
    return made


def add(announced: AnnouncedSite, *options: str) -> Result:
    return announced.program.run("update", "add", f"{announced.origin}/p/b", "--config", SITE_FILE, *options)


def test_the_changed_urls_are_sent(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    result = add(announced)
    assert (result.code, result.err) == (0, "")
    assert engine.batches()[0]["urlList"] == [f"{announced.origin}/p/b"]
    assert "search engines: indexnow accepted" in result.out
    # What has not changed is not sent.
    assert add(announced).code == 0
    assert len(engine.requests) == 1


def test_the_report_has_the_answers(announced: AnnouncedSite) -> None:
    submission: dict[str, Any] = check_text(add(announced, "--json").out, "update")["submission"]
    assert (submission["exit_code"], submission["message"]) == (0, "indexnow accepted")
    assert submission["results"][0]["urls"] == {"added": 1, "changed": 0, "removed": 0}


def test_nobody_is_told_against_the_will_of_the_owner(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    result = add(announced, "--no-submit", "--json")
    assert (result.code, check_text(result.out, "update")["submission"], engine.requests) == (0, None, [])
    assert f"{announced.origin}/p/b" in result.listed()


def test_without_a_service_nobody_is_told(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    result = announced.program.run("update", "add", f"{announced.origin}/p/b", "--state", "state.sqlite", "--json")
    assert (result.code, check_text(result.out, "update")["submission"], engine.requests) == (0, None, [])


def test_a_submission_that_fails_takes_nothing_back(announced: AnnouncedSite, engine: FakeIndexNow) -> None:
    announced.serve(f"/{INDEXNOW_KEY}.txt", Answer(status=404))
    result = add(announced)
    assert result.code == 3
    assert result.last_line.startswith("1 added, 0 changed, 0 removed; ")
    assert "; search engines: " in result.last_line
    assert engine.requests == []
    assert f"{announced.origin}/p/b" in result.listed()
