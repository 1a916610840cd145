"""The report as workflow commands of GitHub Actions, which become annotations of files.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.validation.findings import statement_of
from sitemap_crawler.validation.output.text import verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.validation.findings import ValidationReport

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def lines(report: ValidationReport, *, max_findings: int | None = None) -> Iterator[str]:
    """Yield one command for each finding, and the verdict as a notice."""
    for finding in report.shown(max_findings):
        file = report.path_of(finding.file)
        place = {"file": file, "line": finding.line, "col": finding.column, "title": finding.rule}
        properties = ",".join(f"{key}={str(value).translate(_PROPERTY)}" for key, value in place.items() if value)
        text = f"{statement_of(finding)}. {finding.remedy}"
        yield f"::{finding.severity} {properties}::{text.translate(_DATA)}"
    left_out = report.left_out(max_findings)
    more = f"; {left_out:,} more findings are not shown" if left_out else ""
    yield f"::notice title=sitemap-crawler::{(verdict(report) + more).translate(_DATA)}"
