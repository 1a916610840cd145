"""Dates and priorities that all entries of a file share, so that they say nothing about the pages."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from sitemap_crawler.validation.findings import Issue, issue

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MIN_COMPARED = 10
"""Minimum number of dates or priorities of a file that are compared with one another."""
GENERATION_SECONDS = 600
"""Time in which a program writes a sitemap. Dates that differ less are those of the program, not those of the pages."""
GENERATION_SHARE = 0.9
"""Share of the dates of a file that must be within that time."""


class RepeatedValues:
    """Comparison of the dates and priorities of one file, in eight bytes for each date."""

    def __init__(self) -> None:
        self._times = array("d")
        """Times of the lastmods that state a time of the day, in seconds since 1970."""
        self._dates = 0
        self._first_date: str | None = None
        self._are_dates_equal = True
        self._priorities = 0
        self._different_priorities: set[str] = set()
        """Two of the priorities, or the only one."""

    def add_dates(self, texts: Sequence[str], times: Iterable[float]) -> None:
        """Add lastmods, and the times of those that state a time of the day."""
        self._dates += len(texts)
        if self._first_date is None and texts:
            self._first_date = texts[0]
        self._are_dates_equal = self._are_dates_equal and texts.count(self._first_date or "") == len(texts)
        self._times.extend(times)

    def add_priority(self, text: str) -> None:
        self._priorities += 1
        if len(self._different_priorities) < 2:
            self._different_priorities.add(text)

    def issues(self) -> Iterator[Issue]:
        """Yield the issues of the file."""
        if self._dates >= MIN_COMPARED:
            yield from self._date_issues()
        if self._priorities >= MIN_COMPARED and len(self._different_priorities) == 1:
            message = f"all {self._priorities:,} entries with a priority have {min(self._different_priorities)}"
            yield issue("priority-all-equal", message)

    def _date_issues(self) -> Iterator[Issue]:
        if self._are_dates_equal:
            yield issue("lastmod-all-equal", f"all {self._dates:,} entries with a lastmod have {self._first_date}")
        elif len(self._times) >= MIN_COMPARED:
            earliest = max(self._times) - GENERATION_SECONDS
            count = sum(time >= earliest for time in self._times)
            if count >= GENERATION_SHARE * self._dates:
                minutes = GENERATION_SECONDS // 60
                message = f"{count:,} of {self._dates:,} entries have a lastmod of the same {minutes} minutes"
                yield issue("lastmod-generated", message)
