"""State that the services of `submit` share: the task, the published set, the checks of the own site, the results."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from sitemap_crawler.search_engines import bing, google, indexnow
from sitemap_crawler.search_engines.live_check import live_problem
from sitemap_crawler.search_engines.results import Outcome, Result, worst_exit_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.inventory.submissions import Ledger, Receiver
    from sitemap_crawler.search_engines.http_client import Clock
    from sitemap_crawler.search_engines.live_check import Problem, RobotsRow
    from sitemap_crawler.search_engines.published_files import HostFiles, PublishedSite
    from sitemap_crawler.search_engines.site_client import SiteClient

_FORBIDDEN = 403
SERVICES = (google.SERVICE, bing.SERVICE, indexnow.SERVICE)
_BASE_URLS = {google.SERVICE: "google_api_url", bing.SERVICE: "bing_api_url", indexnow.SERVICE: "indexnow_url"}
"""Options with the base URL of each service."""


class Subject(TypedDict):
    """What a result is about: fields of Result."""

    service: str
    host: str
    kind: str
    target: str


class Task(NamedTuple):
    """What `submit` is asked to do."""

    services: tuple[str, ...]
    dry_run: bool = False
    """Ask the own site only, and say what would be sent."""
    check: bool = False
    """Check keys, files, properties and robots.txt, and send nothing."""
    all_pages: bool = False
    force: bool = False
    rebase: bool = False
    remove: bool = False


@dataclass(slots=True)
class SubmissionReport:
    """The results of one command."""

    submitted_at: datetime
    dry_run: bool
    results: list[Result] = field(default_factory=list)
    robots: list[RobotsRow] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        return worst_exit_code(result.exit_code for result in self.results)

    def to_json(self) -> dict[str, Any]:
        return {
            "submitted_at": self.submitted_at.isoformat(timespec="seconds"),
            "dry_run": self.dry_run,
            "results": [result.to_json() for result in self.results],
            "robots": [row._asdict() for row in self.robots],
            "exit_code": self.exit_code,
        }


class SubmissionContext:
    """The task of one command, the tools for it, and its results."""

    def __init__(
        self,
        ledger: Ledger,
        site: PublishedSite,
        options: Options,
        task: Task,
        *,
        client: SiteClient,
        clock: Clock,
        on_result: Callable[[Result], None],
        on_planned: Callable[[str, str], None],
    ) -> None:
        self.ledger = ledger
        self.site = site
        self.options = options
        self.task = task
        self.client = client
        self.clock = clock
        self.report = SubmissionReport(clock.now(), task.dry_run)
        self._on_result = on_result
        self.on_planned = on_planned
        """Takes kind and URL of each page that a dry run does not send."""
        self._live: dict[str, Problem | None] = {}

    @property
    def now(self) -> float:
        """Seconds since 1970."""
        return self.clock.now().timestamp()

    def add(self, result: Result) -> None:
        """Take the result of one file or batch."""
        self.report.results.append(result)
        self._on_result(result)

    def must_wait(self, receiver: Receiver, subject: Subject) -> bool:
        """Return whether the service has asked to be left alone until later, and add the result if it has."""
        until = self.ledger.pause_until(receiver, self.now)
        if until is None:
            return False
        moment = datetime.fromtimestamp(ceil(until), UTC).isoformat()
        message = f"{receiver.endpoint} has asked for a pause until {moment}"
        advice = "run the same command then"
        wait = until - self.now
        self.add(Result(**subject, outcome=Outcome.LATER, message=message, advice=advice, retry_after=wait))
        return True

    def record(self, submission: int, receiver: Receiver, result: Result, *, outcome: Outcome | None = None) -> None:
        """Complete the row of the ledger of a request that was sent, and note the pause that the service asks for."""
        self.note_pause(receiver, result)
        self.ledger.complete(
            submission,
            outcome=str(outcome or result.outcome),
            http_status=result.http_status,
            reason=result.reason,
            message=result.message,
            request_id=result.request_id,
        )

    def note_pause(self, receiver: Receiver, result: Result) -> None:
        """Note the pause that a service asks for, if it does."""
        if result.outcome is Outcome.LATER and result.retry_after:
            # A key that is being verified is that of one host.
            of_host = receiver.service == indexnow.SERVICE and result.http_status == _FORBIDDEN
            until = self.now + result.retry_after
            self.ledger.pause(receiver, until, now=self.now, of_host=of_host)

    def is_admitted(self, subject: Subject, files: HostFiles) -> bool:
        """Return whether a service may be told about a host, and add the result if it may not."""
        message, advice = self._refusal(subject["service"], files)
        if message:
            self.add(Result(**subject, outcome=Outcome.REFUSED, message=message, advice=advice))
        return not message

    def _refusal(self, service: str, files: HostFiles) -> tuple[str, str]:
        """Return why a service must not be told about a host, and the remedy; empty texts if it may."""
        option = _BASE_URLS[service]
        # Before and after the live check, which resolves the name of the host.
        for attempt in range(2):
            if not self.client.is_public(files.origin) and option not in self.options.model_fields_set:
                message = f"{files.host} is no public host, so no search engine can reach it"
                return message, f"crawl the public site, or publish with --public-url; for tests give {option}"
            problem = None if attempt else self._live_problem(files)
            if problem is not None and not self.task.force:
                return problem
        return "", ""

    def _live_problem(self, files: HostFiles) -> Problem | None:
        if files.host not in self._live:
            self._live[files.host] = live_problem(self.client, files)
        return self._live[files.host]
