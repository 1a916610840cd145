"""Observations of the whole site → one decision for every URL. Pure: rows in, decisions out.

The order of the rules for one URL: blocked-by-robots, server-error and unreachable, client-error, redirect, not-a-page,
too-long, out-of-scope, excluded-by-rule, noindex, canonical-elsewhere, duplicate-index-file, orphan, listed.
Memory is at most five bytes a URL: what a row says by itself, and where its canonical points.
"""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.media_type import DECOMPRESSION_BOMB
from sitemap_crawler.policy.rules import Reason, Refusal
from sitemap_crawler.policy.warning_kinds import SiteWarning, WarningKind
from sitemap_crawler.traps.detector import trap_evidence
from sitemap_crawler.urls.spelling import INDEX_FILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sitemap_crawler.policy.rules import Rules


CLOCK_SKEW = 86_400.0
"""Seconds that a date may lie ahead: beyond that a clock was wrong when it was noted."""
MAX_EXPLAINED = 1_000
"""Broken canonicals whose targets are looked up for the words of the warning."""


class Facts(NamedTuple):
    """One row of the inventory: what was observed on one URL, or that nothing was.

    A tuple, as a row is one: there are as many as URLs, and a frozen dataclass takes longer to make.
    """

    id: int
    url: str
    depth: int
    orphan: bool = False
    """Nothing has led to it for so long that it counts as gone."""
    fetched: float | None = None
    """When it was observed, in seconds since 1970; None when it never was."""
    status: int | None = None
    error: str | None = None
    blocked_by: str | None = None
    content_type: str | None = None
    body_bytes: int | None = None
    body_hash: bytes | None = None
    canonical_id: int | None = None
    noindex: bool | None = None
    unavailable_after: float | None = None
    """From when on it is noindex, in seconds since 1970."""
    directives: str | None = None
    lastmod: float | None = None
    lastmod_source: str | None = None
    lastmod_day: bool | None = None
    failed_status: int | None = None
    failed_error: str | None = None
    failed: bool = False
    """The last tries failed; all else was seen before."""
    kept: bool = False
    """It was listed when it began to fail, and that is not so long ago."""
    location: str | None = None
    refresh: str | None = None
    canonical: str | None = None
    trap: int | None = None
    """The trap for which it was refused."""


class Decision(NamedTuple):
    url_id: int
    url: str
    listed: bool
    reason: Reason
    evidence: str | None = None
    lastmod: float | None = None
    lastmod_source: str | None = None
    lastmod_day: bool = False


class _Local(IntEnum):
    """What a URL is by itself, before canonicals are followed."""

    UNSEEN = 0
    LISTABLE = 1
    NOT_LISTABLE = 2
    CONFIRMED = 3
    """Listable, and names itself as its canonical."""
    AT_ITS_WORD = 4
    """Not ours to judge: a canonical that names it is believed."""
    BLOCKED = 5
    """Forbidden by robots.txt: believed too, but worth a warning."""
    CANONICAL = 6
    """Settled as canonical-elsewhere."""
    ENTERED = 7
    """On the chain that is being followed."""


class Settlement:
    """The decisions of one run."""

    def __init__(
        self,
        rows: Callable[[], Iterable[Facts]],
        rules: Rules,
        *,
        now: float,
        find: Callable[[str], Facts | None],
        blocked: Callable[[str], str | None],
        warn: Callable[[SiteWarning], None],
    ) -> None:
        """`rows` gives the rows anew at each call, in any order; `find` looks one up by its URL; `blocked` says
        why robots.txt forbids one; `now` is in seconds since 1970."""
        self._rows = rows
        self._rules = rules
        self._now = now
        self._find = find
        self._blocked = blocked
        self._broken = 0
        self._warn = warn
        self._local = bytearray()
        self._canonical: array[int] = array("I")

    def decisions(self) -> Iterator[Decision]:
        for facts in self._rows():
            yield self._decide(facts)

    def _survey_all(self) -> None:
        """Look at the whole site; a site where no page names another as its canonical never needs it."""
        for facts in self._rows():
            self._survey(facts)

    def _survey(self, facts: Facts) -> None:
        missing = facts.id + 1 - len(self._local)
        if missing > 0:
            self._local.extend(bytes(missing))
            self._canonical.extend(array("I", bytes(4 * missing)))
        refusal = self.refusal(facts)
        if refusal is not None:
            self._local[facts.id] = _REFUSED.get(refusal.reason, _Local.NOT_LISTABLE)
        elif facts.canonical_id == facts.id:
            self._local[facts.id] = _Local.CONFIRMED
        else:
            self._local[facts.id] = _Local.LISTABLE
            self._canonical[facts.id] = facts.canonical_id or 0

    def refusal(self, facts: Facts) -> Refusal | None:
        """Why the URL can't be listed for what it is itself; None when it could be."""
        if facts.fetched is None or facts.trap is not None:
            return self._unfetched(facts)
        return (
            _blocked(facts)
            or _failed(facts)
            or _transport(facts)
            or _not_a_page(facts, self._rules.content_types)
            or self._rules.listing_refusal(facts.url)
            or _noindex(facts, self._now)
        )

    def _unfetched(self, facts: Facts) -> Refusal:
        blocked = self._blocked(facts.url)
        if blocked is not None:
            return Refusal(Reason.BLOCKED_BY_ROBOTS, blocked)
        refusal = self._rules.fetch_refusal(facts.url, facts.depth)
        if refusal is not None:
            return refusal
        if orphan := _orphan(facts):
            return orphan
        if facts.trap is not None and self._rules.may_be_trap(facts.url):
            return Refusal(Reason.LIMIT, trap_evidence(facts.trap, facts.url))
        return Refusal(Reason.LIMIT, f"not fetched yet, as {self._rules.why_unfetched}: crawl again")

    def _decide(self, facts: Facts) -> Decision:
        refusal = self.refusal(facts) or self._canonical_elsewhere(facts) or self._duplicate(facts) or _orphan(facts)
        if refusal is not None:
            return Decision(facts.id, facts.url, listed=False, reason=refusal.reason, evidence=refusal.evidence)
        kept = failure(facts) if facts.failed else None
        dated = facts.lastmod is not None and facts.lastmod <= self._now + CLOCK_SKEW
        return Decision(
            facts.id,
            facts.url,
            listed=True,
            reason=Reason.LISTED if kept is None else Reason.KEPT_AFTER_ERROR,
            evidence=None if kept is None else f"{kept.reason}: {kept.evidence}",
            lastmod=facts.lastmod if dated else None,
            lastmod_source=facts.lastmod_source if dated else None,
            lastmod_day=dated and bool(facts.lastmod_day),
        )

    def _canonical_elsewhere(self, facts: Facts) -> Refusal | None:
        if facts.canonical_id is None or facts.canonical_id == facts.id:
            return None
        if not self._names_another(facts):
            if not facts.orphan:
                self._broken += 1
                self._warn(SiteWarning(WarningKind.BROKEN_CANONICAL, facts.url, self._why_broken(facts)))
            return None
        warning = _CANONICAL_WARNINGS.get(_Local(self._local[facts.canonical_id]))
        if warning is not None and not facts.orphan:
            kind, words = warning
            self._warn(SiteWarning(kind, facts.url, words.format(facts.canonical)))
        return Refusal(Reason.CANONICAL_ELSEWHERE, f"rel=canonical {facts.canonical}")

    def _why_broken(self, facts: Facts) -> str:
        # A look-up for each of a million pages that make the same mistake would help nobody.
        target = self._find(facts.canonical) if facts.canonical and self._broken <= MAX_EXPLAINED else None
        refusal = self.refusal(target) if target is not None else None
        why = f"can't be listed ({refusal.reason}: {refusal.evidence})" if refusal else "leads back, or can't be listed"
        return f"its canonical {facts.canonical} {why}, so the page itself is listed"

    def _names_another(self, facts: Facts) -> bool:
        """Whether the page's canonical is another URL, and one that justifies leaving the page out."""
        if facts.canonical_id is None or facts.canonical_id == facts.id:
            return False
        if not self._local:
            self._survey_all()
        return self._settle(facts.id) is _Local.CANONICAL

    def _settle(self, url_id: int) -> _Local:
        """Follow canonicals from `url_id` to their end and settle every URL on the way.

        A page is canonical-elsewhere when its target is listed or is itself canonical-elsewhere, or is not ours to
        judge. Pages whose canonicals form a loop stay listed.
        """
        chain: list[int] = []
        while self._local[url_id] == _Local.LISTABLE and self._canonical[url_id]:
            self._local[url_id] = _Local.ENTERED
            chain.append(url_id)
            url_id = self._canonical[url_id]
        end = _Local(self._local[url_id])
        if end is _Local.ENTERED:
            loop_start = chain.index(url_id)
            self._settle_as_listed(chain[loop_start:])
            del chain[loop_start:]
            end = _Local.LISTABLE
        for entered in reversed(chain):
            if end in _JUSTIFIES:
                self._local[entered] = end = _Local.CANONICAL
            else:
                self._settle_as_listed([entered])
                end = _Local.LISTABLE
        return end

    def _settle_as_listed(self, ids: Iterable[int]) -> None:
        for url_id in ids:
            self._local[url_id] = _Local.LISTABLE
            self._canonical[url_id] = 0

    def _duplicate(self, facts: Facts) -> Refusal | None:
        directory, _, name = facts.url.rpartition("/")
        if name.lower() not in INDEX_FILES or facts.body_hash is None:
            return None
        above = self._find(f"{directory}/")
        if above is None or above.body_hash != facts.body_hash:
            return None
        if self.refusal(above) or self._names_another(above) or _orphan(above):
            return None
        return Refusal(Reason.DUPLICATE_INDEX_FILE, f"same bytes as {above.url}")


_REFUSED = {
    Reason.OUT_OF_SCOPE: _Local.AT_ITS_WORD,
    Reason.EXCLUDED_BY_RULE: _Local.AT_ITS_WORD,
    Reason.BLOCKED_BY_ROBOTS: _Local.BLOCKED,
}
_JUSTIFIES = frozenset(_Local) - {_Local.NOT_LISTABLE, _Local.ENTERED}
_CANONICAL_WARNINGS = {
    _Local.LISTABLE: (WarningKind.ONE_WAY_CANONICAL, "its canonical {} does not name itself as canonical"),
    _Local.BLOCKED: (
        WarningKind.BLOCKED_CANONICAL,
        "its canonical {} is disallowed by robots.txt, so neither is listed",
    ),
    _Local.CANONICAL: (WarningKind.CANONICAL_CHAIN, "its canonical {} names another one in turn: name that at once"),
}


def _orphan(facts: Facts) -> Refusal | None:
    return Refusal(Reason.ORPHAN, "nothing leads to it any more") if facts.orphan else None


def _blocked(facts: Facts) -> Refusal | None:
    return Refusal(Reason.BLOCKED_BY_ROBOTS, facts.blocked_by) if facts.blocked_by is not None else None


def _failed(facts: Facts) -> Refusal | None:
    """An error that may pass, unless the page stays listed meanwhile by what was seen before."""
    if not facts.failed or facts.kept:
        return None
    return failure(facts)


def failure(facts: Facts) -> Refusal:
    """What the last try met, of a URL that fails."""
    if facts.failed_status is None:
        return Refusal(Reason.UNREACHABLE, facts.failed_error or "no answer")
    return Refusal(Reason.SERVER_ERROR, f"status {facts.failed_status}")


def _transport(facts: Facts) -> Refusal | None:
    """Refusals for what the request met: an error, a redirect."""
    status = facts.status
    if status is None:
        return Refusal(Reason.UNREACHABLE, facts.error or "no answer")
    if status >= 500 or status == 429:
        return Refusal(Reason.SERVER_ERROR, f"status {status}")
    if status >= 400:
        return Refusal(Reason.CLIENT_ERROR, f"status {status}")
    if 300 <= status < 400:
        target = f"to {facts.location}" if facts.location else "without a usable Location"
        return Refusal(Reason.REDIRECT, f"status {status} {target}")
    if facts.refresh is not None:
        return Refusal(Reason.REDIRECT, f"meta refresh to {facts.refresh}")
    return None


def _not_a_page(facts: Facts, content_types: frozenset[str]) -> Refusal | None:
    if facts.status != 200:
        return Refusal(Reason.NOT_A_PAGE, f"status {facts.status}")
    if not facts.body_bytes:
        return Refusal(Reason.NOT_A_PAGE, "empty body")
    if facts.content_type == DECOMPRESSION_BOMB:
        return Refusal(Reason.NOT_A_PAGE, f"{DECOMPRESSION_BOMB}: {facts.body_bytes:,} bytes and more from very few")
    if facts.content_type not in content_types:
        return Refusal(Reason.NOT_A_PAGE, f"content type {facts.content_type}")
    return None


def _noindex(facts: Facts, now: float) -> Refusal | None:
    if facts.noindex:
        return Refusal(Reason.NOINDEX, facts.directives or "noindex")
    if facts.unavailable_after is not None and facts.unavailable_after <= now:
        moment = datetime.fromtimestamp(facts.unavailable_after, UTC)
        return Refusal(Reason.NOINDEX, f"unavailable_after: {moment.isoformat(timespec='seconds')}")
    return None
