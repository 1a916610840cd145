"""The program on damaged inventories: the right result, or one line. tests/fuzz/inventories.py has many more cases."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.fuzz.inventories import check_result, damage, places_of, published
from tests.support.inventories import change
from tests.support.webserver import page

if TYPE_CHECKING:
    from tests.support.program import Program
    from tests.support.webserver import WebServer

pytestmark = pytest.mark.slow

PAGES = 24


def made_inventory(program: Program, site: WebServer) -> tuple[Path, frozenset[str]]:
    """Return an inventory of two crawls, in one file, and the pages that the second one has published."""
    site.pages["/"] = page(*(f"/{number}.html" for number in range(PAGES)))
    site.pages |= {f"/{number}.html": page("/", f"/{number + 1}.html") for number in range(PAGES)}
    for _ in range(2):
        assert program.crawl(site.url(), "--state", "base.sqlite").code == 0
    assert not Path(program.directory, "base.sqlite-wal").exists()
    return Path(program.directory, "base.sqlite"), published(program.output)


@pytest.mark.parametrize("seed", range(6))
def test_crawl_and_commands_on_a_damaged_inventory(program: Program, site: WebServer, seed: int) -> None:
    base, expected = made_inventory(program, site)
    assert len(expected) == PAGES + 1
    live = program.output / "sitemap.xml"
    written = live.read_bytes()
    draw = Random(seed)
    path = Path(program.directory, "damaged.sqlite")
    shutil.copy(base, path)
    damage(path, draw)
    places = places_of(path)
    for arguments in (
        ("explain", site.url("/3.html")), ("pages", "--referrers"), ("runs",), ("diff",),
        ("write", "-q"), ("crawl", site.url(), "-q", "--report", "report.json"),
    ):  # fmt: skip
        result = program.run(*arguments, "--state", str(path))
        check_result(arguments, result.code, result.err)
        if places and published(program.output) != expected:
            pytest.fail(f"{arguments} loses {expected ^ published(program.output)}: {places}")
        if result.code and arguments[0] in ("write", "crawl"):
            assert live.read_bytes() == written


def test_a_damaged_url_that_is_due_ends_the_crawl_with_one_line(program: Program, site: WebServer) -> None:
    path, expected = made_inventory(program, site)
    change(path, "UPDATE urls SET url = '[]' WHERE id = 4")
    result = program.run("crawl", site.url(), "-q", "--state", str(path))
    assert result.code == 1
    remedy = "restore a copy, or move it away and crawl again"
    places = "table urls, row 4, column url"
    assert result.err == f"sitemap-crawler: the inventory {path} is damaged ({places}): {remedy}\n"
    assert published(program.output) == expected
