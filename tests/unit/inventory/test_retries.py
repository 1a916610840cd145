"""Operations that are repeated while the server cannot be used."""

from __future__ import annotations

import logging

import pytest
from sqlalchemy.exc import DBAPIError, OperationalError

from sitemap_crawler.inventory import retries
from sitemap_crawler.inventory.retries import repeated


def lost() -> DBAPIError:
    message = "connection failed: Connection refused\n\tIs the server running on that host?"
    return OperationalError("SELECT secret", {}, type("OperationalError", (Exception,), {})(message))


def failing(times: int) -> list[DBAPIError]:
    return [lost() for _ in range(times)]


def work_of(failures: list[DBAPIError]) -> str:
    if failures:
        raise failures.pop()
    return "done"


@pytest.mark.parametrize("times", [1, 4])
def test_an_outage_is_told_once_and_so_is_its_end(
    times: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "MIN_PAUSE_SECONDS", 0.0)
    failures, calls = failing(times), []
    with caplog.at_level(logging.WARNING):
        assert repeated(lambda: work_of(failures), seconds=60, failed=lambda: calls.append(1)) == "done"
    assert len(calls) == times
    assert caplog.messages == [
        "the inventory cannot be used at the moment, trying again: connection failed: Connection refused",
        "the inventory can be used again, after 0 s",
    ]


def test_an_operation_that_succeeds_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert repeated(lambda: "done", seconds=60) == "done"
    assert caplog.messages == []


def test_a_failure_that_lasts_is_raised_after_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "MIN_PAUSE_SECONDS", 0.0)
    failures = failing(5)
    with pytest.raises(DBAPIError):
        repeated(lambda: work_of(failures), seconds=-1)
    assert len(failures) == 3
