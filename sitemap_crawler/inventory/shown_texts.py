"""The texts that the pages of a site have shown, stored with each batch: a killed run goes on with what it knew."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from sitemap_crawler.inventory.dialects import insert
from sitemap_crawler.inventory.schema import UrlState, observations, page_texts, shown_texts, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS, RowStatement
from sitemap_crawler.traps.yields import MAX_LINKS, MAX_TITLES, Text, owner_of, title_number

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from sitemap_crawler.traps.detector import TrapDetector

_new = insert(shown_texts)
_SAVE = RowStatement(
    _new.on_conflict_do_update(
        index_elements=[shown_texts.c.hash],
        set_={name: _new.excluded[name] for name in ("run", "pages", "url_id")},
    ),
    ("hash", "run", "pages", "url_id"),
    joins=True,
)


_page = insert(page_texts)
_SAVE_PAGE = RowStatement(
    _page.on_conflict_do_update(
        index_elements=[page_texts.c.url_id], set_={name: _page.excluded[name] for name in ("run", "blocks")}
    ),
    ("url_id", "run", "blocks"),
    joins=True,
)


def store_shown_texts(connection: Connection, traps: TrapDetector, *, run: int) -> None:
    """Store the texts that pages have shown since the last call."""
    pages = traps.yields.unsaved_pages.items()
    _SAVE_PAGE.execute(connection, [{"url_id": page, "run": run, "blocks": blocks} for page, blocks in pages])
    _SAVE.execute(
        connection,
        [
            # All processes lock the rows in the same order.
            {"hash": block, "run": run, "pages": text.pages, "url_id": text.owner.id}
            for block, text in sorted(traps.yields.unsaved.items(), key=itemgetter(0))
        ],
    )


def load_shown(connection: Connection, traps: TrapDetector, *, run: int, resumed: bool) -> None:
    """Load what earlier runs have seen and, for a run that is resumed, what its earlier processes have seen."""
    yields = traps.yields
    stream = partial(connection.execute, execution_options={"yield_per": STREAM_ROWS})
    for (block,) in stream(select(shown_texts.c.hash).where(shown_texts.c.run != run)):
        yields.earlier.add(block)
    if not resumed:
        connection.execute(delete(page_texts))
        return
    shown = shown_texts.c
    query = select(shown.hash, shown.pages, urls.c.id, urls.c.url).join(urls, urls.c.id == shown.url_id)
    for block, pages, url_id, url in stream(query.where(shown.run == run).order_by(shown.hash)):
        yields.restore_text(block, Text(owner_of(url_id, url), pages))
    titles = select(observations.c.title).where(observations.c.run == run, observations.c.title.is_not(None))
    yields.titles.update(title_number(title) for (title,) in stream(titles.limit(MAX_TITLES)))
    plain = select(urls.c.url).where(~urls.c.url.contains("?")).order_by(urls.c.id).limit(MAX_LINKS)
    yields.restore_links(url for (url,) in stream(plain))
    admitted = select(urls.c.url).where(urls.c.state == int(UrlState.ADMITTED), urls.c.depth > 0)
    for (url,) in stream(admitted.order_by(urls.c.id)):
        traps.turn_of(url)
