"""The words of the verdict and of the alarms, for each way in which a run ends."""

from __future__ import annotations

import pytest

from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.report.html.decision_groups import GROUP_OF, Group
from sitemap_crawler.report.html.history import Leaving
from sitemap_crawler.report.html.verdict import Ending, alarms_of, alarms_of_new_kinds, verdict_of
from sitemap_crawler.report.report import Outcome

COUNTS = [18, 5, 47, 6, 470, 0]
"""Broken, at risk, asked for, of course, listed, undecided."""


@pytest.mark.parametrize(
    ("outcome", "ended_by", "live", "words"),
    [
        (Outcome.PUBLISHED, "finished", 475, ("good", "Published", "The sitemap is live with 475 pages")),
        (Outcome.UNCHANGED, "finished", 475, ("good", "Nothing has changed", "The sitemap is live with 475 pages")),
        (Outcome.PUBLISHED, "limit", 1, ("caution", "Published, up to a limit", "The sitemap is live with 1 page")),
        (Outcome.PUBLISHED, "repeats", 475, ("good", "Published", "The sitemap is live with 475 pages")),
        (Outcome.DRY_RUN, "finished", 0, ("good", "Dry run, nothing published", "The sitemap would have 475 pages")),
        (Outcome.REFUSED, "finished", 480, ("bad", "Refused", "The live sitemap stays as it is, with 480 pages")),
        (Outcome.REFUSED, "refused", 0, ("bad", "Refused", "Nothing was published")),
        (Outcome.FAILED, None, 480, ("bad", "Failed", "Run 3 has failed")),
        (Outcome.INTERRUPTED, None, 0, ("busy", "Interrupted", "Run 3 is not finished")),
        (None, None, 0, ("busy", "Not finished", "Run 3 is under way, or was interrupted")),
    ],
)
def test_the_verdict_says_how_the_run_ended(
    outcome: Outcome | None, ended_by: str | None, live: int, words: tuple[str, str, str]
) -> None:
    verdict = verdict_of(Ending(outcome, ended_by, "too few pages; look"), COUNTS, live=live, run=3)
    assert verdict[:3] == words


def test_a_refused_run_says_why_and_names_both_numbers() -> None:
    verdict = verdict_of(Ending(Outcome.REFUSED, "finished", "too few pages; look"), COUNTS, live=480, run=3)
    assert verdict.sentences[:2] == [
        "Too few pages; look.",
        "By the decisions of this run the sitemap would have 475 pages.",
    ]


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        (
            COUNTS,
            (
                "Of the 546 URLs in its scope 71 are not listed: 18 are broken, 47 stay out by a rule or a limit, "
                "6 as a matter of course, such as redirects."
            ),
        ),
        ([0, 0, 0, 0, 12, 0], "All 12 URLs in its scope are listed."),
        ([0, 0, 0, 0, 1, 0], "The only URL in its scope is listed."),
        ([0, 0, 0, 0, 0, 0], "No URL of its scope is known."),
        (
            [0, 0, 0, 1, 5, 0],
            "Of the 6 URLs in its scope 1 is not listed: 1 stays out as a matter of course, such as redirects.",
        ),
        ([1, 0, 0, 0, 5, 2], "Of the 8 URLs in its scope 3 are not listed: 1 is broken, 2 are not decided yet."),
    ],
)
def test_the_division_of_the_urls_is_a_sentence(counts: list[int], sentence: str) -> None:
    verdict = verdict_of(Ending(Outcome.PUBLISHED, "finished", ""), counts, live=counts[1] + counts[4], run=1)
    assert verdict.sentences == [sentence]


def test_pages_that_leave_are_an_alarm() -> None:
    leaving = [Leaving("noindex", 4, ["/a", "/b"]), Leaving("redirect", 9, []), Leaving("orphan", 1, ["/c"])]
    alarms = alarms_of(leaving, published=True, live=70, kept=1, keep_runs=7)
    assert [(alarm.sign, alarm.strong, alarm.more) for alarm in alarms] == [
        ("bad", "4 pages left the sitemap in this run: they now say noindex.", 2),
        ("caution", "1 page left the sitemap in this run: it is not linked from any page any more.", 0),
        ("caution", "1 page stays listed although its server fails.", 0),
    ]
    assert "would leave the live sitemap" in alarms_of(leaving, published=False, live=70, kept=0, keep_runs=7)[0].strong


def test_the_worst_alarms_come_first_and_many_pages_have_a_share() -> None:
    leaving = [Leaving(reason, 30, []) for reason in ("orphan", "limit", "not-a-page", "client-error")]
    alarms = alarms_of(leaving, published=True, live=70, kept=0, keep_runs=7)
    assert [alarm.reason for alarm in alarms] == ["client-error", "orphan", "limit"]
    assert alarms[0].strong == "30 pages (30 %) left the sitemap in this run: they now answer with an error."


@pytest.mark.parametrize(
    ("total", "live", "expected"),
    [
        (20, 180, ["20 pages (10 %) left the sitemap in this run: they now redirect."]),
        (20, 200, []),
        (19, 1, []),
    ],
)
def test_redirects_are_an_alarm_if_they_are_many(total: int, live: int, expected: list[str]) -> None:
    alarms = alarms_of([Leaving("redirect", total, [])], published=True, live=live, kept=0, keep_runs=7)
    assert [alarm.strong for alarm in alarms] == expected


def test_a_severe_kind_of_warnings_that_is_new_is_an_alarm() -> None:
    now = {"broken-link": 1_200, "soft-404": 3, "start-adopted": 1}
    alarms = alarms_of_new_kinds(now, {"soft-404": 1, "start-adopted": 0})
    assert [(alarm.sign, alarm.strong, alarm.reason) for alarm in alarms] == [
        ("caution", "Broken links: 1,200, none in the run before.", None)
    ]


def test_every_reason_has_a_group() -> None:
    assert set(GROUP_OF) == set(Reason)
    assert [group.value for group in Group] == list(range(len(Group)))
