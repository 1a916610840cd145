"""The files that we published, by directory: what the next publication may replace and remove."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select

from sitemap_crawler.inventory.schema import published
from sitemap_crawler.sitemap.publish import PublishedFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sqlalchemy import Connection


def published_files(connection: Connection, directory: Path) -> list[PublishedFile]:
    query = select(published).where(published.c.directory == str(directory.absolute())).order_by(published.c.name)
    with connection.begin():
        return [
            PublishedFile(row.name, row.url, row.urls, row.bytes, row.sha256, datetime.fromtimestamp(row.modified, UTC))
            for row in connection.execute(query)
        ]


def announce_published(connection: Connection, directory: Path, files: Iterable[PublishedFile]) -> None:
    """Remember files that are about to be published beside those that were: after a kill they are known as ours."""
    rows = _rows(directory, files)
    if rows:
        with connection.begin():
            connection.execute(insert(published), rows)


def remember_published(connection: Connection, directory: Path, files: Iterable[PublishedFile]) -> None:
    """Replace what is remembered of `directory`."""
    rows = _rows(directory, files)
    with connection.begin():
        connection.execute(delete(published).where(published.c.directory == str(directory.absolute())))
        if rows:
            connection.execute(insert(published), rows)


def _rows(directory: Path, files: Iterable[PublishedFile]) -> list[dict[str, Any]]:
    where = str(directory.absolute())
    return [
        {
            "directory": where,
            "name": file.name,
            "url": file.url,
            "urls": file.urls,
            "bytes": file.bytes,
            "sha256": file.sha256,
            "modified": file.modified.timestamp(),
        }
        for file in files
    ]
