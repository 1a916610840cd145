"""Sets of pages that are language versions of each other. Pure: claims in, sets of pages out.

A set is complete: each of its pages names all others. A page that does not name the others back, or that is not listed,
belongs to no set and gets a warning. If pages name each other in a chain, the chain is split into complete sets, large
ones first. The split looks at direct partners only, so that the sets are not always the largest possible ones. Ties are
decided by URL, so that the result does not depend on the order of the ids.
Memory use is one byte per page, and the claims of the current pages.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.policy.warning_kinds import SiteWarning, WarningKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

BATCH = 100
"""Number of pages whose claims are looked up in one query; five times as many for the pages that they name."""
MAX_CACHED_CLAIMS = 100_000
"""Maximum number of claims that are kept in memory for the next pages."""
MAX_CHAIN = 1_000
"""Maximum number of pages of a chain that is split into sets. No site has as many languages and regions."""
MAX_EXAMPLES = 3
"""Maximum number of URLs that a warning names."""


class AlternateClaims(NamedTuple):
    """The language versions that a page names. The page may name none and only be named by others."""

    id: int
    url: str
    refusal: str | None
    """Reason why the page is not listed; None if it is listed."""
    named: Mapping[int, tuple[str, ...]]
    """Language codes by the id of the named page, which may be the page itself.

    Each code occurs once. Empty if the page is not listed.
    """


Cluster = dict[int, tuple[str, ...]]
"""Language codes of a set by page id. A set has at least two pages, and each code occurs once."""


class _Member(NamedTuple):
    page: AlternateClaims
    partners: set[int]
    """Ids of the other pages that the page names and that name it back."""


class Clustering:
    """Builder of the sets of one inventory."""

    def __init__(
        self, fetch: Callable[[Collection[int]], Iterable[AlternateClaims]], *, warn: Callable[[SiteWarning], None]
    ) -> None:
        """Read pages with `fetch`, which takes ids of listed and unlisted pages, and report problems with `warn`."""
        self._pages = _Pages(fetch)
        self._warn = warn
        self._done = bytearray()

    def clusters(self, ids: Iterable[int]) -> Iterator[Cluster]:
        """Yield the sets that contain the listed pages with these ids. A page belongs to one set at most."""
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
        """Return all pages that mutual naming connects with `start`; an empty list if there are too many."""
        members: list[_Member] = []
        queue, count, first_url = [start], 0, ""
        self._mark(start)
        while queue:
            page = self._pages.find([queue.pop()]).popitem()[1]
            count, first_url = count + 1, min(first_url or page.url, page.url)
            partners = self._partners(page)
            for partner in partners:
                if not self._is_done(partner):
                    self._mark(partner)
                    queue.append(partner)
            if count <= MAX_CHAIN:
                members.append(_Member(page, partners))
            else:
                members.clear()
        if count > MAX_CHAIN:
            self._conflict(first_url, f"{count:,} pages name each other in a chain: too many to find the sets in it")
        return members

    def _partners(self, page: AlternateClaims) -> set[int]:
        """Return the ids of the pages that name `page` back, and warn about the other named pages."""
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
                dropped = [f"{_codes(page, by_id[other].page)} {by_id[other].page.url}" for other in partners - ids]
                if dropped:
                    problem = "names versions whose own versions do not all name each other, so they are not a set"
                    self._conflict(page.url, f"{problem}: {_examples(dropped)}")
            cluster = self._with_codes(sorted((by_id[url_id].page for url_id in ids), key=lambda page: page.url))
            if len(cluster) > 1:
                yield cluster

    def _with_codes(self, pages: Sequence[AlternateClaims]) -> Cluster:
        """Return the codes of the pages of a complete set, without pages that have no code.

        The codes that a page gives itself have priority. The codes of the other pages count if the page does not name
        itself and the others agree. A code of two pages counts for neither.
        """
        codes = {page.id: self._agreed_codes(page, pages) for page in pages}
        owners = Counter(code for own in codes.values() for code in own)
        for code in sorted(code for code, count in owners.items() if count > 1):
            urls = [page.url for page in pages if code in codes[page.id]]
            self._conflict(urls[0], f"several versions have the code {code}, so it counts for none: {_examples(urls)}")
        unique = {page.id: tuple(sorted(code for code in codes[page.id] if owners[code] == 1)) for page in pages}
        return {url_id: own for url_id, own in unique.items() if own}

    def _agreed_codes(self, page: AlternateClaims, pages: Sequence[AlternateClaims]) -> set[str]:
        given = [set(other.named[page.id]) for other in pages if other.id != page.id]
        given_by_any: set[str] = set().union(*given)
        own = page.named.get(page.id)
        if own is None:
            agreed = set.intersection(*given) if given else set()
            problem = "does not name itself, and its other versions give it different codes"
        else:
            agreed = set(own)
            problem = f"calls itself {' '.join(own)}, but other versions give it another code"
        if disputed := sorted(given_by_any - agreed):
            self._conflict(page.url, f"{problem}: {_examples(disputed)}")
        return agreed

    def _conflict(self, url: str, message: str) -> None:
        self._warn(SiteWarning(WarningKind.CONFLICTING_ALTERNATES, url, message))


class _Pages:
    """Cache of pages. The pages of a set need each other."""

    def __init__(self, fetch: Callable[[Collection[int]], Iterable[AlternateClaims]]) -> None:
        self._fetch = fetch
        self._cache: dict[int, AlternateClaims] = {}
        self._claims = 0

    def prepare(self, ids: Sequence[int]) -> None:
        """Load pages and the pages that they name, in few queries."""
        named = list(dict.fromkeys(other for page in self.find(ids).values() for other in page.named))
        for start in range(0, len(named), 5 * BATCH):
            self.find(named[start : start + 5 * BATCH])

    def find(self, ids: Collection[int]) -> dict[int, AlternateClaims]:
        missing = [url_id for url_id in ids if url_id not in self._cache]
        if missing and self._claims > MAX_CACHED_CLAIMS:
            self._cache.clear()
            self._claims, missing = 0, list(ids)
        for page in self._fetch(missing) if missing else ():
            self._cache[page.id] = page
            self._claims += 1 + len(page.named)
        return {url_id: self._cache[url_id] for url_id in ids if url_id in self._cache}


def _complete_sets(members: Mapping[int, _Member]) -> Iterator[set[int]]:
    """Split `members` into sets of pages that all name each other. A set may have one page only."""
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


def _codes(page: AlternateClaims, other: AlternateClaims) -> str:
    return " ".join(page.named[other.id])


def _examples(texts: Sequence[str]) -> str:
    """Return the first MAX_EXAMPLES texts in sorted order, and the number of the others."""
    more = len(texts) - MAX_EXAMPLES
    return ", ".join(sorted(texts)[:MAX_EXAMPLES]) + (f" and {more} more" if more > 0 else "")
