"""What came of a run: outcome, exit code, numbers. The summary, the JSON report and the exit status come from here."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sitemap_crawler.exceptions import DONE, FAILED, INTERRUPTED, REFUSED
from sitemap_crawler.inventory.publications import Change, Changes
from sitemap_crawler.policy.lastmod import w3c_datetime
from sitemap_crawler.utils.files import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.report.url_groups.groups import UrlGroup


class Outcome(StrEnum):
    PUBLISHED = "published"
    UNCHANGED = "unchanged"
    DRY_RUN = "dry-run"
    FAILED = "failed"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"


EXIT_CODES = {
    Outcome.PUBLISHED: DONE,
    Outcome.UNCHANGED: DONE,
    Outcome.DRY_RUN: DONE,
    Outcome.FAILED: FAILED,
    Outcome.REFUSED: REFUSED,
    Outcome.INTERRUPTED: INTERRUPTED,
}


def failure_report(options: Options, *, code: int, message: str) -> Report:
    """The report of a run that could not begin."""
    now = datetime.now(UTC)
    outcome = next(outcome for outcome, exit_code in EXIT_CODES.items() if exit_code == code)
    return Report(outcome, message, options.start_url, options.entry_url, run=0, started=now, finished=now)


def change_row(kind: str, url: str, before: float | None, after: float | None) -> dict[str, str | None]:
    """What has become of a page, for JSON; the lastmods in seconds since 1970."""
    if kind == Change.CHANGED:
        return {"url": url, "before": w3c_moment(before), "after": w3c_moment(after)}
    return {"url": url, "lastmod": w3c_moment(after if kind == Change.ADDED else before)}


def w3c_moment(seconds: float | None) -> str | None:
    # A date without a time of day is kept as midnight: shown as a day, either is true.
    return w3c_datetime(seconds, day=seconds is not None and seconds % 86_400 == 0)


@dataclass(slots=True)
class Report:
    outcome: Outcome
    message: str
    """One line: what happened and, when it went wrong, what to do."""
    start_url: str
    sitemap_url: str
    run: int
    started: datetime
    finished: datetime
    listed: int = 0
    kept: int = 0
    """Of the listed ones, those that stay so while their server fails."""
    excluded: dict[str, int] = field(default_factory=dict)
    changes: Changes = field(default_factory=Changes)
    diff: dict[str, list[dict[str, str | None]]] = field(default_factory=dict)
    """The first of the pages that `changes` counts, by kind, as `diff` shows them."""
    requests: int = 0
    not_modified: int = 0
    bytes: int = 0
    errors: int = 0
    files: list[dict[str, Any]] = field(default_factory=list)
    inventory: dict[str, int] = field(default_factory=dict)
    """How many URLs it has, and its bytes on the disk, in all and for a URL."""
    hosts: list[dict[str, Any]] = field(default_factory=list)
    """Of a site with several sitemap sets, what came of each."""
    warnings: list[dict[str, str]] = field(default_factory=list)
    """Of each kind as many as are useful; `warning_counts` has how many there are."""
    warning_counts: dict[str, int] = field(default_factory=dict)
    hints: list[str] = field(default_factory=list)
    shapes: dict[str, list[UrlGroup]] = field(default_factory=dict)
    """What is listed, and what is not, by reason: the groups of URLs, the largest first."""

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.outcome]

    @property
    def has_published(self) -> bool:
        """Whether anything was published, if only by some of the hosts, or is as it was."""
        outcomes = [self.outcome, *(row["outcome"] for row in self.hosts)]
        return Outcome.PUBLISHED in outcomes or Outcome.UNCHANGED in outcomes

    def to_json(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.__slots__}
        values["outcome"] = str(self.outcome)
        values["changes"] = self.changes._asdict()
        values["shapes"] = {reason: [shape._asdict() for shape in shapes] for reason, shapes in self.shapes.items()}
        for name in ("started", "finished"):
            values[name] = values[name].isoformat(timespec="seconds")
        return {"outcome": values.pop("outcome"), "exit_code": self.exit_code, **values}

    def numbers(self) -> str:
        """What a log says of the run beside the message."""
        parts = [f"run {self.run}", f"{self.requests:,} requests"]
        if self.exit_code == 0:
            changes, written = self.changes, sum(file["written"] for file in self.files)
            parts.append(f"{changes.added:,} added, {changes.changed:,} changed, {changes.removed:,} removed")
            parts.append(f"{sum(self.excluded.values()):,} not listed")
            parts.append(f"{len(self.files):,} file{'' if len(self.files) == 1 else 's'}, {written:,} written anew")
        return "; ".join(parts)

    def deliver(self, options: Options) -> None:
        """Write the report where the options want it; when that fails the run has failed."""
        if options.report is None:
            return
        try:
            self.write(options.report)
        except OSError as error:
            self.outcome = Outcome.FAILED
            self.message += f"; but cannot write the report {options.report}: {error.strerror or error}"

    def write(self, path: Path) -> None:
        """Replace `path` whole. Raises OSError."""
        write_json(path, self.to_json())
