"""What earlier runs have left out: some URLs of each such shape are requested again, as samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.traps.shapes import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NEW_SAMPLES = 3
"""Number of new URLs of a shape that are requested although an earlier run has left its URLs out."""
MAX_SHAPES = 10_000
"""Maximum number of shapes that are remembered."""


class LeftOut:
    """The shapes and groups that were left out, and the samples of them."""

    def __init__(self) -> None:
        self.earlier: set[str] = set()
        """Groups that an earlier run had refused when this one began."""
        self.samples: set[str] = set()
        """URLs that are requested all the same."""
        self.sampled: set[str] = set()
        """Groups of which the run has requested such URLs before its end."""
        self.earlier_shapes: set[str] = set()
        """Shapes of which an earlier run has left URLs out. Those of their pages that repeat others are not listed."""
        self._shapes: set[str] = set()
        """Those of them that have shown nothing new since, and shapes of which this run has left all URLs out."""
        self._new_samples: dict[str, set[str]] = {}
        """By shape of those, the new URLs that are samples."""

    def __bool__(self) -> bool:
        return bool(self._shapes)

    def begin(self, refused: Iterable[str], urls: Iterable[str]) -> None:
        """Begin a run with the groups that earlier runs have refused, and the URLs that they have left out."""
        self.earlier = set(refused)
        self.add(urls)
        self.earlier_shapes = set(self._shapes)

    def add(self, urls: Iterable[str]) -> None:
        """Add the shapes of URLs that are left out."""
        for url in urls:
            if len(self._shapes) >= MAX_SHAPES:
                break
            self._shapes.add(shape_of(url).groups[0])

    def shape_left_out(self, url: str) -> str | None:
        """Return the shape of a URL if URLs of this shape are left out."""
        shape = shape_of(url).groups[0] if self._shapes else None
        return shape if shape in self._shapes else None

    def discard(self, shape: str) -> bool:
        """Remove a shape. Return whether URLs of it were left out."""
        was_left_out = shape in self._shapes
        self._shapes.discard(shape)
        return was_left_out

    def leaves_out_new(self, url: str) -> bool:
        """Return whether a new URL is left out with its shape. The first few of each shape are samples."""
        shape = self.shape_left_out(url)
        if shape is None:
            return False
        new = self._new_samples.setdefault(shape, set())
        if url not in new and len(new) < NEW_SAMPLES:
            new.add(url)
            self.samples.add(url)
        return url not in new

    @property
    def before(self) -> dict[str, list[str]]:
        """Return, for JSON, the groups and shapes that were left out, and the samples."""
        return {
            "refused": sorted(self.earlier),
            "left_out": sorted(self._shapes),
            "left_out_before": sorted(self.earlier_shapes),
            "samples": sorted(self.samples),
        }

    def restore(self, before: Mapping[str, list[str]]) -> None:
        """Add what an earlier process of the run knew."""
        self.earlier.update(before["refused"])
        self._shapes.update(before["left_out"])
        self.earlier_shapes.update(before.get("left_out_before", ()))
        self.samples.update(before.get("samples", ()))
        self.sampled.update(before.get("sampled", ()))
