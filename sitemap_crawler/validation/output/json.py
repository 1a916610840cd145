"""The report as one JSON object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.validation.findings import ValidationReport


def lines(report: ValidationReport, *, max_findings: int | None = None) -> Iterator[str]:
    """Yield the document."""
    yield json.dumps(report.to_json(max_findings=max_findings), indent=2)
