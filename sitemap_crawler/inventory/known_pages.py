"""What pages have shown in earlier runs and in earlier processes of the run. A process loads it when it begins."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from sitemap_crawler.inventory.page_texts import IS_LISTABLE, read_canonicals
from sitemap_crawler.inventory.repeated_pages import left_out_repeats
from sitemap_crawler.inventory.schema import UrlState, decisions, observations, page_texts, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS
from sitemap_crawler.items import NoteKind
from sitemap_crawler.traps.met_links import MAX_LINKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Select

    from sitemap_crawler.traps.detector import TrapDetector

_HAS_PARAMETERS = urls.c.url.contains("?")
_PLAIN = select(urls.c.url).where(~_HAS_PARAMETERS).order_by(urls.c.id).limit(MAX_LINKS)
"""The URLs without parameters."""


def load_known_pages(connection: Connection, traps: TrapDetector, *, run: int, resumed: bool) -> None:
    """Load what pages have shown in earlier runs and, for a run that is resumed, in its earlier processes."""
    traps.yields.canonicals = read_canonicals(connection)
    for (texts,) in _stream(connection, select(page_texts.c.texts).where(page_texts.c.run != run)):
        traps.yields.texts.add_earlier(texts)
    earlier = _stream(connection, _PLAIN.where(urls.c.first_seen != run))
    traps.yields.links.add_earlier(url for (url,) in earlier)
    _load_canonicals(connection, traps)
    _load_listed(connection, traps, run=run)
    if resumed:
        _load_pages_of_run(connection, traps, run=run)


def _load_canonicals(connection: Connection, traps: TrapDetector) -> None:
    canonical = urls.alias()
    named = select(urls.c.url, canonical.c.url).join(observations, observations.c.url_id == urls.c.id)
    named = named.join(canonical, canonical.c.id == observations.c.canonical).order_by(urls.c.id).limit(MAX_LINKS)
    gives_way = (observations.c.canonical != observations.c.url_id) & ~observations.c.noindex
    for url, other in _stream(connection, named.where(gives_way, observations.c.status == 200)):
        traps.yields.named.add(other, url=url)


def _load_listed(connection: Connection, traps: TrapDetector, *, run: int) -> None:
    """Load the URLs that the run before has listed. They stay, and are the first ones of their paths."""
    yields = traps.yields
    # Paths of which this run may not admit the URL without parameters. The others are not the first ones there.
    passed_over = urls.c.state.in_((int(UrlState.EXHAUSTED), int(UrlState.NOT_DUE)))
    for (url,) in _stream(connection, _PLAIN.where(passed_over)):
        yields.admitted.add_earlier(url)
    has_left_out = left_out_repeats(connection, traps, before=run)
    listed = select(urls.c.url, observations.c.notes).join(decisions, decisions.c.url_id == urls.c.id)
    listed = listed.join(observations, observations.c.url_id == urls.c.id)
    listed = listed.where(decisions.c.decision == "listed").order_by(urls.c.id).limit(MAX_LINKS)
    for url, notes in chain(*(_stream(connection, listed.where(kind)) for kind in (~_HAS_PARAMETERS, _HAS_PARAMETERS))):
        traps.keep(url)
        yields.admitted.add_earlier(url)
        if "?" not in url:
            # It is left out with its shape only.
            continue
        if NoteKind.REPEATS not in (notes or ()):
            yields.earlier_pages.add(hash(url))
        elif has_left_out:
            yields.earlier_repeats.add(hash(url))


def _load_pages_of_run(connection: Connection, traps: TrapDetector, *, run: int) -> None:
    """Load what the pages of a run have shown, the links that it has met, and the URLs that it has admitted."""
    seen, shown = observations.c, page_texts.c
    query = select(urls.c.url, shown.texts, seen.title, IS_LISTABLE.label("is_listable"))
    query = query.join(observations, seen.url_id == shown.url_id).join(urls, urls.c.id == shown.url_id)
    for row in _stream(connection, query.where(shown.run == run).order_by(shown.url_id)):
        traps.yields.restore_page(row.url, row.texts, row.title, is_listable=row.is_listable)
    traps.yields.links.restore(url for (url,) in _stream(connection, _PLAIN.where(urls.c.first_seen == run)))
    admitted = select(urls.c.url).where(urls.c.state == int(UrlState.ADMITTED), urls.c.depth > 0)
    for (url,) in _stream(connection, admitted.order_by(urls.c.id)):
        traps.turn_of(url)


def _stream(connection: Connection, query: Select[Any]) -> Iterator[Any]:
    yield from connection.execute(query, execution_options={"yield_per": STREAM_ROWS})
