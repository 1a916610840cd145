"""Comparison of the listed URLs with the answers of the site. Each URL is looked up in the inventory of a check."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from sitemap_crawler.items import NoteKind
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.report.explain import rules_of
from sitemap_crawler.validation.findings import Issue, issue
from sitemap_crawler.validation.values import w3c_datetime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sitemap_crawler.inventory.lookup import Inventory, UrlRecord
    from sitemap_crawler.validation.listing import ListedUrl

FOUND_AT_ONCE = 500
"""Number of URLs that are looked up by one query."""
MAX_CHAIN = 10
"""Maximum number of redirects of a chain that a message names the end of."""
TOO_MANY_REQUESTS = 429
LASTMOD_TOLERANCE_SECONDS = 86_400.0
"""Difference from which on two dates contradict each other: one of them may be a day without a zone."""
LOGIN_NAMES = frozenset((
    "login", "log-in", "log_in", "logon", "signin", "sign-in", "sign_in", "wp-login", "user-login", "sso", "auth",
    "authorize", "anmelden", "connexion",
))  # fmt: skip
"""Names of login pages: the last part of the path with another name than an index file, without its suffix."""
SOFT_404_NOTES = (NoteKind.SOFT_404, NoteKind.ERROR_PAGE)
_ERRORS: frozenset[str | None] = frozenset(reason for reason in Reason if reason.traits.is_error)
_RULES: dict[str | None, str] = {
    Reason.REDIRECT: "live-redirect",
    Reason.CLIENT_ERROR: "live-broken",
    Reason.SERVER_ERROR: "live-broken",
    Reason.UNREACHABLE: "live-unreachable",
    Reason.NOINDEX: "live-noindex",
    Reason.CANONICAL_ELSEWHERE: "live-canonical",
    Reason.DUPLICATE_INDEX_FILE: "live-canonical",
    Reason.BLOCKED_BY_ROBOTS: "live-blocked",
    Reason.NOT_A_PAGE: "live-not-a-page",
}
_MESSAGES: dict[str | None, str] = {
    Reason.REDIRECT: "the URL redirects: {}",
    Reason.CLIENT_ERROR: "the URL answers with {}",
    Reason.SERVER_ERROR: "the URL answers with {}",
    Reason.UNREACHABLE: "the URL does not answer: {}",
    Reason.NOINDEX: "the page must not be indexed: {}",
    Reason.CANONICAL_ELSEWHERE: "the page names another canonical: {}",
    Reason.DUPLICATE_INDEX_FILE: "the page has the {}",
    Reason.BLOCKED_BY_ROBOTS: "the URL is disallowed: {}",
    Reason.NOT_A_PAGE: "the URL is not a page: {}",
}
"""Messages with a place for the evidence of the decision."""


class _ChainEnd(NamedTuple):
    """The end of a chain of redirects."""

    text: str
    """End of a message."""
    is_broken: bool = False
    """Whether the last URL answers with an error, or the chain is a loop."""
    target: str | None = None
    """The last URL that is known."""


class LiveComparison:
    """Issues of listed URLs, by the inventory of a check."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        _, self._resolver = rules_of(inventory.run)
        self.checked = 0
        """Number of URLs that were judged."""
        self.rules: Counter[str] = Counter()
        """Number of issues by rule."""

    def issues(self, listed: Iterable[ListedUrl]) -> Iterator[tuple[ListedUrl, Issue]]:
        """Yield the issues of the listed URLs that were requested."""
        for url, record in looked_up(self._inventory, self._resolver.normalise, listed):
            if record is None or record.reason in {None, Reason.LIMIT}:
                continue
            self.checked += 1
            for found in self._issues_of(url, record):
                self.rules[found.rule] += 1
                yield url, found

    def _issues_of(self, listed: ListedUrl, record: UrlRecord) -> Iterator[Issue]:
        rule = _RULES.get(record.reason)
        if record.status == TOO_MANY_REQUESTS and record.reason == Reason.SERVER_ERROR:
            yield issue("live-limited", "the URL answers with status 429", listed.line, status=record.status)
        elif rule is not None:
            target = None
            message = _MESSAGES[record.reason].format(record.evidence or record.reason)
            if record.reason == Reason.REDIRECT:
                end = self._end_of_chain(record)
                if end.is_broken:
                    rule = "live-broken-redirect"
                elif end.target is not None and is_login(end.target):
                    rule = "live-login"
                message += end.text
                target = end.target
            yield issue(rule, message, listed.line, status=record.status, target=target)
        elif record.decision == "listed":
            notes = self._inventory.notes_of(record.id)
            if (error_page := soft_404_message(notes)) is not None:
                yield issue("live-soft-404", error_page, listed.line, status=record.status)
            elif problem := self._broken_canonical(record):
                yield issue("live-broken-canonical", problem, listed.line, status=record.status)
            elif problem := lastmod_problem(listed.lastmod, record):
                yield issue("live-lastmod", problem, listed.line, status=record.status)

    def _broken_canonical(self, record: UrlRecord) -> str | None:
        """Return a message if the canonical of a page is another URL that answers with an error."""
        if record.canonical is None or record.canonical == record.url:
            return None
        answer = self._inventory.find([record.canonical]).get(record.canonical)
        if answer is None or answer.reason not in _ERRORS:
            return None
        return f"the page names the canonical {record.canonical} ({answer.reason}: {answer.evidence})"

    def _end_of_chain(self, record: UrlRecord) -> _ChainEnd:
        """Return where a chain of redirects ends."""
        seen = {record.url}
        target, first = record.redirects_to, record.redirects_to
        for _ in range(MAX_CHAIN):
            if target is None or target in seen:
                break
            seen.add(target)
            answer = self._inventory.find([target]).get(target)
            if answer is None or answer.last_fetched is None:
                return _ChainEnd("" if target == first else f", which ends at {target}", target=target)
            if answer.redirects_to is None:
                state = "" if answer.decision == "listed" else f" ({answer.reason}: {answer.evidence})"
                text = state if target == first else f", which ends at {target}{state}"
                return _ChainEnd(text, answer.reason in _ERRORS, target)
            target = answer.redirects_to
        if target in seen:
            return _ChainEnd(", which is part of a loop", is_broken=True, target=target)
        return _ChainEnd("", target=target)


def is_login(url: str) -> bool:
    """Return whether the address of a page is that of a login, by the name of the page."""
    names = [name.partition(".")[0].lower() for name in urlsplit(url).path.split("/") if name]
    while names and names[-1] in {"index", "default", "new"}:
        names.pop()
    return bool(names) and names[-1] in LOGIN_NAMES


def soft_404_message(notes: Mapping[str, Any]) -> str | None:
    """Return the message for a listed page that its notes call an error page; None for any other page."""
    evidence = next((notes[kind] for kind in SOFT_404_NOTES if kind in notes), None)
    return None if evidence is None else f"the page answers with status 200 and is an error page: {evidence}"


def looked_up(
    inventory: Inventory, normalise: Callable[[str], str | None], listed: Iterable[ListedUrl]
) -> Iterator[tuple[ListedUrl, UrlRecord | None]]:
    """Yield each listed URL with its record; None for a URL that the inventory does not know."""
    remaining = iter(listed)
    while some := list(islice(remaining, FOUND_AT_ONCE)):
        normal = [normalise(url.loc) for url in some]
        known = inventory.find({url for url in normal if url is not None})
        for url, wanted in zip(some, normal, strict=True):
            yield url, known.get(wanted) if wanted is not None else None


def lastmod_problem(lastmod: str | None, record: UrlRecord) -> str | None:
    """Return how the lastmod of an entry contradicts the date that the page states; None if it does not."""
    if lastmod is None or record.lastmod is None:
        return None
    stated = w3c_datetime(lastmod).time
    if stated is None:
        return None
    seconds = record.lastmod - stated.timestamp()
    if abs(seconds) <= LASTMOD_TOLERANCE_SECONDS:
        return None
    day = datetime.fromtimestamp(record.lastmod, UTC).date().isoformat()
    side = "before" if seconds > 0 else "after"
    return f"lastmod {lastmod} is {side} {day}, the date that the page states ({record.lastmod_source})"
