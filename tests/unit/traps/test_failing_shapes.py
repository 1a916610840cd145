"""Shapes of URLs that keep failing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.traps import failing_shapes
from sitemap_crawler.traps.failing_shapes import MAX_FAILURES, FailingShapes

if TYPE_CHECKING:
    import pytest

SITE = "https://www.example.com"


def test_a_shape_is_given_up_after_lasting_failures_and_taken_up_after_an_answer() -> None:
    shapes = FailingShapes()
    for number in range(MAX_FAILURES):
        assert not shapes.gives_up(f"{SITE}/item/0?page=1")
        shapes.failed(f"{SITE}/item/{number}?page={number}")
    assert shapes.gives_up(f"{SITE}/item/x9?page=7")
    others = (f"{SITE}/item/1", f"{SITE}/item?page=1", "https://example.com/item/1?page=1")
    assert not any(map(shapes.gives_up, others))
    shapes.answered(f"{SITE}/item/1")
    assert shapes.gives_up(f"{SITE}/item/5?page=7")
    shapes.answered(f"{SITE}/item/99?page=3")
    assert not shapes.gives_up(f"{SITE}/item/5?page=7")


def test_the_number_of_shapes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing_shapes, "MAX_SHAPES", 3)
    monkeypatch.setattr(failing_shapes, "MAX_FAILURES", 2)
    shapes = FailingShapes()
    for name in ("a", "b", "a", "b", "c", "a", "d", "e"):
        shapes.failed(f"{SITE}/{name}")
    # The last failure of b and c is older than that of a.
    assert [name for name in "abcde" if shapes.gives_up(f"{SITE}/{name}")] == ["a"]
