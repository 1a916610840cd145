"""What the HTML report says of an engine and a sitemap: no file counts as read that the engine has not read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.inventory.engine_answers import EngineAnswers
from sitemap_crawler.inventory.sitemap_answers import SitemapAnswer
from sitemap_crawler.inventory.unlocked import UnlockedInventory
from sitemap_crawler.report.html.engines import read_engines
from tests.support.engine_inventory import PUBLISHED, SITE, publish_pages
from tests.support.inventories import open_inventory, place

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("inventories")

FILE = f"{SITE}sitemap.xml"


def moment(seconds: float) -> datetime:
    """Return a time by the seconds since the publication."""
    return datetime.fromtimestamp(PUBLISHED + seconds, UTC)


@pytest.mark.parametrize(
    ("url", "answer", "asked", "state"),
    [
        (FILE, SitemapAnswer(known=False), 60, "not submitted"),
        (FILE, SitemapAnswer(errors=1, last_downloaded=moment(30)), 60, "errors"),
        (FILE, SitemapAnswer(), 60, "not read yet"),
        (FILE, SitemapAnswer(pending=True, last_downloaded=moment(30)), 60, "not read yet"),
        (FILE, SitemapAnswer(last_downloaded=moment(-30), status="Success"), 60, "not read since the publication"),
        (FILE, SitemapAnswer(last_downloaded=moment(30), status="Success"), 60, "has read what is published"),
        # The engine was asked before the publication, or the file is not published any more.
        (FILE, SitemapAnswer(last_downloaded=moment(-30)), -10, "read"),
        (f"{SITE}old.xml", SitemapAnswer(last_downloaded=moment(-30), status="Success"), 60, "Success"),
    ],
)
def test_the_state_of_a_sitemap(tmp_path: Path, url: str, answer: SitemapAnswer, asked: float, state: str) -> None:
    path = publish_pages(tmp_path / "a.sqlite", [SITE])
    with UnlockedInventory(place(path)) as inventory:
        EngineAnswers(inventory).keep_sitemap("google", SITE, url, answer, {}, moment(asked))
    with open_inventory(path) as inventory:
        found = read_engines(inventory.connection, None)
    assert found is not None
    assert [sitemap.state for sitemap in found.sitemaps] == [state]
