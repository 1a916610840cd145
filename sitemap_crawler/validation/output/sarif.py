"""The report as SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sitemap_crawler import __version__
from sitemap_crawler.validation.catalogue import RULES, Rule
from sitemap_crawler.validation.findings import statement_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.validation.findings import Finding, ValidationReport

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def lines(report: ValidationReport, *, max_findings: int | None = None) -> Iterator[str]:
    """Yield the document."""
    positions = {rule: index for index, rule in enumerate(sorted(report.counts))}
    left_out = report.left_out(max_findings)
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "sitemap-crawler",
                "version": __version__,
                "rules": [_rule(RULES[rule]) for rule in positions],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(report, finding, positions[finding.rule]) for finding in report.shown(max_findings)],
    }
    if left_out:
        run["properties"] = {"findingsLeftOut": left_out}
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: Rule) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": rule.id,
        "shortDescription": {"text": rule.problem},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"source": rule.source, "family": rule.family},
    }
    return {**described, "helpUri": rule.link} if rule.link else described


def _result(report: ValidationReport, finding: Finding, position: int) -> dict[str, Any]:
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
