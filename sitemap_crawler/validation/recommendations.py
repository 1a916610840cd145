"""Recommendations: the remedies of the broken rules, the most useful first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from sitemap_crawler.validation.catalogue import RULES

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping

    from sitemap_crawler.validation.findings import Finding

Priority = Literal["high", "medium", "low"]
MAX_EXAMPLES = 3
_ORDER: Mapping[Priority, int] = {"high": 0, "medium": 1, "low": 2}


def recommendations(
    counts: Counter[str], urls: Counter[str], findings: Iterable[Finding]
) -> tuple[dict[str, Any], ...]:
    """Return the remedy of each broken rule. `urls` has the number of listed URLs with findings by rule."""
    examples: dict[str, list[str]] = {rule: [] for rule in counts}
    for finding in findings:
        shown = examples[finding.rule]
        text = finding.url or finding.file
        if len(shown) < MAX_EXAMPLES and text not in shown:
            shown.append(text)
    ordered = sorted(counts, key=lambda rule: (_ORDER[_priority(rule)], -counts[rule], rule))
    return tuple(
        {
            "rule": rule,
            "rules": [rule],
            "priority": _priority(rule),
            "message": _message(rule, counts[rule], urls[rule]),
            "count": counts[rule],
            "urls": urls[rule],
            "examples": examples[rule],
        }
        for rule in ordered
    )


def _priority(rule: str) -> Priority:
    """Return the priority of a rule. Search engines ignore the values of the hints and of retired elements."""
    if RULES[rule].family == "hints" or rule == "priority-all-equal" or rule.endswith("-retired"):
        return "low"
    return "high" if RULES[rule].severity == "error" else "medium"


def _message(rule: str, count: int, urls: int) -> str:
    noun, number = ("URL", urls) if urls else ("finding", count)
    return f"{RULES[rule].remedy} [{rule}] ({number:,} {noun}{'' if number == 1 else 's'})"
