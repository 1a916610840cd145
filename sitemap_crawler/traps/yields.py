"""The yields of the shapes of URLs: how many of their pages show content that no other page of the run has shown.

A shape earns its requests. Its first pages are samples. A shape, or a wider group, whose samples have shown nothing new
for long only repeats other pages: its further URLs are refused. Links in another order, facets, sorted and filtered
lists, tabs, and parameters without a meaning are cases of this one rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from sitemap_crawler.traps.admitted_urls import AdmittedUrls
from sitemap_crawler.traps.canonicals import Canonicals, NamedUrls
from sitemap_crawler.traps.group_counts import Find
from sitemap_crawler.traps.groups import Groups
from sitemap_crawler.traps.idle_parameters import MAX_PARAMETERS, IdleParameters
from sitemap_crawler.traps.left_out import LeftOut
from sitemap_crawler.traps.met_links import MetLinks
from sitemap_crawler.traps.own_texts import OwnTexts
from sitemap_crawler.traps.progress import Progress
from sitemap_crawler.traps.shapes import shape_of
from sitemap_crawler.traps.shown_texts import ShownTexts
from sitemap_crawler.traps.turns import Turns, plain_shape
from sitemap_crawler.urls.parameters import count_separators, number_of, simpler_urls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.traps.shapes import Shape

SETTLED_SAMPLES = 1_000
"""Number of samples of a shape, most of which yield, after which only some of its pages are compared."""
SAMPLED_SHARE = 8
"""One in so many pages of such a shape is compared."""
FIRST_PAGES = 20
"""Number of pages of a run that are compared in any case: the links with parameters may come later."""
MANY_PARAMETERS = 20
"""Number of URLs with parameters from which on all pages of the site are compared."""
MIN_SAME = 0.9
"""Share of the texts of a page that a simpler URL shows, from which on the further parameters add nothing."""
MAX_REFUSED = 10_000
"""Maximum number of refused groups."""


class Yields:
    """What the pages of a run have shown, and the groups that are refused for it."""

    def __init__(self) -> None:
        self.refused: set[str] = set()
        """Groups whose URLs are not requested."""
        self.compared: dict[str, tuple[int, int]] = {}
        """By refused group, the numbers of pages that were compared until then, and of those that were new."""
        self.reopened: set[str] = set()
        """Groups that were refused and have yielded since."""
        self.earlier_pages: set[int] = set()
        """Hashes of the URLs with parameters that the run before has listed, and that have shown something new.

        They yield again. This run may meet what they show in another order.
        """
        self.earlier_repeats: set[int] = set()
        """Hashes of the other URLs with parameters that the run before has listed. They are not refused."""
        self.groups = Groups()
        self.left_out = LeftOut()
        self.named = NamedUrls()
        self.canonicals = Canonicals()
        self.idle = IdleParameters()
        self.links = MetLinks(self.groups)
        self.texts = ShownTexts()
        self.progress = Progress()
        self.admitted = AdmittedUrls()
        self._own_texts = OwnTexts()
        self.turns = Turns(self.groups, self.admitted, self.named, self.left_out.samples)

    def admit(self, url: str) -> int:
        """Count a URL that is to be requested. Return its turn."""
        self.admitted.admit(url)
        if "?" in url:
            self.idle.admit(url)
        return self.turns.turn_of(url)

    def compares(self, url: str) -> bool:
        """Return whether the content of the page with this URL is to be compared with that of other pages."""
        has_parameters = self.admitted.with_parameters >= MANY_PARAMETERS or self.leaves_out
        if not has_parameters and self.progress.pages >= FIRST_PAGES and "?" not in url:
            return False
        counts = self.groups.get(shape_of(url).groups[0])
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
        samples = self.left_out.samples
        is_sample = self._is_sample(url)
        news = self.texts.show(texts, title, pages=self.progress.pages, is_listable=is_listable, is_sample=is_sample)
        leads_on = self.links.lead_on(links, is_sample=is_sample)
        if shape.names:
            self.canonicals.count(url, canonical, is_listable=is_listable)
        find = Find.NOTHING
        has_yielded = bool(shape.names) and hash(url) in self.earlier_pages
        leads_on = bool(shape.names) and leads_on and not self.turns.has_postponed_path(url)
        if news.is_enough or has_yielded or leads_on:
            find = Find.CONTENT
        elif news.has_new_title and not shape.names:
            find = Find.TITLE
        elif news.has_new_title and canonical == url and self.canonicals.are_believed:
            find = Find.CONTENT
        if (
            is_listable
            and self._is_object(url, shape, texts, has_new_title=news.has_new_title)
            and (url not in samples or news.percent)
        ):
            # A sample that shows nothing new is known under another URL.
            find = Find.CONTENT
        if shape.names:
            self._count_idle(url, texts, canonical, find)
        if url not in samples and (find or shape.names or not news.is_empty):
            self.progress.count(is_new=bool(find), is_late=self.turns.is_postponed(url))
        is_listed_still = is_sample and self.was_listed(url)
        if is_listed_still or (news.is_enough and not leads_on and self._is_view_of(url, canonical)):
            # It says nothing about the other URLs of its group.
            return None if find else news.percent, []
        is_copy = self._names_known(url, canonical)
        return None if find else news.percent, self._count_groups(url, shape, find, is_copy=is_copy)

    def count_other(self, url: str, links: Iterable[str]) -> list[str]:
        """Count a redirect, or a file that is no page. Return the groups that are to be refused from now on."""
        find = Find.CONTENT if self.links.lead_on(links, is_sample=self._is_sample(url)) else Find.NOTHING
        if url not in self.left_out.samples:
            self.progress.count(is_new=bool(find), is_late=self.turns.is_postponed(url))
        return self._count_groups(url, shape_of(url), find)

    def restore_page(self, url: str, texts: bytes, title: str | None, *, is_listable: bool) -> None:
        """Add a page that an earlier process of the run has seen."""
        self.texts.restore(texts, title, is_listable=is_listable)
        if is_listable:
            self._is_object(url, shape_of(url), texts, has_new_title=False)

    def refuses(self, url: str) -> bool:
        """Return whether a URL is not to be requested, as its group only repeats other pages.

        The first URL of a path is never refused for its parameters: it may be the only address of its content. Nor is a
        URL that the run before has listed, or the first of those that have the same simpler URL, or one that a page
        names as canonical.
        """
        if not self.refused or self.admitted.is_first(url) or self.was_listed(url) or url in self.named:
            return False
        return self.refusing_group(url) is not None and not self._is_first_of_its_simpler(url)

    def was_listed(self, url: str) -> bool:
        """Return whether the run before has listed a URL with parameters."""
        number = hash(url)
        return number in self.earlier_pages or number in self.earlier_repeats

    def refusing_group(self, url: str) -> str | None:
        """Return the narrowest refused group that speaks for a URL."""
        return self.groups.judge(shape_of(url), self.refused)

    def has_yielded(self, group: str) -> bool:
        """Return whether pages of a group had shown something new when it was refused."""
        return self.compared.get(group, (0, 0))[1] > 0

    def refuse(self, groups: Iterable[str]) -> None:
        """Refuse the URLs of some groups from now on."""
        for group in groups:
            if len(self.refused) < MAX_REFUSED:
                self.refused.add(group)
                if (counts := self.groups.get(group)) is not None:
                    self.compared[group] = (counts.samples, counts.yields)

    def reopen(self, groups: Iterable[str]) -> None:
        """No longer refuse some groups, as their pages have shown something new."""
        for group in groups:
            self.reopened.add(group)
            self.refused.discard(group)
            self.compared.pop(group, None)

    @property
    def leaves_out(self) -> bool:
        """Whether the run has left out URLs of which it takes samples."""
        return bool(self.refused or self.left_out or self.reopened)

    def begin(self, left_out: Iterable[str]) -> None:
        """Begin a run. `left_out` are the URLs that were left out when an earlier run ended."""
        self.left_out.begin(self.refused, left_out)

    def leave_out(self, waiting: Iterable[str]) -> None:
        """Note the shapes of URLs that waited in vain, if no page of them was requested: one of each is a sample."""
        self.left_out.add(self.turns.of_unseen_shapes(waiting))

    def leaves_out_new(self, url: str) -> bool:
        """Return whether a new URL is left out, as an earlier run has left URLs of its shape out."""
        return url not in self.named and self.left_out.leaves_out_new(url)

    def _is_sample(self, url: str) -> bool:
        """Return whether a URL is requested although the URLs of its group are not."""
        return url in self.left_out.samples or (bool(self.refused) and self.refusing_group(url) is not None)

    def _is_view_of(self, url: str, canonical: str | None) -> bool:
        """Return whether a page with parameters names a known URL as canonical, which shows what is new on the page.

        A URL that is known by this name only would not be requested without such pages.
        """
        return "?" in url and self._names_known(url, canonical)

    def _names_known(self, url: str, canonical: str | None) -> bool:
        """Return whether a page names another URL as canonical that is known."""
        if canonical is None or canonical == url:
            return False
        return canonical in self.links or self.admitted.knows(number_of(canonical))

    def _is_object(self, url: str, shape: Shape, texts: bytes, *, has_new_title: bool) -> bool:
        """Return whether a page shows what no other page of its shape shows, and is no part of what a simpler one does.

        If the path has a page without parameters, an object has a title of its own, and is no other view of that page.
        """
        own, plain = self._own_texts, url.partition("?")[0]
        own.remember(number_of(url), texts)
        # The names of a shape do not say how many there are: numbered ones are one.
        if not shape.names or count_separators(url) >= MAX_PARAMETERS:
            return False
        like = self.idle.simpler_of(url)
        if not own.show(shape.groups[0], texts, like=None if like is None else shape_of(like).groups[0]):
            return False
        if plain in self.links and (not has_new_title or own.is_view(number_of(plain), texts)):
            return False
        if self.admitted.is_full:
            return False
        simpler = map(number_of, simpler_urls(url))
        return not any(self.admitted.knows(number) and own.is_part(number, texts) for number in simpler)

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
        if count_separators(url) < MAX_PARAMETERS:
            for simpler in simpler_urls(url):
                number = number_of(simpler)
                if self.admitted.knows(number) and own.shows(number, texts, share=MIN_SAME):
                    yield simpler
        for simpler, number in self.idle.siblings(url):
            if own.shows(number, texts, share=MIN_SAME):
                yield simpler

    def _count_groups(self, url: str, shape: Shape, find: Find, *, is_copy: bool = False) -> list[str]:
        """Count a page in its groups. Return those that are to be refused from now on."""
        is_new_sample = url in self.left_out.samples
        if find is Find.CONTENT and is_new_sample and self.left_out.discard(shape.groups[0]):
            self.reopened.add(shape.groups[0])
        plain = plain_shape(url)
        is_first = self.admitted.is_first(url)
        # The page without parameters would have shown what this one shows.
        if plain.is_variable and (not shape.names or is_first or (find and self.turns.postpones(plain))):
            self.turns.count_page(plain, find, is_sample=is_new_sample)
        if not shape.names or is_first:
            # It is not refused, whatever is known of its shape, and says nothing about others: without it they are new.
            return []
        if self.groups.judge(shape, self.refused) is not None and self._is_first_of_its_simpler(url):
            # So is this one. It says nothing about the URLs with the same simpler URL.
            return []
        dry, again = self.groups.count(shape, find, self.refused, is_copy=is_copy)
        self.reopen(again)
        return dry

    def _is_first_of_its_simpler(self, url: str) -> bool:
        """Return whether no URL was admitted before that shows the same, as only parameters that add nothing differ.

        The number of dry samples would say no: some objects of a shop are always the last to be met.
        """
        simpler = self.idle.simpler_of(url)
        if simpler is None or "?" not in simpler or self.refusing_group(simpler) is not None:
            return False
        return self.idle.sibling(url, simpler) is None and self.admitted.stands_alone(url, simpler)
