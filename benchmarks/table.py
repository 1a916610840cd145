"""The results as one table, for a terminal and in Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HEADER = ("", "measured", "by", "median", "lowest to highest", "ratio", "remarks")
RIGHT_ALIGNED = (3, 4)
"""Columns of numbers."""


@dataclass(frozen=True, slots=True)
class Row:
    group: str
    subject: str
    by: str
    values: Sequence[float]
    unit: str
    ratio: str = ""
    remarks: str = ""

    def cells(self) -> tuple[str, ...]:
        figure = f"{_number(median(self.values))} {self.unit}"
        spread = f"{_number(min(self.values))} to {_number(max(self.values))}" if len(self.values) > 1 else "one run"
        return (self.group, self.subject, self.by, figure, spread, self.ratio, self.remarks)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def text(rows: Iterable[Row]) -> str:
    cells = [HEADER, *_without_repetition(rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADER))]
    lines = ("  ".join(_aligned(cell, widths, column) for column, cell in enumerate(row)).rstrip() for row in cells)
    return "\n".join(lines)


def _aligned(cell: str, widths: Sequence[int], column: int) -> str:
    return cell.rjust(widths[column]) if column in RIGHT_ALIGNED else cell.ljust(widths[column])


def markdown(rows: Iterable[Row]) -> str:
    rule = ["---:" if column in RIGHT_ALIGNED else "---" for column in range(len(HEADER))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (HEADER, rule, *_without_repetition(rows)))


def _without_repetition(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """Return the cells of the rows. A repeated group or subject is left empty."""
    shown = []
    before: Sequence[str] = ("", "")
    for row in rows:
        group, subject, *others = row.cells()
        same = group == before[0]
        shown.append(("" if same else group, "" if same and subject == before[1] else subject, *others))
        before = (group, subject)
    return shown
