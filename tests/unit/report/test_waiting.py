"""The shapes of the URLs that wait, and the patterns that exclude them."""

from __future__ import annotations

import shlex

import pytest

from sitemap_crawler.report import waiting
from sitemap_crawler.report.url_groups.exclusion import UrlShape, exclude_pattern
from sitemap_crawler.report.url_groups.groups import UrlGroup
from sitemap_crawler.report.waiting import WaitingCount, shape_lines
from sitemap_crawler.utils.patterns import UserPattern

SITE = "https://www.example.com"


def shapes_of(paths: list[str]) -> list[UrlShape]:
    count = WaitingCount(f"{SITE}/", waiting=len(paths))
    count.add(SITE + path for path in paths)
    return count.shapes()


@pytest.mark.parametrize(
    ("kind", "pattern", "others"),
    [
        ("/issues?sort={0}", "/issues?sort=*", ["/issues", "/issues?sort=1&page=2", "/projects/a/issues?sort=1"]),
        (
            "/projects/p{0}/issues?sort={0}",
            "/projects/*/issues?sort=*",
            ["/issues?sort=1", "/projects/a/b/issues?sort=1"],
        ),
        ("/p{0}/q{0}?x&y={0}", "/*/*?x&y=*", ["/p1?x&y=2", "/p1/q1?x=1&y=2"]),
        ("/{0}/?replytocom={0}", "/*/?replytocom=*", ["/1?replytocom=1", "/1/"]),
        ("/find?action=edit&q={0}", "/find?action=edit&q=*", ["/find?action=show&q=1"]),
        ("/a.b/(c)?d[]={0}+*", "/a.b/(c)?d[]=*", ["/aab/(c)?d[]=1"]),
        ("/tag/t{0}", "/tag/*", ["/tags/1", "/x/tag/1"]),
        ("/tag/t{0}/x/", "/tag/*", ["/tags/1"]),
        ("/a/b/c/d/e/f/g/h/i{0}?x={0}", "/a/b/c/d/e/f/g/h/…?x=*", ["/a/b/c?x=1"]),
        ("/find?" + "&".join(f"p{n}={{0}}" for n in range(12)), None, ["/find?p0=1"]),
        ("/" + 120 * "long" + "?x={0}", "/*?x=*", ["/", "/a/b?x=1"]),
        ("/" + 45 * "long" + "/" + 30 * "name" + "{0}?x={0}", None, ["/"]),
        ("/find?" + 60 * "name" + "={0}", None, ["/find?name=1"]),
    ],
)
def test_the_pattern_matches_urls_of_the_shape_and_no_others(kind: str, pattern: str | None, others: list[str]) -> None:
    paths = [kind.format(number) for number in range(40)]
    shape = shapes_of(paths)[0]
    assert shape.urls == 40
    assert pattern in (None, shape.pattern)
    assert shape.exclude is not None
    excluded = UserPattern(shape.exclude)
    assert all(excluded.found_in(SITE + path) for path in paths)
    assert not any(excluded.found_in(SITE + path) for path in others)
    [line] = shape_lines([shape])
    assert shlex.split(line)[-2:] == ["--exclude", shape.exclude]


def test_archives_of_days() -> None:
    days = [f"/news/{year}/{month:02}/{day:02}/" for year in (2023, 2024) for month in (1, 2) for day in range(10, 20)]
    shape = shapes_of(days)[0]
    assert (shape.pattern, shape.exclude) == (
        "/news/YYYY/MM/DD/", r"^https://www\.example\.com/news/[0-9]{4}/[0-9]{2}/[0-9]{2}/?$",
    )  # fmt: skip


@pytest.mark.parametrize("pattern", ["/*", "/docs/*", "/…?*", "https://*"])
def test_what_would_be_the_whole_site_is_not_excluded(pattern: str) -> None:
    assert exclude_pattern(UrlGroup(pattern, 9, (f"{SITE}/docs/a?b",)), f"{SITE}/docs/") is None


def test_another_host_of_the_domain() -> None:
    group = UrlGroup("https://shop.example.com/*", 9, ("https://shop.example.com/a",))
    assert exclude_pattern(group, f"{SITE}/") == r"^https://shop\.example\.com/"


def test_the_three_largest_shapes_come_first_and_the_rest_last() -> None:
    counts = {"a": 90, "b": 80, "c": 70, "d": 60}
    paths = [f"/{name}?{name}={number}" for name, count in counts.items() for number in range(count)]
    paths += [f"/page{number}" for number in range(300)]
    found = [(shape.pattern, shape.urls) for shape in shapes_of(paths)]
    assert found == [("/a?a=*", 90), ("/b?b=*", 80), ("/c?c=*", 70)]
    assert [shape.exclude for shape in shapes_of(["/a", "/b", "/c"])] == [None]


def test_of_many_urls_a_part_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "MAX_COUNTED", 10)
    count = WaitingCount(f"{SITE}/", waiting=95)
    count.add(f"{SITE}/a?x={number}" for number in range(9))
    assert (count.every, count.shapes()[0].urls) == (10, 90)


def test_lines_of_hostile_urls_are_one_argument() -> None:
    shape = shapes_of([f"/a'$(touch%20x)`b`;?'\"x'={number}" for number in range(9)])[0]
    [line] = shape_lines([shape])
    assert shape.exclude is not None
    assert line.partition(" --exclude ")[2] == shlex.quote(shape.exclude)


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        (0, "2,000 like /find?q=*: --exclude x"),
        (1, "2,000 like /find?q=*; 1 listed page matches, too: --exclude x"),
        (1_500, "2,000 like /find?q=*; 1,500 listed pages match, too: --exclude x"),
    ],
)
def test_the_line_of_a_shape_says_how_many_listed_pages_its_option_matches(listed: int, words: str) -> None:
    example = f"{SITE}/find?q=1"
    assert list(shape_lines([UrlShape("/find?q=*", 2_000, example, [example], "x", listed)])) == [words]
