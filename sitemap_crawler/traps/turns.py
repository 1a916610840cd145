"""The turns in which URLs are requested: those of a later turn wait for those of an earlier one.

URLs with few parameters come before those with more, and the URLs of a shape take turns with those of others. URLs
whose group repeats other pages wait for all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.traps.group_counts import RARE_SHARE
from sitemap_crawler.traps.shapes import shape_of
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from sitemap_crawler.traps.admitted_urls import AdmittedUrls
    from sitemap_crawler.traps.canonicals import NamedUrls
    from sitemap_crawler.traps.group_counts import Find
    from sitemap_crawler.traps.groups import Groups
    from sitemap_crawler.traps.shapes import Shape

SAMPLE_TURN = -1
"""Turn of URLs that are requested although their group is refused, or was left out."""
TURN_URLS = 30
"""Number of URLs of a shape with parameters that are requested before those of other shapes go on."""
NAME_TURNS = 1_000
"""Number of turns of the URLs with the same number of parameters, before those with one more."""
SEGMENT_TURNS = 20
"""Number of turns by which a URL waits longer for each directory of its path: shorter paths show more at once."""
LATE_TURN = 30_000
"""Turn of URLs whose group repeats if their own shape has shown something new, or has not been requested yet."""
LAST_TURN = 30_001
"""Turn of all other URLs whose group repeats."""
OWN_PLAIN_SAMPLES = 5
"""Number of pages of a shape without parameters that are requested before its URLs wait for all others."""
MANY_DRY = 100
"""Number of pages in a row without anything new, after which a group has no such samples of further shapes.

They wait, too: a browser of code has thousands of shapes, one for each view of each file.
"""
MAX_SHAPES = 20_000
"""Number of shapes in each of the two generations whose URLs are counted."""
MAX_POSTPONED = 10_000
"""Maximum number of groups whose URLs wait."""


class Turns:
    """The turns of the URLs of one run. `samples` are URLs that never wait for all others."""

    def __init__(self, groups: Groups, admitted: AdmittedUrls, named: NamedUrls, samples: Container[str]) -> None:
        self._groups = groups
        self._admitted = admitted
        self._named = named
        self._samples = samples
        self.postponed: set[str] = set()
        """Groups without parameters whose URLs wait for all others.

        The first URL of a path belongs to them, too, whatever its parameters are: it stands for its path.
        """
        self.has_returned = False
        """True after such a group has yielded again. The caller moves its URLs forward and sets this to False."""
        self._known: Recent[list[int]] = Recent(MAX_SHAPES)
        """Numbers of URLs with parameters that have a turn, by shape."""
        self._requested: Recent[list[int]] = Recent(MAX_SHAPES)
        """Numbers of URLs that were requested and stand for their paths, by shape of the paths."""

    def restore(self, postponed: Iterable[str]) -> None:
        """Add the groups that an earlier process of the run has let wait. It may have ended before URLs came back."""
        self.postponed.update(postponed)
        self.has_returned = True

    def turn_of(self, url: str) -> int:
        """Return the turn of an admitted URL, and count it."""
        if (turn := self._late_turn(url)) or "?" not in url or url in self._named:
            return turn
        shape = shape_of(url)
        count = self._known.get_or_create(shape.groups[0], lambda: [0])
        count[0] += 1
        turn = SEGMENT_TURNS * shape.path.rstrip("/").count("/") + count[0] // TURN_URLS
        return NAME_TURNS * len(shape.names) + min(turn, NAME_TURNS - 1)

    def is_postponed(self, url: str) -> bool:
        """Return whether a URL waits for all others, as the pages of its group repeat others."""
        return self._late_turn(url) > 0

    def has_postponed_path(self, url: str) -> bool:
        """Return whether a URL is not the first of its path, and the path waits.

        Its links are new only because the page without parameters, which has them, too, was not requested.
        """
        return bool(self.postponed) and not self._admitted.is_first(url) and self.is_postponed(url.partition("?")[0])

    def postpones(self, shape: Shape) -> bool:
        """Return whether the group that speaks for a shape without parameters is postponed."""
        return self._groups.judge(shape, self.postponed) is not None

    def count_page(self, shape: Shape, find: Find, *, is_sample: bool) -> None:
        """Count a page without parameters in its groups, which may wait from now on, or no longer."""
        dry, again = self._groups.count(shape, find, self.postponed, is_sample=is_sample)
        self.has_returned |= bool(again)
        self.postponed.update(dry[: MAX_POSTPONED - len(self.postponed)])

    def count_request(self, url: str, turn: int) -> int:
        """Return the turn in which a URL may be requested. If that is not later than `turn`, count it as a sample.

        Many URLs of a shape may be requested before the first of them is answered.
        """
        later = self._late_turn(url)
        if later <= turn and self.postponed and self._admitted.stands_for_path(url):
            self._requested_of(plain_shape(url))[0] += 1
        return later

    def uncount_request(self, url: str) -> None:
        """Take a URL back that was counted, and was not requested."""
        if self.postponed and self._admitted.stands_for_path(url):
            shape = plain_shape(url)
            self._requested_of(shape)[0] -= 1
            # It stays at least the number of the samples.
            self._requested_of(shape)

    def of_unseen_shapes(self, waiting: Iterable[str]) -> Iterator[str]:
        """Yield the waiting URLs that stand for their paths if no page of their shape was requested."""
        for url in waiting:
            if self._admitted.stands_for_path(url) and self._requested_of(plain_shape(url))[0] == 0:
                yield url

    def _late_turn(self, url: str) -> int:
        """Return the turn of a URL whose group is postponed, or 0 for any other. Samples do not wait."""
        if not self.postponed or url in self._samples or not self._admitted.stands_for_path(url) or url in self._named:
            return 0
        shape = plain_shape(url)
        if not shape.is_variable:
            return 0
        group = self._groups.judge(shape, self.postponed)
        if group is None:
            return 0
        requested = self._requested_of(shape)[0]
        own = self._groups.get(shape.groups[0])
        if requested < OWN_PLAIN_SAMPLES and (
            (own is not None and own.yields > own.titles)
            or not self._is_long_dry(shape.groups[shape.groups.index(group) :])
        ):
            return 0
        return LATE_TURN if requested == 0 or (own is not None and own.yields > RARE_SHARE * own.samples) else LAST_TURN

    def _is_long_dry(self, groups: Iterable[str]) -> bool:
        """Return whether one of these groups is postponed and has shown nothing new for MANY_DRY pages."""
        return any(
            group in self.postponed and (counts := self._groups.get(group)) is not None and counts.dry >= MANY_DRY
            for group in groups
        )

    def _requested_of(self, shape: Shape) -> list[int]:
        """Return the number of URLs of a shape that were requested, in a list whose item the caller may raise."""
        own = self._groups.get(shape.groups[0])
        requested = self._requested.get_or_create(shape.groups[0], lambda: [0])
        requested[0] = max(requested[0], 0 if own is None else own.samples)
        return requested


def plain_shape(url: str) -> Shape:
    """Return the shape of a URL without its parameters."""
    return shape_of(url.partition("?")[0])
