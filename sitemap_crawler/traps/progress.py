"""The progress of a run: how many of its pages have shown something new, and whether the last ones still do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MIN_WINDOW = 1_000
"""Number of pages without anything new, from which on a run may end."""
WINDOW_SHARE = 3
"""The window is at least the last one in so many pages of the run."""
MAX_WINDOW_YIELD = 0.01
"""Share of the pages in the window that may still show something new when the run ends."""
MAX_LATE_DRY = 1_000
"""Number of pages of later turns in a row without anything new, from which on a run may end, too.

Pages of other turns may still show something new between them.
"""
MARK_PAGES = 100
"""Number of pages after which the number of those that have shown something new is noted."""
MAX_STORED = 1_000
"""Maximum number of these marks that outlive the process."""
LATE_WINDOW = 500
"""The window of a run that has left URLs out. Those that came back since have to earn their requests."""
MAX_LATE_YIELD = 0.03
"""Share of the pages in that window that may still show something new when the run ends again."""
MAX_POOR_ROUNDS = 5
"""Number of times in a row that samples of refused groups are requested although little was new since the last time.

A browser of code has so many comparisons of versions that some show for ever what no page has shown.
"""
MIN_ROUND_YIELD = 1 / 30
"""Little is new if at most this share of the pages since the last samples is."""
FEW_PAGES = 100
"""Number of pages that a run requests all the same, before it leaves any out."""


class Progress:
    """The numbers of pages, errors and redirects of a run, and of those that have shown something new."""

    def __init__(self) -> None:
        self.pages = 0
        """Number of pages so far."""
        self._yielded = 0
        self._marks = [0]
        """Number of pages that had yielded after each MARK_PAGES pages."""
        self._exhausted_after: int | None = None
        """Number of pages after which the run was exhausted while only later turns waited."""
        self._late_dry = 0
        """Number of pages of later turns since the last one that has shown something new."""
        self._poor_rounds = 0
        """Number of rounds of samples in a row before which little was new."""
        self._pages_before = 0
        """Number of pages before the last round."""
        self._yielded_before = 0
        """Number of pages that had yielded before the last round."""
        self._left_out_after: int | None = None
        """Number of pages after which the run left URLs out for the last time."""

    def count(self, *, is_new: bool, is_late: bool = False) -> None:
        """Count a page. `is_late`: whether it has waited for all others, as pages like it repeat others."""
        self.pages += 1
        self._yielded += is_new
        if is_late:
            self._late_dry = 0 if is_new else self._late_dry + 1
        if self.pages % MARK_PAGES == 0:
            self._marks.append(self._yielded)

    @property
    def is_exhausted(self) -> bool:
        """Whether the last pages have shown too little for the run to go on, if only later turns are left."""
        if self._late_dry >= MAX_LATE_DRY:
            return True
        if self._shows_little(max(MIN_WINDOW, self.pages // WINDOW_SHARE), MAX_WINDOW_YIELD):
            return True
        return self._left_out_after is not None and self._shows_little(
            LATE_WINDOW, MAX_LATE_YIELD, since=self._left_out_after
        )

    def _shows_little(self, window: int, share: float, *, since: int = 0) -> bool:
        """Return whether at most this share of the pages in the window, all of them later than `since`, were new."""
        before = (self.pages - window) // MARK_PAGES
        return before * MARK_PAGES >= since and self._yielded - self._marks[before] <= share * window

    def ends(self, count_waiting: Callable[[], int]) -> bool:
        """Return whether the run leaves out the URLs that wait, now that only those of later turns do.

        `count_waiting` counts them. A few are requested: the run has then seen everything. Each of them may lead to
        the next one for ever, so the pages since the first such question are limited, too.
        """
        if not self.is_exhausted:
            self._exhausted_after = None
            return False
        if self._exhausted_after is None:
            self._exhausted_after = self.pages
        if self.pages < self._exhausted_after + FEW_PAGES and count_waiting() <= FEW_PAGES:
            return False
        self._left_out_after = self.pages
        return True

    def begin_round(self) -> bool:
        """Count a round of samples of refused groups. Return whether those that have yielded are sampled again."""
        is_poor = self._yielded - self._yielded_before <= MIN_ROUND_YIELD * (self.pages - self._pages_before)
        self._poor_rounds = self._poor_rounds + 1 if is_poor else 0
        self._pages_before, self._yielded_before = self.pages, self._yielded
        return self._poor_rounds <= MAX_POOR_ROUNDS

    @property
    def counts(self) -> dict[str, Any]:
        """The numbers, for JSON."""
        return {
            "pages_seen": self.pages,
            "pages_new": self._yielded,
            "marks": self._marks[-MAX_STORED:],
            "late_dry": self._late_dry,
            "exhausted_after": self._exhausted_after,
            "left_out_after": self._left_out_after,
            "rounds_of_samples": [self._poor_rounds, self._pages_before, self._yielded_before],
        }

    def restore(self, counts: Mapping[str, Any]) -> None:
        """Continue from the numbers of an earlier process. A run without its marks is not exhausted at first."""
        self.pages, self._yielded = counts.get("pages_seen", 0), counts.get("pages_new", 0)
        self._late_dry = counts.get("late_dry", 0)
        self._exhausted_after = counts.get("exhausted_after")
        self._left_out_after = counts.get("left_out_after")
        self._poor_rounds, self._pages_before, self._yielded_before = counts.get("rounds_of_samples", (0, 0, 0))
        number = self.pages // MARK_PAGES + 1
        self._marks = ([0] * number + counts.get("marks", []))[-number:]
