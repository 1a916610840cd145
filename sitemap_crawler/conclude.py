"""The end of a run: decide, check the guards, publish, and report what came of it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.decide import Settlement
from sitemap_crawler.guards import publish_problem, start_page_problem
from sitemap_crawler.hints import few_pages_hints
from sitemap_crawler.inventory.listings import changes_since_published, published_count, remember_listed
from sitemap_crawler.inventory.publications import Publications
from sitemap_crawler.inventory.runs import finish_run, run_totals
from sitemap_crawler.inventory.settled import ListedPage, Settled
from sitemap_crawler.report import Outcome, Report
from sitemap_crawler.rules import Reason
from sitemap_crawler.sitemap.entry import Entry
from sitemap_crawler.sitemap.index import IndexOverflowError
from sitemap_crawler.sitemap.names import entry_name
from sitemap_crawler.sitemap.publish import NothingToPublish, OutputFile, Target, publish
from sitemap_crawler.texts import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.job import Job

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ending:
    """What only the engine knows of the end of a crawl."""

    finished: bool
    """Nothing was left to fetch, or a limit was reached."""
    further_requests: int
    """Requests that no observation counts: repeated ones, and those for robots.txt."""


def conclude(job: Job, ending: Ending) -> Report:
    """What came of the job's run. Never raises: what goes wrong is an outcome, too."""
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
        _Conclusion(job, report).draw(ending)
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        reason = error.strerror or error
        _fail(report, f"cannot write{where}: {reason}; make room or mend it and run the same command")
    except (NothingToPublish, IndexOverflowError) as error:
        report.outcome, report.message = Outcome.REFUSED, f"{error}: the live files are untouched"
    except SQLAlchemyError as error:
        job.inventory_failed(error)
        _fail(report, str(job.failure))
    except Exception:
        logger.exception("cannot conclude the run")
        _fail(report, "an error in the program (its details are in the log); run the same command to go on")
    report.message = printable(report.message)
    report.hints = [printable(hint) for hint in report.hints]
    report.warnings = job.warnings
    report.finished = datetime.now(UTC)
    return report


def _fail(report: Report, message: str) -> None:
    report.outcome, report.message = Outcome.FAILED, message


class _Conclusion:
    def __init__(self, job: Job, report: Report) -> None:
        self._job = job
        self._report = report
        self._connection = job.store.connection

    def draw(self, ending: Ending) -> None:
        job, report = self._job, self._report
        totals = run_totals(self._connection, job.run.id)
        report.bytes, report.errors = totals.bytes, totals.errors
        report.requests = totals.requests + ending.further_requests
        if job.failure is not None:
            _fail(report, job.failure)
        elif job.refusal is not None:
            report.outcome, report.message = Outcome.REFUSED, job.refusal
            if job.refusal_ends_run:
                self._end_run("refused")
        elif ending.finished:
            self._finish()
        else:
            report.outcome = Outcome.INTERRUPTED
            report.message = "interrupted; run the same command to continue"

    def _finish(self) -> None:
        job, report = self._job, self._report
        settled = Settled(job.store, job.run.id)
        settlement = Settlement(
            settled.facts,
            job.rules,
            finished=not job.limited,
            find=settled.find,
            warn=lambda warned: job.warn(warned.kind, warned.url, warned.message),
        )
        settled.save(settlement.decisions())
        report.excluded = settled.counts()
        report.listed = report.excluded.pop(Reason.LISTED, 0)
        report.changes = changes_since_published(self._connection)
        problem = start_page_problem(job.start_url, find=settled.find, settlement=settlement)
        if problem is None:
            notes, scope = settled.notes(job.start_url), job.rules.scope
            report.hints = few_pages_hints(
                report.listed, report.excluded, notes, scope=scope, examples=settled.examples
            )
            published = published_count(self._connection)
            problem = publish_problem(job.options, listed=report.listed, published=published)
        if problem is not None:
            report.outcome, report.message = Outcome.REFUSED, problem
        elif job.options.dry_run:
            report.outcome, report.message = Outcome.DRY_RUN, f"{_pages(report.listed)} would be listed"
        else:
            self._publish(settled)
        self._end_run("limit" if job.limited else "finished")

    def _end_run(self, ended_by: str) -> None:
        outcome, now = str(self._report.outcome), datetime.now(UTC)
        finish_run(self._connection, self._job.run.id, outcome=outcome, ended_by=ended_by, now=now)

    def _publish(self, settled: Settled) -> None:
        job, report, connection = self._job, self._report, self._connection
        options = job.options
        target = Target(options.output, job.sitemap_url, options.max_urls, options.max_bytes, gzip=options.gzip)
        publications = Publications(connection, options.output, entry_name(job.sitemap_url))
        previous, now = publications.files(), datetime.now(UTC)
        publication = publish(self._entries(settled), target, previous, now, announce=publications.announce)
        publications.remember(publication.files)
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
