"""The pages of one host among those of an inventory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, true

from sitemap_crawler.inventory.schema import decisions, listings, urls

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select


def below(prefix: str | None) -> ColumnElement[bool]:
    """The rows of `urls` whose URLs begin with `prefix`, which ends in /; all without one."""
    if prefix is None:
        return true()
    # 0 is what follows / in ASCII.
    return (urls.c.url >= prefix) & (urls.c.url < prefix[:-1] + "0")


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
