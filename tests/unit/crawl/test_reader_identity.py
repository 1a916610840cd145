"""Observations stay valid when the modules of the readers move."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from scrapy.settings import Settings

from sitemap_crawler.config.options import Options
from sitemap_crawler.crawl.run import readers_of
from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

SIXTEENTH_READERS = "7056f2d912c8"
"""In inventories of the sixteenth version of the readers, with default options: a stored value, not a computed one."""
WITH_ADDED_WITHOUT_LIKENESS = "f2517eed1479"


def pipelines() -> dict[str, int | None]:
    settings = Settings()
    settings.setmodule("sitemap_crawler.settings")
    return dict(settings.getwithbase("ITEM_PIPELINES"))


def test_observations_of_earlier_inventories_are_still_those_of_todays_readers() -> None:
    assert readers_of(pipelines(), Options(start_url="https://example.com/")) == SIXTEENTH_READERS


def test_added_and_removed_pipelines_are_other_readers() -> None:
    chosen = pipelines()
    likeness = next(path for path in chosen if path.endswith(".LikenessPipeline"))
    options = Options(start_url="https://example.com/")
    assert readers_of({**chosen, "mine.Added": 950, likeness: None}, options) == WITH_ADDED_WITHOUT_LIKENESS


def test_an_option_that_came_later_counts_with_another_value_only() -> None:
    url = "https://example.com/"
    assert readers_of(pipelines(), Options(start_url=url, max_links=50_000)) == SIXTEENTH_READERS
    fewer, more = (readers_of(pipelines(), Options(start_url=url, max_links=number)) for number in (49_999, 50_001))
    assert len({SIXTEENTH_READERS, fewer, more}) == 3


def test_a_pipeline_of_the_same_name_elsewhere_is_another_reader() -> None:
    options = Options(start_url="https://example.com/")
    other = {"mine.ImagesPipeline": 300}
    ours = {next(path for path in pipelines() if path.endswith(".ImagesPipeline")): 300}
    assert readers_of(other, options) != readers_of(ours, options)


def test_a_crawl_stores_the_identifier_of_the_readers(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    assert program.crawl(site.url(), "--state", "state.sqlite").code == 0
    with closing(sqlite3.connect(program.directory / "state.sqlite")) as connection:
        assert connection.execute("SELECT DISTINCT readers FROM observations").fetchall() == [(SIXTEENTH_READERS,)]
