"""Rows of the report of submit, and exit codes."""

from __future__ import annotations

from itertools import permutations

import pytest

from sitemap_crawler.exceptions import (
    CredentialsError,
    ServiceError,
    ServiceLaterError,
    ServiceRefusedError,
    ServiceUnavailableError,
)
from sitemap_crawler.search_engines.results import Outcome, Result, UrlCounts, worst_exit_code

ROW = {"service": "google", "host": "www.example.com", "kind": "sitemap", "target": "https://www.example.com/s.xml"}


def test_the_row_of_a_success() -> None:
    result = Result(**ROW, outcome=Outcome.ACCEPTED, http_status=204, request_id="r1", urls=UrlCounts(1, 2, 3))
    assert result.exit_code == 0
    assert result.to_json() == {
        **ROW,
        "urls": {"added": 1, "changed": 2, "removed": 3},
        "outcome": "accepted",
        "http_status": 204,
        "reason": None,
        "message": None,
        "advice": None,
        "retry_after": None,
    }


@pytest.mark.parametrize(
    ("kind", "outcome", "code"),
    [
        (ServiceRefusedError, "failed", 1),
        (CredentialsError, "failed", 2),
        (ServiceLaterError, "later", 4),
        (ServiceUnavailableError, "later", 4),
    ],
)
def test_the_row_of_a_failure(kind: type[ServiceError], outcome: str, code: int) -> None:
    error = kind("said no", advice="ask", http_status=403, reason="r", retry_after=8.2, request_id="r2")
    result = Result.from_error(error, **ROW, urls=UrlCounts(changed=4))
    assert (result.exit_code, result.request_id) == (code, "r2")
    assert result.to_json() == {
        **ROW,
        "urls": {"added": 0, "changed": 4, "removed": 0},
        "outcome": outcome,
        "http_status": 403,
        "reason": "r",
        "message": "said no",
        "advice": "ask",
        "retry_after": 9,
    }


@pytest.mark.parametrize(
    ("outcome", "code"),
    [("accepted", 0), ("pending", 0), ("unchanged", 0), ("later", 4), ("failed", 1), ("refused", 3)],
)
def test_the_exit_code_of_an_outcome(outcome: str, code: int) -> None:
    assert Result(**ROW, outcome=Outcome(outcome)).exit_code == code


def test_no_outcome_promises_more_than_the_answer() -> None:
    assert not {outcome.value for outcome in Outcome} & {"indexed", "crawled", "submitted", "done", "ok"}


@pytest.mark.parametrize(
    ("codes", "worst"),
    [((), 0), ((0, 0), 0), ((0, 4), 4), ((0, 4, 3), 3), ((0, 4, 3, 2), 2), ((0, 4, 3, 2, 1), 1)],
)
def test_the_worst_exit_code(codes: tuple[int, ...], worst: int) -> None:
    assert {worst_exit_code(order) for order in permutations(codes)} == {worst}
