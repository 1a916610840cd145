"""Fetched pages that only repeat others, in the inventory. Those are refused at the end that are not to be listed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from sitemap_crawler.extract.content.blocks import MAX_TEXTS_BYTES
from sitemap_crawler.inventory.dialects import Position
from sitemap_crawler.inventory.page_texts import IS_LISTABLE, read_canonicals
from sitemap_crawler.inventory.repeats import left_out_shapes
from sitemap_crawler.inventory.runs import SAW_EVERYTHING
from sitemap_crawler.inventory.schema import UrlState, decisions, observations, page_texts, runs, urls
from sitemap_crawler.inventory.sql import SET_STATE, STREAM_ROWS, batches_of_urls, chunks, url_key
from sitemap_crawler.items import NoteKind
from sitemap_crawler.traps.same_pages import SamePages
from sitemap_crawler.traps.shapes import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Select

    from sitemap_crawler.traps.detector import TrapDetector

LEFT_OUT_SHARE = 0.1
"""Number of URLs of a shape that were left out, for each fetched page of it that has shown nothing new.

If there are less, these pages stay.
"""


def left_out_repeats(connection: Connection, traps: TrapDetector, *, before: int) -> bool:
    """Return whether the last run before a run has left out the pages that only repeated others.

    One that `--max-pages` has ended may have listed them: it had not seen enough of their shapes.
    """
    ended = select(runs.c.ended_by).where(runs.c.id < before, runs.c.ended_by.is_not(None)).order_by(runs.c.id.desc())
    return connection.scalar(ended.limit(1)) == SAW_EVERYTHING or bool(traps.yields.left_out.earlier_shapes)


def refuse_repeating(connection: Connection, traps: TrapDetector, *, run: int) -> None:
    """Refuse the fetched pages that have shown nothing new, and whose group is refused or was left out.

    Those that the run before has listed stay if only their shape was left out.
    """
    left_out = left_out_shapes(connection)
    if not left_out and not traps.yields.leaves_out:
        return
    fetched = Counter(shape_of(row.url).groups[0] for rows in _repeating_pages(connection) for row in rows)
    shapes = {shape for shape, number in left_out.items() if number >= LEFT_OUT_SHARE * fetched[shape]}
    shapes |= traps.yields.left_out.earlier_shapes
    stays = left_out_repeats(connection, traps, before=run)
    for rows in _repeating_pages(connection):
        traps_of_rows = [
            (row, traps.left_out_as(row.url, shapes=() if stays and row.decision == "listed" else shapes))
            for row in rows
        ]
        states = [{"b_id": row.id, "b_state": int(trap)} for row, trap in traps_of_rows if trap is not None]
        SET_STATE.execute(connection, states)


def _repeating_pages(connection: Connection) -> Iterator[list[Any]]:
    """Yield the fetched pages that have shown nothing new, in batches, with the decisions of the run before."""
    exempt = (urls.c.depth == 0) | urls.c.named.is_not(None)
    noted = observations.c.notes.is_not(None) & (urls.c.state == int(UrlState.ADMITTED)) & ~exempt
    query = select(urls.c.id, urls.c.url, observations.c.notes, decisions.c.decision)
    query = query.join(observations, observations.c.url_id == urls.c.id)
    query = query.outerjoin(decisions, decisions.c.url_id == urls.c.id)
    for rows in batches_of_urls(connection, query.where(noted)):
        yield [row for row in rows if NoteKind.REPEATS in row.notes]


def refuse_alike(connection: Connection, traps: TrapDetector) -> None:
    """Refuse the fetched pages of endless patterns that show what earlier ones show, but for dates."""
    exempt = (urls.c.depth == 0) | urls.c.named.is_not(None)
    noted = observations.c.notes.is_not(None) & (urls.c.state == int(UrlState.ADMITTED)) & ~exempt
    query = select(urls.c.id, urls.c.url, observations.c.notes).join(observations, observations.c.url_id == urls.c.id)
    for rows in batches_of_urls(connection, query.where(noted)):
        alike = [row.id for row in rows if NoteKind.ALIKE in row.notes and traps.is_endless(row.url)]
        SET_STATE.execute(connection, [{"b_id": url_id, "b_state": int(UrlState.ENDLESS)} for url_id in alike])


def refuse_same(connection: Connection, traps: TrapDetector) -> None:
    """Refuse the fetched pages with parameters that show what simpler URLs of the same path show."""
    path = func.substr(urls.c.url, 1, Position(urls.c.url, "?") - 1)
    parameters = func.length(urls.c.url) - func.length(func.replace(urls.c.url, "&", ""))
    pages = listable_pages(UrlState.ADMITTED).where(urls.c.url.contains("?"))
    pages = pages.order_by(path, parameters, func.length(urls.c.url), urls.c.url)
    believed = read_canonicals(connection).are_believed
    same: list[int] = []
    of_path, current = SamePages(), ""
    stream = connection.execute(pages, execution_options={"yield_per": STREAM_ROWS})
    for rows in stream.partitions():
        plain = plain_pages(connection, rows)
        texts = texts_of_pages(connection, [*rows, *plain.values()])
        for row in rows:
            if (path_of_row := _path(row.url)) != current:
                of_path, current = SamePages(), path_of_row
                if (first := plain.get(current)) is not None:
                    of_path.add(first.url, first.fingerprint, texts.get(first.id), first.title)
            page_texts_of_row = texts.get(row.id)
            is_whole = page_texts_of_row is not None and len(page_texts_of_row) < MAX_TEXTS_BYTES
            is_canonical = believed and row.canonical == row.id
            known_texts = page_texts_of_row if is_whole else None
            repeats = of_path.repeats(row.url, row.fingerprint, known_texts, row.title, is_canonical=is_canonical)
            if repeats and row.named is None and traps.applies(row.url):
                same.append(row.id)
            else:
                of_path.add(row.url, row.fingerprint, page_texts_of_row, row.title)
    for chunk in chunks(same):
        SET_STATE.execute(connection, [{"b_id": url_id, "b_state": int(UrlState.SAME)} for url_id in chunk])


def listable_pages(*states: UrlState) -> Select[Any]:
    """Return the query of the fetched pages in some states that their own directives do not keep out of the sitemap."""
    seen = observations.c
    columns = select(urls.c.id, urls.c.url, urls.c.named, seen.fingerprint, seen.canonical, seen.title)
    return columns.join(observations, seen.url_id == urls.c.id).where(
        seen.status == 200, IS_LISTABLE, urls.c.state.in_(map(int, states))
    )


def plain_pages(connection: Connection, rows: Sequence[Any]) -> dict[str, Any]:
    """Return the pages without parameters of the paths of some pages, by path.

    If such a page has shown nothing new and is left out for it, so do those that show the same.
    """
    keys = [url_key(path) for path in {_path(row.url) for row in rows}]
    query = listable_pages(UrlState.ADMITTED, UrlState.REPEATS, UrlState.EXHAUSTED)
    return {row.url: row for chunk in chunks(keys) for row in connection.execute(query.where(urls.c.key.in_(chunk)))}


def texts_of_pages(connection: Connection, rows: Sequence[Any]) -> dict[int, bytes]:
    """Return the texts of those pages whose texts are known and have not changed since, by id."""
    known: dict[int, bytes] = {}
    columns = (page_texts.c.url_id, page_texts.c.texts)
    unchanged = observations.c.fingerprint == page_texts.c.fingerprint
    query = select(*columns).join(observations, observations.c.url_id == page_texts.c.url_id).where(unchanged)
    for chunk in chunks([row.id for row in rows]):
        found = connection.execute(query.where(page_texts.c.url_id.in_(chunk)))
        known.update((row.url_id, row.texts) for row in found)
    return known


def _path(url: str) -> str:
    return url.partition("?")[0]
