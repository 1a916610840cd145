"""The extension that ends a run: it has the run decided and published when the spider closes, and writes the report."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from sitemap_crawler.crawl.extensions.status import INTERVAL_SECONDS, StatusFile
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Stat
from sitemap_crawler.crawl.run import warn_of_address
from sitemap_crawler.exceptions import FAILED
from sitemap_crawler.inventory.runs import ProcessTotals
from sitemap_crawler.report.report import Outcome, Report, failure_report
from sitemap_crawler.utils.shortage import shortage_of
from sitemap_crawler.utils.stopping import noting_signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.inventory.processes import Membership, Work
    from sitemap_crawler.publish.context import Ending

logger = logging.getLogger(__name__)

FURTHER_REQUESTS = (
    Stat.RETRIES,
    Stat.ROBOTS_REQUESTS,
    Stat.SEED_REQUESTS,
    Stat.PROBE_REQUESTS,
    Stat.RENDER_REQUESTS,
)
"""Statistics of requests that leave no observation."""


class Exporter:
    """Extension that ends the run when the spider closes. An interrupted run stays open and can be resumed."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._job = job_of(crawler)
        self._job.count_done = self._count_done
        path = self._job.options.status
        self._status = None if path is None else StatusFile(path, private=self._job.options.has_secrets)
        self._status_loop = create_looping_call(self._write_status)
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Exporter:
        return cls(crawler)

    def _spider_opened(self) -> None:
        if self._status is not None:
            self._status_loop.start(INTERVAL_SECONDS, now=True)

    def _write_status(self) -> None:
        if self._status is not None:
            self._status.write_crawling(self._job)

    def _spider_closed(self, reason: str) -> None:
        with noting_signals():
            self._end(reason)

    def _end(self, reason: str) -> None:
        if self._status_loop.running:
            self._status_loop.stop()
        job = self._job
        ending = job.ending._replace(
            finished=reason == CloseReason.FINISHED,
            saw_everything=not job.shared.is_limited,
            done=self._count_done().plus(_done_by(job.others)),
        )
        if self._status is not None:
            self._status.write_writing(job)
        if job.membership is not None:
            ending = self._end_for_others(job.membership, ending)
        if ending.finished and ending.failure is None and not job.is_helper:
            ending = self._settle(ending)
        if job.together is not None and not job.is_helper:
            job.together.gather_warnings()
        job.report = report = helper_report(job, ending) if job.is_helper else self._conclude(ending)
        if job.options.html_report is not None and not job.is_helper:
            from sitemap_crawler.report.html.writer import deliver

            deliver(report, job.options, job.context.store.location)
        report.deliver(job.options, private=job.options.has_secrets)
        if self._status is not None:
            self._status.write_done(job, report)
        self._stats.set_value(Stat.OUTCOME, str(report.outcome))
        level = logging.ERROR if report.exit_code else logging.INFO
        message = report.message.removeprefix(f"{report.outcome}; ")
        logger.log(level, "%s: %s (%s)", report.outcome, message, report.numbers())
        job.close()

    def _count_done(self) -> ProcessTotals:
        """Return what this process has done so far."""
        return ProcessTotals(
            further_requests=sum(self._stats.get_value(name, 0) for name in FURTHER_REQUESTS),
            overloads=self._stats.get_value(Stat.BACK_PRESSURE, 0),
            pauses=self._stats.get_value(Stat.PAUSES, 0),
        )

    def _end_for_others(self, membership: Membership, ending: Ending) -> Ending:
        """Tell the other processes that the run ends. Its conclusion takes the event loop for a while."""
        from sqlalchemy.exc import SQLAlchemyError

        from sitemap_crawler.inventory.processes import RunPhase
        from sitemap_crawler.inventory.store import inventory_failure

        membership.watches_loop = False
        if not membership.is_main:
            return ending
        membership.allow_idle_time(self._job.store.connection)
        ended_well = ending.finished and ending.failure is None and ending.shortage is None
        try:
            membership.set_phase(RunPhase.CONCLUDING if ended_well else RunPhase.STOPPING)
        except SQLAlchemyError as error:
            failure = ending.failure or inventory_failure(self._job.store.location, error)
            return ending._replace(failure=failure)
        if membership.beat is None:
            return ending
        return ending._replace(done=self._count_done().plus(_done_by(membership.beat.others)))

    def _settle(self, ending: Ending) -> Ending:
        """Have the pages left out that only repeat others, and the address compared with that of the run before."""
        try:
            warn_of_address(self._job.context, is_public=self._job.gate.site_is_public)
            left_repeats_out = self._job.queue.settle_repeats()
        except Exception as error:
            self._job.inventory_failed(error)
            return ending._replace(failure=self._job.ending.failure)
        return ending._replace(left_repeats_out=left_repeats_out, kept_dates=self._job.kept_dates)

    def _conclude(self, ending: Ending) -> Report:
        """Conclude the run. Without a descriptor or memory for that, return the report of the shortage."""
        try:
            from sitemap_crawler.publish.conclude import conclude
        except Exception as error:
            shortage = shortage_of(error)
            if shortage is None:
                raise
            return failure_report(self._job.options, code=FAILED, message=ending.shortage or str(shortage))
        try:
            return conclude(self._job.context, ending)
        except KeyboardInterrupt:
            # It waited for another process, which publishes into the same directory.
            return conclude(self._job.context, ending._replace(finished=False))


def helper_report(job: Job, ending: Ending) -> Report:
    """Return the report of a process that helped. It decides nothing and writes no sitemap."""
    now = datetime.now(UTC)
    pages = f"{job.done:,} page{'' if job.done == 1 else 's'} of {job.start_url}"
    outcome, message = Outcome.HELPED, f"helped with {pages}: {job.helped or 'it was asked to end'}"
    if ending.shortage is not None or ending.failure is not None:
        outcome, message = Outcome.FAILED, ending.shortage or ending.failure or ""
    elif ending.refusal is not None:
        outcome, message = Outcome.REFUSED, ending.refusal
    elif ending.interruption is not None:
        outcome, message = Outcome.INTERRUPTED, ending.interruption
    elif ending.finished and job.helped is None:
        message = f"helped with {pages}: nothing is left to request"
    report = Report(outcome, message, job.start_url, job.sitemap_url, run=job.run.id, started=job.started, finished=now)
    report.requests = job.throttles.requests_sent
    report.seconds = round((now - job.started).total_seconds(), 1)
    return report


def _done_by(others: Work) -> ProcessTotals:
    """Return what the other processes of the run have told."""
    return ProcessTotals(further_requests=others.further, overloads=others.overloads, pauses=others.pauses)
