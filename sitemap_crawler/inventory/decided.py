"""Keeps the decisions as they were, for what is only tried out."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import text

from sitemap_crawler.inventory.schema import decisions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection


@dataclass(slots=True)
class Kept:
    renewed: bool = False
    """Whether the new decisions stay."""


@contextmanager
def decisions_kept(connection: Connection) -> Iterator[Kept]:
    """Put the decisions back at the end, unless they are said to be renewed; after a kill `write` makes them again."""
    kept = Kept()
    with connection.begin():
        connection.execute(text(f"CREATE TEMPORARY TABLE kept_decisions AS SELECT * FROM {decisions.name}"))  # noqa: S608
    yield kept
    with connection.begin():
        if not kept.renewed:
            connection.execute(decisions.delete())
            connection.execute(text(f"INSERT INTO {decisions.name} SELECT * FROM kept_decisions"))  # noqa: S608
        connection.execute(text("DROP TABLE kept_decisions"))
