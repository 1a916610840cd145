"""The URLs of the entries of one sitemap or list: those that can be used, and the faults of the others."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sitemap_crawler.extract.alternates import check_alternates
from sitemap_crawler.urls.normalise import MAX_STORED_URL
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sitemap_crawler.extract.sitemap_xml import SitemapEntry

MAX_EXAMPLE_LENGTH = 80
"""Characters of an unusable entry that a problem shows."""
MAX_CACHED_VERSIONS = 2_000
"""URLs of language versions that are normalised once: those of several sets."""


class EntryUrls:
    """URLs of the entries of one file: normalises those that can be used, and counts the others as problems."""

    def __init__(self, noun: str, expected: str, normalise: Callable[[str], str | None]) -> None:
        """Problems name the entries by `noun`, in the plural, and say that some are no `expected`, in the singular."""
        self._noun = noun
        self._expected = expected
        self._normalise = normalise
        # Each page of a language set names all others.
        self._normalise_version = lru_cache(maxsize=MAX_CACHED_VERSIONS)(normalise)
        self._entries = self._unusable = self._without_code = self.too_long = 0
        self._unusable_example = self._code_example = ""
        self._unusable_line: int | None = None

    def accept(self, text: str, line: int | None = None) -> str | None:
        """Return the normalised URL of an entry; None if it is no URL or too long. `line` is named in a problem."""
        self._entries += 1
        url = self._normalise(text)
        if url is None:
            if not self._unusable:
                self._unusable_example, self._unusable_line = text, line
            self._unusable += 1
        elif len(url) > MAX_STORED_URL:
            self.too_long += 1
            return None
        return url

    def versions(self, entry: SitemapEntry) -> tuple[tuple[str, str], ...]:
        """Return code and URL of each usable language version of an entry."""
        alternates = check_alternates((code, self._normalise_version(url)) for code, url in entry.alternates)
        if alternates.invalid:
            self._code_example = self._code_example or alternates.invalid[0]
            self._without_code += 1
        return alternates.valid

    def count_unread(self, too_long: int) -> None:
        """Count entries that the reader of the file skipped because of their length."""
        self._entries += too_long
        self.too_long += too_long

    def problems(self) -> Iterator[str]:
        """Yield a line for each kind of problem."""
        example = self._unusable_example[:MAX_EXAMPLE_LENGTH]
        if len(self._unusable_example) > MAX_EXAMPLE_LENGTH:
            example += "…"
        of_entries = f"of its {self._entries:,} {self._noun}"
        if self._unusable:
            one = self._unusable == 1
            are, them = (f"is no {self._expected}", "it") if one else (f"are no {self._expected}s", "them")
            place = "" if self._unusable_line is None else f" in line {self._unusable_line:,}"
            yield f"{self._unusable:,} {of_entries} {are}, for example '{printable(example)}'{place}: fix {them}"
        if self._without_code:
            name, them = ("names", "it") if self._without_code == 1 else ("name", "them")
            fault = f"a version with an invalid language code, for example '{printable(self._code_example)}'"
            yield f"{self._without_code:,} {of_entries} {name} {fault}: fix {them}"
        if self.too_long:
            are, them = ("is", "it") if self.too_long == 1 else ("are", "them")
            fault = f"too long to be read, more than {MAX_STORED_URL:,} characters"
            yield f"{self.too_long:,} {of_entries} {are} {fault}: shorten {them}"
