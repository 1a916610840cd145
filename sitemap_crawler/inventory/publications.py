"""The files that we published, by entry file: what its next publication may replace and remove."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select

from sitemap_crawler.inventory.schema import published
from sitemap_crawler.sitemap.records import PublishedFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sqlalchemy import ColumnElement, Connection


class Publications:
    """The set of files that belongs to the entry file `entry` in `directory`."""

    def __init__(self, connection: Connection, directory: Path, entry: str) -> None:
        self._connection = connection
        self._where = {"directory": str(directory.absolute()), "entry": entry}

    def files(self) -> list[PublishedFile]:
        with self._connection.begin():
            rows = self._connection.execute(select(published).where(*self._conditions()).order_by(published.c.name))
            return [
                PublishedFile(
                    row.name,
                    row.url,
                    row.urls,
                    row.bytes,
                    row.sha256,
                    datetime.fromtimestamp(row.modified, UTC),
                    row.first,
                    row.section,
                    row.rules,
                )
                for row in rows
            ]

    def announce(self, files: Iterable[PublishedFile]) -> None:
        """Remember files that are about to be published beside those that were: after a kill they are known as ours."""
        rows = self._rows(files)
        if rows:
            with self._connection.begin():
                self._connection.execute(insert(published), rows)

    def remember(self, files: Iterable[PublishedFile]) -> None:
        """These are the files now, and no others."""
        rows = self._rows(files)
        with self._connection.begin():
            self._connection.execute(delete(published).where(*self._conditions()))
            if rows:
                self._connection.execute(insert(published), rows)

    def _conditions(self) -> list[ColumnElement[bool]]:
        return [published.c[name] == value for name, value in self._where.items()]

    def _rows(self, files: Iterable[PublishedFile]) -> list[dict[str, Any]]:
        return [
            {
                **self._where,
                "name": file.name,
                "url": file.url,
                "urls": file.urls,
                "bytes": file.bytes,
                "sha256": file.sha256,
                "modified": file.modified.timestamp(),
                "first": file.first,
                "section": file.section,
                "rules": file.rules,
            }
            for file in files
        ]


def publications_in(connection: Connection, directory: Path) -> list[Publications]:
    """Those of every entry file in the directory."""
    query = select(published.c.entry).where(published.c.directory == str(directory.absolute())).distinct()
    with connection.begin():
        return [Publications(connection, directory, entry) for entry in connection.scalars(query)]


def published_urls(connection: Connection) -> set[str]:
    """The public URLs of all files that we published, of whatever entry file."""
    with connection.begin():
        return set(connection.scalars(select(published.c.url)))
