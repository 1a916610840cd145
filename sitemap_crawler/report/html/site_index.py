"""The page that leads to the reports of several sites, or of the hosts of one: one line for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from sitemap_crawler.report.html.render import environment, policy_for, static

if TYPE_CHECKING:
    from collections.abc import Sequence


MARK_OF_INDEX = "sitemap-crawler index of hosts"
"""Value of the tag `generator` of an index of hosts."""


class Overview(NamedTuple):
    """The report of one site or host in a line."""

    site: str
    sign: str
    label: str
    heading: str
    moment: float
    listed: int
    live: int
    broken: int
    tasks: int


class SiteLine(NamedTuple):
    """A site or host of the index."""

    name: str
    file: str | None
    """Name of the report; None without one."""
    overview: Overview | None
    problem: str
    """Why there is no report."""

    @property
    def href(self) -> str:
        return "./" + quote(self.file or "")


_WORST_FIRST = ("bad", "busy", "caution", "good")


class Domain(NamedTuple):
    """The domain whose hosts an index has."""

    href: str
    """Relative address of the report of all hosts together."""
    notes: Sequence[str]
    """Sentences about what the index or the reports leave out."""
    refresh_seconds: int | None


def render_index(lines: Sequence[SiteLine], domain: Domain | None = None) -> str:
    """Return the page of sites, or of the hosts of a domain.

    Those without a report, and those whose last run was not good, come first.
    """

    def rank(line: SiteLine) -> tuple[int, str]:
        return (-1 if line.overview is None else _WORST_FIRST.index(line.overview.sign), line.name)

    style = static("report.css")
    return (
        environment("")
        .get_template("index.html")
        .render(
            lines=sorted(lines, key=rank),
            domain=domain,
            mark=None if domain is None else MARK_OF_INDEX,
            style=Markup(style),  # noqa: S704 - a file of this package
            policy=policy_for(style, None),
        )
    )
