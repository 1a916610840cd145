"""Decisions on traps that a URL alone does not show: new URLs that a run refuses, and traps that pages prove."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from sitemap_crawler.traps.facets import FacetBudget, facets_place
from sitemap_crawler.traps.learner import TrapLearner
from sitemap_crawler.traps.nesting import is_nested, last_segment, repeated_names
from sitemap_crawler.traps.patterns import bare_of, endless_pattern, sessions_of, shown
from sitemap_crawler.traps.shapes import shape_of
from sitemap_crawler.traps.url_checks import COMBINATIONS, NOTHING_NEW, TRAP
from sitemap_crawler.traps.yields import Yields

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping

    from sitemap_crawler.traps.patterns import Session

MAX_LEARNT = 1_000
"""Maximum number of traps of each kind that are learnt."""
MAX_BARE_URLS = 200_000
"""Maximum number of pages with session ids whose admitted URL is kept in memory. Further ones are not fetched."""
MAX_TOKENS = 20
"""Maximum number of tokens of one page that its content is compared without."""


class Trap(IntEnum):
    """Reason for which a URL is refused that shows no trap by itself. The number is its state in the inventory."""

    FACETS = 5
    """Its place has too many combinations of parameters."""
    ENDLESS = 6
    """Its pattern is endless, and the pages are alike."""
    SESSION = 7
    """It is an admitted page under another session id."""
    NESTING = 8
    """Its path is made of names that lead to known pages again."""
    REPEATS = 9
    """The pages of its shape only repeat other pages."""
    SAME = 10
    """It shows what simpler URLs of the same path show, or a page above it, or one of another path."""
    EXHAUSTED = 11
    """The run ended, as its last pages had shown nothing new."""


def trap_evidence(trap: int, url: str, compared: Mapping[str, tuple[int, int]]) -> str:
    """Return the evidence against a refused URL. All URLs of one trap share it.

    `compared` has, by refused group, the numbers of pages that were compared and of those that showed anything new.
    """
    if trap == Trap.FACETS:
        return f"{COMBINATIONS} at {facets_place(url)}"
    if trap == Trap.ENDLESS:
        return f"{TRAP}{shown(endless_pattern(url) or url)} continues without end, and its pages are alike"
    if trap == Trap.REPEATS:
        groups = shape_of(url).groups
        group = next((group for group in groups if group in compared), groups[-2])
        counts = compared.get(group)
        proof = "" if counts is None else _proof(*counts)
        return f"{TRAP}{_parameters_shown(group)} {_share(counts)} pages that repeat others{proof}"
    if trap == Trap.SAME and "?" not in url:
        return "a page above it in its path shows what it shows, under the same title"
    if trap == Trap.SAME:
        return "simpler URLs of the same path, or a page of another path, show what it shows"
    if trap == Trap.EXHAUSTED:
        return NOTHING_NEW
    if trap == Trap.NESTING:
        return f"{TRAP}the same pages under ever longer paths"
    sessions = sessions_of(url)
    return f"{TRAP}the same page under changing session ids, {shown(sessions[0].place if sessions else url)}"


def _share(counts: tuple[int, int] | None) -> str:
    """Return what the URLs of a group lead to, from the numbers of pages compared and of those with anything new."""
    if counts is None or not counts[1]:
        return "only lead to"
    compared, new = counts
    return "mostly lead to" if 2 * new <= compared else "lead to many"


def _parameters_shown(group: str) -> str:
    """Return the place and the parameters of a group, for a message."""
    place, _, names = shown(group).partition("?")
    return f"the URLs of {place} with {' and '.join(dict.fromkeys(names.split('&')))}"


def _proof(compared: int, new: int) -> str:
    pages = "1 page was" if compared == 1 else f"{compared:,} pages were"
    return f": {pages} compared, {'none' if not new else f'{new:,}'} showed anything new"


def repeats_others(trap: int, url: str) -> bool:
    """Return whether a URL is refused because its parameters only repeat what other URLs show."""
    return trap == Trap.SAME or (trap == Trap.REPEATS and "?" in url)


class Suspect(NamedTuple):
    """The features of a URL whose page may prove a trap."""

    pattern: str | None
    sessions: list[Session]
    repeated: list[str]
    """Names that the path has more than once."""
    needs_content: bool
    """Whether the content of the page is needed."""
    needs_texts: bool = False
    """Whether the texts of the page are needed, to compare it with other pages."""

    def tokens(self, links: Iterable[str]) -> set[str]:
        """Return the tokens to compare the content without: those of the page and, up to a limit, of its links."""
        tokens = {session.token for session in self.sessions}
        for session in self.sessions:
            tokens.update(_tokens(session, links)[:MAX_TOKENS])
        return tokens

    def name_of(self, url: str) -> str:
        """Return the form of a link in which the contents of pages are compared."""
        places = {session.place for session in self.sessions}
        url = next((other.bare for other in sessions_of(url) if other.place in places), url) if places else url
        url = endless_pattern(url) or url if self.pattern is not None else url
        return last_segment(url) if self.repeated else url


class TrapDetector:
    """Detector of the traps of one run: refuses URLs, and learns traps from pages.

    `budget` is the number of URLs with several parameters that one place may have. `applies` returns whether a URL may
    count as a trap at all.
    """

    def __init__(self, budget: int, *, applies: Callable[[str], bool]) -> None:
        self.applies = applies
        self.facets = FacetBudget(budget)
        self._learner = TrapLearner()
        self.yields = Yields()
        self._endless: set[str] = set()
        self._earlier_pages: set[int] = set()
        """Hashes of the URLs that may have endless patterns, and that the run before has listed."""
        self._sessions: set[str] = set()
        self._nested: set[str] = set()
        self._admitted: dict[int, str] = {}
        """The admitted URL of each page with session ids, by the hash of its URL without them."""
        self.learnt: list[tuple[Trap, str]] = []
        """New traps, which `apply_learnt` puts into effect."""
        self.has_unsaved_counts = False
        """Whether pages were counted since the counts were last written."""

    @property
    def known(self) -> dict[str, Any]:
        """The traps in effect, for JSON."""
        return {
            "endless": sorted(self._endless),
            "sessions": sorted(self._sessions),
            "rounds": sorted(self._nested),
            "repeating": sorted(self.yields.refused),
            "compared": self.yields.compared,
            "speaking": sorted(self.yields.groups.speakers),
            "idle": self.yields.idle.known,
        }

    def add_known(self, known: dict[str, Any]) -> None:
        """Put the traps of an earlier run into effect."""
        self._endless.update(known.get("endless", ()))
        self._sessions.update(known.get("sessions", ()))
        self._nested.update(known.get("rounds", ()))
        # A kind that this run has opened again stays open. The caller may not have stored that yet.
        self.yields.refuse(group for group in known.get("repeating", ()) if group not in self.yields.reopened)
        self.yields.groups.earlier_speakers.update(known.get("speaking", ()))
        self.yields.idle.add_known(known.get("idle", {}))
        self.yields.compared.update((group, tuple(counts)) for group, counts in known.get("compared", {}).items())

    @property
    def counts(self) -> dict[str, Any]:
        """The counts of pages, for JSON."""
        yields = self.yields
        learnt = {
            "groups": yields.groups.counts,
            "postponed": sorted(yields.turns.postponed),
            "reopened": sorted(yields.reopened),
        }
        return {**self._learner.counts, **yields.progress.counts, **learnt}

    def restore_counts(self, counts: dict[str, Any]) -> None:
        """Add the counts of an earlier process of this run."""
        self._learner.restore(counts)
        self.yields.progress.restore(counts)
        self.yields.groups.restore(counts.get("groups", {}))
        self.yields.turns.restore(counts.get("postponed", ()))
        self.yields.reopen(counts.get("reopened", ()))

    @property
    def knows_sessions(self) -> bool:
        """Whether any session ids are known."""
        return bool(self._sessions)

    def turn_of(self, url: str) -> int:
        """Count a URL that is to be requested, and return its turn."""
        return self.yields.admit(url) if self.applies(url) else 0

    def count_request(self, url: str, turn: int) -> int:
        """Return the turn in which a URL may be requested. If that is not later than `turn`, the URL is counted."""
        return self.yields.turns.count_request(url, turn) if self.applies(url) else 0

    def uncount_request(self, url: str) -> None:
        """Take a URL back that was counted, and was not requested."""
        if self.applies(url):
            self.yields.turns.uncount_request(url)

    def left_out_as(self, url: str, *, shapes: Container[str]) -> Trap | None:
        """Return the reason against listing a fetched page that has shown nothing new, or None.

        `shapes` are those of which the run, or an earlier one, has left URLs out when it ended.
        """
        yields = self.yields
        if not self.applies(url) or url in yields.named:
            return None
        if yields.refuses(url):
            return Trap.REPEATS
        is_sample = url in yields.left_out.samples and yields.left_out.shape_left_out(url) is not None
        return Trap.EXHAUSTED if is_sample or shape_of(url).groups[0] in shapes else None

    def count_admitted(self, url: str) -> None:
        """Count a URL that is admitted whatever its parameters are. One that only repeats others takes no room."""
        if self.applies(url) and not self.yields.refuses(url):
            self.facets.count(url)

    def admit_session(self, url: str) -> None:
        """Make `url` the admitted one of its page, if it has known session ids and the page has none yet."""
        bare = self.without_session(url)
        if bare is not None and len(self._admitted) < MAX_BARE_URLS:
            self._admitted.setdefault(hash(bare), url)

    def without_session(self, url: str) -> str | None:
        """Return the URL without its known session ids, or None if it has none."""
        return bare_of(url, self._sessions) if self._sessions and self.applies(url) else None

    def admitted_session(self, url: str) -> str:
        """Return the admitted URL of the page that `url` names under any session id. Other URLs stay as they are."""
        bare = self.without_session(url)
        return url if bare is None else self._admitted.get(hash(bare), url)

    def refusal(self, url: str) -> Trap | None:
        """Return the reason against a new URL, or None. A URL without one is admitted and counted."""
        if not self.applies(url):
            return None
        trap = self._learnt_trap(url) or (None if self.facets.admits(url) else Trap.FACETS)
        if trap is None:
            self.admit_session(url)
        return trap

    def new_refusal(self, url: str) -> Trap | None:
        """Return the reason against a URL that no run has met before, or None. See `refusal`."""
        trap = self.refusal(url)
        leaves_out = trap is None and self.applies(url) and self.yields.leaves_out_new(url)
        return Trap.EXHAUSTED if leaves_out else trap

    def learnt_refusal(self, url: str) -> Trap | None:
        """Return the learnt trap of a URL that was admitted before the trap was learnt, or None."""
        if not self.applies(url):
            return None
        trap = self._learnt_trap(url)
        if trap is None:
            self.admit_session(url)
        return trap

    def suspect(self, url: str) -> Suspect | None:
        """Return the features for which the page of this URL may prove a trap. Nearly all URLs have none."""
        pattern, sessions, repeated = endless_pattern(url), sessions_of(url), repeated_names(url)
        compares = self.yields.compares(url)
        if (pattern is None and not sessions and not repeated and not compares) or not self.applies(url):
            return None
        if pattern in self._endless:
            pattern = None
        sessions = [session for session in sessions if session.place not in self._sessions]
        return Suspect(pattern, sessions, repeated, self._learner.needs_content(pattern, sessions, repeated), compares)

    def compare(
        self,
        url: str,
        texts: bytes,
        title: str | None,
        links: Iterable[str],
        *,
        is_listable: bool,
        canonical: str | None = None,
    ) -> int | None:
        """Compare a page with those that were seen before. The arguments are those of `Yields.add`.

        Return the percentage of its texts that is new; None for a page that shows enough of its own.
        """
        self.has_unsaved_counts = True
        percent, refused = self.yields.add(url, texts, title, links, is_listable=is_listable, canonical=canonical)
        self.learnt += [(Trap.REPEATS, group) for group in refused]
        return percent

    def count_answer(self, url: str, status: int, links: Iterable[str], *, is_page: bool) -> None:
        """Count an answer that is not compared. `links` has the targets of a redirect."""
        self.has_unsaved_counts = True
        if is_page:
            # Pages like it yield, or the site has no traps to compare it for.
            self.yields.progress.count(is_new=True)
        elif status >= 400 or not self.applies(url):
            # An error says nothing of the other URLs of its shape.
            self.yields.progress.count(is_new=False)
        else:
            self.learnt += [(Trap.REPEATS, group) for group in self.yields.count_other(url, links)]

    def learn(self, suspect: Suspect, content: bytes | None, links: Iterable[str] = ()) -> bool:
        """Learn from a page. Its content and its links may be left out if the suspect does not need them.

        Return whether an earlier page of its pattern had the same content, but for dates.
        """
        self.has_unsaved_counts = True
        mark = None if content is None else content.hex()
        is_alike = suspect.pattern is not None and mark is not None and self._learner.has_shown(suspect.pattern, mark)
        if suspect.pattern is not None and self._learner.proves_endless(suspect.pattern, mark):
            self.learnt.append((Trap.ENDLESS, suspect.pattern))
        if mark is None:
            return False
        for session in suspect.sessions:
            if self._learner.proves_session(session, mark, renewed=_is_renewed(session, links)):
                self.learnt.append((Trap.SESSION, session.place))
        if suspect.repeated:
            self.learnt += [(Trap.NESTING, name) for name in self._learner.nested_names(suspect.repeated, mark)]
        return is_alike

    def apply_learnt(self) -> bool:
        """Put the learnt traps into effect. Return whether any of them is new and within the limit."""
        before = self._number_of_traps()
        known = {Trap.ENDLESS: self._endless, Trap.SESSION: self._sessions, Trap.NESTING: self._nested}
        for trap, name in self.learnt:
            if trap is Trap.REPEATS:
                self.yields.refuse([name])
            elif len(known[trap]) < MAX_LEARNT:
                known[trap].add(name)
        self.learnt = []
        return self._number_of_traps() > before

    def is_endless(self, url: str) -> bool:
        """Return whether the pattern of a URL is known to be endless."""
        return bool(self._endless) and self.applies(url) and endless_pattern(url) in self._endless

    def keep(self, listed: str) -> None:
        """Keep a page that the run before has listed, although its pattern is, or becomes, endless."""
        if endless_pattern(listed) is not None:
            self._earlier_pages.add(hash(listed))

    def _number_of_traps(self) -> int:
        return len(self._endless) + len(self._sessions) + len(self._nested) + len(self.yields.refused)

    def _learnt_trap(self, url: str) -> Trap | None:
        if hash(url) not in self._earlier_pages and self.is_endless(url):
            return Trap.ENDLESS
        if self._nested and is_nested(url, self._nested):
            return Trap.NESTING
        if self.yields.refuses(url):
            return Trap.REPEATS
        bare = self.without_session(url)
        if bare is None or self._admitted.get(hash(bare)) == url:
            return None
        return Trap.SESSION if hash(bare) in self._admitted or len(self._admitted) >= MAX_BARE_URLS else None


def _tokens(session: Session, links: Iterable[str]) -> list[str]:
    """Return the tokens of the links in the place where the page has its own."""
    return [other.token for link in links for other in sessions_of(link) if other.place == session.place]


def _is_renewed(session: Session, links: Iterable[str]) -> bool:
    """Return whether several links share one token in this place, which is not that of the page."""
    tokens = _tokens(session, links)
    return len(tokens) > 1 and session.token not in tokens and len(set(tokens)) == 1
