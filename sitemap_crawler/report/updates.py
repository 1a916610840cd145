"""The result of `update`: what became of each URL, as lines for people and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sitemap_crawler.exceptions import DONE, FAILED, INTERRUPTED, REFUSED, USAGE
from sitemap_crawler.policy.lastmod import w3c_datetime
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.report.report import Outcome, outcome_of
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from datetime import datetime

    from sitemap_crawler.report.report import Report

WORST_FIRST = (FAILED, USAGE, REFUSED, INTERRUPTED, DONE)
"""Exit codes. That of a command with several parts is the first one here that a part has."""
LIVE = "the page is live and may be indexed, so it stays; --exclude or a noindex directive takes it out"
UNKNOWN = "it is not known: give it to update add"
NOTHING_TO_REMOVE = "it is not known, so there is nothing to remove"
_TRANSIENT = (Reason.SERVER_ERROR, Reason.UNREACHABLE, Reason.KEPT_AFTER_ERROR)
"""Reasons that say nothing lasting about a page."""


class Action(StrEnum):
    """What the owner says of a page."""

    ADD = "add"
    UPDATE = "update"
    REMOVE = "remove"


class UrlOutcome(StrEnum):
    """What became of one URL."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    LATER = "later"
    """The site gave no usable answer now: the same command may succeed later."""
    FAILED = "failed"


_CODES = {UrlOutcome.REFUSED: REFUSED, UrlOutcome.LATER: INTERRUPTED, UrlOutcome.FAILED: FAILED}


@dataclass(slots=True)
class UrlResult:
    """The result of one URL."""

    url: str
    outcome: UrlOutcome
    listed: bool = False
    """Whether the sitemap has it now."""
    reason: str | None = None
    """The reason of its decision; None for a URL without one."""
    evidence: str | None = None
    lastmod: str | None = None
    file: str | None = None
    """The file that lists it."""

    @property
    def exit_code(self) -> int:
        return _CODES.get(self.outcome, DONE)

    @property
    def line(self) -> str:
        details = [self.file] if self.file else []
        if self.lastmod:
            details.append(f"lastmod {self.lastmod}")
        listed = f" ({', '.join(details)})" if details else ""
        return printable(f"{self.url}: {self.outcome}{listed}{self._because}")

    @property
    def _because(self) -> str:
        if self.reason in (None, Reason.LISTED):
            return f": {self.evidence}" if self.evidence else ""
        return f": {self.reason}" + (f" ({self.evidence})" if self.evidence else "")


@dataclass(slots=True)
class Standing:
    """Where a URL stands after the requests, and whether the published set had it before and has it now."""

    reason: str | None
    evidence: str | None
    was_listed: bool
    is_listed: bool
    before: float | None = None
    """Published lastmod before, in seconds since 1970."""
    after: float | None = None
    day: bool = False
    """Whether the lastmod has no time of day."""
    answered: bool = True
    """Whether its request has ended."""


def result_of(action: Action, url: str, standing: Standing) -> UrlResult:
    """Return what became of a URL that was requested."""
    result = UrlResult(url, _change(standing), standing.is_listed, standing.reason, standing.evidence)
    if standing.is_listed:
        result.lastmod = w3c_datetime(standing.after, day=standing.day)
    if not standing.answered:
        result.outcome, result.evidence = UrlOutcome.LATER, "it was not requested, or gave no answer yet"
    elif action is Action.REMOVE and not standing.is_listed:
        pass
    elif standing.reason in _TRANSIENT:
        result.outcome = UrlOutcome.LATER
    elif action is Action.REMOVE:
        result.outcome, result.evidence = UrlOutcome.REFUSED, LIVE
    elif action is Action.ADD and not standing.is_listed:
        result.outcome = UrlOutcome.REFUSED
    return result


def _change(standing: Standing) -> UrlOutcome:
    if standing.is_listed != standing.was_listed:
        return UrlOutcome.ADDED if standing.is_listed else UrlOutcome.REMOVED
    return UrlOutcome.CHANGED if standing.before != standing.after else UrlOutcome.UNCHANGED


@dataclass(slots=True)
class UpdateReport:
    """The report of one `update`."""

    action: Action
    updated_at: datetime
    start_url: str
    sitemap_url: str
    run: int
    results: list[UrlResult]
    publication: Report | None
    """None if nothing was requested, so that nothing is decided."""
    problem: str | None = None
    """Why the requests ended early."""
    problem_code: int = DONE
    output: str = ""
    submission: dict[str, Any] | None = None
    """What search engines answered: `exit_code`, `message` and `results`; None if they were not told."""
    outcome: Outcome = field(init=False)
    exit_code: int = field(init=False)
    message: str = field(init=False)

    def __post_init__(self) -> None:
        publication = self.publication
        if publication is not None and publication.exit_code:
            self._fail_with(publication)
        codes = {self.problem_code, *(result.exit_code for result in self.results)}
        codes.add(DONE if publication is None else publication.exit_code)
        self.exit_code = next(code for code in WORST_FIRST if code in codes)
        unchanged = publication is None or publication.outcome is Outcome.UNCHANGED
        self.outcome = (
            outcome_of(self.exit_code) if self.exit_code else Outcome.UNCHANGED if unchanged else Outcome.PUBLISHED
        )
        self.message = printable(self._message())

    def add_submission(self, submission: dict[str, Any]) -> None:
        """Add what search engines answered. The worst exit code counts."""
        self.submission = submission
        code = submission["exit_code"]
        codes = (self.exit_code, INTERRUPTED if code is None else code)
        self.exit_code = next((known for known in WORST_FIRST if known in codes), FAILED)
        if codes[1]:
            self.message = printable(f"{self.message}; search engines: {submission['message']}")

    def _fail_with(self, publication: Report) -> None:
        """Give the results of a publication that failed."""
        outcome = UrlOutcome.REFUSED if publication.exit_code == REFUSED else UrlOutcome.FAILED
        for result in self.results:
            if not result.exit_code:
                result.outcome, result.evidence = outcome, publication.message

    def _message(self) -> str:
        if self.publication is not None and self.publication.exit_code == self.exit_code and self.exit_code:
            return self.publication.message
        if self.problem is not None and self.problem_code == self.exit_code:
            return self.problem
        worst = [result for result in self.results if result.exit_code == self.exit_code]
        if self.exit_code:
            again = "; run the same command later" if self.exit_code == INTERRUPTED else ""
            others = f"; and {len(worst) - 1:,} more" if len(worst) > 1 else ""
            return f"{worst[0].line}{again}{others}"
        if self.publication is None or self.publication.outcome is Outcome.UNCHANGED:
            return "nothing had changed"
        changes = self.publication.changes
        written = sum(file["written"] for file in self.publication.files)
        files = "1 file" if written == 1 else f"{written:,} files"
        counts = f"{changes.added:,} added, {changes.changed:,} changed, {changes.removed:,} removed"
        return f"{counts}; {files} written in {self.output}"

    def to_json(self) -> dict[str, Any]:
        publication = self.publication
        names = ("url", "outcome", "listed", "reason", "evidence", "lastmod", "file")
        return {
            "action": str(self.action),
            "outcome": str(self.outcome),
            "exit_code": self.exit_code,
            "message": self.message,
            "updated_at": self.updated_at.isoformat(timespec="seconds"),
            "start_url": self.start_url,
            "sitemap_url": self.sitemap_url,
            "run": self.run,
            "results": [{name: getattr(result, name) for name in names} for result in self.results],
            "changes": publication.changes._asdict() if publication else {"added": 0, "changed": 0, "removed": 0},
            "diff": publication.diff if publication else {"added": [], "changed": [], "removed": []},
            "files": publication.files if publication else [],
            "submission": self.submission,
        }
