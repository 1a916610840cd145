"""A clock that was ahead: what it left in the inventory neither blocks a site nor passes in silence."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.support.inventories import connect
from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

YEAR = 365 * 86_400


def store(program: Program, statement: str, *values: object) -> None:
    with closing(connect(program.directory / "a.db")) as connection:
        connection.execute(statement, values)
        connection.commit()


@pytest.mark.parametrize(("ahead", "code"), [(10 * YEAR, 0), (-60 * YEAR, 0), (3_600, 4)])
def test_a_pause_longer_than_any_is_void(program: Program, site: WebServer, ahead: float, code: int) -> None:
    site.pages["/"] = page()
    program.crawl(site.url(), "--state", "a.db")
    store(program, "INSERT INTO meta (name, value) VALUES ('pause_until', ?)", repr(time.time() + ahead))
    assert program.crawl(site.url(), "--state", "a.db").code == code


def test_a_clock_that_goes_back_is_told(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    program.crawl(site.url(), "--state", "a.db")
    assert program.crawl(site.url(), "--state", "a.db").report["warnings"] == []
    store(program, "UPDATE runs SET started = ?, finished = ? WHERE id = 1", time.time() + YEAR, time.time() + YEAR)
    result = program.crawl(site.url(), "--state", "a.db")
    assert (result.code, result.listed()) == (0, [site.url()])
    assert [warning["kind"] for warning in result.report["warnings"]] == ["clock"]
