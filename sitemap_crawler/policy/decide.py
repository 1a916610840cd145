"""Decisions: which URLs of a site are listed, and why the others are not. Pure: observations in, decisions out.

The rules apply to a fetched URL in this order: blocked-by-robots, server-error and unreachable, client-error, redirect,
not-a-page, too-long, out-of-scope, excluded-by-rule, noindex, canonical-elsewhere, duplicate-index-file, orphan,
listed. They apply to a URL that was not fetched, and to one whose page repeats others, in this order:
blocked-by-robots, out-of-scope, excluded-by-rule, limit (a trap that the URL shows, or its depth), orphan,
duplicate-parameters, limit (a learnt trap, or any other cause).

Memory use is at most five bytes per URL: one for its state, four for the id of its canonical.
"""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.media_type import DECOMPRESSION_BOMB
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.rules import Refusal, learnt_trap_refusal
from sitemap_crawler.policy.warning_kinds import SiteWarning, WarningKind
from sitemap_crawler.urls.spelling import INDEX_FILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sitemap_crawler.policy.rules import Rules


CLOCK_SKEW = 86_400.0
"""Maximum number of seconds that a date may be in the future. A later date comes from a wrong clock and is ignored."""
MAX_EXPLAINED = 1_000
"""Maximum number of broken canonicals whose warning explains the problem of the target."""


class Facts(NamedTuple):
    """One row of the inventory: the observation of one URL, if there is one.

    A named tuple, because a row is a tuple and a frozen dataclass takes longer to create for every URL.
    """

    id: int
    url: str
    depth: int
    orphan: bool = False
    """Whether no link or sitemap has led to the URL in the last `orphan_runs` runs."""
    fetched: float | None = None
    """Time of the observation in seconds since 1970; None without an observation."""
    status: int | None = None
    error: str | None = None
    blocked_by: str | None = None
    content_type: str | None = None
    body_bytes: int | None = None
    body_hash: bytes | None = None
    canonical_id: int | None = None
    noindex: bool | None = None
    unavailable_after: float | None = None
    """Time from which the page is noindex, in seconds since 1970."""
    directives: str | None = None
    lastmod: float | None = None
    lastmod_source: str | None = None
    lastmod_day: bool | None = None
    failed_status: int | None = None
    failed_error: str | None = None
    failed: bool = False
    """Whether the last requests failed. The other fields are from an earlier observation."""
    kept: bool = False
    """Whether a failing page stays listed: it was listed before, and has failed in at most `keep_errors` runs."""
    location: str | None = None
    refresh: str | None = None
    canonical: str | None = None
    trap: int | None = None
    """Value of the `Trap` for which the URL was refused."""


class Decision(NamedTuple):
    """The decision for one URL, with its reason and the evidence for people."""

    url_id: int
    url: str
    listed: bool
    reason: Reason
    evidence: str | None = None
    lastmod: float | None = None
    lastmod_source: str | None = None
    lastmod_day: bool = False


class _State(IntEnum):
    """State of a URL while canonicals are followed. At first it depends on the URL's own row only."""

    UNSEEN = 0
    LISTABLE = 1
    NOT_LISTABLE = 2
    CONFIRMED = 3
    """Listable, with itself as its canonical."""
    NOT_JUDGED = 4
    """Outside the scope, excluded by a rule, or a page that repeats others: a canonical that names it is accepted."""
    BLOCKED = 5
    """Disallowed by robots.txt: a canonical that names the URL is accepted with a warning."""
    CANONICAL_ELSEWHERE = 6
    """Decided as canonical-elsewhere."""
    ENTERED = 7
    """Part of the chain of canonicals that is being followed."""


class Decider:
    """Maker of the decisions on all URLs of one run."""

    def __init__(
        self,
        rows: Callable[[], Iterable[Facts]],
        rules: Rules,
        *,
        now: float,
        find: Callable[[str], Facts | None],
        blocked: Callable[[str], str | None],
        warn: Callable[[SiteWarning], None],
        compared: Mapping[str, tuple[int, int]],
    ) -> None:
        """Decide by `rules` at the time `now`, in seconds since 1970.

        `rows` returns all rows at each call, in any order. `find` returns the row of a URL. `blocked` returns the rule
        of robots.txt that disallows a URL, if there is one. `warn` takes problems of the site. `compared` is that of
        `trap_evidence`.
        """
        self._rows = rows
        self._rules = rules
        self._now = now
        self._find = find
        self._blocked = blocked
        self._broken_canonicals = 0
        self._warn = warn
        self._compared = compared
        self._states = bytearray()
        self._canonical: array[int] = array("I")

    def decisions(self) -> Iterator[Decision]:
        """Yield one decision for each row."""
        for facts in self._rows():
            yield self._decide(facts)

    def _read_all_states(self) -> None:
        """Read the state of all URLs. Needed only if a page names another one as its canonical."""
        for facts in self._rows():
            self._read_state(facts)

    def _read_state(self, facts: Facts) -> None:
        missing = facts.id + 1 - len(self._states)
        if missing > 0:
            self._states.extend(bytes(missing))
            self._canonical.extend(array("I", bytes(4 * missing)))
        refusal = self.refusal(facts)
        if refusal is not None:
            is_shown_elsewhere = facts.trap is not None and facts.status == 200 and not facts.noindex
            state = _State.NOT_JUDGED if is_shown_elsewhere else _State.NOT_LISTABLE
            self._states[facts.id] = _STATE_OF_REFUSED.get(refusal.reason, state)
        elif facts.canonical_id == facts.id:
            self._states[facts.id] = _State.CONFIRMED
        else:
            self._states[facts.id] = _State.LISTABLE
            self._canonical[facts.id] = facts.canonical_id or 0

    def refusal(self, facts: Facts) -> Refusal | None:
        """Return why the URL cannot be listed by its own row; None if it could be listed."""
        if facts.fetched is None or facts.trap is not None:
            return self._unfetched(facts)
        return (
            _blocked(facts)
            or _failed(facts)
            or _error_or_redirect(facts)
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
        if facts.trap is not None and self._rules.learns_traps(facts.url):
            return learnt_trap_refusal(facts.trap, facts.url, self._compared)
        return Refusal(Reason.LIMIT, f"not fetched yet, as {self._rules.why_unfetched}: crawl again")

    def _decide(self, facts: Facts) -> Decision:
        refusal = (
            self.refusal(facts)
            or self._canonical_elsewhere(facts)
            or self._duplicate_index_file(facts)
            or _orphan(facts)
        )
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
        if not self._has_other_canonical(facts):
            if not facts.orphan:
                self._broken_canonicals += 1
                self._warn(SiteWarning(WarningKind.BROKEN_CANONICAL, facts.url, self._why_broken(facts)))
            return None
        warning = _CANONICAL_WARNINGS.get(_State(self._states[facts.canonical_id]))
        if warning is not None and not facts.orphan:
            kind, message = warning
            self._warn(SiteWarning(kind, facts.url, message.format(facts.canonical)))
        return Refusal(Reason.CANONICAL_ELSEWHERE, f"rel=canonical {facts.canonical}")

    def _why_broken(self, facts: Facts) -> str:
        # A lookup for each of a million pages with the same problem would take long and say nothing new.
        explain = self._broken_canonicals <= MAX_EXPLAINED
        target = self._find(facts.canonical) if facts.canonical and explain else None
        refusal = self.refusal(target) if target is not None else None
        why = f"can't be listed ({refusal.reason}: {refusal.evidence})" if refusal else "leads back, or can't be listed"
        return f"its canonical {facts.canonical} {why}, so the page itself is listed"

    def _has_other_canonical(self, facts: Facts) -> bool:
        """Return whether the canonical of the page is another URL and justifies leaving the page out."""
        if facts.canonical_id is None or facts.canonical_id == facts.id:
            return False
        if not self._states:
            self._read_all_states()
        return self._follow_canonicals(facts.id) is _State.CANONICAL_ELSEWHERE

    def _follow_canonicals(self, url_id: int) -> _State:
        """Follow canonicals from `url_id` to the last one, decide on every URL of this chain, and return its state.

        A page is canonical-elsewhere if its target is listed, is canonical-elsewhere itself or is not judged. Pages
        whose canonicals form a loop stay listed.
        """
        chain: list[int] = []
        while self._states[url_id] == _State.LISTABLE and self._canonical[url_id]:
            self._states[url_id] = _State.ENTERED
            chain.append(url_id)
            url_id = self._canonical[url_id]
        end = _State(self._states[url_id])
        if end is _State.ENTERED:
            loop_start = chain.index(url_id)
            self._mark_listable(chain[loop_start:])
            del chain[loop_start:]
            end = _State.LISTABLE
        for entered in reversed(chain):
            if end in _JUSTIFYING:
                self._states[entered] = end = _State.CANONICAL_ELSEWHERE
            else:
                self._mark_listable([entered])
                end = _State.LISTABLE
        return end

    def _mark_listable(self, ids: Iterable[int]) -> None:
        for url_id in ids:
            self._states[url_id] = _State.LISTABLE
            self._canonical[url_id] = 0

    def _duplicate_index_file(self, facts: Facts) -> Refusal | None:
        directory, _, name = facts.url.rpartition("/")
        if name.lower() not in INDEX_FILES or facts.body_hash is None:
            return None
        above = self._find(f"{directory}/")
        if above is None or above.body_hash != facts.body_hash:
            return None
        if self.refusal(above) or self._has_other_canonical(above) or _orphan(above):
            return None
        return Refusal(Reason.DUPLICATE_INDEX_FILE, f"same bytes as {above.url}")


_STATE_OF_REFUSED = {
    Reason.OUT_OF_SCOPE: _State.NOT_JUDGED,
    Reason.EXCLUDED_BY_RULE: _State.NOT_JUDGED,
    Reason.BLOCKED_BY_ROBOTS: _State.BLOCKED,
}
_JUSTIFYING = frozenset(_State) - {_State.NOT_LISTABLE, _State.ENTERED}
_CANONICAL_WARNINGS = {
    _State.LISTABLE: (WarningKind.ONE_WAY_CANONICAL, "its canonical {} does not name itself as canonical"),
    _State.BLOCKED: (
        WarningKind.BLOCKED_CANONICAL,
        "its canonical {} is disallowed by robots.txt, so neither is listed",
    ),
    _State.CANONICAL_ELSEWHERE: (
        WarningKind.CANONICAL_CHAIN,
        "its canonical {} names another canonical: name that one directly",
    ),
}


def _orphan(facts: Facts) -> Refusal | None:
    return Refusal(Reason.ORPHAN, "nothing leads to it any more") if facts.orphan else None


def _blocked(facts: Facts) -> Refusal | None:
    return Refusal(Reason.BLOCKED_BY_ROBOTS, facts.blocked_by) if facts.blocked_by is not None else None


def _failed(facts: Facts) -> Refusal | None:
    """Return the refusal of a failing URL, unless the page stays listed by an earlier observation."""
    if not facts.failed or facts.kept:
        return None
    return failure(facts)


def failure(facts: Facts) -> Refusal:
    """Return the error of the last request of a failing URL as a refusal."""
    if facts.failed_status is None:
        return Refusal(Reason.UNREACHABLE, facts.failed_error or "no answer")
    return Refusal(Reason.SERVER_ERROR, f"status {facts.failed_status}")


def _error_or_redirect(facts: Facts) -> Refusal | None:
    """Return the refusal of a URL whose request met an error or a redirect."""
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
    if facts.location is not None:
        return Refusal(Reason.REDIRECT, f"a script leads to {facts.location}")
    if facts.refresh is not None:
        return Refusal(Reason.REDIRECT, f"meta refresh to {facts.refresh}")
    return None


def _not_a_page(facts: Facts, content_types: frozenset[str]) -> Refusal | None:
    if facts.status != 200:
        return Refusal(Reason.NOT_A_PAGE, f"status {facts.status}")
    if not facts.body_bytes:
        return Refusal(Reason.NOT_A_PAGE, "empty body")
    if facts.content_type == DECOMPRESSION_BOMB:
        return Refusal(Reason.NOT_A_PAGE, f"{DECOMPRESSION_BOMB}: at least {facts.body_bytes:,} bytes from very few")
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
