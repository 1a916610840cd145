"""Inventories with published pages, for what search engines say of them."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

from sitemap_crawler.inventory.sql import url_key
from tests.support.inventories import connect
from tests.support.made_inventory import INSERT_DECISION, INSERT_OBSERVATION, INSERT_URL, STARTED, make_inventory

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SITE = "https://www.example.com/"
SHA256 = "ab" * 32
PUBLISHED = STARTED + 60
"""Time of the publication."""

DIRECTORY = "/var/www"
FINISH = "UPDATE runs SET finished = ?, outcome = 'published', ended_by = 'finished', options = ?"
INSERT_FILE = (
    "INSERT INTO published (directory, entry, name, url, urls, bytes, sha256, modified, first, section, rules) "
    "VALUES (?, ?, ?, ?, ?, 100, ?, ?, '', ?, '')"
)


def publish_pages(path: Path, urls: Iterable[str], *, site: str = SITE, **options: Any) -> Path:
    """Create an inventory with these pages, numbered from 1, as the published set `sitemap.xml`.

    `options` are those of the crawl.
    """
    make_inventory(path, site)
    rows = [(number, url) for number, url in enumerate(urls, 1)]
    with closing(connect(path)) as connection:
        connection.executemany(INSERT_URL, ((number, url_key(url), url, 1, None) for number, url in rows))
        connection.executemany(INSERT_OBSERVATION, ((number, STARTED, 200, None) for number, _ in rows))
        connection.executemany(INSERT_DECISION, ((number, "listed", "listed", None) for number, _ in rows))
        connection.executemany("INSERT INTO listings (url_id, lastmod) VALUES (?, NULL)", ((n,) for n, _ in rows))
        connection.execute(FINISH, (PUBLISHED, json.dumps({"output": DIRECTORY, **options})))
        entry = (DIRECTORY, "sitemap.xml", "sitemap.xml", f"{site}sitemap.xml", len(rows), SHA256, PUBLISHED, "")
        connection.execute(INSERT_FILE, entry)
        connection.commit()
    return path


def publish_file(path: Path, name: str, urls: int, *, modified: float = PUBLISHED, section: str = "") -> None:
    """Add a file to the published set, or replace it."""
    with closing(connect(path)) as connection:
        connection.execute("DELETE FROM published WHERE name = ?", (name,))
        row = (DIRECTORY, "sitemap.xml", name, f"{SITE}{name}", urls, SHA256, modified, section)
        connection.execute(INSERT_FILE, row)
        connection.commit()
