"""Traps that a URL shows by itself, and their counts for the report."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.traps.detector import Trap, TrapDetector, trap_evidence
from sitemap_crawler.traps.facets import facets_of
from sitemap_crawler.traps.patterns import endless_pattern, sessions_of
from sitemap_crawler.traps.url_checks import MAX_TALLIED_TRAPS, TRAP, TrapTally, month_of, url_trap

HOST = "https://www.example.com"


NOW = month_of(2024, 6)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/a/a/a/a/", "/a/"),
        ("/docs/en/en/en/en", "/en/"),
        ("/x/a/b/a/b/a/b/y", "/a/b/"),
        ("/a/b/c/d/a/b/c/d/a/b/c/d", "/a/b/c/d/"),
        ("/a/////b", "repeats"),
        ("/0/0/0/0/0/0/0/0/1", "/0/"),
        ("/" + "/".join(f"s{number}" for number in range(41)), "40 segments"),
        ("/list?" + "&".join(["tag=x"] * 9), "tag"),
        ("/list?" + "&".join(f"p{number}=1" for number in range(41)), "40 parameters"),
        ("/events/2026/07/", "calendar"),
        ("/events/2026/7", "calendar"),
        ("/events/2026/07?view=list", "calendar"),
        ("/events/2031/07/14/", "calendar"),
        ("/events/2026-07", "calendar"),
        ("/events/2026-07-01.html", "calendar"),
        ("/cal?date=2031-07-14", "calendar"),
        ("/cal?startDate=20310714&x=1", "calendar"),
        ("/cal?month=203107", "calendar"),
        ("/?style=week&date=2033-W40", "calendar"),
        ("/cal/2026-w31/", "calendar"),
        ("/cal?year=2031&month=7", "calendar"),
        ("/index.php?action=calendar;viewweek;year=2031;month=7;day=1", "calendar"),
        ("/cal?x;month=203107;y", "calendar"),
        ("/list?" + ";".join(["tag=x"] * 9), "tag"),
        ("/cal?month=07&view=m&cal_year=2031", "calendar"),
        ("/cal/0007/01/", "calendar"),
    ],
)
def test_addresses_that_are_traps(path: str, words: str) -> None:
    found = url_trap(HOST + path, month=NOW)
    assert found is not None
    assert found.startswith(TRAP)
    assert words in found


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a/a/a/",
        "/a/a/b/a/a/",
        "/x/a/b/a/b/y",
        "/tiles/5/5/5/5/",
        "/" + "/".join(f"s{number}" for number in range(40)),
        "/list?" + "&".join(["tag=x"] * 8),
        "/index.php?title=Foo&action=history",
        "/viewtopic.php?f=1&t=123&start=15",
        "/events/2026/06/",
        "/events/2024-06-30",
        "/1848/03/15/the-revolution",
        "/2099/",
        "/tag/2099",
        "/blog/road-to-2099-12",
        "/models/rx-2050-10",
        "/2050/99/",
        "/parts/20310714",
        "/lamps/4000W12/",
        "/lamps/4000-W99/",
        "/cal?date=2026-W23",
        "/cal?year=2031",
        "/film?y=2049&m=blade-runner",
        "/cal?date=20319914",
        "/item/6f1ed002-ab5c-4bb1-9e42-0f6c6d8d9a11",
    ],
)
def test_addresses_that_are_none(path: str) -> None:
    assert url_trap(HOST + path, month=NOW) is None


@given(st.text(alphabet="/a0?&=-%y2", max_size=60))
def test_any_address_can_be_looked_at(text: str) -> None:
    url = f"{HOST}/{text}"
    found = url_trap(url, month=NOW)
    assert found is None or found.startswith(TRAP)
    endless_pattern(url)
    sessions_of(url)
    facets_of(url)
    TrapDetector(1, applies=lambda _: True).refusal(url)


def test_the_tally_is_bounded_and_names_examples() -> None:
    tally = TrapTally()
    for number in range(3 * MAX_TALLIED_TRAPS):
        tally.add(f"{HOST}/{number}", f"{TRAP}a path {number}")
    tally.add(f"{HOST}/deep", "5 clicks from the start page, limit 4")
    tally.add(f"{HOST}/late", trap_evidence(Trap.EXHAUSTED, f"{HOST}/late", {}))
    found = list(tally.warnings())
    assert len(found) == MAX_TALLIED_TRAPS + 1
    example, words = found[0]
    assert example == f"{HOST}/{MAX_TALLIED_TRAPS}"
    assert "2,000 URLs like this were left out" in words
    assert "SITEMAP_NO_TRAPS" in words
