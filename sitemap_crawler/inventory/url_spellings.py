"""The migration to one spelling of each URL: that of the sitemap, with all characters escaped that RFC 3986 forbids.

Earlier versions stored `/?a[]=1` and `/?a%5B%5D=1` as two URLs, and wrote both as the second one. Like every step of a
past version, this one never changes, and uses no table of `schema.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlalchemy import JSON, column, delete, select, table, update

from sitemap_crawler.inventory.sql import decode_links, encode_links, url_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, TableClause

_FORBIDDEN = re.compile(r"[\[\\\]^`{|}]")
_ORIGIN = re.compile(r"[a-z]+://[^/]*")
_ADMITTED, _KNOWN = 3, 0

_urls = table("urls", *map(column, ("id", "url", "key", "state", "referrer")))
_observations = table(
    "observations", *map(column, ("url_id", "location", "refresh", "canonical", "links")), column("alternates", JSON)
)
_named_alternates = table("named_alternates", column("url_id"), column("alternates", JSON))
_OTHERS = (
    "frontier", "decisions", "clusters", "named_dates", "supplied", "added_urls", "changes", "page_texts", "listings",
    "submitted_urls", "inspections",
)  # fmt: skip
_OF_URLS = (_observations, _named_alternates, *[table(name, column("url_id")) for name in _OTHERS])
"""Tables with rows of a URL."""
_nofollowed = table("nofollowed", column("referrer"))
_REFERENCES = (
    (_urls, "referrer"), (_nofollowed, "referrer"), (_observations, "location"), (_observations, "refresh"),
    (_observations, "canonical"),
)  # fmt: skip
"""Columns with the id of another URL."""


def write_urls_one_way(connection: Connection) -> None:
    """Give URLs the spelling that sitemaps have, and join those that are one URL then."""
    query = select(_urls.c.id, _urls.c.url).order_by(_urls.c.id)
    rows = connection.execute(query, execution_options={"yield_per": 10_000})
    changed = [(row.id, written) for row in rows if (written := _written(row.url)) != row.url]
    joined: dict[int, int] = {}
    for url_id, url in changed:
        key = url_key(url)
        known = connection.scalar(select(_urls.c.id).where(_urls.c.key == key))
        if known is None:
            connection.execute(update(_urls).where(_urls.c.id == url_id).values(url=url, key=key))
        else:
            joined[url_id] = known
    for old, new in joined.items():
        _join(connection, old, new)
    if joined:
        _join_links(connection, joined)
        for pages in (_observations, _named_alternates):
            _join_alternates(connection, pages, joined)


def _written(url: str) -> str:
    origin = _ORIGIN.match(url)
    start = origin.end() if origin else 0
    return url[:start] + _FORBIDDEN.sub(lambda match: f"%{ord(match[0]):02X}", url[start:])


def _join(connection: Connection, old: int, new: int) -> None:
    """Make a URL the one that has its place. What is stored of that one wins."""
    for rows in _OF_URLS:
        is_known = connection.scalar(select(rows.c.url_id).where(rows.c.url_id == new).limit(1)) is not None
        of_old = rows.c.url_id == old
        connection.execute(delete(rows).where(of_old) if is_known else update(rows).where(of_old).values(url_id=new))
    for rows, name in _REFERENCES:
        connection.execute(update(rows).where(rows.c[name] == old).values({name: new}))
    # It is admitted if either of them is.
    if connection.scalar(select(_urls.c.state).where(_urls.c.id == old)) == _ADMITTED:
        is_other = (_urls.c.id == new) & (_urls.c.state == _KNOWN)
        connection.execute(update(_urls).where(is_other).values(state=_ADMITTED))
    connection.execute(delete(_urls).where(_urls.c.id == old))


def _join_links(connection: Connection, joined: Mapping[int, int]) -> None:
    pages = select(_observations.c.url_id, _observations.c.links).where(_observations.c.links.is_not(None))
    for url_id, links in connection.execute(pages).all():
        ids = list(decode_links(links))
        if any(link in joined for link in ids):
            blob = encode_links(joined.get(link, link) for link in ids)
            connection.execute(update(_observations).where(_observations.c.url_id == url_id).values(links=blob))


def _join_alternates(connection: Connection, pages: TableClause, joined: Mapping[int, int]) -> None:
    for url_id, pairs in connection.execute(select(pages.c.url_id, pages.c.alternates)).all():
        if pairs and any(other in joined for _, other in pairs):
            alternates = [[code, joined.get(other, other)] for code, other in pairs]
            connection.execute(update(pages).where(pages.c.url_id == url_id).values(alternates=alternates))
