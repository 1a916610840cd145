"""The texts of pages, stored with their observations, so that killed runs and later runs know them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from sitemap_crawler.inventory.dialects import insert
from sitemap_crawler.inventory.runs import SAW_EVERYTHING
from sitemap_crawler.inventory.schema import UrlState, decisions, observations, page_texts, runs, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS, RowStatement
from sitemap_crawler.items import NoteKind
from sitemap_crawler.traps.canonicals import Canonicals
from sitemap_crawler.traps.met_links import MAX_LINKS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from sitemap_crawler.items import Observation
    from sitemap_crawler.traps.detector import TrapDetector

MAX_PAGES = 100_000
"""Maximum number of pages whose texts a process stores. Each takes up to 8 kB, a usual one less than 1 kB."""
IS_LISTABLE = ~observations.c.noindex & or_(
    observations.c.canonical.is_(None), observations.c.canonical == observations.c.url_id
)
"""Condition for a page that does not itself ask to be left out of the sitemap, see `Page.is_listable`."""
_COLUMNS = ("url_id", "run", "texts", "fingerprint")


def _upsert() -> RowStatement:
    new = insert(page_texts)
    values = {name: new.excluded[name] for name in _COLUMNS[1:]}
    return RowStatement(new.on_conflict_do_update(index_elements=["url_id"], set_=values), _COLUMNS, joins=True)


_UPSERT = _upsert()


class PageTextsWriter:
    """Writer of the texts of the pages that a run reads."""

    def __init__(self, connection: Connection, run: int) -> None:
        self._connection = connection
        self._run = run
        self._pages = 0

    def write(self, observed: Iterable[Observation]) -> None:
        """Store the texts of those pages that were compared with others."""
        rows = [
            {"url_id": seen.url_id, "run": self._run, "texts": seen.texts, "fingerprint": seen.fingerprint}
            for seen in observed
            if seen.texts is not None
        ]
        rows = rows[: MAX_PAGES - self._pages]
        self._pages += len(rows)
        _UPSERT.execute(self._connection, rows)


def read_canonicals(connection: Connection) -> Canonicals:
    """Return what is known of the canonical URLs that pages with parameters name."""
    canonicals = Canonicals()
    named = urls.alias()
    query = select(urls.c.url, named.c.url.label("canonical"), IS_LISTABLE.label("is_listable"))
    query = query.join(observations, observations.c.url_id == urls.c.id)
    query = query.outerjoin(named, named.c.id == observations.c.canonical)
    query = query.where(observations.c.status == 200, urls.c.url.contains("?")).order_by(urls.c.id).limit(MAX_LINKS)
    for row in connection.execute(query, execution_options={"yield_per": STREAM_ROWS}):
        canonicals.count(row.url, row.canonical, is_listable=row.is_listable)
    return canonicals


def load_known_pages(connection: Connection, traps: TrapDetector, *, run: int, resumed: bool) -> None:
    """Load what pages have shown in earlier runs and, for a run that is resumed, in its earlier processes."""
    yields = traps.yields
    yields.canonicals = read_canonicals(connection)
    stream = partial(connection.execute, execution_options={"yield_per": STREAM_ROWS})
    for (texts,) in stream(select(page_texts.c.texts).where(page_texts.c.run != run)):
        yields.texts.add_earlier(texts)
    plain = select(urls.c.url).where(~urls.c.url.contains("?")).order_by(urls.c.id).limit(MAX_LINKS)
    yields.links.add_earlier(url for (url,) in stream(plain.where(urls.c.first_seen != run)))
    listed = select(urls.c.url, observations.c.notes).join(decisions, decisions.c.url_id == urls.c.id)
    listed = listed.join(observations, observations.c.url_id == urls.c.id)
    listed = listed.where(decisions.c.decision == "listed").order_by(urls.c.id).limit(MAX_LINKS)
    traps.keep(url for url, _ in stream(listed))
    canonical = urls.alias()
    named = select(urls.c.url, canonical.c.url).join(observations, observations.c.url_id == urls.c.id)
    named = named.join(canonical, canonical.c.id == observations.c.canonical).order_by(urls.c.id).limit(MAX_LINKS)
    gives_way = (observations.c.canonical != observations.c.url_id) & ~observations.c.noindex
    for url, other in stream(named.where(gives_way, observations.c.status == 200)):
        yields.named.add(other, url=url)
    ended = select(runs.c.ended_by).where(runs.c.id < run, runs.c.ended_by.is_not(None)).order_by(runs.c.id.desc())
    # A run that a limit ended may list pages that it knew to repeat others.
    knows_repeats = connection.scalar(ended.limit(1)) == SAW_EVERYTHING
    for url, notes in stream(listed.where(urls.c.url.contains("?"))):
        if NoteKind.REPEATS not in (notes or ()):
            yields.earlier_pages.add(hash(url))
        elif knows_repeats:
            yields.earlier_repeats.add(hash(url))
    if not resumed:
        return
    seen, shown = observations.c, page_texts.c
    query = select(urls.c.url, shown.texts, seen.title, IS_LISTABLE.label("is_listable"))
    query = query.join(observations, seen.url_id == shown.url_id).join(urls, urls.c.id == shown.url_id)
    for row in stream(query.where(shown.run == run).order_by(shown.url_id)):
        yields.restore_page(row.url, row.texts, row.title, is_listable=row.is_listable)
    yields.links.restore(url for (url,) in stream(plain.where(urls.c.first_seen == run)))
    admitted = select(urls.c.url).where(urls.c.state == int(UrlState.ADMITTED), urls.c.depth > 0)
    for (url,) in stream(admitted.order_by(urls.c.id)):
        traps.turn_of(url)
