"""The status file: the progress of a run as JSON, replaced every few seconds and for the last time when the run ends.

The file of a killed run stays as it was: no process has its `pid`, and `updated` does not change any more.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sitemap_crawler.inventory.location import state_location
from sitemap_crawler.report.report import Outcome, failure_report
from sitemap_crawler.utils.files import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.report.report import Report

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 2.0
"""Time between two writes of the file."""
RATE_SAMPLES = 15
"""Samples over which the rates are taken, one for each write."""


class Sample(NamedTuple):
    """Counts of a crawl at one moment."""

    time: float
    """Of time.monotonic()."""
    done: int
    queued: int
    requests: int


class RateMeter:
    """Rates of pages and requests, over the last samples of a crawl."""

    def __init__(self, max_samples: int) -> None:
        self.samples: deque[Sample] = deque(maxlen=max_samples)

    def sample(self, job: Job, now: float) -> None:
        """Take a sample. `now` is of time.monotonic()."""
        self.samples.append(
            Sample(now, job.total_done, job.queue.waiting, job.throttles.requests_sent + job.others.requests)
        )

    @property
    def pages_per_second(self) -> float:
        return self._per_second(self.samples[-1].done - self.samples[0].done)

    @property
    def requests_per_second(self) -> float:
        return self._per_second(self.samples[-1].requests - self.samples[0].requests)

    def _per_second(self, count: int) -> float:
        """Return the rate, rounded to a tenth."""
        seconds = self.samples[-1].time - self.samples[0].time
        return round(count / seconds, 1) if seconds > 0 else 0.0


class StatusFile:
    """Writer of the status file. A file that cannot be written costs one warning and does not stop the run."""

    def __init__(self, path: Path, *, private: bool) -> None:
        self._path = path
        self._private = private
        self._rates = RateMeter(RATE_SAMPLES)
        self._warned = False

    def write_crawling(self, job: Job) -> None:
        """Write the state of a crawl that goes on, or that waits for the time of its next request."""
        now = time.monotonic()
        self._rates.sample(job, now)
        is_waiting = job.throttles.for_url(job.start_url).is_paused(now)
        rates = {
            "pages_per_second": self._rates.pages_per_second,
            "requests_per_second": self._rates.requests_per_second,
        }
        self._write(_job_values(job, state="waiting" if is_waiting else "crawling") | rates)

    def write_writing(self, job: Job) -> None:
        """Write that the run decides and publishes. On a large site this takes a while, without an update."""
        self._write(_job_values(job, state="writing"))

    def write_done(self, job: Job, report: Report) -> None:
        self._write(_job_values(job, state="done") | _report_values(report) | {"listed": report.listed})

    def write_failed(self, report: Report) -> None:
        """Write the end of a run that could not begin."""
        self._write({"state": "done", **_report_values(report)})

    def _write(self, values: dict[str, Any]) -> None:
        head = {"state": values.pop("state"), "outcome": None, "exit_code": None, "message": None}
        process = {"pid": os.getpid(), "updated": datetime.now(UTC).isoformat(timespec="seconds")}
        try:
            # It is replaced every few seconds: waiting for the disk each time would hold up the crawl.
            write_json(self._path, head | values | process, private=self._private, durable=False)
        except OSError as error:
            if not self._warned:
                logger.warning("cannot write the status file %s: %s", self._path, error.strerror or error)
            self._warned = True


def _job_values(job: Job, *, state: str) -> dict[str, Any]:
    now = time.monotonic()
    failing = job.find_failing(now) if state in ("waiting", "crawling") else None
    return {
        "state": state,
        "start_url": job.start_url,
        "sitemap_url": job.sitemap_url,
        "run": job.run.id,
        "started": datetime.fromtimestamp(job.run.started, UTC).isoformat(timespec="seconds"),
        "fetched": job.total_done,
        "queued": job.queue.waiting,
        "failing": None if failing is None else failing.urls,
        "next_retry": None if failing is None else failing.next_request_time(now).isoformat(timespec="seconds"),
        "growing": None if job.growing is None else [shape.to_json() for shape in job.growing],
        "listable": job.listable + job.others.listable,
        "listed": None,
        "pages_per_second": None,
        "requests_per_second": None,
    }


def _report_values(report: Report) -> dict[str, Any]:
    return {
        "outcome": str(report.outcome),
        "exit_code": report.exit_code,
        "message": report.message,
        "start_url": report.start_url,
        "sitemap_url": report.sitemap_url,
    }


def write_failure_report(options: Options, *, code: int, message: str) -> Report:
    """Write reports and status of a run that could not begin, over those of an earlier run, and return the report."""
    report = failure_report(options, code=code, message=message)
    # Interrupted means that another run is at work on the site: status file and HTML report belong to that run.
    is_alone = report.outcome is not Outcome.INTERRUPTED
    if options.html_report is not None and is_alone:
        from sitemap_crawler.report.html.writer import deliver_unstarted

        deliver_unstarted(report, options, state_location(options))
    if options.report is not None:
        with contextlib.suppress(OSError):
            report.write(options.report, private=options.has_secrets)
    if options.status is not None and is_alone:
        StatusFile(options.status, private=options.has_secrets).write_failed(report)
    return report
