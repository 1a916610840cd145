"""The pictures of the report as SVG: squares for pages, bars of shares, and the line of past runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.report.html.decision_groups import Counts, Group

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = 50
"""Squares of a line."""
MAX_SQUARES = 1_500
"""Maximum number of squares of one view. Above it, a square stands for several pages."""
_UNITS = (1, 2, 5)


class Part(NamedTuple):
    """A part of a picture: the URLs of one group."""

    group: Group
    urls: int
    path: str
    """Value of the attribute `d`."""


class Bar(NamedTuple):
    """A part of a bar, from 0 to 100."""

    group: Group
    start: float
    length: float


class Squares(NamedTuple):
    """The squares of one directory."""

    parts: list[Part]
    columns: int
    lines: int


def pages_per_square(total: int) -> int:
    """Return the number of pages for which a square stands, so that a view has at most MAX_SQUARES."""
    unit, power = 1, 0
    while total > unit * MAX_SQUARES:
        power += 1
        unit = _UNITS[power % 3] * 10 ** (power // 3)
    return unit


def squares(counts: Counts, unit: int) -> Squares:
    """Return the squares of a directory, group by group. A line of squares is one dashed stroke."""
    parts: list[Part] = []
    position = 0
    for group in Group:
        count = counts[group]
        if not count:
            continue
        end = position + -(-count // unit)
        path = ""
        while position < end:
            line, column = divmod(position, COLUMNS)
            length = min(COLUMNS - column, end - position)
            path += f"M{column} {line}.5h{length}"
            position += length
        parts.append(Part(group, count, path))
    return Squares(parts, COLUMNS, max(1, -(-position // COLUMNS)))


def bars(counts: Counts, whole: float = 100.0) -> list[Bar]:
    """Return the shares of the groups as parts of a bar of length `whole`, the listed URLs first."""
    total = sum(counts) or 1
    result: list[Bar] = []
    start = 0.0
    for group in (Group.LISTED, Group.AT_RISK, Group.BROKEN, Group.ASKED, Group.OF_COURSE, Group.OPEN):
        length = whole * counts[group] / total
        if length:
            result.append(Bar(group, round(start, 2), round(length, 2)))
        start += length
    return result


class Line(NamedTuple):
    """A line over time, in a box of the given size."""

    width: int
    height: int
    line: str
    area: str
    """Values of the attribute `d`."""
    low: int
    high: int


def line_chart(values: Sequence[int], width: int = 640, height: int = 120) -> Line:
    """Return a line of at least two values from left to right. The axis begins at 0 unless all values are close."""
    high, low = max(values), min(values)
    bottom = 0 if low * 2 < high or high == low else max(0, low - (high - low))
    span = (high - bottom) or 1
    step = width / (len(values) - 1)
    points = [
        (round(number * step, 1), round(height - (value - bottom) / span * height, 1))
        for number, value in enumerate(values)
    ]
    line = "M" + "L".join(f"{x} {y}" for x, y in points)
    return Line(width, height, line, f"{line}V{height}H0Z", bottom, high)
