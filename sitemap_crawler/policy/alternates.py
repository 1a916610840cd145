"""Which pages are language versions of each other. Pure: claims in, sets of pages out.

A set is complete: each of its pages names all others. What is named without naming back, or is not listed, is left out
and worded. Where pages name each other in a chain, the complete sets are taken from it that are largest, as far as a
look at the neighbours can tell; ties go by URL, so that the order of the ids does not matter.
Memory is one byte a page, and the claims of the pages in hand.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.policy.warning_kinds import SiteWarning, WarningKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

BATCH = 100
"""Pages whose claims are looked up at once, and for the pages they name five times as many."""
MAX_HELD = 100_000
"""Claims that are kept for the pages that come next."""
MAX_CHAIN = 1_000
"""Pages that name each other, of which complete sets are looked for; no site has as many languages and regions."""
MAX_EXAMPLES = 3


class Page(NamedTuple):
    """A URL that claims something or is named in a claim."""

    id: int
    url: str
    refusal: str | None
    """Why it is not listed, None when it is."""
    named: Mapping[int, tuple[str, ...]]
    """The codes that it gives to each page, itself among them if it names itself; each code once. Empty when it is not
    listed."""


Cluster = dict[int, tuple[str, ...]]
"""The codes of each page of a set, by its id. No code stands there twice, and there are at least two pages."""


class _Member(NamedTuple):
    page: Page
    partners: set[int]
    """The other pages that it names and that name it."""


class Clustering:
    """The sets of one inventory."""

    def __init__(
        self, fetch: Callable[[Collection[int]], Iterable[Page]], *, warn: Callable[[SiteWarning], None]
    ) -> None:
        """`fetch` looks pages up by their ids, listed or not."""
        self._pages = _Pages(fetch)
        self._warn = warn
        self._done = bytearray()

    def clusters(self, ids: Iterable[int]) -> Iterator[Cluster]:
        """Yield the sets to which the listed pages with these ids belong; each page is in one at most."""
        remaining = iter(ids)
        while batch := list(islice(remaining, BATCH)):
            pending = [url_id for url_id in batch if not self._is_done(url_id)]
            self._pages.prepare(pending)
            for url_id in pending:
                if not self._is_done(url_id):
                    yield from self._sets_of(self._chain(url_id))

    def _is_done(self, url_id: int) -> bool:
        return url_id < len(self._done) and self._done[url_id] == 1

    def _mark(self, url_id: int) -> None:
        self._done.extend(bytes(max(0, url_id + 1 - len(self._done))))
        self._done[url_id] = 1

    def _chain(self, start: int) -> list[_Member]:
        """Return all pages that are reached from one by naming and being named back, none when they are too many."""
        members: list[_Member] = []
        queue, met, first = [start], 0, ""
        self._mark(start)
        while queue:
            page = self._pages.find([queue.pop()]).popitem()[1]
            met, first = met + 1, min(first or page.url, page.url)
            partners = self._partners(page)
            for partner in partners:
                if not self._is_done(partner):
                    self._mark(partner)
                    queue.append(partner)
            if met <= MAX_CHAIN:
                members.append(_Member(page, partners))
            else:
                members.clear()
        if met > MAX_CHAIN:
            self._conflict(first, f"{met:,} pages name each other in a chain: nobody can tell which belong together")
        return members

    def _partners(self, page: Page) -> set[int]:
        """Return the pages that name this one back, and word what is wrong with the others."""
        known = self._pages.find(page.named)
        known.pop(page.id, None)
        partners = {url_id for url_id, other in known.items() if page.id in other.named}
        unlisted = [other for other in known.values() if other.refusal is not None]
        if unlisted:
            versions = _examples([f"{_codes(page, other)} {other.url} ({other.refusal})" for other in unlisted])
            self._warn(
                SiteWarning(WarningKind.UNLISTED_ALTERNATE, page.url, f"names versions that are not listed: {versions}")
            )
        silent = [other for url_id, other in known.items() if other.refusal is None and url_id not in partners]
        if silent:
            versions = _examples([f"{_codes(page, other)} {other.url}" for other in silent])
            self._warn(
                SiteWarning(
                    WarningKind.ONE_WAY_ALTERNATE,
                    page.url,
                    f"names versions that do not name it back by a valid code: {versions}",
                )
            )
        return partners

    def _sets_of(self, members: Sequence[_Member]) -> Iterator[Cluster]:
        by_id = {member.page.id: member for member in members}
        for ids in _complete_sets(by_id):
            for url_id in ids:
                page, partners = by_id[url_id]
                lost = [f"{_codes(page, by_id[other].page)} {by_id[other].page.url}" for other in partners - ids]
                if lost:
                    words = "names versions whose own versions do not all name each other, so they are no set"
                    self._conflict(page.url, f"{words}: {_examples(lost)}")
            cluster = self._with_codes(sorted((by_id[url_id].page for url_id in ids), key=lambda page: page.url))
            if len(cluster) > 1:
                yield cluster

    def _with_codes(self, pages: Sequence[Page]) -> Cluster:
        """Return the codes of the pages of a complete set; a page that is left without one is left out.

        A page knows best what it is itself: what the others call it counts when it says nothing of itself and they
        agree. A code of two pages counts for neither.
        """
        codes = {page.id: self._agreed_codes(page, pages) for page in pages}
        owners = Counter(code for own in codes.values() for code in own)
        for code in sorted(code for code, count in owners.items() if count > 1):
            urls = [page.url for page in pages if code in codes[page.id]]
            self._conflict(urls[0], f"several versions have the code {code}, so none has: {_examples(urls)}")
        unique = {page.id: tuple(sorted(code for code in codes[page.id] if owners[code] == 1)) for page in pages}
        return {url_id: own for url_id, own in unique.items() if own}

    def _agreed_codes(self, page: Page, pages: Sequence[Page]) -> set[str]:
        said = [set(other.named[page.id]) for other in pages if other.id != page.id]
        everything: set[str] = set().union(*said)
        own = page.named.get(page.id)
        if own is None:
            agreed = set.intersection(*said) if said else set()
            words = "does not name itself, and its other versions do not agree what it is"
        else:
            agreed = set(own)
            words = f"calls itself {' '.join(own)}, but other versions call it otherwise"
        if strange := sorted(everything - agreed):
            self._conflict(page.url, f"{words}: {_examples(strange)}")
        return agreed

    def _conflict(self, url: str, message: str) -> None:
        self._warn(SiteWarning(WarningKind.CONFLICTING_ALTERNATES, url, message))


class _Pages:
    """Looks pages up, and keeps them for a while: those of a set ask for each other."""

    def __init__(self, fetch: Callable[[Collection[int]], Iterable[Page]]) -> None:
        self._fetch = fetch
        self._held: dict[int, Page] = {}
        self._claims = 0

    def prepare(self, ids: Sequence[int]) -> None:
        """Look up pages and what they name in few steps."""
        named = list(dict.fromkeys(other for page in self.find(ids).values() for other in page.named))
        for start in range(0, len(named), 5 * BATCH):
            self.find(named[start : start + 5 * BATCH])

    def find(self, ids: Collection[int]) -> dict[int, Page]:
        missing = [url_id for url_id in ids if url_id not in self._held]
        if missing and self._claims > MAX_HELD:
            self._held.clear()
            self._claims, missing = 0, list(ids)
        for page in self._fetch(missing) if missing else ():
            self._held[page.id] = page
            self._claims += 1 + len(page.named)
        return {url_id: self._held[url_id] for url_id in ids if url_id in self._held}


def _complete_sets(members: Mapping[int, _Member]) -> Iterator[set[int]]:
    """Yield sets of pages that all name each other, which together are all of `members`; some have only one page."""
    if all(len(member.partners) == len(members) - 1 for member in members.values()):
        yield set(members)
        return
    remaining = set(members)
    for start in sorted(members.values(), key=lambda member: (-len(member.partners), member.page.url)):
        if start.page.id not in remaining:
            continue
        candidates = start.partners & remaining
        common = {url_id: len(members[url_id].partners & candidates) for url_id in candidates}
        complete = {start.page.id}
        for url_id in sorted(candidates, key=lambda url_id: (-common[url_id], members[url_id].page.url)):
            if url_id in candidates:
                complete.add(url_id)
                candidates &= members[url_id].partners
        remaining -= complete
        yield complete


def _codes(page: Page, other: Page) -> str:
    return " ".join(page.named[other.id])


def _examples(words: Sequence[str]) -> str:
    """Some of them in words, the same ones whatever their order."""
    more = len(words) - MAX_EXAMPLES
    return ", ".join(sorted(words)[:MAX_EXAMPLES]) + (f" and {more} more" if more > 0 else "")
