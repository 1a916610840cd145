"""Findings of a validation: their collection in bounded memory, and the report."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from sitemap_crawler.utils.text import printable

Severity = Literal["error", "warning"]
Kind = Literal["urlset", "sitemapindex", "text", "rss", "atom", "unknown"]

MAX_PER_RULE = 20
"""Maximum number of findings of one rule in one file. One more finding counts the others."""
MAX_TOTAL = 10_000
"""Maximum number of findings of a validation, without the ones that count others."""


class Issue(NamedTuple):
    """A problem in a file, without the name of the file."""

    severity: Severity
    rule: str
    message: str
    line: int | None = None


def error(rule: str, message: str, line: int | None = None) -> Issue:
    return Issue("error", rule, message, line)


def warning(rule: str, message: str, line: int | None = None) -> Issue:
    return Issue("warning", rule, message, line)


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a named file, as it appears in the report."""

    severity: Severity
    rule: str
    file: str
    line: int | None
    url: str | None
    message: str


@dataclass(frozen=True, slots=True)
class FileReport:
    """A checked file."""

    name: str
    kind: Kind
    urls: int
    """Number of entries; for an index, the number of sitemaps."""
    bytes: int
    """Number of uncompressed bytes that were read."""


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """Result of a validation."""

    target: str
    files: tuple[FileReport, ...]
    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        return all(finding.severity != "error" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "valid": self.valid,
            "files": [asdict(file) for file in self.files],
            "findings": [asdict(finding) for finding in self.findings],
        }


@dataclass(slots=True)
class Collector:
    """Collection of findings in bounded memory: the first ones of each rule and file are kept, the others counted."""

    findings: list[Finding] = field(default_factory=list)
    _seen: Counter[tuple[str, Severity, str]] = field(default_factory=Counter)
    _omitted: Counter[Severity] = field(default_factory=Counter)

    def add(self, file: str, issue: Issue, url: str | None = None) -> None:
        if len(self.findings) >= MAX_TOTAL:
            self._omitted[issue.severity] += 1
            return
        key = (file, issue.severity, issue.rule)
        self._seen[key] += 1
        if self._seen[key] <= MAX_PER_RULE:
            shown = None if url is None else printable(url)
            finding = Finding(issue.severity, issue.rule, file, issue.line, shown, printable(issue.message))
            self.findings.append(finding)

    def result(self, target: str) -> tuple[Finding, ...]:
        """Return all findings grouped by file. Files are in the order of their first finding."""
        order = {file: position for position, file in enumerate(dict.fromkeys(f.file for f in self.findings))}
        counted = [
            Finding(severity, rule, file, None, None, f"{count - MAX_PER_RULE:,} more of these")
            for (file, severity, rule), count in self._seen.items()
            if count > MAX_PER_RULE
        ]
        findings = sorted(self.findings + counted, key=lambda finding: order[finding.file])
        omitted = [
            Finding(severity, "findings-omitted", target, None, None, f"{count:,} more findings are not shown")
            for severity, count in sorted(self._omitted.items())
        ]
        return (*findings, *omitted)
