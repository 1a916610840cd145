"""What the pages of each shape of URLs yield: content that no other page of the run has shown.

A shape earns its requests. Its first pages are samples. A shape, or a wider group, whose samples have shown nothing new
for long only repeats other pages: its further URLs are refused. Links in another order, facets, sorted and filtered
lists, tabs, and parameters without a meaning are cases of this one rule.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from sitemap_crawler.traps.shapes import shape_of
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from sitemap_crawler.traps.shapes import Shape

SAMPLES = 30
"""Number of pages with parameters without anything new, after which their group is refused."""
MAX_PATIENCE = 50
"""The same for a group that has yielded. Each page that yields adds two, up to this number."""
REPEATED_SAMPLES = 10
"""The same for pages with several parameters of one name."""
FEW_SAMPLES = 3
"""The same if the pages with one parameter less are refused already."""
MIN_SHAPES = 3
"""Number of different shapes that the samples of a wider group have. Those of fewer shapes prove nothing for others."""
OWN_YIELDS = 2
"""Number of pages of a group that have yielded, from which on no wider group speaks for it."""
OWN_SHARE = 0.1
"""Share of the samples of such a group that have yielded."""

MIN_NEW = 0.35
"""Share of the weight of a page's texts that is new on a page that yields."""
MIN_NEW_TITLED = 0.1
"""The same for a page whose title is new. Titles that name a selection are no content."""
MAX_ELSEWHERE = 0.02
"""Share of the weight of a page's texts that simpler URLs of its path need not have shown for the same content."""
COMMON_SHARE = 0.1
"""Share of the pages that show a text, from which on the text belongs to the template."""
MIN_COMMON = 5
"""Number of pages that show a text of the template."""
SETTLED_SAMPLES = 50
"""Number of samples of a shape, most of which yield, after which only some of its pages are compared."""
SAMPLED_SHARE = 8
"""One in so many pages of such a shape is compared."""
FIRST_PAGES = 20
"""Number of pages of a run that are compared in any case: the links with parameters may come later."""
MANY_PARAMETERS = 20
"""Number of URLs with parameters from which on all pages of the site are compared."""
TURN_URLS = 30
"""Number of URLs of a shape with parameters that are requested before those of other shapes go on."""
NAME_TURNS = 1_000
"""Number of turns of the URLs with the same number of parameters, before those with one more."""
SEGMENT_TURNS = 20
"""Number of turns by which a URL waits longer for each directory of its path: shorter paths show more at once."""

MAX_GROUPS = 20_000
"""Number of groups in each of the two generations whose counts are kept in memory."""
MAX_BLOCKS = 100_000
"""Number of texts in each of the two generations that are remembered."""
MAX_TITLES = 50_000
"""Maximum number of titles that are remembered. Later ones are not new."""
MAX_LINKS = 200_000
"""Maximum number of links that are remembered. Later ones are not new."""
MAX_PATHS = 200_000
"""Maximum number of paths whose first URL is remembered. URLs of further paths are never refused for parameters."""
MAX_REFUSED = 10_000
"""Maximum number of refused groups."""
MAX_STORED_PAGES = 50_000
"""Maximum number of pages with parameters whose texts are kept until the end of the run."""
MAX_STORED = 1_000
"""Maximum number of groups whose counts outlive the process."""
MIN_WINDOW = 1_000
"""Number of requests without anything new, from which on a run may end."""
MARK_PAGES = 100
"""Number of pages after which the number of those that yielded is noted."""
MAX_WINDOW_YIELD = 0.01
"""Share of the pages in that number that may still yield something."""


@dataclass(slots=True)
class GroupCounts:
    """Counts of the samples of one group. The inventory stores the fields by their names."""

    samples: int = 0
    yields: int = 0
    dry: int = 0
    """Number of samples since the last one that yielded."""
    shapes: set[int] = field(default_factory=set)
    """Up to MIN_SHAPES numbers that stand for the shapes of the samples."""

    @property
    def speaks_for_itself(self) -> bool:
        """Whether enough of the samples have yielded, so that wider groups do not count for this one."""
        return self.yields >= max(OWN_YIELDS, OWN_SHARE * self.samples)


class Owner(NamedTuple):
    """The simplest URL that has shown a text."""

    id: int
    path: str
    names: int
    """Number of its parameters."""
    length: int

    def simplicity(self) -> tuple[int, int, int]:
        """Return the key of the order of URLs, the simplest first."""
        return self.names, self.path.rstrip("/").count("/"), self.length

    def is_simpler(self, other: Owner) -> bool:
        """Return whether it has the path of another URL, and fewer parameters or a shorter query."""
        return self.path == other.path and self.simplicity() < other.simplicity()


@dataclass(slots=True)
class Text:
    """A text that pages have shown."""

    owner: Owner
    pages: int = 0

    def count(self, page: Owner) -> None:
        """Count a page that shows the text. The simplest one owns it."""
        self.pages += 1
        self.owner = min(self.owner, page, key=Owner.simplicity)


def owner_of(url_id: int, url: str) -> Owner:
    path, _, query = url.partition("?")
    return Owner(url_id, path, query.count("&") + 1 if query else 0, len(url))


def _path_number(url: str) -> int:
    return hash(url.partition("?")[0])


def title_number(title: str | None) -> int:
    return crc32((title or "").encode())


class Yields:
    """Counts of what the groups of a run have yielded, the texts that its pages have shown, and the refused groups."""

    def __init__(self) -> None:
        self.refused: set[str] = set()
        """Groups whose URLs are not requested."""
        self._paths: dict[int, int] = {}
        """By path, the first URL that was admitted."""
        self._parameters = 0
        """Number of URLs with parameters that were admitted."""
        self.reopened: set[str] = set()
        """Groups that were refused and have yielded since."""
        self._counts = Recent[GroupCounts](MAX_GROUPS)
        self._admitted: Recent[list[int]] = Recent(MAX_GROUPS)
        self._texts, self._older_texts = dict[int, Text](), dict[int, Text]()
        self.titles: set[int] = set()
        self._links: set[int] = set()
        self.pages = 0
        """Number of pages of the run that were counted."""
        self._yielded = 0
        self._marks = [0]
        """Number of pages that had yielded after each MARK_PAGES pages."""
        self.unsaved: dict[int, Text] = {}
        """Texts that were shown since they were last stored."""
        self.unsaved_pages: dict[int, bytes] = {}
        """Texts of pages with parameters that were read since they were last stored."""
        self._stored_pages = 0
        self.earlier: set[int] = set()
        """Texts that an earlier run has seen. A refused group has to show others to be requested again."""

    def turn_of(self, url: str) -> int:
        """Count a URL that is to be requested. Return its turn: URLs of a later turn wait for those of an earlier."""
        if len(self._paths) < MAX_PATHS:
            self._paths.setdefault(_path_number(url), hash(url))
        if "?" not in url:
            return 0
        self._parameters += 1
        shape = shape_of(url)
        count = self._admitted.get_or_create(shape.groups[0], lambda: [0])
        count[0] += 1
        turn = SEGMENT_TURNS * shape.path.rstrip("/").count("/") + count[0] // TURN_URLS
        return NAME_TURNS * len(shape.names) + min(turn, NAME_TURNS - 1)

    def compares(self, url: str) -> bool:
        """Return whether the content of the page with this URL is to be compared with that of other pages."""
        if self._parameters < MANY_PARAMETERS and self.pages >= FIRST_PAGES and "?" not in url:
            return False
        shape = shape_of(url)
        counts = self._counts.get(shape.groups[0])
        if counts is None or counts.samples < SETTLED_SAMPLES or 2 * counts.yields < counts.samples:
            return True
        return crc32(url.encode()) % SAMPLED_SHARE == 0

    def add(
        self, url_id: int, url: str, blocks: bytes, title: str | None, links: Iterable[str]
    ) -> tuple[int | None, list[str]]:
        """Count a page.

        Return the percentage of its texts that is new, or None if that is enough for a page that yields, and the groups
        that are to be refused from now on.
        """
        shape = shape_of(url)
        is_sample = self.refused and self.refusing_group(url) is not None
        percent, is_new = self._show(blocks, title, owner_of(url_id, url), earlier=self.earlier if is_sample else ())
        if shape.names and self._stored_pages < MAX_STORED_PAGES:
            self._stored_pages += 1
            self.unsaved_pages[url_id] = blocks
        leads_on = self._lead(links)
        is_new = is_new or (leads_on and bool(shape.names))
        self.pages += 1
        self._yielded += is_new
        self._mark()
        if not shape.names:
            return None if is_new else percent, []
        if not is_new and self._is_first(url):
            # It is not refused, whatever is known of its shape.
            return percent, []
        number = crc32(shape.groups[0].encode())
        refused: list[str] = []
        for index, group in enumerate(shape.groups):
            counts = self._counts.get_or_create(group, GroupCounts)
            counts.samples += 1
            if len(counts.shapes) < MIN_SHAPES:
                counts.shapes.add(number)
            if is_new:
                counts.yields, counts.dry = counts.yields + 1, 0
                if group in self.refused:
                    self.refused.discard(group)
                    self.reopened.add(group)
            else:
                counts.dry += 1
                if group not in self.refused and self._is_dry(shape, index, counts):
                    refused.append(group)
            if counts.speaks_for_itself and group not in self.refused:
                # What a group that goes on yields says nothing of the others.
                break
        return None if is_new else percent, refused

    def _is_dry(self, shape: Shape, index: int, counts: GroupCounts) -> bool:
        if index and len(counts.shapes) < MIN_SHAPES:
            return False
        if len(shape.names) > 1 and self._is_narrower(shape, index):
            least = FEW_SAMPLES
        else:
            least = REPEATED_SAMPLES if shape.repeats else SAMPLES
        return counts.dry >= min(least + 2 * counts.yields, MAX_PATIENCE)

    def _is_narrower(self, shape: Shape, index: int) -> bool:
        """Return whether the URLs with one parameter less are refused."""
        return any(shape.without(number)[index] in self.refused for number in range(len(shape.names)))

    def refuses(self, url: str) -> bool:
        """Return whether a URL is not to be requested, as its group only repeats other pages.

        The first URL of a path is never refused for its parameters: it may be the only address of its content.
        """
        return bool(self.refused) and not self._is_first(url) and self.refusing_group(url) is not None

    def _is_first(self, url: str) -> bool:
        """Return whether a URL has parameters and no other URL of its path was admitted before."""
        return "?" in url and self._paths.get(_path_number(url), hash(url)) == hash(url)

    def refusing_group(self, url: str) -> str | None:
        """Return the narrowest refused group that speaks for a URL."""
        for group in shape_of(url).groups:
            if group in self.refused:
                return group
            counts = self._counts.get(group)
            if counts is not None and counts.speaks_for_itself:
                return None
        return None

    def refuse(self, groups: Iterable[str]) -> None:
        for group in groups:
            if len(self.refused) < MAX_REFUSED:
                self.refused.add(group)

    def count_uncompared(self) -> None:
        """Count a page that is not compared, as those of its shape yield."""
        self.pages += 1
        self._yielded += 1
        self._mark()

    def _mark(self) -> None:
        if self.pages % MARK_PAGES == 0:
            self._marks.append(self._yielded)

    @property
    def is_exhausted(self) -> bool:
        """Whether the last pages have shown too little for the run to go on, if only later turns are left."""
        window = max(MIN_WINDOW, self.pages // 3)
        before = (self.pages - window) // MARK_PAGES
        return before >= 0 and self._yielded - self._marks[before] <= MAX_WINDOW_YIELD * window

    def _show(self, blocks: bytes, title: str | None, page: Owner, *, earlier: Container[int]) -> tuple[int, bool]:
        """Remember the texts of a page. Return the percentage that is new, and whether it is enough."""
        common = max(MIN_COMMON, COMMON_SHARE * self.pages)
        numbers = array("I", blocks)
        weight = new = 0
        titled = title_number(title)
        is_titled = title is not None and titled not in self.titles
        for block, letters in zip(numbers[::2], numbers[1::2], strict=True):
            text = self._texts.get(block) or self._older_texts.get(block)
            if text is None:
                text = Text(page)
                weight += letters
                if block not in earlier:
                    new += letters
            elif text.pages < common:
                weight += letters
            text.count(page)
            if len(self._texts) >= MAX_BLOCKS:
                self._texts, self._older_texts = {}, self._texts
            self._texts[block] = text
            self.unsaved[block] = text
        if is_titled and len(self.titles) < MAX_TITLES:
            self.titles.add(titled)
        least = MIN_NEW_TITLED if is_titled else MIN_NEW
        return -(-100 * new // weight) if weight else 0, new > 0 and new >= least * weight

    def is_shown_by_path(self, url_id: int, url: str, blocks: bytes) -> bool:
        """Return whether simpler URLs of the same path show all texts of a page."""
        page, common = owner_of(url_id, url), max(MIN_COMMON, COMMON_SHARE * self.pages)
        shown = elsewhere = 0
        numbers = array("I", blocks)
        for block, letters in zip(numbers[::2], numbers[1::2], strict=True):
            text = self._texts.get(block) or self._older_texts.get(block)
            if text is not None and text.owner.is_simpler(page):
                shown += letters
            elif text is None or text.pages < common:
                elsewhere += letters
        return shown > 0 and elsewhere <= MAX_ELSEWHERE * (shown + elsewhere)

    @property
    def counts(self) -> dict[str, list[Any]]:
        """The counts for JSON: of the groups with the most samples."""
        largest = self._counts.largest(MAX_STORED, attrgetter("samples"))
        return {group: [counts.samples, counts.yields, counts.dry, sorted(counts.shapes)] for group, counts in largest}

    def restore(self, counts: Mapping[str, list[Any]], *, pages: int, yielded: int) -> None:
        """Add the counts of an earlier process of the run."""
        for group, (samples, yields, dry, shapes) in counts.items():
            self._counts.put(group, GroupCounts(samples, yields, dry, set(shapes)))
        self.pages, self._yielded = pages, yielded
        self._marks = [yielded] * (pages // MARK_PAGES + 1)

    @property
    def yielded(self) -> int:
        """Number of pages of the run that have yielded."""
        return self._yielded

    def restore_text(self, block: int, text: Text) -> None:
        if len(self._texts) < MAX_BLOCKS:
            self._texts[block] = text

    def restore_links(self, links: Iterable[str]) -> None:
        """Add URLs that an earlier process of the run has met."""
        for url in links:
            if len(self._links) >= MAX_LINKS:
                break
            self._links.add(hash(url))

    def _lead(self, links: Iterable[str]) -> bool:
        """Remember the links of a page to URLs without parameters. Return whether any of them is new and promising.

        A URL with a number is promising if its shape has yielded: it may be a file, or one of an endless row.
        """
        leads_on = False
        for url in links:
            if "?" in url or (number := hash(url)) in self._links or len(self._links) >= MAX_LINKS:
                continue
            self._links.add(number)
            leads_on = leads_on or self._is_promising(shape_of(url))
        return leads_on

    def _is_promising(self, shape: Shape) -> bool:
        counts = self._counts.get(shape.groups[0])
        return not shape.is_variable or (counts is not None and counts.speaks_for_itself)
