"""`--changefreq` and `--priority`: what is written, and that nothing is unless it is asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from sitemap_crawler.policy.ranking import History, changefreq, priority
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

DAY = 86_400.0
NOW = 1_790_000_000.0
AGES = {"/hours": 3 / 24, "/days": 3, "/weeks": 10, "/months": 100, "/years": 800}
WORDS = {"/hours": "hourly", "/days": "daily", "/weeks": "weekly", "/months": "monthly", "/years": "yearly"}


@pytest.mark.parametrize(
    ("days", "word"),
    [
        (0, "hourly"), (0.99, "hourly"), (1, "daily"), (6.99, "daily"), (7, "weekly"), (29.9, "weekly"),
        (30, "monthly"), (364, "monthly"), (365, "yearly"), (5_000, "yearly"),
    ],
)  # fmt: skip
def test_without_a_history_the_age_counts(days: float, word: str) -> None:
    assert changefreq(NOW - days * DAY, None, now=NOW) == word


@pytest.mark.parametrize(
    ("history", "last_change", "word"),
    [
        (History(NOW - 60 * DAY, NOW, 1), 0, "monthly"),
        (History(NOW - 60 * DAY, NOW, 30), 0, "daily"),
        # A nightly run is seldom a day after the last to the second.
        (History(NOW - DAY + 60, NOW, 1), 0, "daily"),
        (History(NOW - 60 * DAY, NOW, 60 * 24), 0, "hourly"),
        # Daily once, and silent for a year.
        (History(NOW - 460 * DAY, NOW - 400 * DAY, 60), 400, "yearly"),
        # A date that was set back is no interval.
        (History(NOW, NOW - 60 * DAY, 1), 10, "weekly"),
    ],
)
def test_the_interval_between_changes_counts(history: History, last_change: float, word: str) -> None:
    assert changefreq(NOW - last_change * DAY, history, now=NOW) == word


def test_what_is_not_known_is_not_written() -> None:
    assert changefreq(None, None, now=NOW) is None


@pytest.mark.parametrize(
    ("depth", "linking", "expected"),
    [
        (0, 0, "1.0"), (0, 5_000, "1.0"), (1, 1, "0.8"), (1, 9, "0.8"), (1, 10, "0.9"), (1, 100, "1.0"),
        (2, 1, "0.6"), (2, 1_000, "0.9"), (3, 1, "0.5"), (4, 1, "0.4"), (5, 1, "0.3"),
        (60, 0, "0.3"), (65_535, 0, "0.3"),
    ],
)  # fmt: skip
def test_priority_by_depth_and_links(depth: int, linking: int, expected: str) -> None:
    assert priority(depth, linking) == expected


def written(program: Program, site: WebServer, tag: str) -> dict[str, str | None]:
    tree = etree.parse(program.output / "sitemap.xml")
    return {url.findtext("{*}loc").removeprefix(site.url("")): url.findtext(f"{{*}}{tag}") for url in tree.getroot()}


def modified(body: str, days_ago: float) -> Answer:
    moment = datetime.now(UTC) - timedelta(days=days_ago)
    return Answer(body, headers={"Last-Modified": format_datetime(moment, usegmt=True)})


def test_nothing_of_it_by_default(program: Program, site: WebServer) -> None:
    site.pages["/"] = modified(page(), 3)
    assert program.crawl(site.url("/")).code == 0
    content = (program.output / "sitemap.xml").read_bytes()
    assert b"<lastmod>" in content
    assert b"changefreq" not in content
    assert b"priority" not in content


def test_frequency_from_ages_and_then_from_what_runs_saw(program: Program, site: WebServer) -> None:
    site.pages["/"] = page(*AGES)
    site.pages.update({path: modified(page(title=path), days) for path, days in AGES.items()})
    assert program.crawl(site.url("/"), "--state", "s.db", "--changefreq").code == 0
    assert written(program, site, "changefreq") == {"/": None, **WORDS}

    site.pages["/months"] = modified(page(title="another text"), 3 / 24)
    assert program.crawl(site.url("/"), "--state", "s.db", "--changefreq").code == 0
    # About a hundred days between its two versions, though the second one is only hours old.
    assert program.run("write", "--state", "s.db").code == 0
    assert written(program, site, "changefreq") == {"/": None, **WORDS}


def test_priority_counts_clicks_and_pages_that_link(program: Program, site: WebServer) -> None:
    leaves = [f"/leaf-{number}" for number in range(9)]
    site.pages["/"] = page("/hub", "/lonely")
    site.pages["/hub"] = page(*leaves, "/hub")
    site.pages["/lonely"] = page()
    # With the start page these are ten that link to the hub; its link to itself doesn't count.
    site.pages.update({path: page("/hub", "/hub") for path in leaves})
    assert program.crawl(site.url("/"), "--state", "s.db").code == 0
    assert program.run("write", "--state", "s.db", "--priority").code == 0
    expected = {"/": "1.0", "/hub": "0.9", "/lonely": "0.8", **dict.fromkeys(leaves, "0.6")}
    assert written(program, site, "priority") == expected
