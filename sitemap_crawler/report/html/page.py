"""A finished report: the text of its page, and what indexes and messages say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitemap_crawler.report.html.decision_groups import Group
from sitemap_crawler.report.html.render import file_size, render
from sitemap_crawler.report.html.site_index import Overview

if TYPE_CHECKING:
    from sitemap_crawler.report.html.facts import Facts
    from sitemap_crawler.report.html.render import OtherPage


@dataclass(frozen=True, slots=True)
class Page:
    """A report, ready to be written."""

    text: str
    urls: int
    """Number of URLs in its scope."""
    is_open: bool
    """Whether the latest run is open."""
    overview: Overview
    hosts: int = 0
    """Number of hosts, if there is a report for each; otherwise 0."""

    @property
    def data(self) -> bytes:
        return self.text.encode("utf-8", "backslashreplace")

    @property
    def summary(self) -> str:
        """Return the number of URLs and the size, for a message."""
        return f"{self.urls:,} URL{'' if self.urls == 1 else 's'}, {file_size(len(self.data))}"


def page_of(
    facts: Facts,
    *,
    refresh_seconds: int | None = None,
    ascii_only: bool = False,
    other_page: OtherPage | None = None,
    mark: str | None = None,
    hosts: int = 0,
) -> Page:
    """Return the page of these facts. The options are those of `render`; only an open run is loaded again."""
    is_open = facts.ending.outcome is None
    text = render(
        facts,
        refresh_seconds=refresh_seconds if is_open else None,
        ascii_only=ascii_only,
        other_page=other_page,
        mark=mark,
    )
    verdict = facts.verdict
    overview = Overview(
        facts.site,
        verdict.sign,
        verdict.label,
        verdict.heading,
        facts.moment,
        facts.scan.listed,
        facts.history.live,
        facts.scan.counts[Group.BROKEN],
        facts.tasks.total,
    )
    return Page(text, facts.scan.in_scope, is_open, overview, hosts)
