"""RunContext: options, rules, inventory, run and warnings of one site. Ending: how a crawl ended."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.inventory.runs import ProcessTotals
from sitemap_crawler.policy.rules import Rules
from sitemap_crawler.policy.second_looks import KeptDates
from sitemap_crawler.policy.warning_kinds import SiteWarning, WarningKind
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from sitemap_crawler.config.options import Options
    from sitemap_crawler.inventory.runs import Run
    from sitemap_crawler.inventory.store import Store

logger = logging.getLogger(__name__)

MAX_WARNINGS = 1_000
"""Maximum number of warnings of one kind that a report holds. Further warnings are only counted."""
MAX_LOGGED = 10
"""Maximum number of warnings of one kind that are logged."""
_NOTHING = ProcessTotals()


class Ending(NamedTuple):
    """How a crawl ended. The job fills in the reasons as they occur, the exporter the rest when the spider closes."""

    finished: bool = False
    """Whether nothing was left to fetch or a limit was reached."""
    saw_everything: bool = False
    """Whether no limit kept pages from being fetched, so that a missing page is proved to be gone."""
    left_repeats_out: bool = False
    """Whether the run left URLs out, as its last pages only repeated others."""
    kept_dates: KeptDates = KeptDates()
    """Numbers of changed pages whose dates were kept."""
    done: ProcessTotals = _NOTHING
    """What this process has done, without its time."""
    failure: str | None = None
    """Why the crawl could not go on."""
    shortage: str | None = None
    """Lack of this machine that ended the crawl, with its remedy."""
    refusal: str | None = None
    """Why this site may not or cannot be crawled."""
    refusal_ends_run: bool = False
    """Whether the refusal closes the run. Otherwise the same command resumes it."""
    interruption: str | None = None
    """Why the crawl was interrupted, if not by the user."""


class RunContext:
    """Options, rules, inventory, run and warnings of one site. The crawl and `write` share this state."""

    def __init__(self, options: Options, store: Store, run: Run, *, replaces: bool = True) -> None:
        """Take the addresses of the site from `run`.

        `replaces`: the published files replace those of the last publication. Otherwise they are a copy elsewhere, and
        the inventory keeps its record of the last publication.
        """
        self.options = options
        self.store = store
        self.run = run
        self.replaces = replaces
        self._warnings: list[SiteWarning] = []
        self._warning_counts: Counter[WarningKind] = Counter()
        self.relocate(start_url=run.start_url, sitemap_url=run.sitemap_url)

    def relocate(self, *, start_url: str, sitemap_url: str) -> None:
        """Set the addresses of the start page and of the entry file, and build the rules anew."""
        self.start_url = start_url
        self.sitemap_url = sitemap_url
        self.rules = Rules(self.options, sitemap_url=sitemap_url, start_url=start_url)

    def warn(self, kind: WarningKind, url: str, message: str) -> None:
        """Record a warning for the report. Log the first MAX_LOGGED of each kind."""
        self._warning_counts[kind] += 1
        if self._warning_counts[kind] <= MAX_WARNINGS:
            message = printable(message)
            if self._warning_counts[kind] <= MAX_LOGGED:
                logger.info("%s: %s: %s", kind, url, message)
            self._warnings.append(SiteWarning(kind, url, message))

    def recorded_warnings(self, start: int = 0) -> list[SiteWarning]:
        """Return the recorded warnings in their order, from number `start` on."""
        return self._warnings[start:]

    def sorted_warnings(self) -> tuple[list[dict[str, str]], dict[str, int]]:
        """Return the recorded warnings as the report holds them, and the number of all warnings, by kind."""
        counts = {str(kind): self._warning_counts[kind] for kind in WarningKind if kind in self._warning_counts}
        ranks = {kind: rank for rank, kind in enumerate(WarningKind)}
        in_order = sorted(self._warnings, key=lambda warning: ranks[warning.kind])
        return [{**warning._asdict(), "kind": str(warning.kind)} for warning in in_order], counts

    def close(self) -> None:
        self.store.close()
