"""The report in the forms that build systems read: GitHub's workflow commands, JUnit XML and SARIF."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from sitemap_crawler import __version__
from sitemap_crawler.validation.catalogue import RULES, Rule
from sitemap_crawler.validation.findings import INCOMPLETE, MAX_TOTAL, statement_of
from sitemap_crawler.validation.output.text import verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.validation.findings import Finding, ValidationReport

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})
_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def github_lines(report: ValidationReport, *, max_findings: int | None = None) -> Iterator[str]:
    """Yield workflow commands of GitHub Actions, one for each finding, and the verdict as a notice.

    They become annotations of files: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
    """
    for finding in report.shown(max_findings):
        file = report.path_of(finding.file)
        place = {"file": file, "line": finding.line, "col": finding.column, "title": finding.rule}
        properties = ",".join(f"{key}={str(value).translate(_PROPERTY)}" for key, value in place.items() if value)
        text = f"{statement_of(finding)}. {finding.remedy}"
        yield f"::{finding.severity} {properties}::{text.translate(_DATA)}"
    left_out = report.left_out(max_findings)
    more = f"; {left_out:,} more findings are not shown" if left_out else ""
    yield f"::notice title=sitemap-crawler::{(verdict(report) + more).translate(_DATA)}"


def junit_lines(
    report: ValidationReport, *, max_findings: int | None = None, warnings_fail: bool = False
) -> Iterator[str]:
    """Yield JUnit XML: one test case for each rule and file with a finding, and one for each file without any.

    Errors are failures, and so are warnings with `warnings_fail`; otherwise they are test cases that pass and have an
    output. A check that could not be made is an error of the test.
    """

    def fails(rule: str) -> bool:
        return rule != INCOMPLETE and (warnings_fail or RULES[rule].severity == "error")

    # A case is written without its findings when these are left out: a file must not look valid.
    cases: dict[tuple[str, str], list[Finding]] = {(found.file, found.rule): [] for found in report.findings}
    for finding in report.shown(max_findings):
        cases[finding.file, finding.rule].append(finding)
    names = {name for name, _ in cases}
    # With so many findings, those of whole files are not kept.
    clean = [file.name for file in report.files if file.name not in names and len(report.findings) < MAX_TOTAL]
    failures = sum(fails(rule) for _, rule in cases)
    errors = sum(rule == INCOMPLETE for _, rule in cases)
    total = len(cases) + len(clean)
    counts = f'tests="{total}" failures="{failures}" errors="{errors}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="sitemap-crawler validate" {counts} time="0">'
    yield f'  <testsuite name="sitemaps" {counts} skipped="0" time="0">'
    for name in clean:
        yield f'    <testcase classname={quoteattr(report.path_of(name))} name="valid" time="0"/>'
    for (name, rule_id), found in cases.items():
        rule = RULES[rule_id]
        text = escape("\n".join([*map(_junit_line, found), rule.remedy]))
        yield f'    <testcase classname={quoteattr(report.path_of(name))} name={quoteattr(rule_id)} time="0">'
        if fails(rule_id):
            yield f"      <failure type={quoteattr(rule_id)} message={quoteattr(rule.problem)}>{text}</failure>"
        elif rule_id == INCOMPLETE:
            yield f"      <error type={quoteattr(rule_id)} message={quoteattr(rule.problem)}>{text}</error>"
        else:
            yield f"      <system-out>{text}</system-out>"
        yield "    </testcase>"
    left_out = report.left_out(max_findings)
    if left_out:
        yield f"    <system-out>{left_out:,} more findings are not shown</system-out>"
    yield "  </testsuite>"
    yield "</testsuites>"


def _junit_line(finding: Finding) -> str:
    place = "" if finding.line is None else f"line {finding.line}: "
    return f"{place}{statement_of(finding)}"


def sarif_lines(report: ValidationReport, *, max_findings: int | None = None) -> Iterator[str]:
    """Yield one document in SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html"""
    positions = {rule: index for index, rule in enumerate(sorted(report.counts))}
    left_out = report.left_out(max_findings)
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "sitemap-crawler",
                "version": __version__,
                "rules": [_sarif_rule(RULES[rule]) for rule in positions],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(report, finding, positions[finding.rule]) for finding in report.shown(max_findings)],
    }
    if not report.complete:
        notes = [
            {"level": "error", "message": {"text": statement_of(finding)}}
            for finding in report.findings
            if finding.rule == INCOMPLETE
        ]
        run["invocations"] = [{"executionSuccessful": False, "toolExecutionNotifications": notes}]
    if left_out:
        run["properties"] = {"findingsLeftOut": left_out}
    yield json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": rule.id,
        "shortDescription": {"text": rule.problem},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"source": rule.source, "family": rule.family},
    }
    return {**described, "helpUri": rule.link} if rule.link else described


def _sarif_result(report: ValidationReport, finding: Finding, position: int) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(report.path_of(finding.file))}}
    if finding.line is not None:
        location["region"] = {"startLine": finding.line}
        if finding.column is not None:
            location["region"]["startColumn"] = finding.column
    text = statement_of(finding)
    return {
        "ruleId": finding.rule,
        "ruleIndex": position,
        "level": finding.severity,
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
    }


def _uri(file: str) -> str:
    """Return a URL as it is, and a path as a URI reference."""
    return file if "://" in file else quote(file)
