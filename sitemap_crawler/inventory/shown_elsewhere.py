"""Which listed page shows what a page shows that is left out for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from sitemap_crawler.inventory.parts import page_above
from sitemap_crawler.inventory.schema import decisions, observations, page_texts, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS
from sitemap_crawler.traps.shown_texts import numbers_and_weights
from sitemap_crawler.urls.parameters import parameters_of, simplicity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import ColumnElement, Connection, Select

MAX_COMPARED = 20_000
"""Maximum number of listed pages of a path whose texts are compared."""


def listed_url_that_shows(connection: Connection, url_id: int, url: str) -> str | None:
    """Return the listed URL that shows what a page shows; None if none is found.

    Of a URL without parameters that is the page above it, otherwise the simplest one of any path with the same content.
    That of others is the simplest one of the same path with the same content, otherwise the simplest one of any path
    with it, otherwise, of the same path, the one that shows the most of its texts, at least half of them, those with
    fewer of its parameters first. Of a URL that was not fetched it is the simplest one with fewer of the parameters.
    """
    seen = observations.c
    is_plain = "?" not in url
    if is_plain:
        title = connection.scalar(select(seen.title).where(seen.url_id == url_id))
        if (above := page_above(connection, url, title)) is not None:
            return above
    listed = _listed_of_path(url.partition("?")[0])
    fingerprint = connection.scalar(select(seen.fingerprint).where(seen.url_id == url_id))
    if fingerprint is not None:
        for query in (_listed(),) if is_plain else (listed, _listed()):
            if (found := _simplest(_urls(connection, query, seen.fingerprint == fingerprint))) is not None:
                return found
    if is_plain:
        return None
    parameters = _parameters(url)
    texts = connection.scalar(select(page_texts.c.texts).where(page_texts.c.url_id == url_id))
    if texts is None:
        return _simplest(other for other in _urls(connection, listed) if _parameters(other) <= parameters)
    return _most_similar(connection, listed, dict(numbers_and_weights(texts)), parameters)


def _listed_of_path(path: str) -> Select[Any]:
    # @ follows ? in ASCII.
    return _listed().where((urls.c.url == path) | ((urls.c.url >= f"{path}?") & (urls.c.url < f"{path}@")))


def _listed() -> Select[Any]:
    """Return the query of the listed URLs, and of the texts of their pages. It has their observations."""
    query = select(urls.c.url, page_texts.c.texts).join(decisions, decisions.c.url_id == urls.c.id)
    query = query.join(observations, observations.c.url_id == urls.c.id)
    query = query.outerjoin(page_texts, page_texts.c.url_id == urls.c.id)
    return query.where(decisions.c.decision == "listed")


def _urls(connection: Connection, listed: Select[Any], *conditions: ColumnElement[bool]) -> Iterable[str]:
    query = listed.with_only_columns(urls.c.url, maintain_column_froms=True).where(*conditions)
    return connection.scalars(query, execution_options={"yield_per": STREAM_ROWS})


def _most_similar(
    connection: Connection, listed: Select[Any], weights: Mapping[int, int], parameters: frozenset[str]
) -> str | None:
    """Return the URL of the page that shows the most of these texts, given with their weights; None if of no half."""
    query = listed.where(page_texts.c.texts.is_not(None)).order_by(urls.c.url).limit(MAX_COMPARED)
    half = sum(weights.values()) / 2
    most, most_similar = (0, False), None
    for url, texts in connection.execute(query, execution_options={"yield_per": STREAM_ROWS}):
        shown = sum(weights.get(number, 0) for number, _ in numbers_and_weights(texts))
        rank = (shown, _parameters(url) <= parameters)
        if shown >= half and shown and rank > most:
            most, most_similar = rank, url
    return most_similar


def _parameters(url: str) -> frozenset[str]:
    query = url.partition("?")[2]
    return frozenset(parameters_of(query)) if query else frozenset()


def _simplest(candidates: Iterable[str]) -> str | None:
    return min(candidates, key=lambda url: (simplicity(url), url), default=None)
