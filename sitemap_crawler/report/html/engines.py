"""What search engines say of the sitemaps and pages, as `monitor` has asked them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from sitemap_crawler.inventory.inspections import coverage
from sitemap_crawler.inventory.schema import published
from sitemap_crawler.inventory.sitemap_answers import latest_answers
from sitemap_crawler.report.html.texts import MAX_ADDRESS, clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from sitemap_crawler.inventory.inspections import Coverage
    from sitemap_crawler.inventory.sitemap_answers import KeptAnswer
    from sitemap_crawler.urls.public_address import PublicAddress

MAX_SITEMAPS = 30
"""Maximum number of sitemaps in the table. Those with errors come first."""
MAX_CANONICALS = 8
"""Maximum number of pages that are named because an engine has chosen another canonical URL."""
MAX_STATE = 120
"""Characters of what Google says of a page."""
NAMES = {"google": "Google", "bing": "Bing"}


class EngineSitemap(NamedTuple):
    """The newest answer of an engine about one sitemap. Times are in seconds since 1970."""

    engine: str
    url: str
    state: str
    """In a few words. Empty if the engine says nothing but numbers."""
    is_bad: bool
    read: float | None
    pages: int | None
    errors: int | None
    warnings: int | None
    asked: float


class OtherCanonical(NamedTuple):
    """A listed page for which Google shows another one."""

    page: str
    chosen: str


class Engines(NamedTuple):
    """All answers."""

    sitemaps: list[EngineSitemap]
    total: int
    """Number of sitemaps that an engine has answered about."""
    coverage: Coverage | None
    """What inspections of pages add up to; None without any."""
    canonicals: list[OtherCanonical]

    @property
    def faults(self) -> int:
        """Number of sitemaps with errors or unknown to an engine."""
        return sum(sitemap.is_bad for sitemap in self.sitemaps)


def read_engines(connection: Connection, address: PublicAddress | None) -> Engines | None:
    """Return the newest answers; None if no engine has been asked. `address` gives the public form of URLs."""
    modified = _times_of_publication(connection)
    sitemaps = [_sitemap(kept, modified.get(kept.url)) for kept in latest_answers(connection)]
    found = coverage(connection, address)
    inspected = found if found.inspected else None
    if not sitemaps and inspected is None:
        return None
    # Sorting keeps the order by engine and URL.
    shown = sorted(sitemaps, key=lambda sitemap: not sitemap.is_bad)[:MAX_SITEMAPS]
    return Engines(shown, len(sitemaps), inspected, _canonicals(found.canonical_differs))


def _canonicals(pairs: Sequence[tuple[str, str]]) -> list[OtherCanonical]:
    return [
        OtherCanonical(clean(page, MAX_ADDRESS), clean(chosen, MAX_ADDRESS)) for page, chosen in pairs[:MAX_CANONICALS]
    ]


def _times_of_publication(connection: Connection) -> dict[str, datetime]:
    """Return the time since which each file is published as it is, by its URL."""
    query = select(published.c.url, func.max(published.c.modified)).group_by(published.c.url)
    return {url: datetime.fromtimestamp(modified, UTC) for url, modified in connection.execute(query)}


def _sitemap(kept: KeptAnswer, modified: datetime | None) -> EngineSitemap:
    answer = kept.answer
    if not answer.known:
        state = "not submitted"
    elif answer.errors:
        state = "errors"
    else:
        state = _state(kept, modified)
    return EngineSitemap(
        NAMES.get(kept.service, clean(kept.service, 20)),
        clean(kept.url, MAX_ADDRESS),
        state,
        not answer.known or bool(answer.errors),
        _seconds(answer.last_downloaded),
        answer.submitted,
        answer.errors,
        answer.warnings,
        kept.asked.timestamp(),
    )


def _state(kept: KeptAnswer, modified: datetime | None) -> str:
    """Return how far the engine is with a file. `modified` is None if the file is no longer published."""
    answer = kept.answer
    has_read = None if modified is None else kept.has_read(modified)
    if answer.pending or answer.last_downloaded is None:
        return "not read yet"
    if has_read is False:
        return "not read since the publication"
    if has_read:
        return "has read what is published"
    return clean(answer.status or "read", 80)


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
