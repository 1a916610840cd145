"""The pages of one host among those of an inventory."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, text, true

from sitemap_crawler.inventory.schema import UrlState, decisions, listings, urls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, Connection, Select


def below(prefix: str | None) -> ColumnElement[bool]:
    """The rows of `urls` whose URLs begin with `prefix`, which ends in /; all without one."""
    if prefix is None:
        return true()
    # 0 is what follows / in ASCII.
    return (urls.c.url >= prefix) & (urls.c.url < prefix[:-1] + "0")


@contextmanager
def urls_sorted(connection: Connection) -> Iterator[None]:
    """An index for `below`, which would else look at all URLs for each host; it would nearly double the file."""
    with connection.begin():
        connection.execute(text("CREATE INDEX IF NOT EXISTS urls_by_url ON urls (url)"))
    try:
        yield
    finally:
        with connection.begin():
            connection.execute(text("DROP INDEX IF EXISTS urls_by_url"))


def admitted_hosts(connection: Connection) -> Iterator[str]:
    """The hosts of which URLs are or were to be fetched, by `scheme://host[:port]/`."""
    with connection.begin():
        query = _by_host().where(urls.c.state != int(UrlState.KNOWN))
        yield from [row[0] for row in connection.execute(query)]


def listed_by_host(connection: Connection) -> dict[str, int]:
    """How many pages are decided to be listed, by `scheme://host[:port]/`."""
    query = _by_host().join(decisions, decisions.c.url_id == urls.c.id)
    return _count(connection, query.where(decisions.c.decision == "listed"))


def published_by_host(connection: Connection) -> dict[str, int]:
    """The same of the last published set."""
    return _count(connection, _by_host().join(listings, listings.c.url_id == urls.c.id))


def _by_host() -> Select[Any]:
    # No URL has its first / after the scheme's before its ninth character.
    prefix = func.substr(urls.c.url, 1, func.instr(func.substr(urls.c.url, 9), "/") + 8)
    return select(prefix.label("prefix"), func.count()).select_from(urls).group_by("prefix")


def _count(connection: Connection, query: Select[Any]) -> dict[str, int]:
    with connection.begin():
        return {row[0]: row[1] for row in connection.execute(query)}
