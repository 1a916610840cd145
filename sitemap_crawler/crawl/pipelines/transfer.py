"""What is copied of a page to the process that reads it, and back.

Copies of whole pages have the names of all their fields, and much that both sides know.
"""

from __future__ import annotations

from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from sitemap_crawler.items import Observation, Page, QueuedUrl

if TYPE_CHECKING:
    from sitemap_crawler.items import Note
    from sitemap_crawler.traps.detector import Suspect

# All but what no reader may change.
_OBSERVED = tuple(name for name in Observation.__slots__ if name not in ("url_id", "fetched", "body_bytes"))
_PAGE = ("is_document", "links", "nofollow_links", "resources", "likeness")
_observed, _page = attrgetter(*_OBSERVED), attrgetter(*_PAGE)
Findings = tuple[tuple[Any, ...], tuple[Any, ...]]


class Unread(NamedTuple):
    url: str
    fetched: float
    """Seconds since 1970."""
    status: int | None
    content_type: str | None
    notes: dict[str, Note]
    headers: dict[str, list[str]]
    is_start: bool
    body: bytes | None
    suspect: Suspect | None

    @classmethod
    def of(cls, page: Page) -> Unread:
        seen = page.observation
        return cls(
            page.queued.url, seen.fetched.timestamp(), seen.status, seen.content_type, seen.notes,
            page.headers, page.is_start, page.body, page.suspect,
        )  # fmt: skip

    def page(self) -> Page:
        seen = Observation(0, datetime.fromtimestamp(self.fetched, UTC), self.status, content_type=self.content_type)
        seen.notes = self.notes
        queued = QueuedUrl(0, self.url, 0)
        return Page(queued, seen, self.headers, self.is_start, body=self.body, suspect=self.suspect)


def findings(page: Page) -> Findings:
    """What was read, for `take`."""
    return _observed(page.observation), _page(page)


def take(page: Page, found: Findings) -> None:
    """Make of a page that was read elsewhere one that was read here."""
    for name, value in zip(_OBSERVED, found[0], strict=True):
        setattr(page.observation, name, value)
    for name, value in zip(_PAGE, found[1], strict=True):
        setattr(page, name, value)
    page.body, page.headers = None, {}
