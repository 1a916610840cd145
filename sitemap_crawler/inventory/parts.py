"""Pages in the inventory that only show what a page above them in their path shows, see `traps/parts.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, select

from sitemap_crawler.inventory.page_texts import IS_LISTABLE
from sitemap_crawler.inventory.schema import UrlState, observations, page_texts, urls
from sitemap_crawler.inventory.sql import SET_STATE, batches_of_urls, chunks, url_key
from sitemap_crawler.traps.parts import MIN_PAGES, MIN_PARTS, NEARLY_ALL, PartShapes, is_part, may_be_part, pages_above

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sqlalchemy import Connection, Select

    from sitemap_crawler.traps.detector import TrapDetector


def refuse_parts(connection: Connection, traps: TrapDetector) -> None:
    """Refuse the fetched pages that only show what a page above them shows. Those that sitemaps name stay."""
    compared = _pages().where(page_texts.c.texts.is_not(None))
    if len(connection.execute(compared.with_only_columns(urls.c.id).limit(MIN_PAGES)).all()) < MIN_PAGES:
        return
    shapes = PartShapes()
    for row, above in _pages_with_those_above(connection, compared):
        if above is not None:
            shapes.add(row.url, row.texts, _images(row))
    for row, above in _pages_with_those_above(connection, compared):
        if above is None or above.texts is not None:
            shapes.count(row.url, row.title, is_part=above is not None and _is_part(row, above, shapes))
    if not shapes.are_proven:
        return
    of_shapes = _pages().where(urls.c.depth > 0, urls.c.named.is_(None))
    refused = [
        row.id
        for row, above in _pages_with_those_above(connection, of_shapes)
        if above is not None and _is_left_out(row, above, shapes) and traps.applies(row.url)
    ]
    for chunk in chunks(refused):
        SET_STATE.execute(connection, [{"b_id": url_id, "b_state": int(UrlState.SAME)} for url_id in chunk])


def page_above(connection: Connection, url: str, title: str | None) -> str | None:
    """Return the URL of the nearest page above a page that has its title, or None."""
    found = _find(connection, pages_above(url))
    return next((above for above in pages_above(url) if above in found and found[above].title == title), None)


def _pages() -> Select[Any]:
    """Return the query of the fetched pages without parameters that may be listed, with their texts if they are known.

    The texts of a page that has changed since it was compared are not.
    """
    seen = observations.c
    is_known = and_(page_texts.c.url_id == urls.c.id, page_texts.c.fingerprint == seen.fingerprint)
    query = select(urls.c.id, urls.c.url, seen.title, seen.extras, page_texts.c.texts)
    query = query.join(observations, seen.url_id == urls.c.id).outerjoin(page_texts, is_known)
    return query.where(
        seen.status == 200, IS_LISTABLE, urls.c.state == int(UrlState.ADMITTED), ~urls.c.url.contains("?")
    )


def _pages_with_those_above(connection: Connection, query: Select[Any]) -> Iterator[tuple[Any, Any | None]]:
    """Yield the pages of a query that may be parts, each with the nearest page above it that has its title, or None."""
    for rows in batches_of_urls(connection, query):
        pages = [(row, pages_above(row.url)) for row in rows if row.title is not None and may_be_part(row.url)]
        found = _find(connection, {url for _, above in pages for url in above})
        for row, above in pages:
            titled = (found[url] for url in above if url in found and found[url].title == row.title)
            yield row, next(titled, None)


def _find(connection: Connection, wanted: Iterable[str]) -> Mapping[str, Any]:
    keys = [url_key(url) for url in wanted]
    return {row.url: row for chunk in chunks(keys) for row in connection.execute(_pages().where(urls.c.key.in_(chunk)))}


def _is_left_out(row: Any, above: Any, shapes: PartShapes) -> bool:
    """Return whether a page is left out. If their texts are not known, nearly all pages of its kind must be parts."""
    if row.texts is None or above.texts is None:
        return shapes.is_proven(row.url, NEARLY_ALL)
    return shapes.is_proven(row.url, MIN_PARTS) and _is_part(row, above, shapes)


def _is_part(row: Any, above: Any, shapes: PartShapes) -> bool:
    template = shapes.template_of(row.url)
    return is_part(row.texts, _images(row), of_texts=above.texts, of_images=_images(above), template=template)


def _images(row: Any) -> list[str]:
    images: list[str] = (row.extras or {}).get("images", [])
    return images
