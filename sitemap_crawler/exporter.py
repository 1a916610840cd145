"""The extension that turns a finished crawl into published files and a report."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scrapy import signals
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.decide import Settlement
from sitemap_crawler.guards import publish_problem, start_page_problem
from sitemap_crawler.hints import few_pages_hints
from sitemap_crawler.inventory.listings import changes_since_published, published_count, remember_listed
from sitemap_crawler.inventory.publications import announce_published, published_files, remember_published
from sitemap_crawler.inventory.runs import finish_run, run_totals
from sitemap_crawler.inventory.settled import ListedPage, Settled
from sitemap_crawler.job import Job, job_of
from sitemap_crawler.report import Outcome, Report
from sitemap_crawler.rules import Reason
from sitemap_crawler.sitemap.entry import Entry
from sitemap_crawler.sitemap.index import IndexOverflowError
from sitemap_crawler.sitemap.publish import NothingToPublish, OutputFile, Target, publish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Exporter:
    """Decides, checks the guards, writes, reports. A crawl that was interrupted is left as it is, to be continued."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job: Job = job_of(crawler)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Exporter:
        return cls(crawler)

    def _spider_closed(self, spider: Spider, reason: str) -> None:
        job = self._job
        report = Report(
            outcome=Outcome.FAILED,
            message="",
            start_url=job.start_url,
            sitemap_url=job.sitemap_url,
            run=job.run.id,
            started=datetime.fromtimestamp(job.run.started, UTC),
            finished=datetime.now(UTC),
        )
        try:
            self._conclude(report, reason)
        except OSError as error:
            where = f" {error.filename}" if error.filename else ""
            report.outcome = Outcome.FAILED
            report.message = (
                f"cannot write{where}: {error.strerror or error}; make room or mend it and run the same command"
            )
        except (NothingToPublish, IndexOverflowError) as error:
            self._refuse(report, f"{error}: the live files are untouched")
        except SQLAlchemyError as error:
            job.inventory_failed(error)
            report.outcome, report.message = Outcome.FAILED, str(job.failure)
        except Exception:
            report.outcome = Outcome.FAILED
            report.message = "an error in the program (its details are in the log); run the same command to go on"
            logger.exception("cannot conclude the run")
        report.finished = datetime.now(UTC)
        report.warnings = job.warnings
        job.report = report
        self._deliver(report)

    def _deliver(self, report: Report) -> None:
        path = self._job.options.report
        if path is not None:
            try:
                report.write(path)
            except OSError as error:
                report.outcome = Outcome.FAILED
                report.message = f"{report.message}; but cannot write the report {path}: {error.strerror}"
        logger.info("%s: %s", report.outcome, report.message)
        self._job.close()

    def _conclude(self, report: Report, reason: str) -> None:
        job = self._job
        self._count(report)
        robots = self._crawler.stats.get_value("robots/unreachable")
        if job.failure is not None:
            report.outcome, report.message = Outcome.FAILED, job.failure
        elif robots is not None:
            self._refuse(report, f"robots.txt is not available ({robots}): nothing may be crawled, try again later")
        elif job.start_target is not None:
            message = f"the start page {job.start_url} redirects to {job.start_target}: start from that address"
            if job.options.sitemap_url is not None:
                message += f", or change --sitemap-url {job.sitemap_url}"
            self._refuse(report, message)
        elif reason == "finished":
            self._finish(report)
        else:
            report.outcome = Outcome.INTERRUPTED
            report.message = "interrupted; run the same command to continue"

    def _count(self, report: Report) -> None:
        stats = self._crawler.stats
        totals = run_totals(self._job.store.connection, self._job.run.id)
        report.bytes, report.errors = totals.bytes, totals.errors
        report.requests = totals.requests + stats.get_value("retry/count", 0) + stats.get_value("robots/requests", 0)

    def _refuse(self, report: Report, message: str) -> None:
        report.outcome, report.message = Outcome.REFUSED, message
        self._end_run(report, "refused")

    def _end_run(self, report: Report, ended_by: str) -> None:
        finish_run(
            self._job.store.connection,
            self._job.run.id,
            outcome=str(report.outcome),
            ended_by=ended_by,
            now=datetime.now(UTC),
        )

    def _finish(self, report: Report) -> None:
        job = self._job
        settled = Settled(job.store, job.run.id)
        settlement = Settlement(
            settled.facts,
            job.rules,
            finished=not job.limited,
            find=settled.find,
            warn=lambda warned: job.warn(warned.kind, warned.url, warned.message),
        )
        settled.save(settlement.decisions())
        counts = settled.counts()
        report.listed = counts.pop(Reason.LISTED, 0)
        report.excluded = counts
        connection = job.store.connection
        report.changes = changes_since_published(connection)
        unusable = start_page_problem(job.start_url, find=settled.find, settlement=settlement)
        if unusable is not None:
            self._refuse(report, unusable)
            return
        notes, scope = settled.notes(job.start_url), job.rules.scope
        report.hints = few_pages_hints(report.listed, counts, notes, scope=scope, examples=settled.examples)
        problem = publish_problem(job.options, listed=report.listed, published=published_count(connection))
        if problem is not None:
            self._refuse(report, problem)
        elif job.options.dry_run:
            report.outcome, report.message = Outcome.DRY_RUN, f"{_pages(report.listed)} would be listed"
            self._end_run(report, "dry-run")
        else:
            self._publish(report, settled)
            self._end_run(report, "limit" if job.limited else "finished")

    def _publish(self, report: Report, settled: Settled) -> None:
        job = self._job
        options = job.options
        target = Target(options.output, job.sitemap_url, options.max_urls, options.max_bytes, gzip=options.gzip)
        connection = job.store.connection
        previous = published_files(connection, options.output)
        publication = publish(
            self._entries(settled),
            target,
            previous,
            datetime.now(UTC),
            announce=lambda files: announce_published(connection, options.output, files),
        )
        remember_published(connection, options.output, publication.files)
        remember_listed(connection)
        for loc in publication.omitted:
            job.warn("entry-too-large", loc, "its entry does not fit a file of --max-bytes, it is left out")
        report.listed = publication.listed
        report.files = [_file_row(file) for file in publication.files]
        changed = publication.removed or any(file.written for file in publication.files)
        report.outcome = Outcome.PUBLISHED if changed else Outcome.UNCHANGED
        entry = options.output / publication.files[0].name
        report.message = f"{_pages(report.listed)} listed in {entry}" + ("" if changed else ", nothing had changed")

    def _entries(self, settled: Settled) -> Iterator[Entry]:
        options = self._job.options
        for page in settled.listed():
            images = page.images if options.images else ()
            videos = page.videos if options.videos else ()
            yield Entry(page.url, w3c_datetime(page), images, videos)


def w3c_datetime(page: ListedPage) -> str | None:
    if page.lastmod is None:
        return None
    return datetime.fromtimestamp(page.lastmod, UTC).isoformat(timespec="seconds")


def _pages(count: int) -> str:
    return f"{count} page" + ("" if count == 1 else "s")


def _file_row(file: OutputFile) -> dict[str, Any]:
    return {"name": file.name, "url": file.url, "urls": file.urls, "bytes": file.bytes, "written": file.written}
