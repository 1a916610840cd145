"""Changes that pages of one section have in common: a number or the links of their template, and nothing else.

A new release changes its number in the title of each page of a manual, and a further revision the links of all others.
Such a page has not changed for its readers. A price always counts as a change. Most other numbers, such as those of
pieces in stock, have another value on each page.
"""

from __future__ import annotations

from collections import Counter

from sitemap_crawler.extract.content.fingerprint import hash_of_numbers, outline_of

MIN_PAGES = 10
"""Number of pages of one section that must have changed in the same way."""
MAX_CHANGES = 20_000
"""Maximum number of changes that are counted."""
_MODULUS = 1 << 31
"""Steps are integers of four bytes with a sign, in each database."""


def step_between(before: bytes, now: bytes) -> int | None:
    """Return a number that stands for the change of a page's numbers; None if anything else has changed.

    Takes two fingerprints. Links are no content here: a step of 0 is a page of which only links have changed.
    """
    outline = outline_of(now)
    if outline is None or outline != outline_of(before):
        return None
    return (hash_of_numbers(now) - hash_of_numbers(before)) % _MODULUS


class CommonChanges:
    """The numbers of changed pages, by section and step."""

    def __init__(self) -> None:
        self._pages: Counter[tuple[str, int]] = Counter()

    def add(self, section: str, step: int | None) -> None:
        """Count a changed page. `step` is that of `step_between`."""
        if step is not None and (len(self._pages) < MAX_CHANGES or (section, step) in self._pages):
            self._pages[section, step] += 1

    @property
    def found(self) -> bool:
        """Whether any change is common."""
        return any(pages >= MIN_PAGES for pages in self._pages.values())

    def has(self, section: str, step: int | None) -> bool:
        """Return whether enough pages of the section have changed in this way."""
        return step is not None and self._pages[section, step] >= MIN_PAGES


def common_changes_notice(pages: int) -> str:
    """Return the line for pages whose change others of their section have in common."""
    have = "1 page has" if pages == 1 else f"{pages:,} pages have"
    return (
        f"{have} changed only in a number or in links, in the same way as others of their section, such as the number "
        "of a release: their dates are those of the last run"
    )
