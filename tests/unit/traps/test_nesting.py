"""Paths whose names repeat, and how they are learnt."""

from __future__ import annotations

from itertools import product

import pytest

from sitemap_crawler.traps.detector import Trap, TrapDetector
from sitemap_crawler.traps.nesting import repeated_names

HOST = "https://www.example.com"


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/a/b/a", ["a"]),
        ("/a/a/", ["a"]),
        ("/a/b/a/b/c.html?x=/y/y", ["a", "b"]),
        ("/a/b/c/", []),
        ("/2020/01/01/x", []),
        ("/", []),
    ],
)
def test_names_that_a_path_has_twice(path: str, names: list[str]) -> None:
    assert repeated_names(HOST + path) == [f"{HOST}/{name}" for name in names]


def test_paths_that_go_round_are_learnt_by_their_names() -> None:
    paths = ["/".join(names) for size in (3, 4) for names in product(["news", "team", "jobs"], repeat=size)]
    pages = [(f"{HOST}/{path}/", path.rpartition("/")[2].encode(), []) for path in paths]
    traps = everything()
    assert feed(traps, pages) is not None
    traps.apply_learnt()
    for path, trap in {
        "/jobs/news/": None,
        "/jobs/": None,
        "/jobs/x/y/": None,
        "/x/x/x/": None,
        "/jobs/x/jobs/": Trap.NESTING,
        "/news/jobs/team": Trap.NESTING,
    }.items():
        assert traps.refusal(HOST + path) is trap, path
    assert traps.refusal("https://other.example.com/news/jobs/team") is None
    later = everything()
    later.add_known(traps.known)
    assert later.refusal(f"{HOST}/news/jobs/team") is Trap.NESTING


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_paths_that_have_a_name_twice_and_differ_are_none(share: float) -> None:
    pages = [(f"{HOST}/docs/{n}/docs/", b"%d" % (n if n * share % 1 < share else 0), []) for n in range(5_000)]
    traps = everything()
    assert feed(traps, pages) is None


def feed(traps: TrapDetector, pages: list[tuple[str, bytes, list[str]]]) -> int | None:
    """The number of pages after which a trap was learnt."""
    for number, (url, content, links) in enumerate(pages, 1):
        suspect = traps.suspect(url)
        if suspect is not None:
            traps.learn(suspect, content if suspect.needs_content else None, links)
        if traps.learnt:
            return number
    return None


def everything() -> TrapDetector:
    return TrapDetector(5_000, applies=lambda _: True)
