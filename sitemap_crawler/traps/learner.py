"""What pages turn out to be: addresses that go on and on while the pages are all alike, or are the same page again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sitemap_crawler.traps.nesting import NestedPages
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sitemap_crawler.traps.patterns import Session

FIRST_EPOCH = 100
"""Pages of a pattern that are looked at before it is judged."""
ALIKE = 0.05
"""Share of different ones among them up to which they count as all alike."""
MAX_CONTENTS = 128

REPEATS = 30
"""Pages that were met again with another token, and were the same, from which on the token is a session id;"""
TRIALS = 200
"""pages met again after which a token that is not proved to be one counts as part of an address,"""
MAX_BARE = 2_000
"""and those that were met but once."""
MAX_WATCHED = 5_000
"""Patterns that are watched, twice,"""
MAX_KEPT = 20
"""and those of each kind whose counts outlive the process."""


@dataclass(slots=True)
class _Pages:
    """The pages of one pattern, in epochs of which each is as long as all before: what a site has that is good ends
    in time, what is endless does not, and a few pages in a row that are alike prove nothing."""

    epoch: int = FIRST_EPOCH
    seen: int = 0
    total: int = 0
    contents: set[str] | None = field(default_factory=set)
    """None when this epoch has too many to be a trap."""

    @property
    def count(self) -> int:
        return self.total + self.seen

    def add(self, content: str | None) -> bool:
        """Whether the epoch that ends with this page shows a trap."""
        self.seen += 1
        if self.contents is not None and content is not None:
            self.contents.add(content)
            if len(self.contents) > min(ALIKE * self.epoch, MAX_CONTENTS):
                self.contents = None
        if self.seen < self.epoch:
            return False
        alike = self.contents is not None
        self.total += self.seen
        self.epoch, self.seen, self.contents = self.total, 0, set()
        return alike


@dataclass(slots=True)
class _Token:
    """A place in addresses where random tokens stand."""

    contents: dict[str, str] = field(default_factory=dict)
    """By the address without its token."""
    same: int = 0
    other: int = 0
    settled: bool = False

    @property
    def count(self) -> int:
        return self.same + self.other + len(self.contents)

    def add(self, bare: str, content: str, *, renewed: bool) -> bool:
        """Whether this proves that it is a session id; `renewed`: all links of the page have one other token."""
        before = self.contents.get(bare)
        if before is None:
            self.contents[bare] = content
        elif before == content and renewed:
            self.same += 1
        else:
            self.other += 1
        if self.same + self.other >= TRIALS or len(self.contents) >= MAX_BARE:
            self.settled = True
            self.contents.clear()
        return self.same >= REPEATS and self.other <= ALIKE * self.same


class TrapLearner:
    """Looks at as few pages as settle the matter: of a pattern whose pages differ, one in twenty."""

    def __init__(self) -> None:
        self._pages: Recent[_Pages] = Recent(MAX_WATCHED)
        self._tokens: Recent[_Token] = Recent(MAX_WATCHED)
        self._rounds: Recent[NestedPages] = Recent(MAX_WATCHED)

    @property
    def counts(self) -> dict[str, Any]:
        """What was counted, for JSON; of what there are many, those that have the most pages."""
        count = attrgetter("count")
        return {
            name: {key: asdict(one) for key, one in of.largest(MAX_KEPT, count)}
            for name, (of, _) in self._kept().items()
        }

    def restore(self, counts: dict[str, Any]) -> None:
        for name, (kept, create) in self._kept().items():
            for key, values in counts.get(name, {}).items():
                one = create()
                for field_name, value in values.items():
                    setattr(one, field_name, set(value) if isinstance(value, list) else value)
                kept.put(key, one)

    def _kept(self) -> dict[str, tuple[Recent[Any], type[Any]]]:
        return {"pages": (self._pages, _Pages), "tokens": (self._tokens, _Token), "rounds": (self._rounds, NestedPages)}

    def wants(self, pattern: str | None, sessions: Sequence[Session], twice: Sequence[str] = ()) -> bool:
        """Whether the content of the page has to be known."""
        return (
            (pattern is not None and self._pages.get_or_create(pattern, _Pages).contents is not None)
            or any(not self._tokens.get_or_create(session.place, _Token).settled for session in sessions)
            or (bool(twice) and not self._rounds.get_or_create(origin_of(twice[0]), NestedPages).settled)
        )

    def page(self, pattern: str, content: str | None) -> bool:
        """Whether this page shows that the pattern is endless; without its content it is only counted."""
        return self._pages.get_or_create(pattern, _Pages).add(content)

    def rounds(self, twice: Sequence[str], content: str) -> list[str]:
        """The names that this page shows to be those of a site whose paths go round."""
        rounds = self._rounds.get_or_create(origin_of(twice[0]), NestedPages)
        return [] if rounds.settled else rounds.add(twice, content)

    def session(self, session: Session, content: str, *, renewed: bool) -> bool:
        """Whether this page shows that there are session ids in that place."""
        token = self._tokens.get_or_create(session.place, _Token)
        return not token.settled and token.add(session.bare, content, renewed=renewed)
