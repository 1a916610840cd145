"""The pictures: how many squares they have, where they stand, and how long bars are."""

from __future__ import annotations

import re

import pytest

from sitemap_crawler.report.html.decision_groups import Counts, Group
from sitemap_crawler.report.html.drawing import COLUMNS, MAX_SQUARES, bars, line_chart, pages_per_square, squares


def counts(**numbers: int) -> Counts:
    return [numbers.get(group.name_in_page, 0) for group in Group]


def cells(path: str) -> list[tuple[int, int]]:
    """Return line and column of each square of a path."""
    strokes = re.findall(r"M(\d+) (\d+)\.5h(\d+)", path)
    assert "".join(f"M{column} {line}.5h{length}" for column, line, length in strokes) == path
    return [
        (int(line), int(column) + offset) for column, line, length in strokes for offset in range(int(length))
    ]  # fmt: skip


def test_squares_fill_line_after_line() -> None:
    drawn = squares(counts(broken=3, listed=60), 1)
    found = [cell for part in drawn.parts for cell in cells(part.path)]
    assert found == [divmod(number, COLUMNS) for number in range(63)]
    assert [(part.group, part.urls) for part in drawn.parts] == [(Group.BROKEN, 3), (Group.LISTED, 60)]
    assert drawn.lines == 2


def test_a_few_pages_of_many_keep_a_square() -> None:
    drawn = squares(counts(broken=1, listed=10_000), 500)
    assert [len(cells(part.path)) for part in drawn.parts] == [1, 20]


@pytest.mark.parametrize(
    ("total", "unit"), [(0, 1), (MAX_SQUARES, 1), (MAX_SQUARES + 1, 2), (8_000, 10), (1_000_000, 1_000)]
)
def test_a_view_has_a_bounded_number_of_squares(total: int, unit: int) -> None:
    assert pages_per_square(total) == unit
    assert total <= unit * MAX_SQUARES


def test_bars_are_shares_with_the_listed_first() -> None:
    found = bars(counts(listed=75, broken=25))
    assert [tuple(part) for part in found] == [(Group.LISTED, 0.0, 75.0), (Group.BROKEN, 75.0, 25.0)]
    assert bars(counts()) == []


def test_the_line_of_a_site_that_grows_begins_at_zero() -> None:
    chart = line_chart([100, 1_000], width=100, height=10)
    assert (chart.low, chart.high) == (0, 1_000)
    assert chart.line == "M0.0 9.0L100.0 0.0"


def test_small_changes_can_be_seen() -> None:
    chart = line_chart([475, 459], width=100, height=10)
    assert 0 < chart.low < 459
    assert chart.line == "M0.0 0.0L100.0 5.0"
