"""The findings as a table: one row for each, for spreadsheets and programs. None is left out."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from sitemap_crawler.utils.text import csv_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.validation.findings import Finding

COLUMNS = ("rule", "severity", "file", "line", "column", "url", "status", "target", "message", "replacement")


def csv_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a heading and a row for each finding. Its cells are safe in a spreadsheet."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="")
    writer.writerow(COLUMNS)
    yield buffer.getvalue()
    for finding in findings:
        buffer.seek(0)
        buffer.truncate()
        writer.writerow([csv_cell(value) for value in _row(finding).values()])
        yield buffer.getvalue()


def jsonl_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a JSON object for each finding."""
    for finding in findings:
        yield json.dumps(_row(finding))


def _row(finding: Finding) -> dict[str, Any]:
    return {name: getattr(finding, name) for name in COLUMNS}
