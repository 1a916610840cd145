"""Inventories made without a crawl, for cases that a small site does not show, and to save time."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from sitemap_crawler.inventory.sql import url_key
from tests.support.inventories import connect, open_store

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

STARTED = 1_700_000_000.0  # 2023-11-14T22:13:20+00:00

INSERT_URL = "INSERT INTO urls (id, key, url, state, depth, referrer, first_seen) VALUES (?, ?, ?, 3, ?, ?, 1)"
INSERT_OBSERVATION = (
    "INSERT INTO observations (url_id, run, fetched, status, body_bytes, noindex, nofollow, links) "
    "VALUES (?, 1, ?, ?, 100, false, false, ?)"
)
INSERT_DECISION = "INSERT INTO decisions (url_id, decision, reason, evidence, since) VALUES (?, ?, ?, ?, 1)"


def make_inventory(
    path: Path, start_url: str, *, sitemap_url: str | None = None, ended_by: str | None = "finished"
) -> Path:
    """Create an inventory with one run and no URL."""
    open_store(path).close()
    with closing(connect(path)) as connection:
        connection.execute(
            "INSERT INTO runs (id, requested_url, start_url, sitemap_url, started, ended_by) VALUES (1, ?, ?, ?, ?, ?)",
            (start_url, start_url, sitemap_url or f"{start_url}sitemap.xml", STARTED, ended_by),
        )
        connection.commit()
    return path


def add_pages(path: Path, pages: Iterable[tuple[int, str, int, bytes | None]]) -> None:
    """Add decided pages, each with id, URL, status (200 or a client error) and links, one click from the first page."""
    with closing(connect(path)) as connection:
        for page_id, url, status, links in pages:
            depth, referrer = (0, None) if page_id == 1 else (1, 1)
            connection.execute(INSERT_URL, (page_id, url_key(url), url, depth, referrer))
            connection.execute(INSERT_OBSERVATION, (page_id, STARTED, status, links))
            decision = ("listed", "listed", None) if status == 200 else ("excluded", "client-error", f"status {status}")
            connection.execute(INSERT_DECISION, (page_id, *decision))
        connection.commit()
