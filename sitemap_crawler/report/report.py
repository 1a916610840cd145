"""The report of a run: outcome, exit code, numbers. Source of the summary, the JSON report and the exit status."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sitemap_crawler.exceptions import DONE, FAILED, INTERRUPTED, REFUSED, USAGE
from sitemap_crawler.inventory.publications import Change, Changes
from sitemap_crawler.policy.lastmod import w3c_datetime
from sitemap_crawler.utils.files import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.report.url_groups.exclusion import UrlShape


MAX_STORED_MESSAGE = 300
"""Maximum number of characters that the inventory keeps of the message of a run."""
MAX_STORED_NOTICE = 1_000
"""Maximum number of characters of a notice that the inventory keeps."""
MAX_STORED_HOSTS = 100
"""Maximum number of refused hosts that the inventory keeps of a run."""


class Outcome(StrEnum):
    """How a run ended."""

    PUBLISHED = "published"
    UNCHANGED = "unchanged"
    DRY_RUN = "dry-run"
    HELPED = "helped"
    FAILED = "failed"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"
    USAGE_ERROR = "usage-error"


EXIT_CODES = {
    Outcome.PUBLISHED: DONE,
    Outcome.UNCHANGED: DONE,
    Outcome.DRY_RUN: DONE,
    Outcome.HELPED: DONE,
    Outcome.FAILED: FAILED,
    Outcome.REFUSED: REFUSED,
    Outcome.INTERRUPTED: INTERRUPTED,
    Outcome.USAGE_ERROR: USAGE,
}


def outcome_of(code: int) -> Outcome:
    """Return the outcome of an exit code; for 0, of a run that published."""
    return next(outcome for outcome, exit_code in EXIT_CODES.items() if exit_code == code)


def failure_report(options: Options, *, code: int, message: str) -> Report:
    """Return the report of a run that could not begin."""
    now = datetime.now(UTC)
    return Report(outcome_of(code), message, options.start_url, options.entry_url, run=0, started=now, finished=now)


def change_row(kind: str, url: str, before: float | None, after: float | None) -> dict[str, str | None]:
    """Return the change of a page for JSON. `before` and `after` are its lastmods, in seconds since 1970."""
    if kind == Change.CHANGED:
        return {"url": url, "before": w3c_moment(before), "after": w3c_moment(after)}
    return {"url": url, "lastmod": w3c_moment(after if kind == Change.ADDED else before)}


def w3c_moment(seconds: float | None) -> str | None:
    """Return seconds since 1970 as a W3C datetime, or midnight as a date."""
    # The inventory stores a date without a time of day as midnight.
    return w3c_datetime(seconds, day=seconds is not None and seconds % 86_400 == 0)


@dataclass(slots=True)
class Report:
    """The report. `to_json` writes every field, by its name."""

    outcome: Outcome
    message: str
    """One line: what happened and, after a failure, what to do."""
    start_url: str
    sitemap_url: str
    run: int
    started: datetime
    finished: datetime
    seconds: float = 0.0
    """Time for which the processes of the run have worked, without the pauses between them; to a tenth."""
    listed: int = 0
    """Number of listed pages."""
    kept: int = 0
    """Number of listed pages that stay listed although their server fails."""
    excluded: dict[str, int] = field(default_factory=dict)
    """Number of URLs that are not listed, by reason."""
    other_hosts: int = 0
    """Number of URLs on other hosts. `excluded` counts them as out-of-scope, too."""
    changes: Changes = field(default_factory=Changes)
    diff: dict[str, list[dict[str, str | None]]] = field(default_factory=dict)
    """The first pages that `changes` counts, by kind, as the command `diff` shows them."""
    requests: int = 0
    not_modified: int = 0
    bytes: int = 0
    errors: int = 0
    overloads: int = 0
    """Number of answers and failures that showed an overloaded server, without those of helpers."""
    pauses: int = 0
    """Number of pauses for which the server has asked by Retry-After, without those of helpers."""
    files: list[dict[str, Any]] = field(default_factory=list)
    inventory: dict[str, int] = field(default_factory=dict)
    """Number of URLs, bytes on disk and bytes per URL."""
    hosts: list[dict[str, Any]] = field(default_factory=list)
    """The result of each sitemap set of a site with --subdomains."""
    warnings: list[dict[str, str]] = field(default_factory=list)
    """At most MAX_WARNINGS of each kind. `warning_counts` counts all."""
    warning_counts: dict[str, int] = field(default_factory=dict)
    hints: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """Lines about a run that has not fetched all: what ended it, and what to do."""
    waiting: int = 0
    """Number of known URLs that the run was to request and has not, because a limit or an interruption ended it."""
    left_out: int = 0
    """Number of URLs that were not requested because the last pages of a run had shown nothing new."""
    waiting_shapes: list[UrlShape] = field(default_factory=list)
    """The shapes of which the most URLs wait or were left out. Empty unless some were, or the queue has grown."""
    shapes: dict[str, list[UrlShape]] = field(default_factory=dict)
    """Groups of URLs by reason, the largest first."""
    rendering: dict[str, Any] | None = None
    """Numbers of the renderings, see RenderingTotals. None without one."""
    submission: dict[str, Any] | None = None
    """What search engines were told after the run: exit code, message and results. None without --submit."""

    @property
    def has_decided(self) -> bool:
        """Whether the run has decided on its URLs. It has met the start page at least."""
        return bool(self.listed or self.excluded)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.outcome]

    @property
    def has_published(self) -> bool:
        """Whether the set of the site or of any host was published or is unchanged."""
        outcomes = [self.outcome, *(row["outcome"] for row in self.hosts)]
        return Outcome.PUBLISHED in outcomes or Outcome.UNCHANGED in outcomes

    def to_json(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.__slots__}
        values["outcome"] = str(self.outcome)
        values["waiting_shapes"] = [shape.to_json() for shape in self.waiting_shapes]
        values["changes"] = self.changes._asdict()
        values["shapes"] = {reason: [shape.to_json() for shape in shapes] for reason, shapes in self.shapes.items()}
        for name in ("started", "finished"):
            values[name] = values[name].isoformat(timespec="seconds")
        return {"outcome": values.pop("outcome"), "exit_code": self.exit_code, **values}

    def totals(self) -> dict[str, Any]:
        """Return the numbers of the run for the inventory: about 500 bytes as JSON, less without decisions."""
        names = ["requests", "not_modified", "bytes", "errors", "overloads", "pauses"]
        totals: dict[str, Any] = {"outcome": str(self.outcome), "message": self.message[:MAX_STORED_MESSAGE]}
        totals["milliseconds"] = round(self.seconds * 1_000)
        if self.has_decided:
            names += ["listed", "kept", "excluded", "other_hosts", "warning_counts"]
            totals |= {"files": len(self.files), "files_written": sum(file["written"] for file in self.files)}
            totals["changes"] = self.changes._asdict()
        if self.rendering is not None:
            counts = {name: count for name, count in self.rendering.items() if name != "refused"}
            totals["rendering"] = {**counts, "seconds": round(counts["seconds"])}
            totals["refused"] = self.rendering["refused"]
        if by_host := self._outcomes_by_host():
            totals["by_host"] = by_host
        if self.hints:
            totals["hints"] = "\n".join(hint[:MAX_STORED_MESSAGE] for hint in self.hints)
        if self.notices:
            # The rest of a command would be another command.
            kept = (notice for notice in self.notices if len(notice) <= MAX_STORED_NOTICE)
            totals["notices"] = "\n".join(kept)
        return {**totals, **{name: getattr(self, name) for name in names}}

    def _outcomes_by_host(self) -> dict[str, Any]:
        """Return the refused hosts with their messages, and the outcome of the others. Empty if no host is refused."""
        refused = [row for row in self.hosts if row["outcome"] == Outcome.REFUSED]
        if not refused:
            return {}
        others = {row["outcome"] for row in self.hosts}
        # If one of them is published, so is the run.
        known = (Outcome.PUBLISHED, Outcome.UNCHANGED, Outcome.DRY_RUN, Outcome.REFUSED)
        other = next(outcome for outcome in known if outcome in others)
        stored = {row["host"]: row["message"][:MAX_STORED_MESSAGE] for row in refused[:MAX_STORED_HOSTS]}
        return {"refused": stored, "others": str(other)}

    @property
    def has_summary(self) -> bool:
        """Whether there is anything to summarise. A crawl that did not begin has no run. A helper decides nothing."""
        return bool(self.run) and self.outcome is not Outcome.HELPED

    def numbers(self) -> str:
        """Return the numbers of the run as a line for the log, next to the message."""
        parts = [f"run {self.run}", f"{self.requests:,} requests"]
        if self.exit_code == 0 and self.has_summary:
            changes, written = self.changes, sum(file["written"] for file in self.files)
            parts.append(f"{changes.added:,} added, {changes.changed:,} changed, {changes.removed:,} removed")
            parts.append(f"{sum(self.excluded.values()) - self.other_hosts:,} not listed")
            parts.append(f"{len(self.files):,} file{'' if len(self.files) == 1 else 's'}, {written:,} written anew")
        return "; ".join(parts)

    def deliver(self, options: Options, *, private: bool) -> None:
        """Write the report to the path of --report, if any. A failure becomes the outcome of the run."""
        if options.report is None:
            return
        try:
            self.write(options.report, private=private)
        except OSError as error:
            self.outcome = Outcome.FAILED
            self.message += f"; but cannot write the report {options.report}: {error.strerror or error}"

    def write(self, path: Path, *, private: bool) -> None:
        """Replace the file `path`; a private one has the mode 0600. Raises OSError."""
        write_json(path, self.to_json(), private=private)
