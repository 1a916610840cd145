"""What a run knows of traps: which new addresses it refuses for that, and what it learns from pages."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from sitemap_crawler.traps.facets import FacetBudget, facets_place
from sitemap_crawler.traps.learner import TrapLearner
from sitemap_crawler.traps.nesting import is_nested, last_segment, repeated_names
from sitemap_crawler.traps.patterns import bare_of, endless_pattern, sessions_of, shown
from sitemap_crawler.traps.url_checks import TRAP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sitemap_crawler.traps.patterns import Session

MAX_LEARNT = 1_000
"""Traps of each kind that are learnt;"""
MAX_BARE = 200_000
"""addresses without their session ids that are remembered. More are not fetched."""

MAX_TOKENS = 20
"""Tokens of one page that count for nothing in its text."""


class Trap(IntEnum):
    """Why a URL was refused that shows nothing by itself; the number is its state in the inventory."""

    FACETS = 5
    ENDLESS = 6
    SESSION = 7
    NESTING = 8


def trap_evidence(trap: int, url: str) -> str:
    """The evidence against a URL that was refused for this trap: the same for all of one trap."""
    if trap == Trap.FACETS:
        return f"{TRAP}too many combinations of parameters at {facets_place(url)}"
    if trap == Trap.ENDLESS:
        return f"{TRAP}{shown(endless_pattern(url) or url)} goes on and on, and the pages are all alike"
    if trap == Trap.NESTING:
        return f"{TRAP}the same pages again and again under ever longer paths"
    sessions = sessions_of(url)
    return f"{TRAP}the same page under ever new session ids, {shown(sessions[0].place if sessions else url)}"


class Suspect(NamedTuple):
    """A page that may tell of a trap."""

    pattern: str | None
    sessions: list[Session]
    repeated: list[str]
    """The names that its path has twice."""
    needs_content: bool
    """Whether its content has to be known."""

    def tokens(self, links: Iterable[str]) -> set[str]:
        """The page's own, and those of its links when they are few."""
        found = {session.token for session in self.sessions}
        for session in self.sessions:
            found.update(_tokens(session, links)[:MAX_TOKENS])
        return found

    def name_of(self, url: str) -> str:
        """What a link counts as when pages are compared."""
        places = {session.place for session in self.sessions}
        url = next((other.bare for other in sessions_of(url) if other.place in places), url) if places else url
        url = endless_pattern(url) or url if self.pattern is not None else url
        return last_segment(url) if self.repeated else url


class TrapDetector:
    """`applies` says of a URL whether it may be taken for a trap at all."""

    def __init__(self, budget: int, *, applies: Callable[[str], bool]) -> None:
        self._applies = applies
        self._facets = FacetBudget(budget)
        self._watch = TrapLearner()
        self._endless: set[str] = set()
        self._sessions: set[str] = set()
        self._rounds: set[str] = set()
        self._bare: dict[int, str] = {}
        """The admitted URL of each page that has session ids."""
        self.learnt: list[tuple[Trap, str]] = []
        """What is new: it is obeyed from `apply_learnt` on."""
        self.counted = False
        """Whether there are counts that nobody wrote down."""

    @property
    def known(self) -> dict[str, list[str]]:
        """What was learnt, for JSON."""
        return {"endless": sorted(self._endless), "sessions": sorted(self._sessions), "rounds": sorted(self._rounds)}

    def add_known(self, known: dict[str, list[str]]) -> None:
        """What an earlier run has learnt."""
        self._endless.update(known.get("endless", ()))
        self._sessions.update(known.get("sessions", ()))
        self._rounds.update(known.get("rounds", ()))

    @property
    def counts(self) -> dict[str, Any]:
        """What was counted of pages, for JSON."""
        return self._watch.counts

    def restore(self, counts: dict[str, Any]) -> None:
        """What an earlier process of this run has counted."""
        self._watch.restore(counts)

    @property
    def knows_sessions(self) -> bool:
        return bool(self._sessions)

    def count(self, url: str) -> None:
        """`url` was admitted in the past."""
        if self._applies(url):
            self._facets.count(url)

    def admit_session(self, url: str) -> None:
        """`url` is admitted, which counts where session ids are known."""
        bare = self.bare(url)
        if bare is not None and len(self._bare) < MAX_BARE:
            self._bare.setdefault(hash(bare), url)

    def bare(self, url: str) -> str | None:
        """The URL without its session ids; None when it has none that are known."""
        return bare_of(url, self._sessions) if self._sessions and self._applies(url) else None

    def admitted(self, url: str) -> str:
        """The URL that was admitted for the page that `url` names by any session id; `url` itself without one."""
        bare = self.bare(url)
        return url if bare is None else self._bare.get(hash(bare), url)

    def refusal(self, url: str) -> Trap | None:
        """Why a new URL is not admitted; None when it is, and then it is counted."""
        if not self._applies(url):
            return None
        trap = self._learnt_of(url) or (None if self._facets.admits(url) else Trap.FACETS)
        if trap is None:
            self.admit_session(url)
        return trap

    def learnt_refusal(self, url: str) -> Trap | None:
        """Why a URL that waits since before the trap was learnt is refused after all."""
        if not self._applies(url):
            return None
        trap = self._learnt_of(url)
        if trap is None:
            self.admit_session(url)
        return trap

    def suspect(self, url: str) -> Suspect | None:
        """What the page of this URL may tell; None for nearly all pages."""
        pattern, sessions, twice = endless_pattern(url), sessions_of(url), repeated_names(url)
        if (pattern is None and not sessions and not twice) or not self._applies(url):
            return None
        if pattern in self._endless:
            pattern = None
        sessions = [session for session in sessions if session.place not in self._sessions]
        return Suspect(pattern, sessions, twice, self._watch.wants(pattern, sessions, twice))

    def learn(self, suspect: Suspect, content: bytes | None, links: Iterable[str] = ()) -> None:
        """Learn from a page; its content and links where they are wanted."""
        self.counted = True
        said = None if content is None else content.hex()
        if suspect.pattern is not None and self._watch.page(suspect.pattern, said):
            self.learnt.append((Trap.ENDLESS, suspect.pattern))
        if said is None:
            return
        for session in suspect.sessions:
            if self._watch.session(session, said, renewed=_renewed(session, links)):
                self.learnt.append((Trap.SESSION, session.place))
        if suspect.repeated:
            self.learnt += [(Trap.NESTING, name) for name in self._watch.rounds(suspect.repeated, said)]

    def apply_learnt(self) -> bool:
        """What was learnt counts from now on; whether there was anything, and room for it."""
        before = len(self._endless) + len(self._sessions) + len(self._rounds)
        places = {Trap.ENDLESS: self._endless, Trap.SESSION: self._sessions, Trap.NESTING: self._rounds}
        for trap, name in self.learnt:
            if len(places[trap]) < MAX_LEARNT:
                places[trap].add(name)
        self.learnt = []
        return len(self._endless) + len(self._sessions) + len(self._rounds) > before

    def _learnt_of(self, url: str) -> Trap | None:
        if self._endless and endless_pattern(url) in self._endless:
            return Trap.ENDLESS
        if self._rounds and is_nested(url, self._rounds):
            return Trap.NESTING
        bare = self.bare(url)
        if bare is None or self._bare.get(hash(bare)) == url:
            return None
        return Trap.SESSION if hash(bare) in self._bare or len(self._bare) >= MAX_BARE else None


def _tokens(session: Session, links: Iterable[str]) -> list[str]:
    """Those of the links in the place where the page has its own."""
    return [other.token for link in links for other in sessions_of(link) if other.place == session.place]


def _renewed(session: Session, links: Iterable[str]) -> bool:
    """Whether all tokens in that place of the links are one and the same, and not the page's own."""
    found = _tokens(session, links)
    return len(found) > 1 and session.token not in found and len(set(found)) == 1
