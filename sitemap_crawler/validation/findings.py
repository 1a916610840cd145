"""Findings of a validation: their collection in bounded memory, and the report."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sitemap_crawler.utils.text import printable
from sitemap_crawler.validation.catalogue import RULES, Severity
from sitemap_crawler.validation.replacements import replacement_of

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = Literal["urlset", "sitemapindex", "text", "rss", "atom", "unknown"]
FEEDS = frozenset(("rss", "atom"))
"""Kinds of files that name the newest pages only. A page may be in several feeds, and in a sitemap."""

Verdict = Literal["valid", "invalid", "incomplete"]

INCOMPLETE = "live-incomplete"
"""Rule of a check that could not be made."""
LIMITED = "live-limited"
"""Rule of a URL whose server has had too many requests."""
MAX_PER_RULE = 1_000
"""Maximum number of findings of one rule in one file that are kept. All are counted."""
MAX_TOTAL = 10_000
"""Maximum number of findings of a validation that are kept. All are counted."""


class Issue(NamedTuple):
    """A case of a rule in a file, without the name of the file."""

    rule: str
    message: str
    """One sentence: the defect in this case, without a remedy."""
    line: int | None = None
    column: int | None = None
    """Column of the line in bytes, from 1."""
    status: int | None = None
    """Status with which the URL answers, if it was requested."""
    target: str | None = None
    """The last URL of the redirects, if the URL redirects."""
    replacement: str | None = None
    """The right value; None if it is not known yet. It is escaped for XML only where the issue is a fault of XML."""
    value: str | None = None
    """The wrong value, if its replacement may follow from it."""

    @property
    def severity(self) -> Severity:
        return RULES[self.rule].severity


def issue(
    rule: str,
    message: str,
    line: int | None = None,
    column: int | None = None,
    *,
    status: int | None = None,
    target: str | None = None,
    replacement: str | None = None,
    value: str | None = None,
) -> Issue:
    """Return an issue of a rule of the catalogue. Raises KeyError for any other rule."""
    return Issue(RULES[rule].id, message, line, column, status, target, replacement, value)


@dataclass(frozen=True, slots=True)
class Finding:
    """A case of a rule in a named file, as it appears in the report."""

    rule: str
    file: str
    line: int | None
    column: int | None
    url: str | None
    message: str
    status: int | None = None
    target: str | None = None
    replacement: str | None = None
    """The right value; None if it is not known. It is escaped for XML only where the finding is a fault of XML."""

    @property
    def severity(self) -> Severity:
        return RULES[self.rule].severity

    @property
    def remedy(self) -> str:
        return RULES[self.rule].remedy

    def to_json(self) -> dict[str, Any]:
        rule = RULES[self.rule]
        return {"severity": rule.severity, **asdict(self), "remedy": rule.remedy, "source": rule.source,
                "link": rule.link}  # fmt: skip


def place_of(finding: Finding) -> str:
    """Return file, line and column of a finding as text."""
    return ":".join(str(part) for part in (printable(finding.file), finding.line, finding.column) if part is not None)


def statement_of(finding: Finding) -> str:
    """Return the message of a finding after the URL that it is about, and what to write in its place, if known."""
    replacement = "" if finding.replacement is None else f": write {finding.replacement}"
    return f"{finding.url}: {finding.message}{replacement}" if finding.url else f"{finding.message}{replacement}"


@dataclass(frozen=True, slots=True)
class FileReport:
    """A checked file."""

    name: str
    kind: Kind
    urls: int
    """Number of entries; for an index, the number of sitemaps."""
    bytes: int
    """Number of uncompressed bytes that were read."""


class Site(NamedTuple):
    """A target that is the address of a site and stands for its sitemaps."""

    target: str
    robots_txt: str | None
    """URL of the robots.txt that names the sitemaps. None if /sitemap.xml is checked, because none is named."""
    sitemaps: list[str]


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """Result of a validation."""

    targets: tuple[str, ...]
    files: tuple[FileReport, ...]
    findings: tuple[Finding, ...]
    """Findings that were kept, grouped by file. `counts` has all."""
    counts: Counter[str]
    """Number of findings of each rule."""
    statistics: dict[str, Any] = field(default_factory=dict)
    recommendations: tuple[dict[str, Any], ...] = ()
    directory: str = ""
    """Directory of the local files, if they are named without it."""
    sites: tuple[Site, ...] = ()

    def path_of(self, file: str) -> str:
        """Return the path of a named file from the working directory; a URL and `-` as they are."""
        return file if "://" in file or file == "-" else (Path(self.directory) / file).as_posix()

    @property
    def complete(self) -> bool:
        """Whether everything was checked that was to be checked."""
        return INCOMPLETE not in self.counts

    @property
    def verdict(self) -> Verdict:
        """Return invalid for any error; incomplete if a check could not be made, as it might have found one."""
        if any(RULES[rule].severity == "error" for rule in self.counts):
            return "invalid"
        return "valid" if self.complete else "incomplete"

    @property
    def valid(self) -> bool:
        return self.verdict == "valid"

    def worst_first(self) -> list[tuple[str, int]]:
        """Return the rules that were broken with the number of findings: errors first, then the frequent ones."""
        return sorted(self.counts.items(), key=lambda item: (RULES[item[0]].severity, -item[1], item[0]))

    def shown(self, max_findings: int | None) -> tuple[Finding, ...]:
        """Return the kept findings, at most `max_findings`, and then those of the worst rules."""
        if max_findings is None or len(self.findings) <= max_findings:
            return self.findings
        rank = {rule: position for position, (rule, _) in enumerate(self.worst_first())}
        return tuple(sorted(self.findings, key=lambda finding: rank[finding.rule])[:max_findings])

    def left_out(self, max_findings: int | None) -> int:
        """Return the number of findings that are counted and not among those shown."""
        return self.counts.total() - len(self.shown(max_findings))

    def to_json(self, *, max_findings: int | None = None) -> dict[str, Any]:
        shown = self.shown(max_findings)
        findings = [finding.to_json() for finding in shown]
        return {
            "target": " ".join(self.targets),
            "targets": list(self.targets),
            "sites": [site._asdict() for site in self.sites],
            "valid": self.valid,
            "verdict": self.verdict,
            "complete": self.complete,
            "files": [asdict(file) for file in self.files],
            "errors": [finding for finding in findings if finding["severity"] == "error"],
            "warnings": [finding for finding in findings if finding["severity"] == "warning"],
            "findings": findings,
            "findings_left_out": self.left_out(max_findings),
            "counts": dict(self.worst_first()),
            "statistics": self.statistics,
            "recommendations": list(self.recommendations),
        }


@dataclass(slots=True)
class Collector:
    """Collection of findings in bounded memory: the first ones of each rule and file are kept, all are counted.

    With a sink, all go there, too.
    """

    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """Number of findings of each rule, with those that were not kept."""
    urls: Counter[str] = field(default_factory=Counter)
    """Number of listed URLs with findings of each rule. A URL that is listed again counts again."""
    sink: Callable[[Finding], None] | None = None
    """Takes every finding, also those that are not kept."""
    _kept: Counter[tuple[str, str]] = field(default_factory=Counter)
    _latest: dict[str, tuple[str, str]] = field(default_factory=dict)
    """File and URL of the latest finding of each rule. The findings of one entry follow each other."""

    def add(self, file: str, issue: Issue, url: str | None = None) -> None:
        """Add an issue of a file. `url` is the listed URL that it is about."""
        self.count(file, issue.rule, url)
        is_kept = self._keeps(file, issue.rule)
        if not is_kept and self.sink is None:
            return
        shown = None if url is None else printable(url)
        target = None if issue.target is None else printable(issue.target)
        replacement = issue.replacement
        if replacement is None and issue.value is not None:
            replacement = replacement_of(issue.rule, issue.value)
        replacement = None if replacement is None else printable(replacement)
        place = (issue.rule, file, issue.line, issue.column, shown)
        finding = Finding(*place, printable(issue.message), issue.status, target, replacement)
        if is_kept:
            self.findings.append(finding)
        if self.sink is not None:
            self.sink(finding)

    def needs(self, file: str, rule: str) -> bool:
        """Return whether a further finding would be kept or go to the sink. If not, `count` is enough."""
        return self._has_room(file, rule) or self.sink is not None

    def count(self, file: str, rule: str, url: str | None) -> None:
        """Count a finding without keeping it."""
        self.counts[rule] += 1
        if url is not None and self._latest.get(rule) != (file, url):
            self._latest[rule] = (file, url)
            self.urls[rule] += 1

    def merge(self, other: Collector) -> None:
        """Add all findings of another collector."""
        self.counts.update(other.counts)
        self.urls.update(other.urls)
        self.findings.extend(finding for finding in other.findings if self._keeps(finding.file, finding.rule))

    def _has_room(self, file: str, rule: str) -> bool:
        return len(self.findings) < MAX_TOTAL and self._kept[file, rule] < MAX_PER_RULE

    def _keeps(self, file: str, rule: str) -> bool:
        """Return whether a finding is kept, and count it if so."""
        if not self._has_room(file, rule):
            return False
        self._kept[file, rule] += 1
        return True

    def result(self) -> tuple[Finding, ...]:
        """Return the kept findings grouped by file. Files are in the order of their first finding."""
        order = {file: position for position, file in enumerate(dict.fromkeys(f.file for f in self.findings))}
        return tuple(sorted(self.findings, key=lambda finding: order[finding.file]))
