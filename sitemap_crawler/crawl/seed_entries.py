"""What one foreign sitemap names: its URLs and their language versions, and in words what is wrong with them. Pure."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sitemap_crawler.extract.alternates import check_alternates
from sitemap_crawler.urls.normalise import MAX_STORED_URL
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sitemap_crawler.extract.sitemap_xml import SitemapEntry

MAX_EXAMPLE = 80
"""Characters of an entry that is shown."""
MAX_VERSIONS = 2_000
"""URLs of language versions that are remembered: some sets of them."""


class SeedEntries:
    """Takes the URLs from what one file names, and counts the rest."""

    def __init__(self, noun: str, wanted: str, normalise: Callable[[str], str | None]) -> None:
        self._noun = noun
        self._wanted = wanted
        self._normalise = normalise
        # Each page of a set names all others.
        self._normalise_version = lru_cache(maxsize=MAX_VERSIONS)(normalise)
        self._count = self._unusable = self._without_code = self.too_long = 0
        self._example = self._code = ""

    def url(self, written: str) -> str | None:
        """Normalised; None for what is no URL or too long."""
        self._count += 1
        url = self._normalise(written)
        if url is None:
            self._example = self._example or written
            self._unusable += 1
        elif len(url) > MAX_STORED_URL:
            self.too_long += 1
            return None
        return url

    def versions(self, named: SitemapEntry) -> tuple[tuple[str, str], ...]:
        """Code and URL of each language version that can be used."""
        found = check_alternates((code, self._normalise_version(url)) for code, url in named.alternates)
        if found.invalid:
            self._code = self._code or found.invalid[0]
            self._without_code += 1
        return found.valid

    def pass_over(self, too_long: int) -> None:
        """Count entries that were so long that nobody read them."""
        self._count += too_long
        self.too_long += too_long

    def problems(self) -> Iterator[str]:
        example = self._example if len(self._example) <= MAX_EXAMPLE else self._example[:MAX_EXAMPLE] + "…"
        total = f"of its {self._count:,} {self._noun}"
        if self._unusable:
            are, them = (f"is no {self._wanted}", "it") if self._unusable == 1 else (f"are no {self._wanted}s", "them")
            yield f"{self._unusable:,} {total} {are}, for example '{printable(example)}': mend {them}"
        if self._without_code:
            name, them = ("names", "it") if self._without_code == 1 else ("name", "them")
            words = f"a version by what is no language code, for example '{printable(self._code)}': mend {them}"
            yield f"{self._without_code:,} {total} {name} {words}"
        if self.too_long:
            are, them = ("is", "it") if self.too_long == 1 else ("are", "them")
            words = f"too long to be read, more than {MAX_STORED_URL:,} characters: shorten {them}"
            yield f"{self.too_long:,} {total} {are} {words}"
