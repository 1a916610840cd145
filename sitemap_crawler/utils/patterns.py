"""Regular expressions given by the user: the one place that compiles them and searches a text of a site with them.

A pattern has the meaning that Python gives it. RE2 searches, because its time is linear in the text. Python's own
matcher searches only if RE2 cannot take the pattern or reads it differently. Each of its searches is bounded in time.
"""

from __future__ import annotations

import re
import signal
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sitemap_crawler.exceptions import NestingError, PatternError, PatternTimeoutError
from sitemap_crawler.utils.nesting import check_expression

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SEARCH_SECONDS = 0.1
"""Maximum CPU time of one search by Python's matcher. A usual search takes microseconds."""
MAX_PATTERN = 10_000
"""Maximum number of characters of a pattern. Python needs seconds to compile longer ones."""

_MAX_SHOWN = 100
# Parts of a pattern that Python and RE2 take with different meanings: characters beyond ASCII under (?i), \10 (group or
# octal number), [[:digit:]], {,3} and {03}. The meanings of \s and $ differ only in texts that RE2 does not search: see
# UserPattern.found_in.
_READ_DIFFERENTLY = re.compile(r"[^ -~]|\\[0-9]|\[:|\{,|[{,]0[0-9]")


class UserPattern:
    """A regular expression that is searched in URLs."""

    __slots__ = ("_python", "_re2", "text")

    def __init__(self, text: str) -> None:
        """Raise PatternError if the text is not a regular expression that can be used."""
        self.text = text
        if not text:
            raise PatternError("an empty regular expression matches everything: leave it out")
        if len(text) > MAX_PATTERN:
            raise PatternError(f"{_shown(text)} has {len(text):,} characters: give at most {MAX_PATTERN:,}")
        try:
            check_expression(text)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                self._python = re.compile(text)
        except (re.error, OverflowError, ValueError) as error:
            reason = "it has too many nested groups" if isinstance(error, NestingError) else error
            raise PatternError(f"{_shown(text)} is not a regular expression: {reason}") from error
        self._re2 = None if _READ_DIFFERENTLY.search(text) else _compiled_by_re2(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UserPattern) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def found_in(self, text: str) -> bool:
        """Return whether Python finds the pattern anywhere in `text`. Raises PatternTimeoutError."""
        # All stored URLs are lines of printable ASCII characters.
        if self._re2 is not None and text and text.isascii() and text.isprintable():
            return self._re2.search(text.encode()) is not None
        with _bounded(self.text, text):
            return self._python.search(text) is not None


def _shown(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…")


def _compiled_by_re2(text: str) -> Any:
    """Return the pattern of RE2; None if RE2 cannot take it, such as look-around or more than 1,000 repetitions."""
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(text, options)
    except re2.error:
        return None


@contextmanager
def _bounded(pattern: str, text: str) -> Iterator[None]:
    """Raise PatternTimeoutError when the body has taken MAX_SEARCH_SECONDS of CPU time.

    Python's matcher heeds signals in the main thread. No other thread searches.
    """

    def stop(*_: object) -> None:
        raise PatternTimeoutError(
            f"the regular expression {_shown(pattern)} took more than {MAX_SEARCH_SECONDS:g} s on {_shown(text)}:"
            " write it without look-around, back-references and large numbers, or without a repetition in a repetition"
        )

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SEARCH_SECONDS)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
