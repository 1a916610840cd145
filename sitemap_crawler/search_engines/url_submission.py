"""Submission of changed URLs to IndexNow, host by host and batch by batch."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from sitemap_crawler.exceptions import ServiceError, ServiceUnavailableError, SubmissionRefusedError
from sitemap_crawler.inventory.publications import Change, forgotten_publication
from sitemap_crawler.inventory.submissions import Receiver
from sitemap_crawler.search_engines.changed_urls import UrlPlan, changed_urls, crawled_urls, listed_urls
from sitemap_crawler.search_engines.indexnow import SERVICE, IndexNow
from sitemap_crawler.search_engines.live_check import key_problem, key_url
from sitemap_crawler.search_engines.results import Outcome, Result, UrlCounts
from sitemap_crawler.urls.normalise import directory_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sitemap_crawler.inventory.submissions import UrlChange, UrlClaim
    from sitemap_crawler.search_engines.published_files import HostFiles
    from sitemap_crawler.search_engines.submission_context import Subject, SubmissionContext

BATCH = "batch"
"""Target of the results of IndexNow."""
_NOTHING = (Outcome.UNCHANGED, "nothing has changed since the last submission")
_ALL_ACCEPTED = (Outcome.UNCHANGED, "all pages were accepted as they are; --force sends them again")
_GOES_ON = 422
"""Status that refuses one batch only."""


class _Key(NamedTuple):
    """The key of a host, and the URL of its file if that is not the default one."""

    text: str
    location: str | None


def submit_urls(context: SubmissionContext) -> None:
    """Send the changed URLs of each host, or do what else the task asks for."""
    with IndexNow(context.options, context.options.ca_file, clock=context.clock) as service:
        for files in context.site.hosts:
            _HostSubmission(context, service, files).run()


class _HostSubmission:
    """Submission of the URLs of one host."""

    def __init__(self, context: SubmissionContext, service: IndexNow, files: HostFiles) -> None:
        self._context = context
        self._ledger = context.ledger
        self._service = service
        self._files = files
        self._receiver = Receiver(SERVICE, service.endpoint, files.host)
        self._publication = context.site.publication
        self._subject: Subject = {"service": SERVICE, "host": files.host, "kind": "urls", "target": BATCH}

    def run(self) -> None:
        task = self._context.task
        key = self._key()
        if key is None:
            self._add(
                Outcome.FAILED,
                f"there is no IndexNow key for {self._files.host}",
                f'give indexnow_key = ["{self._files.host}=KEY"] in the site file',
                is_usage_error=True,
            )
            return
        is_admitted = self._context.is_admitted(self._subject, self._files)
        if not (is_admitted or task.check) or not self._has_key_file(key) or not is_admitted:
            return
        if task.check:
            self._add(Outcome.READY, f"the key file {key_url(self._files, *key)} is in place")
            return
        mark = self._ledger.mark(self._receiver)
        if task.rebase or (mark is None and not task.all_pages):
            self._begin_here(is_first=mark is None)
            return
        try:
            plan = self._plan(key, mark)
        except SubmissionRefusedError as error:
            self._add(Outcome.REFUSED, str(error))
            return
        if mark is None:
            # The pages that are not accepted now count as changes afterwards.
            self._ledger.set_mark(self._receiver, 0)
        self._send(plan, key)

    def _key(self) -> _Key | None:
        options = self._context.options
        text = options.key_of(self._files.host)
        own = (url for url in options.indexnow_key_location if urlsplit(url).netloc == self._files.host)
        return None if text is None else _Key(text, next(own, None))

    def _has_key_file(self, key: _Key) -> bool:
        problem = key_problem(self._context.client, self._files, *key)
        if problem is not None:
            self._add(Outcome.REFUSED, *problem)
        return problem is None

    def _prefixes(self, key: _Key | None = None) -> list[str | None]:
        """Return the beginnings of the crawled URLs that may be sent."""
        site = self._context.site
        below_key = site.to_crawled(directory_of(key.location)) if key and key.location else None
        return [site.crawled_prefix[self._files.host], below_key]

    def _begin_here(self, *, is_first: bool) -> None:
        """Record the current publication as the one from which on changes are sent."""
        with self._ledger.reading() as connection:
            listed = len(listed_urls(connection, prefixes=self._prefixes()))
        if self._context.task.dry_run:
            first = "first use, so nothing would be sent: " if is_first else ""
            self._add(Outcome.PLANNED, f"{first}{_from_now_on(listed)}")
            return
        self._ledger.set_mark(self._receiver, self._publication)
        first = "first use, so nothing was sent: " if is_first else ""
        self._add(Outcome.UNCHANGED, f"{first}{_from_now_on(listed)}")

    def _plan(self, key: _Key, mark: int | None) -> UrlPlan:
        """Return the URLs to send. Raises SubmissionRefusedError if some changes are no longer stored."""
        prefixes = self._prefixes(key)
        with self._ledger.reading() as connection:
            if not self._context.task.all_pages:
                return changed_urls(connection, self._receiver, mark or 0, prefixes=prefixes)
            plan = listed_urls(connection, prefixes=prefixes)
            if mark is not None and mark >= forgotten_publication(connection):
                changed = changed_urls(connection, self._receiver, mark, prefixes=prefixes)
                plan.extend(changed, Change.REMOVED)
            return plan

    def _send(self, plan: UrlPlan, key: _Key) -> None:
        is_complete, held, any_sent = True, 0, False
        planned: Counter[str] = Counter()
        for batch in plan.batches():
            if self._context.must_wait(self._receiver, self._subject):
                return
            claim = self._ledger.claim_urls(
                self._receiver,
                batch,
                publication=self._publication,
                now=self._context.now,
                again=self._context.task.force,
            )
            held += claim.held
            if claim.submission is None:
                planned.update(change.kind for change in claim.urls)
                self._show_planned(claim.urls)
                continue
            any_sent = True
            result = self._send_batch(claim, claim.submission, key)
            self._context.add(result)
            if result.outcome not in (Outcome.ACCEPTED, Outcome.PENDING):
                is_complete = False
                if result.http_status != _GOES_ON:
                    return
        if planned:
            self._add(Outcome.PLANNED, "not sent: --dry-run", urls=_counts(planned))
        if held:
            what = "1 URL was" if held == 1 else f"{held:,} URLs were"
            message = f"{what} sent less than 10 minutes ago, or at this moment by another process"
            self._add(Outcome.LATER, message, "run the same command again in 10 minutes", retry_after=600.0)
        elif is_complete and not planned:
            self._ledger.set_mark(self._receiver, self._publication)
            if not any_sent:
                self._add(*(_ALL_ACCEPTED if self._context.task.all_pages else _NOTHING))

    def _send_batch(self, claim: UrlClaim, submission: int, key: _Key) -> Result:
        """Send a claimed batch, record the answer and return the result."""
        counts = _counts(change.kind for change in claim.urls)
        try:
            sent = self._service.send(
                self._files.host, key.text, key.location, sorted(self._public_urls(claim.urls).values())
            )
        except ServiceError as error:
            result = Result.from_error(error, urls=counts, **self._subject)
            # Without an answer the service may have the URLs. They are not sent again for ten minutes.
            is_lost = isinstance(error, ServiceUnavailableError) and error.http_status is None
            outcome = Outcome.SENDING if is_lost else result.outcome
            self._context.record(submission, self._receiver, result, outcome=outcome)
            return result
        message = "the key is validated later" if sent.outcome is Outcome.PENDING else None
        answer = sent.answer
        result = Result(
            **self._subject,
            outcome=sent.outcome,
            urls=counts,
            http_status=answer.status,
            message=message,
            request_id=answer.request_id,
        )
        self._context.record(submission, self._receiver, result)
        return result

    def _show_planned(self, batch: list[UrlChange]) -> None:
        """Show the pages of a batch that is not sent, in the order of the batch."""
        public = self._public_urls(batch)
        for change in batch:
            self._context.on_planned(change.kind, public[change.url_id])

    def _public_urls(self, batch: list[UrlChange]) -> dict[int, str]:
        """Return the URLs of a batch as published, by id."""
        with self._ledger.reading() as connection:
            crawled = crawled_urls(connection, batch)
        return {url_id: self._context.site.to_public(url) for url_id, url in crawled.items()}

    def _add(
        self,
        outcome: Outcome,
        message: str,
        advice: str | None = None,
        *,
        urls: UrlCounts | None = None,
        retry_after: float | None = None,
        is_usage_error: bool = False,
    ) -> None:
        self._context.add(
            Result(
                **self._subject,
                outcome=outcome,
                urls=urls or UrlCounts(),
                message=message,
                advice=advice,
                retry_after=retry_after,
                is_usage_error=is_usage_error,
            )
        )


def _from_now_on(listed: int) -> str:
    return f"changes from now on are sent; --all sends all pages ({listed:,})"


def _counts(kinds: Iterable[str]) -> UrlCounts:
    return UrlCounts(**Counter(kinds))
