"""A strict reader of sitemaps, independent of the writer: `validate` judges any sitemap, ours too."""

from __future__ import annotations

from sitemap_crawler.validation.entries import ReadEntry, read_entries
from sitemap_crawler.validation.findings import FileReport, Finding, Report
from sitemap_crawler.validation.sources import TargetError
from sitemap_crawler.validation.targets import validate

__all__ = ["FileReport", "Finding", "ReadEntry", "Report", "TargetError", "read_entries", "validate"]
