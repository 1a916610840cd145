"""Pages with parameters of an address that is no page, which show what a listed page of another path shows.

The lists of a forum link the second page of a topic as `/topic/12?page=2`, and the topic itself, `/topic/12-name`, as
`/topic/12-name?page=2`. Or they link the topic below another forum, as `/birds/topic-12?post=3`. Pages of quite another
path stay, such as those of an archive.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from sitemap_crawler.inventory.repeated_pages import listable_pages, plain_pages, texts_of_pages
from sitemap_crawler.inventory.schema import UrlState, observations, urls
from sitemap_crawler.inventory.sql import SET_STATE, batches_of_urls, chunks
from sitemap_crawler.traps.shown_texts import MIN_CHARACTERS, numbers_and_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from sitemap_crawler.traps.detector import TrapDetector

MAX_PAGES = 200_000
"""Maximum number of pages with parameters that are compared."""


class _Candidates:
    """The pages that may give way to a page of another path, each looked up and taken once."""

    def __init__(self) -> None:
        self.fingerprints: set[bytes] = set()
        self._queries: defaultdict[tuple[bytes, str, str], dict[str, int]] = defaultdict(dict)
        """The identifiers by fingerprint, title and path, and by query."""
        self._names: defaultdict[tuple[bytes, str, str], list[int]] = defaultdict(list)
        """The identifiers by fingerprint, title and the last segment of the path."""
        self._number = 0

    def add(self, row: Any) -> None:
        """Add the row of a page, if there are fewer than MAX_PAGES."""
        if self._number < MAX_PAGES:
            path, _, query = row.url.partition("?")
            self._queries[row.fingerprint, row.title, path][query] = row.id
            if name := _last_segment(path):
                self._names[row.fingerprint, row.title, name].append(row.id)
            self.fingerprints.add(row.fingerprint)
            self._number += 1

    def taken_by(self, row: Any) -> Iterator[int]:
        """Yield the identifiers of the pages that give way to the page of a row, and forget them.

        They have its content and its title. Its path begins with theirs, and its query is theirs or empty; or it has no
        query, and its path ends with the same segment.
        """
        path, _, query = row.url.partition("?")
        for end in range(1, len(path)):
            queries = self._queries.get((row.fingerprint, row.title, path[:end]), {})
            if not query:
                yield from queries.values()
                queries.clear()
            elif query in queries:
                yield queries.pop(query)
        if not query and (name := _last_segment(path)):
            yield from self._names.pop((row.fingerprint, row.title, name), ())


def _last_segment(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def refuse_other_paths(connection: Connection, traps: TrapDetector) -> None:
    """Refuse the fetched pages with parameters whose path is no page, and which equal a page of another path.

    That path begins with theirs, and is a page, and that page has the same parameters or none. Or that path ends with
    the same segment, and that page has no parameters. Pages that sitemaps name stay.
    """
    pages = listable_pages(UrlState.ADMITTED).where(observations.c.title.is_not(None))
    with_parameters = pages.where(urls.c.url.contains("?"), urls.c.named.is_(None))
    candidates = _Candidates()
    for rows in batches_of_urls(connection, with_parameters):
        plain = plain_pages(connection, rows)
        texts = texts_of_pages(connection, rows)
        for row in rows:
            is_page = row.url.partition("?")[0] in plain
            if not is_page and _has_content(texts.get(row.id)) and traps.applies(row.url):
                candidates.add(row)
    if not candidates.fingerprints:
        return
    same: list[int] = []
    for rows in batches_of_urls(connection, pages):
        alike = [row for row in rows if row.fingerprint in candidates.fingerprints]
        plain = plain_pages(connection, alike)
        for row in alike:
            path, mark, _ = row.url.partition("?")
            if not mark or path in plain:
                same.extend(candidates.taken_by(row))
    for chunk in chunks(sorted(set(same))):
        SET_STATE.execute(connection, [{"b_id": url_id, "b_state": int(UrlState.SAME)} for url_id in chunk])


def _has_content(texts: bytes | None) -> bool:
    """Return whether a page with these texts, if they are known, shows more than the shell of its scripts."""
    return texts is not None and sum(weight for _, weight in numbers_and_weights(texts)) >= MIN_CHARACTERS
