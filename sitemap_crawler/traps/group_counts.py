"""Counts of the pages of one group of URLs: how many were compared, and how many have shown something new."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

RARE_SAMPLES = 200
"""Number of pages without parameters, from which on the URLs of their group wait for all others if few have yielded."""
RARE_SHARE = 0.02
"""Share of the pages of such a group that have yielded."""
MIN_SHAPES = 3
"""Number of different shapes that the samples of a wider group have. Those of fewer shapes prove nothing for others."""
OWN_YIELDS = 2
"""Number of pages of a group that have yielded, from which on no wider group speaks for it."""
OWN_SHARE = 0.1
"""Share of the samples of such a group that have yielded."""
OWN_PLAIN_SHARE = 0.25
"""The same for groups without parameters. Their URLs only wait for others."""
OWN_TITLE_SHARE = 0.5
"""The same if most of them have yielded a title only: each view of a file of a repository has a title of its own."""


class Find(IntEnum):
    """The kind of new content on a page. A page yields if it is not NOTHING."""

    NOTHING = 0
    TITLE = 1
    CONTENT = 2


@dataclass(slots=True)
class GroupCounts:
    """Counts of the samples of one group. The inventory stores the fields by their names."""

    samples: int = 0
    yields: int = 0
    dry: int = 0
    """Number of samples since the last one that yielded."""
    shapes: set[int] = field(default_factory=set)
    """Up to MIN_SHAPES numbers that stand for the shapes of the samples."""
    titles: int = 0
    """Number of samples that have yielded a title only."""
    copies: int = 0
    """Number of samples that name another known URL as canonical."""

    def count(self, shape: int, find: Find, *, is_copy: bool = False) -> None:
        """Count a sample. `shape` is a number that stands for its shape."""
        self.samples += 1
        self.copies += is_copy
        if len(self.shapes) < MIN_SHAPES:
            self.shapes.add(shape)
        if find is Find.NOTHING:
            self.dry += 1
        else:
            self.yields, self.dry = self.yields + 1, 0
            self.titles += find is Find.TITLE

    @property
    def is_rare(self) -> bool:
        """Whether the group has at least RARE_SAMPLES samples, and less than RARE_SHARE of them have yielded."""
        return self.samples >= RARE_SAMPLES and self.yields < RARE_SHARE * self.samples

    def speaks_for_itself(self, *, share: float = OWN_SHARE) -> bool:
        """Return whether the group has yielded enough to be judged by its own pages, and not by those of wider groups.

        `share` of its samples must have shown new content.
        """
        contents = self.yields - self.titles
        if contents >= max(OWN_YIELDS, share * self.samples):
            return True
        return self.yields >= max(OWN_YIELDS, OWN_TITLE_SHARE * self.samples)


def own_share(group: str) -> float:
    """Return the share of the pages of a group that must have yielded, so that it speaks for itself."""
    return OWN_SHARE if "?" in group else OWN_PLAIN_SHARE
