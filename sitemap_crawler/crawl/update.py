"""`update`: pages that the owner names are requested as in a crawl, and published at once.

It is no run. The answers are kept as those of the last finished run, so that the next crawl asks for changes of them.
"""

from __future__ import annotations

import logging
import math
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.config.options import Options
from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.given_urls import GivenUrlsSpider, TargetRounds, add_components, run_session
from sitemap_crawler.crawl.job import Job, job_of
from sitemap_crawler.crawl.keys import CloseReason
from sitemap_crawler.crawl.log import open_log_file
from sitemap_crawler.crawl.run import readers_of, remaining_pause_seconds
from sitemap_crawler.crawl.run_state import RunState
from sitemap_crawler.crawl.startup import start_of_command
from sitemap_crawler.crawl.submission import run_submit
from sitemap_crawler.crawl.throttle import HostThrottles
from sitemap_crawler.exceptions import (
    DONE,
    FAILED,
    INTERRUPTED,
    REFUSED,
    InventoryError,
    NotFinishedError,
)
from sitemap_crawler.inventory.affected import claims_of, known_ids, stored_decisions
from sitemap_crawler.inventory.chosen_urls import ChosenQueue
from sitemap_crawler.inventory.damage import damage_message
from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.inventory.publications import is_unpublished, published_dates
from sitemap_crawler.inventory.robots import robots_digests
from sitemap_crawler.inventory.runs import is_latest_published, is_unfinished, last_finished_run
from sitemap_crawler.inventory.store import inventory_failure, open_store
from sitemap_crawler.inventory.supplied import forget_added, store_added
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.rules import UNREACHED
from sitemap_crawler.publish.conclude import TRUST_SUPPLIED, decider_of
from sitemap_crawler.publish.context import RunContext
from sitemap_crawler.publish.update import TouchedPages, publish_update
from sitemap_crawler.report.report import Outcome, failure_report
from sitemap_crawler.report.updates import (
    NOTHING_TO_REMOVE,
    UNKNOWN,
    Action,
    Standing,
    UpdateReport,
    UrlOutcome,
    UrlResult,
    result_of,
)
from sitemap_crawler.traps.detector import TrapDetector
from sitemap_crawler.urls.normalise import MAX_STORED_URL
from sitemap_crawler.urls.spelling import spellings
from sitemap_crawler.utils.replace import is_private
from sitemap_crawler.utils.stopping import MESSAGE, interrupt_at_signals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy.crawler import Crawler

    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.crawl.startup import Start
    from sitemap_crawler.inventory.lookup import Inventory, UrlRecord
    from sitemap_crawler.inventory.runs import Run
    from sitemap_crawler.inventory.store import Store
    from sitemap_crawler.policy.decide import Facts
    from sitemap_crawler.report.report import Report

logger = logging.getLogger(__name__)

_EXTENSIONS = {
    "sitemap_crawler.crawl.extensions.exporter.Exporter": None,
    "sitemap_crawler.crawl.extensions.progress.Progress": None,
    "sitemap_crawler.crawl.extensions.second_look.SecondLook": None,
    "sitemap_crawler.crawl.extensions.soft_404_probe.Soft404Probe": None,
    "sitemap_crawler.crawl.update.UpdateTargets": 900,
}


class UpdateCommand(NamedTuple):
    """The arguments of the command."""

    action: Action
    urls: Sequence[str]
    options: Mapping[str, Any]
    """Options that override those of the last crawl and of the site file."""
    scrapy_settings: Mapping[str, str]
    verbosity: int
    submits: bool = False
    """Whether search engines are told what was published."""


def run_update(path: StateLocation, command: UpdateCommand, *, config: Path | None) -> UpdateReport:
    """Request, decide and publish the pages of a command in the inventory at `path`. `config` is the site file.

    Raises InventoryError, NotFinishedError, InputError.
    """
    store = open_store(path, private=isinstance(path, Path) and is_private(path))
    try:
        run = _run_of(store, path)
        remembered = {name: value for name, value in run.options.items() if name in Options.model_fields}
        values = {**remembered, "start_url": run.start_url, "state": str(path), "random_delay": 0.0, "workers": 0}
        level = {} if command.verbosity else {"LOG_LEVEL": "WARNING"}
        start = start_of_command(
            {**values, **command.options},
            site_file=config,
            scrapy_settings={**level, **command.scrapy_settings},
            verbosity=command.verbosity,
        )
        start = start._replace(options=start.options.model_copy(update={"max_pages": None, "progress": False}))
        report = _Update(store, run, start, command).run()
    except SQLAlchemyError as error:
        raise InventoryError(inventory_failure(store.location, error)) from error
    except Exception as error:
        if damage_message(path, error):
            raise InventoryError(inventory_failure(store.location, error)) from error
        raise
    finally:
        store.close()
    if command.submits and report.publication is not None and report.publication.outcome is Outcome.PUBLISHED:
        report.add_submission(run_submit(start.options, path))
    return report


def _run_of(store: Store, path: StateLocation) -> Run:
    """Return the last finished run. Raises InventoryError without one, NotFinishedError if another one is open."""
    if is_unfinished(store.connection):
        raise NotFinishedError(
            f"the inventory {path} has an unfinished crawl: finish it with sitemap-crawler crawl, then run the same "
            "command"
        )
    run = last_finished_run(store.connection)
    if run is None:
        raise InventoryError(f"the inventory {path} has no finished run: run sitemap-crawler crawl first")
    if run.options.get(TRUST_SUPPLIED):
        remedy = "write the list again with write --trust-supplied, or crawl"
        raise InventoryError(f"the inventory {path} was written from lists, without a crawl: {remedy}")
    return run


class _Update:
    """One `update`: from the URLs as typed to the report."""

    def __init__(self, store: Store, run: Run, start: Start, command: UpdateCommand) -> None:
        self._store = store
        self._connection = store.connection
        self._action = command.action
        self._texts = command.urls
        self._verbosity = command.verbosity
        self._start = start
        self._context = RunContext(start.options, store, run)
        self._resolver = self._context.rules.resolver()
        self._facts, _ = decider_of(self._context, proved=False)
        self._before: dict[int, Facts] = {}
        self._claims: dict[int, str] = {}

    def run(self) -> UpdateReport:
        results: dict[str, UrlResult | None] = {}
        for text in self._texts:
            url, result = self._judge(text)
            results.setdefault(url, result)
        wanted = [url for url, result in results.items() if result is None]
        publication, ending = self._update(wanted, results) if wanted else (None, _Ending())
        return UpdateReport(
            self._action,
            datetime.now(UTC),
            self._context.start_url,
            self._context.sitemap_url,
            self._context.run.id,
            [result for result in results.values() if result is not None],
            publication,
            ending.problem,
            ending.code,
            str(self._context.options.output),
        )

    def _judge(self, text: str) -> tuple[str, UrlResult | None]:
        """Return the URL that `text` means, and its result if it need not be requested. Raises SpellingError."""
        candidates = spellings(text, self._context.run.start_url, self._resolver)
        known = known_ids(self._connection, candidates)
        url = next((candidate for candidate in candidates if candidate in known), candidates[0])
        if url not in known and self._action is not Action.ADD:
            if self._action is Action.REMOVE:
                return url, UrlResult(url, UrlOutcome.UNCHANGED, evidence=NOTHING_TO_REMOVE)
            return url, UrlResult(url, UrlOutcome.REFUSED, evidence=UNKNOWN)
        if len(url) > MAX_STORED_URL:
            return url, UrlResult(url, UrlOutcome.REFUSED, reason=Reason.TOO_LONG, evidence=f"{len(url):,} characters")
        if self._action is Action.REMOVE and not published_dates(self._connection, [known[url]]):
            forget_added(self._connection, [known[url]])
            row = stored_decisions(self._connection, [known[url]]).get(known[url], {})
            return url, UrlResult(url, UrlOutcome.UNCHANGED, reason=row.get("reason"), evidence=row.get("evidence"))
        refusal = self._context.rules.fetch_refusal(url, UNREACHED)
        if refusal is not None and self._action is not Action.REMOVE:
            return url, UrlResult(url, UrlOutcome.REFUSED, reason=refusal.reason, evidence=refusal.evidence)
        return url, None

    def _update(self, wanted: Sequence[str], results: dict[str, UrlResult | None]) -> tuple[Report, _Ending]:
        """Request, decide and publish the URLs, and fill in their results."""
        run, connection = self._context.run.id, self._connection
        is_settled = is_latest_published(connection, run) and not is_unpublished(connection)
        robots = robots_digests(connection, run)
        job = self._open_job()
        ids = job.queue.choose(wanted, despite_traps=self._action is Action.ADD)
        live = published_dates(connection, list(ids.values()))
        added = store_added(connection, list(ids.values()), now=time.time()) if self._action is Action.ADD else []
        ending = self._request(job)
        obstacle = None
        if not is_settled:
            obstacle = "earlier decisions may not be published"
        elif robots != robots_digests(connection, run):
            obstacle = "robots.txt has changed"
        if ending.code == FAILED:
            publication = failure_report(self._context.options, code=FAILED, message=ending.problem or "")
        else:
            touched = [*dict.fromkeys((*job.queue.requested, *job.queue.discovered))]
            publication = publish_update(self._context, TouchedPages(touched, self._before, self._claims, obstacle))
        with open_inventory(self._store.location) as inventory:
            for record in inventory.records(list(ids.values())):
                results[record.url] = self._result_of(inventory, record, live, answered=record.id in job.queue.answered)
        gone = [ids[url] for url in wanted if (result := results[url]) is not None and not result.listed]
        # A URL that could not be added has not been added; a removed one is no longer named by the owner.
        forget_added(connection, [url_id for url_id in gone if self._action is Action.REMOVE or url_id in added])
        return publication, ending

    def _result_of(
        self, inventory: Inventory, record: UrlRecord, live: Mapping[int, float | None], *, answered: bool
    ) -> UrlResult:
        standing = Standing(
            record.reason,
            record.evidence,
            was_listed=record.id in live,
            is_listed=record.published,
            before=live.get(record.id),
            after=record.lastmod if record.published else None,
            day=record.lastmod_day,
            answered=answered,
        )
        result = result_of(self._action, record.url, standing)
        if record.published:
            result.file = inventory.file_of(record, self._context.rules.to_public(record.url))
        return result

    def _open_job(self) -> UpdateJob:
        context, options = self._context, self._context.options
        pause_seconds = remaining_pause_seconds(options, self._connection)
        not_before = time.monotonic() + pause_seconds if pause_seconds > 0 else -math.inf
        run, rules = context.run.id, context.rules
        queue = ChosenQueue(
            self._connection,
            run,
            readers=readers_of(self._start.settings.getwithbase("ITEM_PIPELINES"), options),
            admits=lambda url, depth: rules.fetch_refusal(url, depth) is None,
            follows=rules.scope.admits,
            # The next run is the first that can prove an error to last. Without `keep_errors` none has to.
            failing_since=run + 1 if options.keep_errors else run,
            before_request=self._remember,
            renders=options.renders,
        )
        traps = TrapDetector(0, applies=lambda _: False)
        throttles = HostThrottles(options, not_before=not_before)
        return UpdateJob(RunState(context, traps=traps, fetched=0), queue=queue, throttles=throttles)

    def _remember(self, ids: Sequence[int]) -> None:
        """Keep what is known of URLs, before their answers replace it."""
        self._before |= {facts.id: facts for facts in self._facts.facts_of(ids)}
        self._claims |= claims_of(self._connection, ids)

    def _request(self, job: UpdateJob) -> _Ending:
        """Request the queued URLs, and the targets of their redirects and canonicals."""
        settings = self._start.settings
        add_components(settings, "EXTENSIONS", _EXTENSIONS)
        if settings["LOG_FILE"]:
            open_log_file(settings, private=self._context.options.has_secrets)
        spider = run_session(settings, GivenUrlsSpider, purpose="the update", verbosity=self._verbosity, job=job)
        interrupt_at_signals()
        ending = job.ending
        if problem := ending.shortage or ending.failure:
            return _Ending(problem, FAILED)
        if ending.refusal is not None:
            return _Ending(ending.refusal, REFUSED)
        is_done = job.closed_because == CloseReason.FINISHED or job.queue.answered.issuperset(job.queue.requested)
        if spider is None or not is_done:
            return _Ending(ending.interruption or MESSAGE, INTERRUPTED)
        return _Ending()


class UpdateJob(Job):
    """The job of an update."""

    queue: ChosenQueue
    closed_because: str | None = None
    """The reason for which the spider has closed."""


class _Ending(NamedTuple):
    """How the requests ended."""

    problem: str | None = None
    code: int = DONE


class UpdateTargets:
    """Extension that has redirects and canonicals followed, and notes why the spider closes."""

    def __init__(self, crawler: Crawler) -> None:
        self._job: Any = job_of(crawler)
        self._engine = EngineControl(crawler)
        self._rounds = TargetRounds(self._job)
        crawler.signals.connect(self._spider_idle, signals.spider_idle)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> UpdateTargets:
        return cls(crawler)

    def _spider_idle(self) -> None:
        """Raise DontCloseSpider while a target is left."""
        if self._rounds.has_next():
            self._engine.wake()
            raise DontCloseSpider

    def _spider_closed(self, reason: str) -> None:
        self._job.closed_because = reason
