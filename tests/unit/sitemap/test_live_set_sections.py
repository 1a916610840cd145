"""Sets with sections, news and media in files of their own: which files there are, and what rewrites which."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.exceptions import IndexOverflowError, NothingToPublishError
from sitemap_crawler.sitemap.entry import Entry
from sitemap_crawler.sitemap.live_set import publish
from sitemap_crawler.sitemap.news import NewsEntry
from sitemap_crawler.sitemap.sections import Sections
from sitemap_crawler.sitemap.video import Video
from tests.support.publishing import (
    BASE,
    Stopped,
    index,
    listed,
    live,
    on_disk,
    pages,
    parse,
    state,
    stop_at,
    target,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sitemap_crawler.sitemap.records import Publication, PublishedFile

NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
STAMP, LATER = "2024-05-06T07:08:09Z", "2024-05-06T08:08:09Z"


def entries(**sections: str) -> list[Entry]:
    """One page per letter, by its section; `default` is the default one."""
    found = [(letter, name) for name, letters in sections.items() for letter in letters]
    return [Entry(BASE + letter, section="" if name == "default" else name) for letter, name in sorted(found)]


def article(letter: str, published: str = "2024-05-06T07:00:00Z") -> NewsEntry:
    return NewsEntry(BASE + letter, "The Times", "en", published, f"Title {letter}")


def after(previous: Publication, *, hours: int = 1) -> tuple[tuple[PublishedFile, ...], datetime]:
    return previous.files, NOW + hours * HOUR


def test_sections_have_their_own_files_under_one_index(tmp_path: Path) -> None:
    result = publish(entries(default="ag", shop="cf", posts="bde"), target(tmp_path), (), NOW)
    assert live(tmp_path) == {
        "map-1.xml": "ag",
        "map-posts-1.xml": "bd",
        "map-posts-2.xml": "e",
        "map-shop-1.xml": "cf",
    }
    # the default section first, the others by name
    assert list(index(tmp_path / "map.xml")) == ["map-1.xml", "map-posts-1.xml", "map-posts-2.xml", "map-shop-1.xml"]
    assert [(file.name, file.section, file.urls, file.first) for file in result.files] == [
        ("map.xml", "", 0, ""),
        ("map-1.xml", "", 2, BASE + "a"),
        ("map-posts-1.xml", "posts", 2, BASE + "b"),
        ("map-posts-2.xml", "posts", 1, BASE + "e"),
        ("map-shop-1.xml", "shop", 2, BASE + "c"),
    ]
    assert result.listed == 7
    assert on_disk(tmp_path) == {"map.xml", *live(tmp_path)}


def test_one_section_alone_is_an_index_too(tmp_path: Path) -> None:
    publish(entries(posts="a"), target(tmp_path), (), NOW)
    assert live(tmp_path) == {"map-posts-1.xml": "a"}
    publish(entries(default="a"), target(tmp_path / "default"), (), NOW)
    assert live(tmp_path / "default") == {"map.xml": "a"}


def test_compressed_sections(tmp_path: Path) -> None:
    first = publish(entries(default="a", posts="b"), target(tmp_path), (), NOW)
    goal = target(tmp_path, compress=True)
    second = publish(entries(default="a", posts="b"), goal, *after(first), news=[article("b")])
    assert live(tmp_path) == {"map-1.xml.gz": "a", "map-posts-1.xml.gz": "b", "map-news.xml.gz": "b"}
    assert on_disk(tmp_path) == {"map.xml", *live(tmp_path)}
    assert second.removed == ("map-1.xml", "map-posts-1.xml")


def test_the_longest_names_fit_a_file_system(tmp_path: Path) -> None:
    name, section = "x" * 160, "s" * 40
    publish([Entry(BASE + "a", section=section)], target(tmp_path, name=name, compress=True), (), NOW)
    assert on_disk(tmp_path) == {name, f"{name}-{section}-1.xml.gz"}


def test_a_new_post_rewrites_one_shard_of_the_posts_and_the_index(tmp_path: Path) -> None:
    first = publish(entries(default="afk", posts="bcdg", shop="hij"), target(tmp_path), (), NOW)
    before = state(tmp_path)
    second = publish(entries(default="afk", posts="bcdeg", shop="hij"), target(tmp_path), *after(first))
    # d and g had filled their shard
    assert live(tmp_path) == {
        "map-1.xml": "af", "map-2.xml": "k", "map-posts-1.xml": "bc", "map-posts-2.xml": "de", "map-posts-3.xml": "g",
        "map-shop-1.xml": "hi", "map-shop-2.xml": "j",
    }  # fmt: skip
    third = publish(entries(default="afk", posts="bcdefg", shop="hij"), target(tmp_path), *after(second, hours=2))
    assert live(tmp_path)["map-posts-3.xml"] == "fg"
    assert written(third) == {"map.xml", "map-posts-3.xml"}
    now = state(tmp_path)
    untouched = {"map-1.xml", "map-2.xml", "map-posts-1.xml", "map-shop-1.xml", "map-shop-2.xml"}
    assert {name for name in before if before[name] == now[name]} == untouched
    assert index(tmp_path / "map.xml") == dict.fromkeys(untouched, STAMP) | {
        "map-posts-2.xml": LATER,
        "map-posts-3.xml": "2024-05-06T09:08:09Z",
    }


def test_unchanged_sections_are_not_touched(tmp_path: Path) -> None:
    given = entries(default="afk", posts="bcdg", images="bc")
    first = publish(given, target(tmp_path), (), NOW, news=[article("b")], section_signature="r")
    before = state(tmp_path)
    second = publish(given, target(tmp_path), *after(first), news=[article("b")], section_signature="r")
    assert (written(second), second.removed, state(tmp_path)) == (set(), (), before)


def test_small_neighbours_of_different_sections_are_not_joined(tmp_path: Path) -> None:
    goal = target(tmp_path, max_urls=100)
    publish(entries(default="ad", posts="b", shop="c"), goal, (), NOW)
    assert live(tmp_path) == {"map-1.xml": "ad", "map-posts-1.xml": "b", "map-shop-1.xml": "c"}


def test_a_section_that_is_empty_is_removed(tmp_path: Path) -> None:
    first = publish(entries(default="a", posts="bcd"), target(tmp_path), (), NOW)
    second = publish(entries(default="a"), target(tmp_path), *after(first))
    assert (live(tmp_path), on_disk(tmp_path)) == ({"map.xml": "a"}, {"map.xml"})
    assert second.removed == ("map-1.xml", "map-posts-1.xml", "map-posts-2.xml")


def test_a_directory_that_becomes_a_section_takes_its_pages_along(tmp_path: Path) -> None:
    """By the same rules pages only ever go from the default section to a new one."""
    first = publish(entries(default="abcd", posts="x"), target(tmp_path), (), NOW, section_signature="r")
    publish(entries(default="ad", blog="bc"), target(tmp_path), *after(first), section_signature="r")
    assert live(tmp_path) == {"map-1.xml": "a", "map-2.xml": "d", "map-blog-1.xml": "bc"}


# News


def test_news_have_a_file_that_goes_with_them(tmp_path: Path) -> None:
    first = publish(entries(default="ab"), target(tmp_path), (), NOW)
    second = publish(entries(default="ab"), target(tmp_path), *after(first), news=[article("b")])
    assert live(tmp_path) == {"map-1.xml": "ab", "map-news.xml": "b"}
    assert list(index(tmp_path / "map.xml")) == ["map-1.xml", "map-news.xml"]
    assert second.listed == 2
    third = publish(entries(default="ab"), target(tmp_path), *after(second, hours=2))
    assert (live(tmp_path), on_disk(tmp_path)) == ({"map.xml": "ab"}, {"map.xml"})
    assert third.removed == ("map-1.xml", "map-news.xml")


def test_a_news_file_is_removed_when_the_index_names_it_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = publish(entries(default="abc"), target(tmp_path), (), NOW, news=[article("b")])
    named: list[bool] = []
    remove = os.unlink

    def recorded(name: str, *, dir_fd: int) -> None:
        if name == "map-news.xml":
            named.append(name in index(tmp_path / "map.xml"))
        remove(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", recorded)
    publish(entries(default="abc"), target(tmp_path), *after(first))
    assert named == [False]
    assert on_disk(tmp_path) == {"map.xml", "map-1.xml", "map-2.xml"}


def test_news_come_last_in_the_index(tmp_path: Path) -> None:
    publish(entries(posts="a", zebra="b"), target(tmp_path), (), NOW, news=[article("a")])
    assert list(index(tmp_path / "map.xml")) == ["map-posts-1.xml", "map-zebra-1.xml", "map-news.xml"]


def test_bytes_of_a_news_file(tmp_path: Path) -> None:
    publish(entries(default="a"), target(tmp_path), (), NOW, news=[article("a")])
    assert (tmp_path / "map-news.xml").read_text() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">\n'
        "<url><loc>https://example.com/d/a</loc><news:news>"
        "<news:publication><news:name>The Times</news:name><news:language>en</news:language></news:publication>"
        "<news:publication_date>2024-05-06T07:00:00Z</news:publication_date>"
        "<news:title>Title a</news:title></news:news></url>\n"
        "</urlset>\n"
    )


def test_newest_first_across_files_and_by_url_within_one(tmp_path: Path) -> None:
    dates = {
        "a": "2024-05-06T01:00:00Z",
        # the same moment as 00:30 UTC, and midnight
        "b": "2024-05-06T02:30:00+02:00",
        "c": "2024-05-06",
        "d": "2024-05-05T23:59:59Z",
        "e": "2024-05-06T00:45:00Z",
    }
    articles = [article(letter, date) for letter, date in dates.items()]
    publish(entries(default="abcde"), target(tmp_path), (), NOW, news=articles)
    found = {name: found for name, found in live(tmp_path).items() if "news" in name}
    assert found == {"map-news.xml": "ae", "map-news-2.xml": "bc", "map-news-3.xml": "d"}
    assert list(index(tmp_path / "map.xml"))[-3:] == ["map-news.xml", "map-news-2.xml", "map-news-3.xml"]


def test_a_thousand_articles_a_file(tmp_path: Path) -> None:
    articles = [article(f"{number:04}") for number in range(1_001)]
    goal = target(tmp_path, max_urls=50_000, max_bytes=10_000_000)
    result = publish(entries(default="a"), goal, (), NOW, news=articles)
    assert [(file.name, file.urls) for file in result.files] == [
        ("map.xml", 0),
        ("map-1.xml", 1),
        ("map-news.xml", 1_000),
        ("map-news-2.xml", 1),
    ]


def test_max_bytes_holds_for_news(tmp_path: Path) -> None:
    goal = target(tmp_path, max_urls=100, max_bytes=900)
    articles = [article(letter) for letter in "abc"]
    long = NewsEntry(BASE + "d", "The Times", "en", "2024-05-06", "x" * 900)
    result = publish(entries(default="abcd"), goal, (), NOW, news=[*articles, long])
    sizes = [file.bytes for file in result.files if file.section == "news"]
    assert len(sizes) == 2
    assert max(sizes) <= 900
    assert result.omitted_extras == (BASE + "d",)


def test_news_are_asked_for_when_the_pages_have_ended(tmp_path: Path) -> None:
    collected: list[NewsEntry] = []

    def given() -> Iterator[Entry]:
        for entry in entries(default="abcde"):
            collected.append(article(entry.loc[-1]))
            yield entry

    publish(given(), target(tmp_path, max_urls=9), (), NOW, news=collected)
    assert live(tmp_path)["map-news.xml"] == "abcde"


def test_the_news_of_a_page_that_is_left_out_are_left_out(tmp_path: Path) -> None:
    long = BASE + "x" * 3_000
    news = [NewsEntry(long, "The Times", "en", "2024-05-06", "Title"), article("a")]
    result = publish([Entry(BASE + "a"), Entry(long)], target(tmp_path), (), NOW, news=news)
    assert live(tmp_path) == {"map-1.xml": "a", "map-news.xml": "a"}
    assert result.omitted == (long,)


# Images and videos


def test_media_in_files_of_their_own(tmp_path: Path) -> None:
    video = Video("https://cdn.example/t.jpg", "Title", "Words", "https://cdn.example/v.mp4")
    given = [
        Entry(BASE + "a"),
        Entry(BASE + "a", images=("https://cdn.example/1.png",), section="images"),
        Entry(BASE + "b", section="posts"),
        Entry(BASE + "b", images=("https://cdn.example/2.png",), section="images"),
        Entry(BASE + "b", videos=(video,), section="videos"),
    ]
    result = publish(given, target(tmp_path), (), NOW)
    assert live(tmp_path) == {
        "map-1.xml": "a",
        "map-images-1.xml": "ab",
        "map-posts-1.xml": "b",
        "map-videos-1.xml": "b",
    }
    assert (result.listed, result.omitted) == (2, ())
    images = parse(tmp_path / "map-images-1.xml")
    assert [loc.text for loc in images.iter("{*}loc") if "/image" not in loc.tag.partition("}")[2]] == [
        BASE + "a", "https://cdn.example/1.png", BASE + "b", "https://cdn.example/2.png",
    ]  # fmt: skip
    assert [title.text for title in parse(tmp_path / "map-videos-1.xml").iter("{*}title")] == ["Title"]
    assert "image:image" not in (tmp_path / "map-1.xml").read_text()


def test_media_that_fit_no_file_leave_their_page_listed(tmp_path: Path) -> None:
    many = tuple(f"https://cdn.example/{number}.png" for number in range(900))
    given = [Entry(BASE + "a"), Entry(BASE + "a", images=many, section="images")]
    result = publish(given, target(tmp_path, max_bytes=10_000), (), NOW)
    assert (result.omitted, result.omitted_extras, result.listed) == ((), (BASE + "a",), 1)
    assert live(tmp_path) == {"map.xml": "a"}


def test_the_media_of_a_page_that_is_left_out_are_left_out(tmp_path: Path) -> None:
    images = ("https://cdn.example/1.png",)
    large = tuple(f"https://cdn.example/{number}.png" for number in range(900))
    given = [
        Entry(BASE + "a"),
        Entry(BASE + "b", images=large),
        Entry(BASE + "b", images=images, section="images"),
    ]
    result = publish(given, target(tmp_path, max_bytes=10_000), (), NOW)
    assert (result.omitted, result.omitted_extras, live(tmp_path)) == ((BASE + "b",), (), {"map.xml": "a"})
    with pytest.raises(NothingToPublishError):
        publish(given[1:], target(tmp_path / "new", max_bytes=10_000), (), NOW)


# Limits and mistakes


def test_the_limit_of_an_index_holds_for_all_sections_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemap_crawler.sitemap.index.MAX_SITEMAPS", 4)
    given = entries(default="ab", posts="cd")
    goal = target(tmp_path, max_urls=1)
    first = publish(given, goal, (), NOW)
    before = state(tmp_path)
    with pytest.raises(IndexOverflowError, match="at most 4 sitemaps, not 5"):
        publish(given, goal, *after(first), news=[article("a")])
    assert state(tmp_path) == before


@pytest.mark.parametrize("section", ["news", "../x", "Posts", "a b", ".txt"])
def test_what_is_no_section(tmp_path: Path, section: str) -> None:
    with pytest.raises(ValueError, match="no section"):
        publish([Entry(BASE + "a", section=section)], target(tmp_path / "new"), (), NOW)
    assert on_disk(tmp_path / "new") == set()


def test_one_temporary_file_is_open_for_each_section(tmp_path: Path) -> None:
    most = 0

    def given() -> Iterator[Entry]:
        nonlocal most
        for number in range(9_000):
            yield Entry(f"{BASE}{number:04}", section=("", "posts", "shop")[number % 3])
            if number % 100 == 0:
                descriptors = (path.resolve() for path in Path("/proc/self/fd").iterdir() if path.exists())
                most = max(most, sum(path.parent == tmp_path for path in descriptors))

    publish(given(), target(tmp_path, max_urls=300), (), NOW)
    assert most == 3


# Other rules


def assigned(sections: Sections, letters: str) -> list[Entry]:
    return [Entry(BASE + letter, section=sections.section_of(BASE + letter)) for letter in letters]


def test_under_other_rules_no_live_shard_is_replaced(tmp_path: Path) -> None:
    one, two = Sections.parse(["posts=[abc]$"]), Sections.parse(["posts=[def]$"])
    first = publish(assigned(one, "abcdef"), target(tmp_path), (), NOW, section_signature=one.signature)
    assert live(tmp_path) == {"map-1.xml": "de", "map-2.xml": "f", "map-posts-1.xml": "ab", "map-posts-2.xml": "c"}
    second = publish(assigned(two, "abcdef"), target(tmp_path), *after(first), section_signature=two.signature)
    assert live(tmp_path) == {"map-3.xml": "ab", "map-4.xml": "c", "map-posts-3.xml": "de", "map-posts-4.xml": "f"}
    assert sorted(second.removed) == ["map-1.xml", "map-2.xml", "map-posts-1.xml", "map-posts-2.xml"]
    assert {file.rules for file in second.files} == {two.signature}
    # and back, with the numbers that are free again
    third = publish(assigned(one, "abcdef"), target(tmp_path), *after(second), section_signature=one.signature)
    assert live(tmp_path) == {"map-1.xml": "de", "map-2.xml": "f", "map-posts-1.xml": "ab", "map-posts-2.xml": "c"}
    assert on_disk(tmp_path) == {"map.xml", *live(tmp_path)} == {file.name for file in third.files}


def test_a_number_recorded_under_other_rules_is_not_given_again(tmp_path: Path) -> None:
    """After a kill before the old files were removed the record must not say of a new one that it obeys old rules."""
    first = publish(entries(default="x", posts="ab"), target(tmp_path), (), NOW, section_signature="one")
    second = publish(entries(default="x", posts="ab"), target(tmp_path), *after(first), section_signature="two")
    (tmp_path / "map-posts-1.xml").write_text("not removed yet")
    both = {file.name: file for file in (*first.files, *second.files)}
    third = publish(
        entries(default="x", posts="abcd"), target(tmp_path), tuple(both.values()), NOW, section_signature="two"
    )
    assert live(tmp_path) == {"map-2.xml": "x", "map-posts-2.xml": "ab", "map-posts-3.xml": "cd"}
    assert on_disk(tmp_path) == {"map.xml", *live(tmp_path)}
    assert "map-posts-1.xml" in third.removed


RULES = {
    "none": Sections.parse([]),
    "posts": Sections.parse(["posts=[a-d]$"]),
    "others": Sections.parse(["posts=[e-h]$"]),
    "swapped": Sections.parse(["posts=[aceg]$", "shop=[bdf]$"]),
}


class Recorder:
    """Remembers what is published like an inventory does, across kills."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.files: dict[str, PublishedFile] = {}

    def publish(self, rules: str, letters: str, news: str = "") -> None:
        sections = RULES[rules]
        result = publish(
            assigned(sections, letters),
            target(self.directory),
            tuple(self.files.values()),
            NOW,
            announce=self._announce,
            news=[article(letter) for letter in news],
            section_signature=sections.signature,
        )
        self.files = {file.name: file for file in result.files}

    def _announce(self, files: Sequence[PublishedFile]) -> None:
        assert not {file.name for file in files} & self.files.keys()
        self.files |= {file.name: file for file in files}


def locs(directory: Path) -> set[str]:
    return set(listed(directory))


STEPS: Iterable[tuple[tuple[str, str, str], tuple[str, str, str]]] = [
    (("none", "abcdefgh", ""), ("posts", "abcdefgh", "")),
    (("posts", "abcdefgh", "a"), ("others", "abcdefgh", "")),
    (("swapped", "abcdefgh", ""), ("others", "bcdefghi", "bc")),
    (("posts", "abcdefgh", "abc"), ("none", "ab", "")),
    (("none", "ab", ""), ("swapped", "abcde", "")),
    (("posts", "acdegh", "c"), ("posts", "abcdefgh", "bcdef")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), STEPS)
@pytest.mark.parametrize("name", ["replace", "fsync", "unlink"])
@pytest.mark.parametrize("killed", [False, True])
def test_stopped_at_any_step(
    tmp_path: Path, before: tuple[str, str, str], after: tuple[str, str, str], name: str, killed: bool
) -> None:
    """Whatever is the last call and whichever rules come next: no page that stays is missing, no file stays behind."""
    rules_next = [before[0], after[0], "swapped"]
    for number in range(100):
        directory = tmp_path / str(number)
        recorder = Recorder(directory)
        recorder.publish(*before)
        with pytest.MonkeyPatch.context() as patch:
            calls = stop_at(patch, name, number, killed=killed)
            with suppress(Stopped):
                recorder.publish(*after)
        if len(calls) <= number:
            break
        staying = set(before[1]) & set(after[1])
        assert staying <= locs(directory) <= set(before[1]) | set(after[1])
        recorder.publish(rules_next[number % 3], after[1], after[2])
        assert locs(directory) == set(after[1])
        pages_of = {name: found for name, found in live(directory).items() if "-news" not in name}
        assert "".join(sorted("".join(pages_of.values()))) == after[1]
        assert on_disk(directory) == {"map.xml", *live(directory)} == recorder.files.keys()
    else:
        pytest.fail("it never came to an end")
    assert calls or name == "unlink"


def test_a_failure_leaves_sections_as_they_were(tmp_path: Path) -> None:
    first = publish(entries(default="ab", posts="cd"), target(tmp_path), (), NOW, news=[article("c")])
    before = state(tmp_path)

    def failing() -> Iterator[NewsEntry]:
        yield article("a")
        raise Stopped

    with pytest.raises(Stopped):
        publish(entries(default="xy", posts="z"), target(tmp_path), *after(first), news=failing())
    assert state(tmp_path) == before
    assert pages(tmp_path / "map-posts-1.xml") == "cd"
