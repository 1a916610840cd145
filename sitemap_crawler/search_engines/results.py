"""Results of what was sent to search engines, and the exit code that they add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil
from typing import TYPE_CHECKING, Any, Self

from sitemap_crawler.exceptions import DONE, FAILED, INTERRUPTED, REFUSED, USAGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sitemap_crawler.exceptions import ServiceError

_WORST_FIRST = (FAILED, USAGE, REFUSED, INTERRUPTED)


class Outcome(StrEnum):
    """Outcome of one request to a service. None of them says that a page is indexed, or was crawled."""

    ACCEPTED = "accepted"
    """The service has taken the request."""
    PENDING = "pending"
    """The service has taken the request, and checks the key later."""
    UNCHANGED = "unchanged"
    """Nothing was sent, because the service has accepted the same before."""
    LATER = "later"
    """The same command may succeed later."""
    FAILED = "failed"
    """The service has refused the request for good, or the credentials are unusable."""
    REFUSED = "refused"
    """A guard of this program has refused to send the request."""
    PLANNED = "planned"
    """A dry run would send the request."""
    READY = "ready"
    """A check has found the key file or the property."""
    SENDING = "sending"
    """The request is on its way, or its answer was lost. Only the ledger has this outcome."""


_EXIT_CODES = {Outcome.LATER: INTERRUPTED, Outcome.FAILED: FAILED, Outcome.REFUSED: REFUSED}
_OUTCOMES = {INTERRUPTED: Outcome.LATER, REFUSED: Outcome.REFUSED}


@dataclass(frozen=True, slots=True)
class UrlCounts:
    """Numbers of URLs that were sent to IndexNow, by what has become of the pages."""

    added: int = 0
    changed: int = 0
    removed: int = 0

    def to_json(self) -> dict[str, int]:
        return {"added": self.added, "changed": self.changed, "removed": self.removed}


@dataclass(frozen=True, slots=True)
class Result:
    """One row of the report of `submit`: what became of one file or batch at one service."""

    service: str
    host: str
    kind: str
    """sitemap, urls or remove."""
    target: str
    """URL of the entry file, or the text "batch"."""
    outcome: Outcome
    urls: UrlCounts = field(default_factory=UrlCounts)
    http_status: int | None = None
    reason: str | None = None
    message: str | None = None
    advice: str | None = None
    retry_after: float | None = None
    request_id: str | None = None
    """Stored in the ledger, not part of the report."""
    is_usage_error: bool = False
    """Whether the credentials are missing or unusable."""

    @classmethod
    def from_error(cls, error: ServiceError, **fields: Any) -> Self:
        """Return the row of a failed request. `fields` are service, host, kind, target and urls."""
        return cls(
            **fields,
            outcome=_OUTCOMES.get(error.exit_code, Outcome.FAILED),
            http_status=error.http_status,
            reason=error.reason,
            message=error.message,
            advice=error.advice or None,
            retry_after=error.retry_after,
            request_id=error.request_id,
            is_usage_error=error.exit_code == USAGE,
        )

    @property
    def exit_code(self) -> int:
        return USAGE if self.is_usage_error else _EXIT_CODES.get(self.outcome, DONE)

    def to_json(self) -> dict[str, Any]:
        """Return the row as the report has it."""
        return {
            "service": self.service,
            "host": self.host,
            "kind": self.kind,
            "target": self.target,
            "urls": self.urls.to_json(),
            "outcome": self.outcome.value,
            "http_status": self.http_status,
            "reason": self.reason,
            "message": self.message,
            "advice": self.advice,
            "retry_after": None if self.retry_after is None else ceil(self.retry_after),
        }


def worst_exit_code(codes: Iterable[int]) -> int:
    """Return the exit code of a command that has several parts: the worst of theirs, 0 for none."""
    present = set(codes)
    return next((code for code in _WORST_FIRST if code in present), DONE)
