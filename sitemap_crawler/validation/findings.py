"""What a check found: findings, collected with a bound, and the report made of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from sitemap_crawler.utils.text import printable

Severity = Literal["error", "warning"]
Kind = Literal["urlset", "sitemapindex", "text", "rss", "atom", "unknown"]

MAX_PER_RULE = 20  # findings of one rule in one file; one more line counts the rest
MAX_TOTAL = 10_000


class Issue(NamedTuple):
    """A finding before it is known in which file it stands."""

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
    severity: Severity
    rule: str
    file: str
    line: int | None
    url: str | None
    message: str


@dataclass(frozen=True, slots=True)
class FileReport:
    """`urls` counts entries (sitemaps, in an index); `bytes` is the uncompressed size that was read."""

    name: str
    kind: Kind
    urls: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Report:
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
    """Keeps the first findings of each rule and file and counts the others, so that memory stays bounded."""

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
        """All findings, those of one file together, files in the order in which they were first reported."""
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
