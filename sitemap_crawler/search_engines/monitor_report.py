"""The report of `monitor`, made of the answers that the inventory keeps, and its conditions for a failure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select

from sitemap_crawler.exceptions import FAILED
from sitemap_crawler.inventory.engine_answers import quota_properties, used_quota
from sitemap_crawler.inventory.inspections import Coverage, coverage
from sitemap_crawler.inventory.schema import published
from sitemap_crawler.inventory.sitemap_answers import KeptAnswer, latest_answers, rfc3339
from sitemap_crawler.policy.lastmod import w3c_datetime
from sitemap_crawler.search_engines.google import SERVICE as GOOGLE
from sitemap_crawler.search_engines.inspection import DAILY_LIMIT, quota_day
from sitemap_crawler.search_engines.results import worst_exit_code
from sitemap_crawler.sitemap.names import RESERVED_SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from sitemap_crawler.exceptions import ServiceError
    from sitemap_crawler.search_engines.monitoring import Questions
    from sitemap_crawler.search_engines.published_files import LiveFile, PublishedSite


class Quota(NamedTuple):
    """The use of a quota today."""

    used: int
    limit: int
    resets_at: datetime


@dataclass(frozen=True, slots=True)
class SitemapRow:
    """What a service says of one entry file, next to what is published."""

    kept: KeptAnswer
    file: LiveFile
    urls: int
    """Number of pages in the published file, or in the files of a published index."""
    children: tuple[KeptAnswer, ...]

    @property
    def read_since_publication(self) -> bool | None:
        """Whether the service has read the bytes that are published; None if it was last asked before that."""
        return self.kept.has_read(self.file.modified)

    @property
    def pending_since(self) -> datetime | None:
        """Time since which the service has something to read: what is published, or what was submitted."""
        if self.read_since_publication is False:
            return self.file.modified
        return (self.kept.answer.last_submitted or self.kept.since) if self.kept.answer.pending else None

    @property
    def last_sign(self) -> datetime:
        """Time of the last download. A file that was never read has been waiting since it was published."""
        return self.kept.answer.last_downloaded or min(self.file.modified, self.kept.since)

    def to_json(self) -> dict[str, Any]:
        return {
            "service": self.kept.service,
            "property": self.kept.property,
            "url": self.kept.url,
            "asked_at": rfc3339(self.kept.asked),
            "since": rfc3339(self.kept.since),
            **self.kept.answer.to_json(),
            "published": {
                "urls": self.urls,
                "sha256": self.file.sha256,
                "modified": rfc3339(self.file.modified),
            },
            "read_since_publication": self.read_since_publication,
            "pending_since": rfc3339(self.pending_since),
            "children": [{"url": child.url, **child.answer.to_json()} for child in self.children],
        }


@dataclass(slots=True)
class MonitorReport:
    """What the services say, and what became of the questions to them."""

    asked_at: datetime | None
    """When the command asked; None with --offline."""
    sitemaps: list[SitemapRow]
    coverage: Coverage | None
    """None if Google was not meant."""
    quota: Quota | None
    questions: Questions
    met: list[str] = field(default_factory=list)
    """The conditions of --fail-on that are met, in words."""
    notes: list[str] = field(default_factory=list)
    """Conditions that cannot be judged, in words."""

    @property
    def exit_code(self) -> int:
        return worst_exit_code(self.questions.exit_codes | ({FAILED} if self.met else set()))

    def to_json(self) -> dict[str, Any]:
        return {
            "asked_at": rfc3339(self.asked_at),
            "sitemaps": [row.to_json() for row in self.sitemaps],
            "coverage": None if self.coverage is None else _coverage_json(self.coverage),
            "quota": None
            if self.quota is None
            else self.quota._asdict() | {"resets_at": rfc3339(self.quota.resets_at)},
            "failed": list(self._failed()),
            "fail_on": self.met,
            "exit_code": self.exit_code,
        }

    def _failed(self) -> Iterable[dict[str, Any]]:
        for problem in self.questions.problems:
            yield _failure(problem.service, problem.url, problem.error)
        for failure in self.questions.inspection.failed if self.questions.inspection else ():
            yield _failure(GOOGLE, failure.url, failure.error)


def _failure(service: str, url: str | None, error: ServiceError) -> dict[str, Any]:
    return {
        "service": service,
        "url": url,
        "http_status": error.http_status,
        "reason": error.reason,
        "message": error.message,
        "advice": error.advice or None,
    }


def _coverage_json(found: Coverage) -> dict[str, Any]:
    return {
        "property": found.properties[0] if len(found.properties) == 1 else None,
        "inspected": found.inspected,
        "of": found.of,
        "oldest": w3c_datetime(found.oldest),
        "newest": w3c_datetime(found.newest),
        "indexed": found.indexed,
        "indexed_percent": found.indexed_percent,
        "by_state": dict(found.by_state),
        "by_verdict": dict(found.by_verdict),
        "canonical_differs": [{"url": url, "google": canonical} for url, canonical in found.canonical_differs],
        "canonical_differs_count": found.canonicals_differing,
        "sample": "all" if found.inspected == found.of else "rotation",
    }


def make_report(
    connection: Connection,
    site: PublishedSite,
    services: Sequence[str],
    questions: Questions,
    *,
    now: datetime,
    is_offline: bool = False,
) -> MonitorReport:
    """Return the report of what the inventory keeps about the published files and pages."""
    files = {file.url: file for host in site.hosts for file in host.entries}
    kept = [answer for answer in latest_answers(connection) if answer.service in services]
    rows = [
        SitemapRow(
            answer,
            files[answer.url],
            _page_count(connection, answer.url),
            tuple(child for child in kept if (child.service, child.parent) == (answer.service, answer.url)),
        )
        for answer in kept
        if answer.parent is None and answer.url in files
    ]
    rows.sort(key=lambda row: (services.index(row.kept.service), row.kept.url))
    asks_google = GOOGLE in services
    return MonitorReport(
        None if is_offline else now,
        rows,
        coverage(connection, site.address) if asks_google else None,
        _quota(connection, now) if asks_google else None,
        questions,
    )


def _page_count(connection: Connection, url: str) -> int:
    """Return the number of pages in a published file; for an index, in its files."""
    columns = published.c
    order = columns.modified.desc()
    row = connection.execute(select(published).where(columns.url == url).order_by(order).limit(1)).one()
    if row.urls:
        return int(row.urls)
    pages = columns.section.not_in(RESERVED_SECTIONS) & ~columns.section.startswith(".")
    query = select(func.sum(columns.urls)).where(columns.directory == row.directory, columns.entry == row.entry, pages)
    return connection.scalar(query) or 0


def _quota(connection: Connection, now: datetime) -> Quota:
    day, resets_at = quota_day(now)
    properties = quota_properties(connection, GOOGLE, day)
    used = sum(used_quota(connection, GOOGLE, name, day) for name in properties)
    return Quota(used, DAILY_LIMIT * max(1, len(properties)), resets_at)
