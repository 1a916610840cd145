"""The yields of the shapes of URLs: how many of their pages show content that no other page of the run has shown.

A shape earns its requests. Its first pages are samples. A shape, or a wider group, whose samples have shown nothing new
for long only repeats other pages: its further URLs are refused. Links in another order, facets, sorted and filtered
lists, tabs, and parameters without a meaning are cases of this one rule.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any
from zlib import crc32

from sitemap_crawler.traps.canonicals import Canonicals
from sitemap_crawler.traps.group_counts import MIN_SHAPES, RARE_SHARE, Find, GroupCounts, own_share
from sitemap_crawler.traps.idle_parameters import MAX_PARAMETERS, IdleParameters, number_of, simpler_urls
from sitemap_crawler.traps.own_texts import OwnTexts
from sitemap_crawler.traps.progress import Progress
from sitemap_crawler.traps.shapes import shape_of
from sitemap_crawler.traps.shown_texts import ShownTexts
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from sitemap_crawler.traps.shapes import Shape

SAMPLES = 30
"""Number of pages with parameters without anything new, after which their group is refused."""
MAX_PATIENCE = 50
"""The same for a group that has yielded. Each page that yields adds two, up to this number."""
REPEATED_SAMPLES = 10
"""The same for pages with several parameters of one name."""
FEW_SAMPLES = 3
"""The same if the pages with one parameter less are refused already."""
PLAIN_SAMPLES = 50
"""Number of pages without parameters that repeat others, after which the URLs of their group wait for all others."""
MAX_PLAIN_PATIENCE = 200
"""The same for a group that has yielded. Each page that yields adds two, up to this number."""
OWN_PLAIN_SAMPLES = 5
"""Number of pages of a shape without parameters that are requested before its URLs wait for all others."""
MANY_DRY = 100
"""Number of pages in a row without anything new, after which a group has no such samples of further shapes.

They wait, too: a browser of code has thousands of shapes, one for each view of each file.
"""
NEW_SAMPLES = 3
"""Number of new URLs of a shape that are requested although an earlier run has left its URLs out."""
SETTLED_SAMPLES = 1_000
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
LATE_TURN = 30_000
"""Turn of URLs whose group repeats if their own shape has shown something new, or has not been requested yet."""
LAST_TURN = 30_001
"""Turn of all other URLs whose group repeats."""
SEGMENT_TURNS = 20
"""Number of turns by which a URL waits longer for each directory of its path: shorter paths show more at once."""

MIN_SAME = 0.9
"""Share of the texts of a page that a simpler URL shows, from which on the further parameters add nothing."""
MAX_GROUPS = 20_000
"""Number of groups in each of the two generations whose counts are kept in memory."""
MAX_LINKS = 200_000
"""Maximum number of links that are remembered. Later ones are not new."""
MAX_PATHS = 200_000
"""Maximum number of paths whose first URL is remembered. URLs of further paths are never refused for parameters."""
MAX_REFUSED = 10_000
"""Maximum number of refused groups."""
MAX_STORED = 1_000
"""Maximum number of groups whose counts outlive the process."""


def _path_number(url: str) -> int:
    return hash(url.partition("?")[0])


def _plain_shape(url: str) -> Shape:
    """Return the shape of a URL without its parameters."""
    return shape_of(url.partition("?")[0])


def _simplicity(url: str) -> tuple[int, int]:
    """Return the number of parameters of a URL, and its length."""
    return url.count("?") + url.count("&"), len(url)


class Yields:
    """The counts of the groups of a run, and the groups that are refused."""

    def __init__(self) -> None:
        self.refused: set[str] = set()
        """Groups whose URLs are not requested."""
        self.compared: dict[str, tuple[int, int]] = {}
        """By refused group, the numbers of pages that were compared until then, and of those that were new."""
        self.earlier_speakers: set[str] = set()
        """Groups that spoke for themselves at the end of an earlier run. They do until this run knows them, too."""
        self.earlier: set[str] = set()
        """Groups that an earlier run had refused when this one began."""
        self._exhausted: set[str] = set()
        """Shapes of which an earlier run has left URLs out, or this one all of them."""
        self._new_samples: dict[str, set[str]] = {}
        """By shape of those, the new URLs that are samples."""
        self.samples: set[str] = set()
        """URLs of these shapes that are requested all the same."""
        self.postponed: set[str] = set()
        """Groups without parameters whose URLs wait for all others.

        The first URL of a path belongs to them, too, whatever its parameters are: it stands for its path.
        """
        self.has_returned = False
        """True after such a group has yielded again. The caller moves its URLs forward and sets this to False."""
        self._paths: dict[int, int] = {}
        """By path, the first URL that was admitted."""
        self._identities: dict[int, int] = {}
        """By URL with parameters, as a number, the first such URL that was admitted: the order may differ."""
        self._only: dict[int, int] = {}
        """By URL without idle parameters, as a number, the only URL that was admitted although its group is refused."""
        self._parameters = 0
        """Number of URLs with parameters that were admitted."""
        self.reopened: set[str] = set()
        """Groups that were refused and have yielded since."""
        self._counts = Recent[GroupCounts](MAX_GROUPS)
        self._admitted: Recent[list[int]] = Recent(MAX_GROUPS)
        self._requested: Recent[list[int]] = Recent(MAX_GROUPS)
        """Numbers of URLs that were requested and stand for their paths, by shape of the paths."""
        self.texts = ShownTexts()
        self._own_texts = OwnTexts()
        self._links: set[int] = set()
        self.earlier_links: set[int] = set()
        """Hashes of the plain URLs that earlier runs have met. A refused group does not yield by linking to them."""
        self.earlier_pages: set[int] = set()
        """Hashes of the URLs with parameters that the run before has listed, and that have shown something new.

        They yield again. This run may meet what they show in another order.
        """
        self.earlier_repeats: set[int] = set()
        """Hashes of the other URLs with parameters that the run before has listed. They are not refused."""
        self.progress = Progress()
        self.canonicals = Canonicals()
        self._named: set[int] = set()
        """Hashes of the URLs that pages name as canonical, see `name_canonical`."""
        self.newly_named: list[str] = []
        """Those that were named since the caller has last let them wait in the first turn and emptied the list."""
        self.idle = IdleParameters()

    def turn_of(self, url: str) -> int:
        """Count a URL that is to be requested. Return its turn: URLs of a later turn wait for those of an earlier."""
        if len(self._paths) < MAX_PATHS:
            self._paths.setdefault(_path_number(url), hash(url))
        if "?" in url:
            self._parameters += 1
            if len(self._identities) < MAX_PATHS:
                self._identities.setdefault(number_of(url), hash(url))
            self.idle.admit(url)
        if (turn := self._late_turn(url)) or "?" not in url or self.is_named(url):
            return turn
        shape = shape_of(url)
        count = self._admitted.get_or_create(shape.groups[0], lambda: [0])
        count[0] += 1
        turn = SEGMENT_TURNS * shape.path.rstrip("/").count("/") + count[0] // TURN_URLS
        return NAME_TURNS * len(shape.names) + min(turn, NAME_TURNS - 1)

    def compares(self, url: str) -> bool:
        """Return whether the content of the page with this URL is to be compared with that of other pages."""
        has_parameters = self._parameters >= MANY_PARAMETERS or self.leaves_out
        if not has_parameters and self.progress.pages >= FIRST_PAGES and "?" not in url:
            return False
        shape = shape_of(url)
        counts = self._counts.get(shape.groups[0])
        if counts is None or counts.samples < SETTLED_SAMPLES or 2 * counts.yields < counts.samples:
            return True
        return crc32(url.encode()) % SAMPLED_SHARE == 0

    def add(
        self,
        url: str,
        texts: bytes,
        title: str | None,
        links: Iterable[str],
        *,
        is_listable: bool,
        canonical: str | None = None,
    ) -> tuple[int | None, list[str]]:
        """Count a page. `is_listable` is False for a page that its own directives keep out of the sitemap.

        `canonical` is the canonical URL that it names.
        Return the percentage of its texts that is new, or None if that is enough for a page that yields, and the groups
        that are to be refused from now on.
        """
        shape = shape_of(url)
        is_sample = self._is_sample(url)
        news = self.texts.show(texts, title, pages=self.progress.pages, is_listable=is_listable, is_sample=is_sample)
        leads_on = self._lead(links, is_sample=is_sample)
        if shape.names:
            self.canonicals.count(url, canonical, is_listable=is_listable)
        find = Find.NOTHING
        was_listed = bool(shape.names) and hash(url) in self.earlier_pages
        if news.is_enough or was_listed or (shape.names and leads_on and not self._has_postponed_path(url)):
            find = Find.CONTENT
        elif news.has_new_title and not shape.names:
            find = Find.TITLE
        elif news.has_new_title and canonical == url and self.canonicals.are_believed:
            find = Find.CONTENT
        if (
            is_listable
            and self._is_object(url, shape, texts, has_new_title=news.has_new_title)
            and (url not in self.samples or news.percent)
        ):
            # A sample that shows nothing new is known under another URL.
            find = Find.CONTENT
        if shape.names:
            self._count_idle(url, texts, canonical, find)
        if url not in self.samples and (find or shape.names or not news.is_empty):
            self.progress.count(is_new=bool(find))
        if is_sample and (was_listed or hash(url) in self.earlier_repeats):
            # It is listed still, and says nothing about the other URLs of its group.
            return None if find else news.percent, []
        return None if find else news.percent, self._count_groups(url, shape, find)

    def _count_idle(self, url: str, texts: bytes, canonical: str | None, find: Find) -> None:
        """Count a page for the parameters of its shape that add nothing. Its canonical URL says it, or its texts do."""
        if canonical is not None:
            self.idle.count(url, canonical)
        elif not find:
            simpler = next(self._simpler_that_show(url, texts), None)
            # A page without anything new proves nothing, unless it was requested for its simpler URL only.
            if simpler is not None or self.refusing_group(url) is not None:
                self.idle.count(url, simpler)
        elif (simpler := self.idle.simpler_of(url)) is not None:
            known = (number_of(simpler), self.idle.sibling(url, simpler))
            if any(number is not None and self._own_texts.knows(number) for number in known):
                self.idle.count(url, None)

    def _simpler_that_show(self, url: str, texts: bytes) -> Iterator[str]:
        """Yield the URLs with fewer parameters, and at least one, that show what a page shows.

        A known URL shows it, or one that is the same without one of its parameters.
        """
        own = self._own_texts
        if url.count("&") < MAX_PARAMETERS:
            for simpler in simpler_urls(url):
                number = number_of(simpler)
                if number in self._identities and own.shows(number, texts, share=MIN_SAME):
                    yield simpler
        for simpler, number in self.idle.siblings(url):
            if own.shows(number, texts, share=MIN_SAME):
                yield simpler

    def name_canonical(self, url: str, canonical: str) -> None:
        """Remember the canonical URL of a page that may be indexed. It is requested whatever its shape has shown.

        The page gives way to it, so that the content has no other address. Only simpler ones count: others could go on
        for ever.
        """
        if _simplicity(canonical) < _simplicity(url) and len(self._named) < MAX_PATHS:
            if not self.is_named(canonical):
                self.newly_named.append(canonical)
            self._named.add(hash(canonical))

    def is_named(self, url: str) -> bool:
        """Return whether a page names a URL as canonical, and gives way to it."""
        return bool(self._named) and hash(url) in self._named

    def restore_page(self, url: str, texts: bytes, title: str | None, *, is_listable: bool) -> None:
        """Add a page that an earlier process of the run has seen."""
        self.texts.restore(texts, title, is_listable=is_listable)
        if is_listable:
            self._is_object(url, shape_of(url), texts, has_new_title=False)

    def _is_object(self, url: str, shape: Shape, texts: bytes, *, has_new_title: bool) -> bool:
        """Return whether a page shows what no other page of its shape shows, and is no part of what a simpler one does.

        If the path has a page without parameters, an object has a title of its own, and is no other view of that page.
        """
        own, plain = self._own_texts, url.partition("?")[0]
        own.remember(number_of(url), texts)
        # The names of a shape do not say how many there are: numbered ones are one.
        if not shape.names or url.count("&") >= MAX_PARAMETERS:
            return False
        like = self.idle.simpler_of(url)
        if not own.show(shape.groups[0], texts, like=None if like is None else shape_of(like).groups[0]):
            return False
        has_plain = hash(plain) in self._links or hash(plain) in self.earlier_links
        if has_plain and (not has_new_title or own.is_view(number_of(plain), texts)):
            return False
        if len(self._identities) >= MAX_PATHS:
            return False
        simpler = map(number_of, simpler_urls(url))
        return not any(number in self._identities and own.is_part(number, texts) for number in simpler)

    def _is_sample(self, url: str) -> bool:
        """Return whether a URL is requested although the URLs of its group are not."""
        return url in self.samples or (bool(self.refused) and self.refusing_group(url) is not None)

    def _count_plain(self, shape: Shape, find: Find, *, is_sample: bool) -> None:
        """Count a page without parameters in its groups, which are never refused."""
        dry, again = self._count_in_groups(shape, self.postponed, find, is_sample=is_sample)
        self.has_returned |= bool(again)
        self.postponed.update(dry[: MAX_REFUSED - len(self.postponed)])

    def _count_in_groups(
        self, shape: Shape, left_out: set[str], find: Find, *, is_sample: bool = False
    ) -> tuple[list[str], list[str]]:
        """Count a page in its groups. A group in the set `left_out` whose page yields is removed from it.

        Return the groups that are dry from now on, and those that were removed.
        """
        number = crc32(shape.groups[0].encode())
        dry: list[str] = []
        again: list[str] = []
        for index, group in enumerate(shape.groups):
            counts = self._counts.get_or_create(group, GroupCounts)
            counts.count(number, find)
            if find and group in left_out and (shape.names or not counts.is_rare):
                left_out.discard(group)
                again.append(group)
            elif not find and group not in left_out and self._is_dry(shape, index, counts):
                dry.append(group)
            if group not in left_out and self._speaks_for_itself(group, counts):
                # Wider groups judge the shapes that have not yielded by themselves.
                break
            if find is Find.TITLE or is_sample:
                # Titles prove nothing for other shapes, nor do the samples of a shape that was left out.
                find = Find.NOTHING
        return dry, again

    def is_postponed(self, url: str) -> bool:
        """Return whether a URL waits for all others, as the pages of its group repeat others."""
        return self._late_turn(url) > 0

    def _late_turn(self, url: str) -> int:
        """Return the turn of a URL whose group is postponed, or 0 for any other. Samples do not wait."""
        if not self.postponed or url in self.samples or not self._stands_for_path(url) or self.is_named(url):
            return 0
        shape = _plain_shape(url)
        if not shape.is_variable:
            return 0
        group = self._judge(shape, self.postponed)
        if group is None:
            return 0
        requested = self._requested_of(shape)[0]
        own = self._counts.get(shape.groups[0])
        if requested < OWN_PLAIN_SAMPLES and (
            (own is not None and own.yields > own.titles)
            or not self._is_long_dry(shape.groups[shape.groups.index(group) :])
        ):
            return 0
        return LATE_TURN if requested == 0 or (own is not None and own.yields > RARE_SHARE * own.samples) else LAST_TURN

    def _is_long_dry(self, groups: Iterable[str]) -> bool:
        """Return whether one of these groups is postponed and has shown nothing new for MANY_DRY pages."""
        return any(
            group in self.postponed and (counts := self._counts.get(group)) is not None and counts.dry >= MANY_DRY
            for group in groups
        )

    def _has_postponed_path(self, url: str) -> bool:
        """Return whether a URL is not the first of its path, and the path waits.

        Its links are new only because the page without parameters, which has them, too, was not requested.
        """
        return bool(self.postponed) and not self._is_first(url) and self.is_postponed(url.partition("?")[0])

    def _stands_for_path(self, url: str) -> bool:
        return "?" not in url or self._is_first(url)

    def count_request(self, url: str, turn: int) -> int:
        """Return the turn in which a URL may be requested. If that is not later than `turn`, count it as a sample.

        Many URLs of a shape may be requested before the first of them is answered.
        """
        later = self._late_turn(url)
        if later <= turn and self.postponed and self._stands_for_path(url):
            self._requested_of(_plain_shape(url))[0] += 1
        return later

    def uncount_request(self, url: str) -> None:
        """Take a URL back that was counted, and was not requested."""
        if self.postponed and self._stands_for_path(url):
            shape = _plain_shape(url)
            self._requested_of(shape)[0] -= 1
            # It stays at least the number of the samples.
            self._requested_of(shape)

    def _requested_of(self, shape: Shape) -> list[int]:
        """Return the number of URLs of a shape that were requested, in a list whose item the caller may raise."""
        own = self._counts.get(shape.groups[0])
        requested = self._requested.get_or_create(shape.groups[0], lambda: [0])
        requested[0] = max(requested[0], 0 if own is None else own.samples)
        return requested

    def _count_groups(self, url: str, shape: Shape, find: Find) -> list[str]:
        """Count a page in its groups. Return those that are to be refused from now on."""
        if find is Find.CONTENT and shape.groups[0] in self._exhausted and url in self.samples:
            self._exhausted.discard(shape.groups[0])
            self.reopened.add(shape.groups[0])
        plain = _plain_shape(url)
        is_first = self._is_first(url)
        # The page without parameters would have shown what this one shows.
        if plain.is_variable and (
            not shape.names or is_first or (find and self._judge(plain, self.postponed) is not None)
        ):
            self._count_plain(plain, find, is_sample=url in self.samples)
        if not shape.names or (is_first and not find):
            # It is not refused, whatever is known of its shape.
            return []
        if self._judge(shape, self.refused) is not None and self._is_first_of_its_simpler(url):
            # So is this one. It says nothing about the URLs with the same simpler URL.
            return []
        dry, again = self._count_in_groups(shape, self.refused, find)
        self.reopen(again)
        return dry

    def _is_dry(self, shape: Shape, index: int, counts: GroupCounts) -> bool:
        """Return whether a group with these counts has shown nothing new for long."""
        if index and len(counts.shapes) < MIN_SHAPES:
            return False
        most = MAX_PATIENCE
        if not shape.names:
            if counts.is_rare:
                return True
            least, most = PLAIN_SAMPLES, MAX_PLAIN_PATIENCE
        elif len(shape.names) > 1 and self._is_narrower(shape, index):
            least = FEW_SAMPLES
        else:
            least = REPEATED_SAMPLES if shape.repeats else SAMPLES
        return counts.dry >= min(least + 2 * counts.yields, most)

    def _is_narrower(self, shape: Shape, index: int) -> bool:
        """Return whether the URLs with one parameter less are refused."""
        return any(shape.without(number)[index] in self.refused for number in range(len(shape.names)))

    def refuses(self, url: str) -> bool:
        """Return whether a URL is not to be requested, as its group only repeats other pages.

        The first URL of a path is never refused for its parameters: it may be the only address of its content. Nor is a
        URL that the run before has listed, or the first of those that have the same simpler URL, or one that a page
        names as canonical.
        """
        number = hash(url)
        if not self.refused or self._is_first(url) or number in self.earlier_pages or number in self.earlier_repeats:
            return False
        if number in self._named:
            return False
        return self.refusing_group(url) is not None and not self._is_first_of_its_simpler(url)

    def _is_first_of_its_simpler(self, url: str) -> bool:
        """Return whether no URL was admitted before that shows the same, as only parameters that add nothing differ.

        The number of dry samples would say no: some objects of a shop are always the last to be met.
        """
        simpler = self.idle.simpler_of(url)
        if simpler is None or "?" not in simpler or self.refusing_group(simpler) is not None:
            return False
        number = number_of(simpler)
        if number in self._identities or len(self._identities) >= MAX_PATHS or len(self._only) >= MAX_PATHS:
            return False
        return self.idle.sibling(url, simpler) is None and self._only.setdefault(number, hash(url)) == hash(url)

    def _is_first(self, url: str) -> bool:
        """Return whether a URL has parameters and no other URL of its path was admitted before."""
        return "?" in url and self._paths.get(_path_number(url), hash(url)) == hash(url)

    def refusing_group(self, url: str) -> str | None:
        """Return the narrowest refused group that speaks for a URL."""
        return self._judge(shape_of(url), self.refused)

    def _judge(self, shape: Shape, groups: Container[str]) -> str | None:
        """Return the narrowest of these groups that speaks for a shape. None if a narrower group yields."""
        for group in shape.groups:
            if group in groups:
                return group
            if self._speaks_for_itself(group, self._counts.get(group)):
                return None
        return None

    def _speaks_for_itself(self, group: str, counts: GroupCounts | None) -> bool:
        """Return whether no wider group speaks for a group with these counts."""
        if group in self.earlier_speakers and (counts is None or counts.samples < SAMPLES):
            return True
        return counts is not None and counts.speaks_for_itself(share=own_share(group))

    @property
    def speakers(self) -> set[str]:
        """Groups with parameters that speak for themselves, for later runs: those with the most samples."""
        known = dict.fromkeys(self.earlier_speakers) | dict(self._counts.largest(MAX_STORED, attrgetter("samples")))
        speaking = [
            group for group in known if "?" in group and self._speaks_for_itself(group, self._counts.get(group))
        ]
        return set(speaking[:MAX_STORED])

    def leave_out(self, waiting: Iterable[str]) -> None:
        """Note the shapes of URLs that waited in vain, if no page of them was requested: one of each is a sample."""
        for url in waiting:
            if len(self._exhausted) >= MAX_REFUSED:
                break
            shape = _plain_shape(url)
            if self._stands_for_path(url) and self._requested_of(shape)[0] == 0:
                self._exhausted.add(shape_of(url).groups[0])

    @property
    def leaves_out(self) -> bool:
        """Whether the run has left out URLs of which it takes samples."""
        return bool(self.refused or self._exhausted or self.reopened)

    def begin(self, left_out: Iterable[str]) -> None:
        """Begin a run. `left_out` are the URLs that were left out when an earlier run ended."""
        self.earlier = set(self.refused)
        for url in left_out:
            if len(self._exhausted) >= MAX_REFUSED:
                break
            self._exhausted.add(shape_of(url).groups[0])

    @property
    def before(self) -> dict[str, list[str]]:
        """The groups that earlier runs have refused, and the shapes that were left out, for JSON."""
        return {"refused": sorted(self.earlier), "left_out": sorted(self._exhausted)}

    def restore_before(self, before: Mapping[str, list[str]]) -> None:
        """Add what an earlier process of the run knew of the runs before."""
        self.earlier.update(before["refused"])
        self._exhausted.update(before["left_out"])

    def leaves_out_new(self, url: str) -> bool:
        """Return whether a new URL is left out, as an earlier run has left URLs of its shape out.

        The first few of each shape are samples.
        """
        shape = self.exhausted_shape(url)
        if shape is None or self.is_named(url):
            return False
        new = self._new_samples.setdefault(shape, set())
        if url not in new and len(new) < NEW_SAMPLES:
            new.add(url)
            self.samples.add(url)
        return url not in new

    def exhausted_shape(self, url: str) -> str | None:
        """Return the shape of a URL if URLs of this shape were left out when an earlier run ended."""
        shape = shape_of(url).groups[0] if self._exhausted else None
        return shape if shape in self._exhausted else None

    def has_yielded(self, group: str) -> bool:
        """Return whether pages of a group had shown something new when it was refused."""
        return self.compared.get(group, (0, 0))[1] > 0

    def refuse(self, groups: Iterable[str]) -> None:
        for group in groups:
            if len(self.refused) < MAX_REFUSED:
                self.refused.add(group)
                if (counts := self._counts.get(group)) is not None:
                    self.compared[group] = (counts.samples, counts.yields)

    def reopen(self, groups: Iterable[str]) -> None:
        """No longer refuse some groups, as their pages have shown something new."""
        for group in groups:
            self.reopened.add(group)
            self.refused.discard(group)
            self.compared.pop(group, None)

    def count_other(self, url: str, links: Iterable[str]) -> list[str]:
        """Count a redirect, or a file that is no page. Return the groups that are to be refused from now on."""
        shape = shape_of(url)
        is_sample = self._is_sample(url)
        find = Find.CONTENT if self._lead(links, is_sample=is_sample) else Find.NOTHING
        if url not in self.samples:
            self.progress.count(is_new=bool(find))
        return self._count_groups(url, shape, find)

    @property
    def counts(self) -> dict[str, list[Any]]:
        """The counts for JSON: of the groups with the most samples."""
        largest = self._counts.largest(MAX_STORED, attrgetter("samples"))
        return {
            group: [counts.samples, counts.yields, counts.dry, sorted(counts.shapes), counts.titles]
            for group, counts in largest
        }

    def restore(self, counts: Mapping[str, list[Any]]) -> None:
        """Add the counts of an earlier process of the run, which may have ended before URLs came back."""
        self.has_returned = bool(counts)
        for group, (samples, yields, dry, shapes, *titles) in counts.items():
            self._counts.put(group, GroupCounts(samples, yields, dry, set(shapes), *titles))

    def restore_links(self, links: Iterable[str]) -> None:
        """Add URLs that an earlier process of the run has met."""
        for url in links:
            if len(self._links) >= MAX_LINKS:
                break
            self._links.add(hash(url))

    def _lead(self, links: Iterable[str], *, is_sample: bool) -> bool:
        """Remember the links of a page to URLs without parameters. Return whether any of them is new and promising.

        A URL with a number is not promising if its shape has shown next to nothing new: the row may be endless.
        """
        leads_on = False
        for url in links:
            if "?" in url or (number := hash(url)) in self._links or len(self._links) >= MAX_LINKS:
                continue
            self._links.add(number)
            if not leads_on and not (is_sample and number in self.earlier_links):
                leads_on = self._is_promising(shape_of(url))
        return leads_on

    def _is_promising(self, shape: Shape) -> bool:
        counts = self._counts.get(shape.groups[0]) if shape.is_variable else None
        return counts is None or counts.samples < SAMPLES or counts.speaks_for_itself()
