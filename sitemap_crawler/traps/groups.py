"""The groups of the URLs of a run: what their pages have shown, and which group speaks for a URL."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any
from zlib import crc32

from sitemap_crawler.traps.group_counts import MIN_SHAPES, Find, GroupCounts, own_share
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from sitemap_crawler.traps.shapes import Shape

SAMPLES = 30
"""Number of pages with parameters without anything new, after which their group is refused."""
MAX_PATIENCE = 50
"""The same for a group that has yielded. Each page that yields adds two, up to this number."""
SURE_SAMPLES = 10
"""The same for pages with several parameters of one name, and if all pages name another known URL as canonical."""
FEW_SAMPLES = 3
"""The same if the pages with one parameter less are refused already."""
PLAIN_SAMPLES = 50
"""Number of pages without parameters that repeat others, after which the URLs of their group wait for all others."""
MAX_PLAIN_PATIENCE = 200
"""The same for a group that has yielded. Each page that yields adds two, up to this number."""

MAX_GROUPS = 20_000
"""Number of groups in each of the two generations whose counts are kept in memory."""
MAX_STORED = 1_000
"""Maximum number of groups whose counts outlive the process."""


class Groups:
    """The counts of the groups of a run. The groups that are left out are those of the caller."""

    def __init__(self) -> None:
        self.earlier_speakers: set[str] = set()
        """Groups that spoke for themselves at the end of an earlier run. They do until this run knows them, too."""
        self._counts = Recent[GroupCounts](MAX_GROUPS)

    def get(self, group: str) -> GroupCounts | None:
        """Return the counts of a group, or None if no page of it was counted."""
        return self._counts.get(group)

    def count(
        self, shape: Shape, find: Find, left_out: set[str], *, is_sample: bool = False, is_copy: bool = False
    ) -> tuple[list[str], list[str]]:
        """Count a page in its groups. A group in the set `left_out` whose page yields is removed from it.

        `is_copy` says that the page names another known URL as canonical.
        Return the groups that are dry from now on, and those that were removed.
        """
        number = crc32(shape.groups[0].encode())
        dry: list[str] = []
        again: list[str] = []
        for index, group in enumerate(shape.groups):
            counts = self._counts.get_or_create(group, GroupCounts)
            counts.count(number, find, is_copy=is_copy)
            if find and group in left_out and (shape.names or not counts.is_rare):
                left_out.discard(group)
                again.append(group)
            elif not find and group not in left_out and _is_dry(shape, index, counts, left_out):
                dry.append(group)
            if group not in left_out and self._speaks_for_itself(group, counts):
                # Wider groups judge the shapes that have not yielded by themselves.
                break
            if find is Find.TITLE or is_sample:
                # Titles prove nothing for other shapes, nor do the samples of a shape that was left out.
                find = Find.NOTHING
        return dry, again

    def judge(self, shape: Shape, left_out: Container[str]) -> str | None:
        """Return the narrowest group of a shape that is left out. None if a narrower group yields."""
        for group in shape.groups:
            if group in left_out:
                return group
            if self._speaks_for_itself(group, self._counts.get(group)):
                return None
        return None

    def is_promising(self, shape: Shape) -> bool:
        """Return whether a new URL of a shape may show something new. A row of numbers that shows nothing may not."""
        counts = self._counts.get(shape.groups[0]) if shape.is_variable else None
        return counts is None or counts.samples < SAMPLES or counts.speaks_for_itself()

    def _speaks_for_itself(self, group: str, counts: GroupCounts | None) -> bool:
        """Return whether no wider group speaks for a group with these counts."""
        if group in self.earlier_speakers and (counts is None or counts.samples < SAMPLES):
            return True
        return counts is not None and counts.speaks_for_itself(share=own_share(group))

    @property
    def speakers(self) -> set[str]:
        """Groups with parameters that speak for themselves, for later runs: those with the most samples."""
        known = dict.fromkeys(self.earlier_speakers) | dict(self._largest())
        speaking = [
            group for group in known if "?" in group and self._speaks_for_itself(group, self._counts.get(group))
        ]
        return set(speaking[:MAX_STORED])

    @property
    def counts(self) -> dict[str, list[Any]]:
        """The counts for JSON: of the groups with the most samples."""
        return {
            group: [counts.samples, counts.yields, counts.dry, sorted(counts.shapes), counts.titles, counts.copies]
            for group, counts in self._largest()
        }

    def restore(self, counts: Mapping[str, list[Any]]) -> None:
        """Add the counts of an earlier process of the run."""
        for group, (samples, yields, dry, shapes, *others) in counts.items():
            self._counts.put(group, GroupCounts(samples, yields, dry, set(shapes), *others))

    def _largest(self) -> list[tuple[str, GroupCounts]]:
        return self._counts.largest(MAX_STORED, attrgetter("samples"))


def _is_dry(shape: Shape, index: int, counts: GroupCounts, left_out: Container[str]) -> bool:
    """Return whether a group of a shape with these counts has shown nothing new for long."""
    if index and len(counts.shapes) < MIN_SHAPES:
        return False
    most = MAX_PATIENCE
    if not shape.names:
        if counts.is_rare:
            return True
        least, most = PLAIN_SAMPLES, MAX_PLAIN_PATIENCE
    elif len(shape.names) > 1 and _is_narrower(shape, index, left_out):
        least = FEW_SAMPLES
    else:
        least = SURE_SAMPLES if shape.repeats or counts.copies == counts.samples else SAMPLES
    return counts.dry >= min(least + 2 * counts.yields, most)


def _is_narrower(shape: Shape, index: int, left_out: Container[str]) -> bool:
    """Return whether the URLs with one parameter less are left out."""
    return any(shape.without(number)[index] in left_out for number in range(len(shape.names)))
