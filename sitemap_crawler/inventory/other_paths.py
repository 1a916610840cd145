"""Pages with parameters of an address that is no page, which show what a listed page of a longer path shows.

The lists of a forum link the second page of a topic as `/topic/12?page=2`, and the topic itself, `/topic/12-name`, as
`/topic/12-name?page=2`. Pages of quite another path stay, such as those of an archive.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from sitemap_crawler.inventory.repeats import listable_pages, plain_pages, texts_of_pages
from sitemap_crawler.inventory.schema import UrlState, observations, urls
from sitemap_crawler.inventory.sql import SET_STATE, batches_of_urls, chunks
from sitemap_crawler.traps.shown_texts import MIN_CHARACTERS, numbers_and_weights

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from sitemap_crawler.traps.detector import TrapDetector

MAX_PAGES = 200_000
"""Maximum number of pages with parameters that are compared."""


def refuse_other_paths(connection: Connection, traps: TrapDetector) -> None:
    """Refuse the fetched pages with parameters whose path is no page, and which equal a page of a longer path.

    That path begins with theirs, and is a page. That page has the same parameters, or none. Pages that sitemaps name
    stay.
    """
    pages = listable_pages(UrlState.ADMITTED).where(observations.c.title.is_not(None))
    with_parameters = pages.where(urls.c.url.contains("?"), urls.c.named.is_(None))
    candidates: defaultdict[bytes, list[Any]] = defaultdict(list)
    number = 0
    for rows in batches_of_urls(connection, with_parameters):
        plain = plain_pages(connection, rows)
        texts = texts_of_pages(connection, rows)
        for row in rows:
            is_page = row.url.partition("?")[0] in plain
            if not is_page and _has_content(texts.get(row.id)) and number < MAX_PAGES and traps.applies(row.url):
                candidates[row.fingerprint].append(row)
                number += 1
    if not candidates:
        return
    same: set[int] = set()
    for rows in batches_of_urls(connection, pages):
        alike = [row for row in rows if row.fingerprint in candidates]
        plain = plain_pages(connection, alike)
        for row in alike:
            path, mark, query = row.url.partition("?")
            if not mark or path in plain:
                same.update(
                    other.id
                    for other in candidates[row.fingerprint]
                    if other.title == row.title and _is_longer(path, query, than=other.url)
                )
    for chunk in chunks(sorted(same)):
        SET_STATE.execute(connection, [{"b_id": url_id, "b_state": int(UrlState.SAME)} for url_id in chunk])


def _is_longer(path: str, query: str, *, than: str) -> bool:
    """Return whether a path begins with that of a URL, and the query is that of the URL or empty."""
    shorter, _, other_query = than.partition("?")
    return path.startswith(shorter) and query in ("", other_query)


def _has_content(texts: bytes | None) -> bool:
    """Return whether a page with these texts, if they are known, shows more than the shell of its scripts."""
    return texts is not None and sum(weight for _, weight in numbers_and_weights(texts)) >= MIN_CHARACTERS
