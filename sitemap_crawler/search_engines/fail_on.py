"""Conditions under which `monitor` fails, for the option --fail-on."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.exceptions import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from sitemap_crawler.search_engines.monitor_report import MonitorReport, SitemapRow

COUNTED = ("errors", "warnings")
MEASURED = {"pending": 3_650, "stale": 3_650, "coverage": 100}
"""Conditions with a number, and its maximum: days, days, percent."""
EXAMPLES = {"pending": 7, "stale": 30, "coverage": 80}
FORM = "errors,warnings,pending:DAYS,stale:DAYS,coverage:PCT"
_NUMBER = re.compile(r"\d{1,4}(?:\.\d{1,3})?", re.ASCII)


class Condition(NamedTuple):
    """One condition: a name, and its number if it has one."""

    name: str
    number: float | None = None

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name}:{self.number:g}"


def parse_conditions(text: str) -> tuple[Condition, ...]:
    """Return the conditions of a list such as `errors,pending:7`. Raises OptionError."""
    return tuple(dict.fromkeys(map(_condition, text.split(","))))


def _condition(text: str) -> Condition:
    name, colon, number = text.strip().partition(":")
    if name in COUNTED and not colon:
        return Condition(name)
    if name in MEASURED and _NUMBER.fullmatch(number) and float(number) <= MEASURED[name]:
        return Condition(name, float(number))
    if name in MEASURED:
        unit = "per cent" if name == "coverage" else "days"
        raise OptionError(
            f"bad value {text.strip()!r} for --fail-on: give a number of {unit} up to {MEASURED[name]:,}, "
            f"such as {name}:{EXAMPLES[name]}"
        )
    raise OptionError(f"bad value {text.strip()!r} for --fail-on: give one or more of {FORM}")


def judge(report: MonitorReport, conditions: Iterable[Condition], *, now: datetime) -> None:
    """Add the conditions that are met, and those that cannot be judged, to the report."""
    for condition in conditions:
        if condition.name == "coverage":
            _judge_coverage(report, condition)
            continue
        for row in report.sitemaps:
            report.met += [f"{condition}: {words}" for words in _found(row, condition, now)]


def _found(row: SitemapRow, condition: Condition, now: datetime) -> Iterator[str]:
    """Yield what meets a condition, in words."""
    service = row.kept.service
    if condition.number is None:
        for kept in (row.kept, *row.children):
            count = getattr(kept.answer, condition.name)
            if count:
                word = condition.name if count > 1 else condition.name.removesuffix("s")
                yield f"{service} reports {count:,} {word} in {kept.url}"
        return
    limit = now - timedelta(days=condition.number)
    if condition.name == "stale" and row.kept.answer.known and row.last_sign < limit:
        read = row.kept.answer.last_downloaded
        yield (
            f"{service} last read {row.kept.url} on {read:%Y-%m-%d}"
            if read
            else f"{service} has never read {row.kept.url}"
        )
    since = row.pending_since
    if condition.name == "pending" and since is not None and since < limit:
        if row.kept.answer.known:
            yield f"{service} has not read {row.kept.url} since it was published or submitted on {since:%Y-%m-%d}"
        else:
            yield f"{service} does not know {row.kept.url}, published on {since:%Y-%m-%d}: run submit"


def _judge_coverage(report: MonitorReport, condition: Condition) -> None:
    found = report.coverage
    percent = None if found is None else found.indexed_percent
    if found is None or percent is None:
        inspected = "no page is inspected" if found is None else f"{found.inspected:,} of {found.of:,} inspected"
        report.notes.append(f"{condition} cannot be judged: {inspected}")
    elif condition.number is not None and percent < condition.number:
        inspected = f"{found.inspected:,} inspected pages, of {found.of:,} listed"
        report.met.append(f"{condition}: {percent:g} % of {inspected}, are indexed")
