"""The traps that kept URLs from being fetched, for the report: one warning for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.traps.url_checks import TRAP

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TRAPS = 1_000
OTHERS = f"{TRAP}more than {MAX_TRAPS:,} different ones"


class Tally:
    """By evidence: how many URLs, and the first of them."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def add(self, url: str, evidence: str | None) -> None:
        if evidence is None or not evidence.startswith(TRAP):
            return
        if evidence not in self._found and len(self._found) >= MAX_TRAPS:
            evidence = OTHERS
        count, example = self._found.get(evidence, (0, url))
        self._found[evidence] = (count + 1, example)

    def warnings(self) -> Iterator[tuple[str, str]]:
        """An example and what to tell of each trap, the largest first."""
        for evidence, (count, example) in sorted(self._found.items(), key=lambda item: (-item[1][0], item[0])):
            them = "1 URL like this was" if count == 1 else f"{count:,} URLs like this were"
            remedy = "if these are pages, except them with SITEMAP_NO_TRAPS, or raise SITEMAP_TRAP_BUDGET"
            yield example, f"{evidence.removeprefix(TRAP)}: {them} not fetched; {remedy}"
