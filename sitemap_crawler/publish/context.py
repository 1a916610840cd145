"""A site as its inventory knows it: options, rules, the run that is decided; what a crawl and `write` conclude from."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

from sitemap_crawler.policy.rules import Rules
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from sitemap_crawler.config.options import Options
    from sitemap_crawler.inventory.runs import Run
    from sitemap_crawler.inventory.store import Store

logger = logging.getLogger(__name__)

MAX_WARNINGS = 1_000
"""Of one kind; the others are only counted."""
MAX_LOGGED = 10


class Site:
    def __init__(self, options: Options, store: Store, run: Run, *, replaces: bool = True) -> None:
        """`replaces`: what is published takes the place of what was published last, and is not a copy elsewhere."""
        self.options = options
        self.store = store
        self.run = run
        self.replaces = replaces
        self.start_url = run.start_url
        self.sitemap_url = run.sitemap_url
        self.warnings: list[dict[str, str]] = []
        self.warning_counts: Counter[str] = Counter()
        self._apply_rules()

    def _apply_rules(self) -> None:
        self.rules = Rules(self.options, sitemap_url=self.sitemap_url, start_url=self.start_url)

    def move(self, sitemap_url: str) -> None:
        """Take the directory of another entry file for the scope."""
        self.sitemap_url = sitemap_url
        self._apply_rules()

    @property
    def saw_everything(self) -> bool:
        """Whether the run has seen the whole site, so that absence is proved."""
        return self.run.ended_by == "finished"

    def warn(self, kind: str, url: str, message: str) -> None:
        """Remember what is worth a person's time; of each kind as many as a report holds, the others are counted."""
        self.warning_counts[kind] += 1
        if self.warning_counts[kind] <= MAX_WARNINGS:
            message = printable(message)
            if self.warning_counts[kind] <= MAX_LOGGED:
                logger.info("%s: %s: %s", kind, url, message)
            self.warnings.append({"kind": kind, "url": url, "message": message})

    def close(self) -> None:
        self.store.close()
