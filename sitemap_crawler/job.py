"""One start URL's work: its options, rules and inventory, and the run in progress; every component gets them here."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.runs import begin_run, drop_unfinished_run, fetched_in_run, move_run
from sitemap_crawler.inventory.store import InventoryError, open_store
from sitemap_crawler.rules import Rules
from sitemap_crawler.scope import Scope, default_sitemap_url
from sitemap_crawler.texts import printable

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sitemap_crawler.options import Options
    from sitemap_crawler.report import Report

logger = logging.getLogger(__name__)

MAX_WARNINGS = 1_000


def default_state_path(sitemap_url: str) -> Path:
    """One inventory per site: the file's name holds the host for people and a digest for uniqueness."""
    from platformdirs import user_state_path

    parts = urlsplit(sitemap_url)
    digest = blake2b(sitemap_url.encode(), digest_size=4).hexdigest()
    host = (parts.hostname or "").replace(":", "-")
    return user_state_path("sitemap-crawler") / f"{host}-{digest}.sqlite"


class OutputError(Exception):
    """The output directory can't be written; the message names it and the remedy."""


class Job:
    """Raises InventoryError or OutputError when what the work needs can't be used."""

    def __init__(self, options: Options) -> None:
        if not options.dry_run:
            _check_output(options.output)
        self.options = options
        self.warnings: list[dict[str, str]] = []
        self._warned: Counter[str] = Counter()
        self.report: Report | None = None
        self.failure: str | None = None
        """Why the crawl can't go on, in one line."""
        self.refusal: str | None = None
        """Why nothing of this site may or can be crawled, in one line."""
        self.refusal_ends_run = False
        self.listable = 0
        """Pages of this process that can be listed as far as they themselves say."""
        self.store = open_store(Path(options.state) if options.state else default_state_path(options.entry_url))
        try:
            self._begin()
        except SQLAlchemyError as error:
            self.inventory_failed(error)
            self.store.close()
            raise InventoryError(str(self.failure)) from error
        except BaseException:
            self.store.close()
            raise

    def _begin(self) -> None:
        connection = self.store.connection
        if self.options.fresh:
            drop_unfinished_run(connection)
        self.run = begin_run(
            connection,
            requested_url=self.options.start_url,
            sitemap_url=self.options.entry_url,
            now=datetime.now(UTC),
        )
        if self.run.continued:
            logger.info("continuing run %d", self.run.id)
        self.start_url = self.run.start_url
        self.sitemap_url = self.run.sitemap_url
        self.fetched = fetched_in_run(connection, self.run.id)
        self._apply_rules()
        self.queue = Queue(connection, self.run.id, admits=self._admits, follows=self._follows)
        self.queue.add(self.start_url)

    @property
    def budget(self) -> int | None:
        """URLs that may still be fetched in this run; None without a limit."""
        limit = self.options.max_pages
        return None if limit is None else max(0, limit - self.fetched)

    @property
    def limited(self) -> bool:
        """Whether a limit may have kept pages from being fetched, so that absence proves nothing."""
        return self.budget == 0 or self.options.max_depth is not None

    def _apply_rules(self) -> None:
        self.rules = Rules(self.options, scope=Scope.of_sitemap(self.sitemap_url), start_url=self.start_url)

    def _admits(self, url: str, depth: int) -> bool:
        return self.rules.fetch_refusal(url, depth) is None

    def _follows(self, url: str) -> bool:
        return self.rules.scope.admits(url)

    def adopt_start(self, url: str, *, notice: str) -> None:
        """Go on from `url`, where the start page has redirected, with its directory as the scope."""
        self.start_url = url
        if self.options.sitemap_url is None:
            self.sitemap_url = default_sitemap_url(url)
        self._apply_rules()
        move_run(self.store.connection, self.run.id, start_url=url, sitemap_url=self.sitemap_url)
        self.queue.add(url)
        self.warn("start-adopted", url, notice)

    def refuse(self, message: str, *, ends_run: bool) -> None:
        """Nothing of this site may be crawled now. A run that is not ended goes on when all is well again."""
        self.refusal, self.refusal_ends_run = message, ends_run

    def warn(self, kind: str, url: str, message: str) -> None:
        """Remember what is worth a person's time; of each kind as many as a report holds, the others are counted."""
        message = printable(message)
        logger.info("%s: %s: %s", kind, url, message)
        self._warned[kind] += 1
        if self._warned[kind] <= MAX_WARNINGS:
            self.warnings.append({"kind": kind, "url": url, "message": message})

    def inventory_failed(self, error: SQLAlchemyError) -> None:
        """The database can't be used any more; the crawl has to end."""
        reason = getattr(error, "orig", None) or error
        self.failure = (
            f"cannot use the inventory {self.store.path}: {reason}; make room or mend it and run the same command"
        )

    def close(self) -> None:
        self.store.close()


def _check_output(directory: Path) -> None:
    """Make the directory, and see now that files can be written there, not after hours of crawling."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=directory):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"cannot write to the output directory {directory}: {reason}; choose another -o") from error


def end_crawl(crawler: Crawler, reason: str) -> None:
    """Close the spider from a component that can't raise CloseSpider."""
    task = asyncio.ensure_future(crawler.engine.close_spider_async(reason=reason))
    _closing.add(task)
    task.add_done_callback(_closing.discard)


_closing: set[asyncio.Future[None]] = set()


def job_of(crawler: Crawler) -> Job:
    """The job of the crawler's spider."""
    spider: Any = crawler.spider
    job: Job = spider.job
    return job
