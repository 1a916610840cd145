"""The report for people: the findings by rule with counts, examples and a recommendation, the files, a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sitemap_crawler.utils.text import printable
from sitemap_crawler.validation.catalogue import RULES
from sitemap_crawler.validation.findings import place_of, statement_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sitemap_crawler.validation.findings import FileReport, Finding, Site, ValidationReport

EXAMPLES = 3
"""Number of findings of one rule that are shown."""
DEFAULT_MAX_FINDINGS = 100
"""Number of findings that are shown in total, unless --max-findings says otherwise."""
_LIVE = {
    "broken_urls": "broken", "redirect_urls": "redirecting", "noindex_urls": "noindex",
    "canonical_urls": "with another canonical", "not_a_page_urls": "no pages",
    "soft_404_urls": "error pages with status 200", "blocked_urls": "blocked", "limited_urls": "limited by the server",
}  # fmt: skip
MAX_FILES = 20
"""Number of files that are listed; the verdict counts all."""


def text_lines(report: ValidationReport, *, max_findings: int | None = None) -> Iterator[str]:
    """Yield the lines of the report. The first ones say which sitemaps are those of a site, the last is the verdict."""
    yield from map(_sitemaps_of, report.sites)
    left = DEFAULT_MAX_FINDINGS if max_findings is None else max_findings
    by_rule: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    advice = {recommendation["rule"]: recommendation for recommendation in report.recommendations}
    for rule_id, count in report.worst_first():
        rule = RULES[rule_id]
        yield f"{rule.severity}: {rule.problem} [{rule.id}] ({count:,})"
        shown = by_rule.get(rule_id, [])[: min(EXAMPLES, max(left, 0))]
        left -= len(shown)
        for finding in shown:
            yield f"  {place_of(finding)}: {statement_of(finding)}"
        if count > len(shown):
            yield f"  … and {count - len(shown):,} more" if shown else f"  {count:,} not shown (--max-findings)"
        yield _advice(advice[rule_id])
    for file in report.files[:MAX_FILES]:
        yield f"{printable(file.name)}: {file.kind}, {_entries(file)}, {file.bytes:,} bytes"
    if len(report.files) > MAX_FILES:
        others = len(report.files) - MAX_FILES
        yield f"… and {others:,} more {_noun(others, 'file')}"
    yield from _live(report.statistics)
    yield verdict(report)


def _sitemaps_of(site: Site) -> str:
    """Return the line that says for which sitemaps the address of a site stands."""
    if site.robots_txt is None:
        line = f"{site.target} stands for {site.sitemaps[0]}: the site's robots.txt names no sitemap"
    elif len(site.sitemaps) == 1:
        line = f"{site.target} stands for {site.sitemaps[0]}, which {site.robots_txt} names"
    else:
        line = f"{site.target} stands for the {len(site.sitemaps):,} sitemaps that {site.robots_txt} names"
    return printable(line)


def _advice(recommendation: Mapping[str, Any]) -> str:
    """Return the line with the remedy of a rule, and the number of URLs that it repairs."""
    urls = recommendation["urls"]
    repaired = f" ({urls:,} {_noun(urls, 'URL')})" if urls else ""
    return f"  recommendation ({recommendation['priority']}): {RULES[recommendation['rule']].remedy}{repaired}"


def _live(statistics: Mapping[str, Any]) -> Iterator[str]:
    """Yield the numbers of a live check, if there was one."""
    if "checked_urls" not in statistics:
        return
    checked = statistics["checked_urls"]
    classes = statistics.get("sample") or statistics
    found = ", ".join(f"{classes[name]:,} {noun}" for name, noun in _LIVE.items() if classes.get(name))
    yield f"checked: {checked:,} {_noun(checked, 'URL')}{f', of them {found}' if found else ''}"
    if share := statistics.get("sample"):
        bounds = f"between {share['share_low']:.1%} and {share['share_high']:.1%}"
        yield f"sample: {share['wrong']:,} of {share['checked']:,} URLs are wrong, so of all {share['of']:,} {bounds}"


_VERDICTS = {"valid": "valid", "invalid": "not valid", "incomplete": "incomplete"}


def verdict(report: ValidationReport) -> str:
    """Return the last line of the report."""
    errors, warnings = (
        sum(count for rule, count in report.counts.items() if RULES[rule].severity == severity)
        for severity in ("error", "warning")
    )
    urls = sum(file.urls for file in report.files if file.kind != "sitemapindex")
    parts = [
        f"{errors:,} {_noun(errors, 'error')}" if errors else "",
        f"{warnings:,} {_noun(warnings, 'warning')}" if warnings else "",
        f"{urls:,} {_noun(urls, 'URL')} in {len(report.files):,} {_noun(len(report.files), 'file')}",
    ]
    return f"{_VERDICTS[report.verdict]}: {', '.join(filter(None, parts))}"


def _entries(file: FileReport) -> str:
    return f"{file.urls:,} {_noun(file.urls, 'sitemap' if file.kind == 'sitemapindex' else 'URL')}"


def _noun(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
