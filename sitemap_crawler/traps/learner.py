"""Traps that only pages prove: endless URLs whose pages are alike, and one page under many URLs."""

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
"""Number of pages of a pattern before the pattern is judged."""
MAX_DIFFERENT = 0.05
"""Share of exceptions up to which pages count as alike, and tokens as session ids."""
MAX_CONTENTS = 128
"""Maximum number of different contents of a pattern whose pages count as alike."""

MIN_REPEATS = 30
"""Number of pages that are the same under another token, from which on the token is a session id."""
MAX_TRIALS = 200
"""Number of pages with another token, after which a token that is not proved a session id is part of the URL."""
MAX_BARE_URLS = 2_000
"""The same for the number of pages that were seen under one token only."""
MAX_WATCHED = 5_000
"""Number of patterns in each of the two generations that are watched."""
MAX_STORED = 20
"""Maximum number of patterns of each kind whose counts outlive the process."""


@dataclass(slots=True)
class _PatternPages:
    """Counts of the pages of one pattern.

    Each epoch is as long as all epochs before it. A useful list of a site ends in time, an endless one does not, and a
    few pages in a row that are alike prove nothing. The inventory stores the fields by their names.
    """

    epoch: int = FIRST_EPOCH
    """Length of the current epoch, in pages."""
    seen: int = 0
    """Number of pages in the current epoch."""
    total: int = 0
    """Number of pages in the epochs before."""
    contents: set[str] | None = field(default_factory=set)
    """Different contents of the current epoch; None if there are too many for a trap."""
    older: set[str] = field(default_factory=set)
    """Those with which pages are compared, too: of the epoch before, or of this one until there were too many."""

    @property
    def count(self) -> int:
        return self.total + self.seen

    @property
    def compares(self) -> bool:
        """Whether the content of the next page is needed."""
        return self.contents is not None or bool(self.older)

    def add(self, content: str | None) -> bool:
        """Count a page. Return whether an epoch ends with this page and shows a trap."""
        self.seen += 1
        if self.contents is not None and content is not None:
            self.contents.add(content)
            if len(self.contents) > min(MAX_DIFFERENT * self.epoch, MAX_CONTENTS):
                self._keep_shown(self.contents)
                self.contents = None
        if self.seen < self.epoch:
            return False
        alike = self.contents is not None
        if self.contents is not None:
            self.older = self.contents
        self.total += self.seen
        self.epoch, self.seen, self.contents = self.total, 0, set()
        return alike

    def _keep_shown(self, contents: set[str]) -> None:
        """Have later pages compared with these contents if most pages repeat others: days of a calendar without events.

        Such a pattern may be endless, and the part of it that has events is long.
        """
        if self.seen >= 2 * len(contents) and len(self.older) <= MAX_CONTENTS:
            self.older |= contents


@dataclass(slots=True)
class _TokenPages:
    """Counts of the pages that have a random token in one place. The inventory stores the fields by their names."""

    contents: dict[str, str] = field(default_factory=dict)
    """Content of the first page, by the URL without the token."""
    same: int = 0
    """Number of pages that were the same under another token."""
    other: int = 0
    """Number of pages that were not."""
    settled: bool = False
    """Whether the tokens are proved to be part of the URL."""

    @property
    def count(self) -> int:
        return self.same + self.other + len(self.contents)

    def add(self, bare: str, content: str, *, renewed: bool) -> bool:
        """Count a page. Return whether it proves that the token is a session id.

        `renewed` says that all links of the page share one token, which is not that of the page.
        """
        before = self.contents.get(bare)
        if before is None:
            self.contents[bare] = content
        elif before == content and renewed:
            self.same += 1
        else:
            self.other += 1
        if self.same + self.other >= MAX_TRIALS or len(self.contents) >= MAX_BARE_URLS:
            self.settled = True
            self.contents.clear()
        return self.same >= MIN_REPEATS and self.other <= MAX_DIFFERENT * self.same


class TrapLearner:
    """Counts of pages that may belong to a trap, and the conclusions from them.

    As few pages are compared as a conclusion takes: of a pattern whose pages differ, one in twenty.
    """

    def __init__(self) -> None:
        self._pages = Recent[_PatternPages](MAX_WATCHED)
        self._tokens = Recent[_TokenPages](MAX_WATCHED)
        self._nested = Recent[NestedPages](MAX_WATCHED)

    @property
    def counts(self) -> dict[str, Any]:
        """The counts for JSON: of each kind those of the patterns with the most pages."""
        count = attrgetter("count")
        return {
            kind: {key: asdict(counts) for key, counts in recent.largest(MAX_STORED, count)}
            for kind, (recent, _) in self._by_kind().items()
        }

    def restore(self, stored: dict[str, Any]) -> None:
        """Add the counts of an earlier process."""
        for kind, (recent, create) in self._by_kind().items():
            for key, values in stored.get(kind, {}).items():
                counts = create()
                for name, value in values.items():
                    setattr(counts, name, set(value) if isinstance(value, list) else value)
                recent.put(key, counts)

    def _by_kind(self) -> dict[str, tuple[Recent[Any], type[Any]]]:
        return {
            "pages": (self._pages, _PatternPages),
            "tokens": (self._tokens, _TokenPages),
            "rounds": (self._nested, NestedPages),
        }

    def needs_content(self, pattern: str | None, sessions: Sequence[Session], repeated: Sequence[str] = ()) -> bool:
        """Return whether the content of a page is needed for a conclusion."""
        return (
            (pattern is not None and self._pages.get_or_create(pattern, _PatternPages).compares)
            or any(not self._tokens.get_or_create(session.place, _TokenPages).settled for session in sessions)
            or (bool(repeated) and not self._nested_pages(repeated).settled)
        )

    def has_shown(self, pattern: str, content: str) -> bool:
        """Return whether a page of a pattern has shown a content before."""
        pages = self._pages.get_or_create(pattern, _PatternPages)
        return content in pages.older or (pages.contents is not None and content in pages.contents)

    def proves_endless(self, pattern: str, content: str | None) -> bool:
        """Count a page. Return whether it proves that its pattern is endless. Without a content it is only counted."""
        return self._pages.get_or_create(pattern, _PatternPages).add(content)

    def nested_names(self, repeated: Sequence[str], content: str) -> list[str]:
        """Count a page. Return the names of the site's nested paths if the page proves them."""
        pages = self._nested_pages(repeated)
        return [] if pages.settled else pages.add(repeated, content)

    def proves_session(self, session: Session, content: str, *, renewed: bool) -> bool:
        """Count a page. Return whether it proves that the place of its token holds session ids."""
        pages = self._tokens.get_or_create(session.place, _TokenPages)
        return not pages.settled and pages.add(session.bare, content, renewed=renewed)

    def _nested_pages(self, repeated: Sequence[str]) -> NestedPages:
        return self._nested.get_or_create(origin_of(repeated[0]), NestedPages)
