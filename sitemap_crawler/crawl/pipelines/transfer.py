"""The parts of a page that are copied to the process that reads it, and the parts that are copied back.

A pickle of the whole page would contain the names of all its fields, and much that both processes know.
"""

from __future__ import annotations

from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from sitemap_crawler.items import Observation, Page, QueuedUrl

if TYPE_CHECKING:
    from sitemap_crawler.items import Note, NoteKind
    from sitemap_crawler.traps.detector import Suspect

# Readers must not change the fields that are left out.
_OWN_FIELDS = ("url_id", "fetched", "body_bytes", "elapsed_ms", "rendering")
_OBSERVATION_FIELDS = tuple(name for name in Observation.__slots__ if name not in _OWN_FIELDS)
_PAGE_FIELDS = ("is_document", "links", "nofollow_links", "resources", "likeness", "is_blank", "scripts")
_observation_values, _page_values = attrgetter(*_OBSERVATION_FIELDS), attrgetter(*_PAGE_FIELDS)
ExtractedValues = tuple[tuple[Any, ...], tuple[Any, ...]]
"""Values of the observation and of the page, in the order of the field names above."""


class UnreadPage(NamedTuple):
    """The parts of a page that the reading process needs."""

    url: str
    fetched: float
    """Seconds since 1970."""
    status: int | None
    content_type: str | None
    notes: dict[NoteKind, Note]
    headers: dict[str, list[str]]
    is_start: bool
    body: bytes | None
    suspect: Suspect | None

    @classmethod
    def from_page(cls, page: Page) -> UnreadPage:
        seen = page.observation
        return cls(
            page.queued.url, seen.fetched.timestamp(), seen.status, seen.content_type, seen.notes,
            page.headers, page.is_start, page.body, page.suspect,
        )  # fmt: skip

    def to_page(self) -> Page:
        seen = Observation(0, datetime.fromtimestamp(self.fetched, UTC), self.status, content_type=self.content_type)
        seen.notes = self.notes
        queued = QueuedUrl(0, self.url, 0)
        return Page(queued, seen, self.headers, self.is_start, body=self.body, suspect=self.suspect)


def extracted_values(page: Page) -> ExtractedValues:
    """Return the values that the readers have set on a page, for `apply_values`."""
    return _observation_values(page.observation), _page_values(page)


def apply_values(page: Page, values: ExtractedValues) -> None:
    """Set on a page the values that another process has extracted, and drop its body and headers."""
    for name, value in zip(_OBSERVATION_FIELDS, values[0], strict=True):
        setattr(page.observation, name, value)
    for name, value in zip(_PAGE_FIELDS, values[1], strict=True):
        setattr(page, name, value)
    page.body, page.headers = None, {}
