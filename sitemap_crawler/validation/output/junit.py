"""The report as JUnit XML: one test case for each rule and file with a finding, and one for each file without any."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from sitemap_crawler.validation.catalogue import RULES
from sitemap_crawler.validation.findings import MAX_TOTAL, statement_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.validation.findings import Finding, ValidationReport


def lines(report: ValidationReport, *, max_findings: int | None = None) -> Iterator[str]:
    """Yield the lines of the document. Errors are failures; warnings are test cases that pass and have an output."""
    # A case is written without its findings when these are left out: a file must not look valid.
    cases: dict[tuple[str, str], list[Finding]] = {(found.file, found.rule): [] for found in report.findings}
    for finding in report.shown(max_findings):
        cases[finding.file, finding.rule].append(finding)
    names = {name for name, _ in cases}
    # With so many findings, those of whole files are not kept.
    clean = [file.name for file in report.files if file.name not in names and len(report.findings) < MAX_TOTAL]
    failures = sum(RULES[rule].severity == "error" for _, rule in cases)
    total = len(cases) + len(clean)
    counts = f'tests="{total}" failures="{failures}" errors="0"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="sitemap-crawler validate" {counts} time="0">'
    yield f'  <testsuite name="sitemaps" {counts} skipped="0" time="0">'
    for name in clean:
        yield f'    <testcase classname={quoteattr(report.path_of(name))} name="valid" time="0"/>'
    for (name, rule_id), found in cases.items():
        rule = RULES[rule_id]
        text = escape("\n".join([*map(_line, found), rule.remedy]))
        yield f'    <testcase classname={quoteattr(report.path_of(name))} name={quoteattr(rule_id)} time="0">'
        if rule.severity == "error":
            yield f"      <failure type={quoteattr(rule_id)} message={quoteattr(rule.problem)}>{text}</failure>"
        else:
            yield f"      <system-out>{text}</system-out>"
        yield "    </testcase>"
    left_out = report.left_out(max_findings)
    if left_out:
        yield f"    <system-out>{left_out:,} more findings are not shown</system-out>"
    yield "  </testsuite>"
    yield "</testsuites>"


def _line(finding: Finding) -> str:
    place = "" if finding.line is None else f"line {finding.line}: "
    return f"{place}{statement_of(finding)}"
