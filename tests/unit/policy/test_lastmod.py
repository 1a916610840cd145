"""Dates of foreign sitemaps, and the optional elements `changefreq` and `priority`."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sitemap_crawler.items import Observation
from sitemap_crawler.policy.lastmod import (
    FEED,
    LAST_MODIFIED,
    OBSERVED_CHANGE,
    SITEMAP,
    UNDATED,
    Dated,
    History,
    PreviousFetch,
    SeenContent,
    changefreq,
    decide_date,
    priority,
    settle_named_date,
)

DAY = 86_400.0
NOW = 1_790_000_000.0


@pytest.mark.parametrize(
    ("days", "word"),
    [
        (0, "hourly"), (0.99, "hourly"), (1, "daily"), (6.99, "daily"), (7, "weekly"), (29.9, "weekly"),
        (30, "monthly"), (364, "monthly"), (365, "yearly"), (5_000, "yearly"),
    ],
)  # fmt: skip
def test_changefreq_without_a_history_depends_on_the_age(days: float, word: str) -> None:
    assert changefreq(NOW - days * DAY, None, now=NOW) == word


@pytest.mark.parametrize(
    ("history", "last_change", "word"),
    [
        (History(NOW - 60 * DAY, NOW, 1), 0, "monthly"),
        (History(NOW - 60 * DAY, NOW, 30), 0, "daily"),
        # A nightly run is seldom a day after the last to the second.
        (History(NOW - DAY + 60, NOW, 1), 0, "daily"),
        (History(NOW - 60 * DAY, NOW, 60 * 24), 0, "hourly"),
        # Daily once, and silent for a year.
        (History(NOW - 460 * DAY, NOW - 400 * DAY, 60), 400, "yearly"),
        # A date that was set back is no interval.
        (History(NOW, NOW - 60 * DAY, 1), 10, "weekly"),
    ],
)
def test_changefreq_depends_on_the_interval_between_changes(history: History, last_change: float, word: str) -> None:
    assert changefreq(NOW - last_change * DAY, history, now=NOW) == word


def test_changefreq_without_a_date_is_not_written() -> None:
    assert changefreq(None, None, now=NOW) is None


@pytest.mark.parametrize(
    ("depth", "linking", "expected"),
    [
        (0, 0, "1.0"), (0, 5_000, "1.0"), (1, 1, "0.8"), (1, 9, "0.8"), (1, 10, "0.9"), (1, 100, "1.0"),
        (2, 1, "0.6"), (2, 1_000, "0.9"), (3, 1, "0.5"), (4, 1, "0.4"), (5, 1, "0.3"),
        (60, 0, "0.3"), (65_535, 0, "0.3"),
    ],
)  # fmt: skip
def test_priority_by_depth_and_links(depth: int, linking: int, expected: str) -> None:
    assert priority(depth, linking) == expected


FOUND, ENDED, FETCHED = NOW - 9 * DAY, NOW - DAY - 3_600, NOW
NEW = SeenContent(FETCHED, is_new=True, known_since=FETCHED - 60, earlier_end=ENDED)
KNOWN = SeenContent(FETCHED, is_new=False, known_since=FOUND, earlier_end=ENDED)
FIRST_RUN = SeenContent(FETCHED, is_new=True, known_since=FETCHED - 60, earlier_end=None)
OLD = Dated(FOUND - DAY, SITEMAP)
RECENT = Dated(NOW - 3_600, SITEMAP)


@pytest.mark.parametrize(
    ("known", "named", "content", "expected"),
    [
        # A new page
        (UNDATED, OLD, FIRST_RUN, OLD),
        (UNDATED, RECENT, NEW, RECENT),
        (UNDATED, Dated(FETCHED + 299, FEED), NEW, Dated(FETCHED + 299, FEED)),
        (UNDATED, Dated(FETCHED + 301, FEED), NEW, UNDATED),
        (UNDATED, UNDATED, NEW, UNDATED),
        (Dated(NOW - 7, LAST_MODIFIED), OLD, NEW, OLD),
        # A page that states its date
        (Dated(1.0, "json-ld"), RECENT, NEW, Dated(1.0, "json-ld")),
        (Dated(1.0, "microformats", True), RECENT, KNOWN, Dated(1.0, "microformats", True)),
        # A known page whose content has not changed
        (UNDATED, OLD, KNOWN, OLD),
        (UNDATED, RECENT, KNOWN, UNDATED),
        (Dated(NOW - 7, LAST_MODIFIED), OLD, KNOWN, Dated(NOW - 7, LAST_MODIFIED)),
        (OLD, RECENT, KNOWN, OLD),
        # The fetch has seen a change, or an earlier fetch has
        (Dated(FETCHED, OBSERVED_CHANGE), RECENT, KNOWN, RECENT),
        (Dated(FETCHED, OBSERVED_CHANGE), OLD, KNOWN, Dated(FETCHED, OBSERVED_CHANGE)),
        (Dated(FETCHED, OBSERVED_CHANGE), Dated(ENDED - 1, SITEMAP), KNOWN, Dated(FETCHED, OBSERVED_CHANGE)),
        (Dated(FETCHED - DAY, OBSERVED_CHANGE), RECENT, KNOWN, Dated(FETCHED - DAY, OBSERVED_CHANGE)),
        # A day is no earlier than the last run if that run ended on it.
        (
            Dated(FETCHED, OBSERVED_CHANGE),
            Dated(ENDED - ENDED % DAY, SITEMAP, True),
            KNOWN,
            Dated(ENDED - ENDED % DAY, SITEMAP, True),
        ),
        (
            Dated(FETCHED, OBSERVED_CHANGE),
            Dated(ENDED - ENDED % DAY - DAY, SITEMAP, True),
            KNOWN,
            Dated(FETCHED, OBSERVED_CHANGE),
        ),
    ],
)
def test_dates_of_sitemaps(known: Dated, named: Dated, content: SeenContent, expected: Dated) -> None:
    assert settle_named_date(known, named, content) == expected


@pytest.mark.parametrize(
    ("age", "expected"), [(0, None), (5, None), (3_600, FETCHED - DAY - 3_600), (-5, None)], ids=str
)
def test_a_last_modified_of_the_earlier_fetch_is_the_time_of_a_cache(age: float, expected: float | None) -> None:
    """The first fetch found no page in the cache, so that its answer stated the time of the fetch: no date."""
    before = PreviousFetch(FETCHED - DAY, b"1", comparable=True, dated=UNDATED)
    modified = datetime.fromtimestamp(FETCHED - DAY - age, UTC)
    now = Observation(1, datetime.fromtimestamp(FETCHED, UTC), status=200, fingerprint=b"1", last_modified=modified)
    assert decide_date(before, now).lastmod == expected
