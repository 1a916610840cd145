"""The file that says how far a run is: replaced whole every few seconds, and for the last time when the run has ended.

Of a run that was killed it stays as it was: its process is gone, and `updated` stands still.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sitemap_crawler.report.report import Outcome, failure_report
from sitemap_crawler.utils.files import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.report.report import Report

logger = logging.getLogger(__name__)

INTERVAL = 2.0
WINDOW = 15
"""Samples over which the rates are taken."""


class _Sample(NamedTuple):
    time: float
    fetched: int
    requests: int


class Status:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._samples: deque[_Sample] = deque(maxlen=WINDOW)
        self._warned = False

    def crawling(self, job: Job, *, now: float | None = None) -> None:
        """`now` is of time.monotonic()."""
        now = time.monotonic() if now is None else now
        self._samples.append(_Sample(now, job.done, job.throttles.requests_sent))
        first, last = self._samples[0], self._samples[-1]
        seconds = last.time - first.time
        waiting = job.throttles.for_url(job.start_url).is_paused(now)
        self._write(
            _of_job(job, state="waiting" if waiting else "crawling")
            | {
                "pages_per_second": rate_of(last.fetched - first.fetched, seconds),
                "requests_per_second": rate_of(last.requests - first.requests, seconds),
            }
        )

    def writing(self, job: Job) -> None:
        """Deciding and publishing, which take their time on a large site, and during which nothing is updated."""
        self._write(_of_job(job, state="writing"))

    def done(self, job: Job, report: Report) -> None:
        self._write(_of_job(job, state="done") | _end(report) | {"listed": report.listed})

    def failed(self, report: Report) -> None:
        """The run could not begin."""
        self._write({"state": "done", **_end(report)})

    def _write(self, values: dict[str, Any]) -> None:
        head = {"state": values.pop("state"), "outcome": None, "exit_code": None, "message": None}
        process = {"pid": os.getpid(), "updated": datetime.now(UTC).isoformat(timespec="seconds")}
        try:
            write_json(self._path, head | values | process)
        except OSError as error:
            if not self._warned:
                logger.warning("cannot write the status file %s: %s", self._path, error.strerror or error)
            self._warned = True


def _of_job(job: Job, *, state: str) -> dict[str, Any]:
    return {
        "state": state,
        "start_url": job.start_url,
        "sitemap_url": job.sitemap_url,
        "run": job.run.id,
        "started": datetime.fromtimestamp(job.run.started, UTC).isoformat(timespec="seconds"),
        "fetched": job.done,
        "queued": job.queue.waiting,
        "listable": job.listable,
        "listed": None,
        "pages_per_second": None,
        "requests_per_second": None,
    }


def _end(report: Report) -> dict[str, Any]:
    return {
        "outcome": str(report.outcome),
        "exit_code": report.exit_code,
        "message": report.message,
        "start_url": report.start_url,
        "sitemap_url": report.sitemap_url,
    }


def rate_of(count: int, seconds: float) -> float:
    """So many a second, to a tenth."""
    return round(count / seconds, 1) if seconds > 0 else 0.0


def leave_failure(options: Options, *, code: int, message: str) -> Report:
    """The report of a run that could not begin, in the place of those of an earlier run."""
    report = failure_report(options, code=code, message=message)
    if options.report is not None:
        with contextlib.suppress(OSError):
            report.write(options.report)
    if options.status is not None and report.outcome is not Outcome.INTERRUPTED:
        # Of a site that another run is at work on it is that run's.
        Status(options.status).failed(report)
    return report
