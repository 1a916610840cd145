"""What to do: the warnings of the latest run by kind and page, and the checks that found nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.policy.reasons import Reason, Severity
from sitemap_crawler.policy.warning_kinds import KINDS, SiteWarning, WarningKind
from sitemap_crawler.report.html.decision_groups import Group
from sitemap_crawler.report.html.texts import clean

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from sitemap_crawler.report.html.texts import PageTexts

MAX_PAGES = 8
"""Maximum number of pages that are named for each kind."""
MAX_MESSAGES = 6
"""Maximum number of warnings of one page that are shown."""
MAX_MESSAGE = 400
"""Characters of a warning."""
SEVERITIES = tuple(Severity)


class _Targets(NamedTuple):
    """How to show all targets of the links that warnings are about."""

    reasons: tuple[Reason, ...]
    """Reasons with which `pages` shows them."""
    rows: tuple[str, str]
    """Filter with which the table shows them."""


_TARGETS_OF = {
    WarningKind.BROKEN_LINK: _Targets(
        (Reason.CLIENT_ERROR, Reason.SERVER_ERROR, Reason.UNREACHABLE), ("group", Group.BROKEN.name_in_page)
    ),
    WarningKind.LINK_TO_REDIRECT: _Targets((Reason.REDIRECT,), ("reason", str(Reason.REDIRECT))),
}


class WarnedPage(NamedTuple):
    """A page with warnings of one kind."""

    url: str
    messages: list[str]
    more: int
    """Number of further warnings of the page."""


class Task(NamedTuple):
    """The warnings of one kind."""

    kind: WarningKind
    total: int
    pages: list[WarnedPage]
    page_count: int
    """Number of pages with a warning, as far as warnings are recorded."""
    hidden: int
    """Number of warnings that are not shown."""
    reasons: list[str]
    """Reasons with which `pages` shows the targets of the links; empty if the warnings are not about links."""
    rows: tuple[str, str] | None
    """Filter with which the table shows them."""


class Tasks(NamedTuple):
    tasks: list[Task]
    passed: list[WarningKind]
    """The kinds without a warning."""

    @property
    def total(self) -> int:
        return sum(task.total for task in self.tasks)


def tasks_of(
    warnings: Iterable[SiteWarning], counts: Mapping[str, int], texts: PageTexts, *, reasons: Container[str | None]
) -> Tasks:
    """Return the warnings by kind, the most severe first.

    `counts` also counts those that are not recorded. `reasons` has the reasons of all URLs.
    """
    by_kind: dict[str, dict[str, list[str]]] = {}
    for warning in warnings:
        by_kind.setdefault(str(warning.kind), {}).setdefault(warning.url, []).append(warning.message)
    tasks = [_task(KINDS[kind], pages, counts[kind], texts, reasons) for kind, pages in by_kind.items()]
    ranks = {str(kind): rank for rank, kind in enumerate(WarningKind)}
    tasks.sort(key=lambda task: (SEVERITIES.index(task.kind.traits.severity), ranks[task.kind]))
    return Tasks(tasks, [kind for kind in WarningKind if str(kind) not in by_kind])


def _task(
    kind: WarningKind, found: dict[str, list[str]], total: int, texts: PageTexts, reasons: Container[str | None]
) -> Task:
    in_order = sorted(found.items(), key=lambda item: -len(item[1]))
    pages = [
        WarnedPage(
            texts.url(url),
            [clean(message, MAX_MESSAGE) for message in messages[:MAX_MESSAGES]],
            max(0, len(messages) - MAX_MESSAGES),
        )
        for url, messages in in_order[:MAX_PAGES]
    ]
    hidden = total - sum(len(page.messages) + page.more for page in pages)
    targets = _TARGETS_OF.get(kind)
    shown_by = [str(reason) for reason in targets.reasons if reason in reasons] if targets else []
    return Task(kind, total, pages, len(found), hidden, shown_by, targets.rows if targets and shown_by else None)
