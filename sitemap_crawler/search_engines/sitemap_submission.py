"""Submission of entry files to Google and Bing: one call for each file, by the account's property that covers it."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

from sitemap_crawler.exceptions import CredentialsError, ServiceError
from sitemap_crawler.inventory.submissions import RESEND_SECONDS, Receiver
from sitemap_crawler.search_engines import bing, google
from sitemap_crawler.search_engines.properties import bing_site, google_property
from sitemap_crawler.search_engines.results import Outcome, Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitemap_crawler.inventory.submissions import FileClaim
    from sitemap_crawler.search_engines.http_client import Answer
    from sitemap_crawler.search_engines.published_files import HostFiles, LiveFile
    from sitemap_crawler.search_engines.submission_context import Subject, SubmissionContext

_NOT_FOUND = 404


class _Account(Protocol):
    """An account of a service that takes sitemaps."""

    endpoint: str
    warning: str | None

    def property_for(self, url: str) -> str:
        """Return the property that covers the URL of a file. Raises ServiceError."""

    def submit(self, property_name: str, url: str) -> Answer: ...

    def remove(self, property_name: str, url: str) -> Answer: ...

    def close(self) -> None: ...


class _Google:
    """The account of Google Search Console."""

    def __init__(self, context: SubmissionContext) -> None:
        options = context.options
        self._client = google.SearchConsole(options, options.ca_file, clock=context.clock)
        self._given = options.google_property
        self._checking = context.task.check
        self.endpoint = self._client.endpoint
        self.warning = self._client.warning
        self.submit: Callable[[str, str], Answer] = self._client.submit_sitemap
        self.remove: Callable[[str, str], Answer] = self._client.remove_sitemap
        self.close = self._client.close

    @cached_property
    def _properties(self) -> list[google.Property]:
        return self._client.sites()

    def property_for(self, url: str) -> str:
        account = self._client.account
        return google_property(
            self._given, lambda: self._properties, url, account=account, submitting=True, checking=self._checking
        )


class _Bing:
    """The account of Bing Webmaster Tools."""

    warning: str | None = None

    def __init__(self, context: SubmissionContext) -> None:
        options = context.options
        self._client = bing.BingWebmaster(options, options.ca_file, clock=context.clock)
        self._given = options.bing_site
        self._checking = context.task.check
        self.endpoint = self._client.endpoint
        self.submit: Callable[[str, str], Answer] = self._client.submit_feed
        self.remove: Callable[[str, str], Answer] = self._client.remove_feed
        self.close = self._client.close

    @cached_property
    def _sites(self) -> list[bing.BingSite]:
        return self._client.sites()

    def property_for(self, url: str) -> str:
        return bing_site(self._given, lambda: self._sites, url, checking=self._checking)


_ACCOUNTS: dict[str, Callable[[SubmissionContext], _Account]] = {google.SERVICE: _Google, bing.SERVICE: _Bing}


def submit_sitemaps(context: SubmissionContext, service: str) -> None:
    """Submit the entry files of each host, or do what else the task asks for."""
    account = _account(context, service)
    if account is None:
        return
    try:
        for files in context.site.hosts:
            _HostSubmission(context, service, account, files).run()
    finally:
        account.close()


def remove_sitemaps(context: SubmissionContext, service: str) -> None:
    """Take the submitted files that are no longer published off the reports of the service."""
    account = _account(context, service)
    if account is None:
        return
    published = {file.url for files in context.site.hosts for file in files.entries}
    try:
        standing = context.ledger.standing_files(service, account.endpoint)
        stale = [(host, url) for host, url in standing if url not in published]
        for host, url in stale:
            _remove(context, account, Receiver(service, account.endpoint, host), url)
        if not stale:
            host = context.site.hosts[0].host
            message = "every file that was submitted is still published"
            target = context.site.hosts[0].entry.url
            context.add(Result(service, host, "remove", target, Outcome.UNCHANGED, message=message))
    finally:
        account.close()


def _account(context: SubmissionContext, service: str) -> _Account | None:
    """Return the account of a service; None, with a result for each host, if its credentials are unusable."""
    try:
        account = _ACCOUNTS[service](context)
    except CredentialsError as error:
        for files in context.site.hosts:
            subject: Subject = {"service": service, "host": files.host, "kind": "sitemap", "target": files.entry.url}
            context.add(Result.from_error(error, **subject))
        return None
    if account.warning:
        context.report.warnings.append(account.warning)
    return account


class _HostSubmission:
    """Submission of the entry files of one host."""

    def __init__(self, context: SubmissionContext, service: str, account: _Account, files: HostFiles) -> None:
        self._context = context
        self._service = service
        self._account = account
        self._files = files
        self._receiver = Receiver(service, account.endpoint, files.host)

    def run(self) -> None:
        task = self._context.task
        is_admitted = self._context.is_admitted(self._subject(self._files.entry.url), self._files)
        if not (is_admitted or task.check):
            return
        for file in self._files.entries:
            if not task.check and self._context.must_wait(self._receiver, self._subject(file.url)):
                return
            result = self._check(file) if task.check else self._submit(file)
            self._context.add(result)
            if result.outcome is Outcome.LATER and not task.check:
                # The other files would meet the same limit or outage.
                return

    def _check(self, file: LiveFile) -> Result:
        try:
            name = self._account.property_for(file.url)
        except ServiceError as error:
            return Result.from_error(error, **self._subject(file.url))
        return Result(**self._subject(file.url), outcome=Outcome.READY, message=f"the property is {name}")

    def _submit(self, file: LiveFile) -> Result:
        """Submit a file unless the same bytes were accepted within a day."""
        context = self._context
        try:
            # A dry run asks no service.
            name = "" if context.task.dry_run else self._account.property_for(file.url)
        except ServiceError as error:
            result = Result.from_error(error, **self._subject(file.url))
            context.note_pause(self._receiver, result)
            return result
        claim = context.ledger.claim_file(
            self._receiver,
            file.url,
            publication=context.site.publication,
            sha256=file.sha256,
            now=context.now,
            again=context.task.force,
        )
        if claim.accepted_at is not None:
            moment = datetime.fromtimestamp(claim.accepted_at, UTC).isoformat(timespec="seconds")
            message = f"the same bytes were accepted at {moment}; --force sends them again"
            return Result(**self._subject(file.url), outcome=Outcome.UNCHANGED, message=message)
        send = partial(self._account.submit, name, file.url)
        return _sent(context, claim, self._receiver, self._subject(file.url), send)

    def _subject(self, url: str) -> Subject:
        return {"service": self._service, "host": self._files.host, "kind": "sitemap", "target": url}


def _remove(context: SubmissionContext, account: _Account, receiver: Receiver, url: str) -> None:
    """Take a file off the report of the service. A file that is not there any more counts as removed."""
    subject: Subject = {"service": receiver.service, "host": receiver.host, "kind": "remove", "target": url}
    if context.must_wait(receiver, subject):
        return
    try:
        name = "" if context.task.dry_run else account.property_for(url)
    except ServiceError as error:
        result = Result.from_error(error, **subject)
        context.note_pause(receiver, result)
        context.add(result)
        return
    claim = context.ledger.claim_removal(receiver, url, publication=context.site.publication, now=context.now)
    context.add(_sent(context, claim, receiver, subject, partial(account.remove, name, url)))


def _sent(
    context: SubmissionContext, claim: FileClaim, receiver: Receiver, subject: Subject, send: Callable[[], Answer]
) -> Result:
    """Send a claimed request, record the answer and return the result."""
    if claim.is_held:
        message = "another process is sending it, or its answer was lost less than 10 minutes ago"
        advice = "run the same command again in 10 minutes"
        return Result(**subject, outcome=Outcome.LATER, message=message, advice=advice, retry_after=RESEND_SECONDS)
    if claim.submission is None:
        return Result(**subject, outcome=Outcome.PLANNED, message="not sent: --dry-run")
    try:
        answer = send()
        result = Result(**subject, outcome=Outcome.ACCEPTED, http_status=answer.status, request_id=answer.request_id)
    except ServiceError as error:
        result = Result.from_error(error, **subject)
        if subject["kind"] == "remove" and error.http_status == _NOT_FOUND:
            message = "the service did not have it any more"
            result = Result(**subject, outcome=Outcome.ACCEPTED, http_status=_NOT_FOUND, message=message)
    context.record(claim.submission, receiver, result)
    return result
