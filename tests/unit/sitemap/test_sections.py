"""Which section a URL belongs to, and which rules there can be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.exceptions import SectionError
from sitemap_crawler.sitemap import sections as module
from sitemap_crawler.sitemap.names import Names
from sitemap_crawler.sitemap.sections import Sections

DOCS = "https://example.com/docs/"


@pytest.mark.parametrize(
    ("rules", "url", "section"),
    [
        ([], "https://example.com/blog/1", ""),
        (["posts=/blog/"], "https://example.com/blog/1", "posts"),
        (["posts=/blog/"], "https://example.com/about", ""),
        # searched in the whole URL, its scheme, host and query included
        (["secure=^https:"], "https://example.com/", "secure"),
        (["shop=[?&]product="], "https://example.com/p?a=1&product=2", "shop"),
        (["posts=^/blog/"], "https://example.com/blog/1", ""),
        # the first that matches, in the order given; a name may stand twice
        (["a=/x", "b=/x/y"], "https://example.com/x/y", "a"),
        (["b=/x/y", "a=/x"], "https://example.com/x/y", "b"),
        (["a=/x", "b=/y", "a=/z"], "https://example.com/z", "a"),
        # the expression may hold another =
        (["shop=id=7"], "https://example.com/?id=7", "shop"),
        (["2024=/2024/"], "https://example.com/2024/", "2024"),
        ([f"{'x' * 40}=/"], "https://example.com/", "x" * 40),
    ],
)
def test_rules(rules: list[str], url: str, section: str) -> None:
    assert Sections.parse(rules).section_of(url) == section


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("blog/x", "blog"),
        ("blog/", "blog"),
        ("blog/2024/05/x", "blog"),
        # directly in the scope's directory
        ("", ""),
        ("x", ""),
        ("x.html?a=/b/", ""),
        ("?next=/b/", ""),
        # names that a file can't have as they are
        ("Blog-Posts/x", "blog-posts"),
        ("my%20blog/x", "my-blog"),
        ("a_b.c~d/x", "a-b-c-d"),
        ("--a--/x", "a"),
        ("caf%C3%A9/x", "caf"),
        ("%FFa/x", "a"),
        ("%2e%2e%2fetc/x", "etc"),
        ("a%00b/x", "a-b"),
        ("%D0%B1/x", ""),
        ("%/x", ""),
        ("/x", ""),
        ("//x", ""),
        ("9/x", "9"),
        (f"{'y' * 39}-z/x", "y" * 39),
        (f"{'y' * 60}/x", "y" * 40),
        # of the program's own files
        ("news/x", ""),
        ("Images/x", ""),
        ("videos/x", ""),
        ("newsletter/x", "newsletter"),
    ],
)
def test_directories(path: str, section: str) -> None:
    sections = Sections.parse([], by_directory=True, prefix=DOCS)
    assert sections.section_of(DOCS + path) == section


@pytest.mark.parametrize(
    "url", ["https://example.com/docs-old/a/b", "https://example.com/a/b", "https://other.example/a/"]
)
def test_what_is_not_below_the_prefix_has_no_directory(url: str) -> None:
    assert Sections.parse([], by_directory=True, prefix=DOCS).section_of(url) == ""


def test_rules_come_before_directories() -> None:
    sections = Sections.parse(["posts=/blog/"], by_directory=True, prefix=DOCS)
    assert [sections.section_of(DOCS + path) for path in ("blog/x", "shop/x", "x")] == ["posts", "shop", ""]


def test_directories_count_only_when_asked_for() -> None:
    assert Sections.parse([], prefix=DOCS).section_of(DOCS + "blog/x") == ""


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("/blog/", "NAME=RE"),
        ("", "NAME=RE"),
        ("=x", "no section name"),
        ("Posts=x", "no section name"),
        ("my posts=x", "no section name"),
        ("a--b=x", "no section name"),
        ("-a=x", "no section name"),
        ("a-=x", "no section name"),
        ("a_b=x", "no section name"),
        ("../a=x", "no section name"),
        ("a\nb=x", "no section name"),
        ("é=x", "no section name"),
        (f"{'x' * 41}=x", "no section name"),
        ("news=x", "reserved"),
        ("images=x", "reserved"),
        ("videos=x", "reserved"),
        ("posts=", "empty regular expression"),
        ("posts=(", "not a regular expression"),
        ("posts=a{99999999999}", "not a regular expression"),
        ("posts=(\n", "not a regular expression"),
    ],
)
def test_bad_rules_give_one_line(rule: str, words: str) -> None:
    with pytest.raises(SectionError, match=words) as caught:
        Sections.parse(["good=x", rule])
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_a_hundred_rules_and_no_more() -> None:
    rules = [f"s{number}=/{number}/" for number in range(101)]
    assert Sections.parse(rules[:100]).section_of("https://example.com/99/") == "s99"
    with pytest.raises(SectionError, match="at most 100"):
        Sections.parse(rules)


def test_the_signature_tells_what_shapes_the_sections() -> None:
    given = [
        Sections.parse([]),
        Sections.parse(["a=x"]),
        Sections.parse(["a=x", "b=y"]),
        Sections.parse(["b=y", "a=x"]),
        Sections.parse(["a=y"]),
        Sections.parse([], by_directory=True, prefix=DOCS),
        Sections.parse([], by_directory=True, prefix="https://example.com/"),
        Sections.parse(["a=x"], by_directory=True, prefix=DOCS),
    ]
    assert len({sections.signature for sections in given}) == len(given)
    assert Sections.parse(["a=x"], prefix=DOCS).signature == Sections.parse(["a=x"]).signature
    assert Sections.parse([], prefix=DOCS).signature == ""


@pytest.mark.parametrize("rules", [[], ["a=x"], ['b=["é\\d]+', "a=x=y"]])
@pytest.mark.parametrize("by_directory", [False, True])
def test_sections_are_made_again_from_their_signature(rules: list[str], by_directory: bool) -> None:
    sections = Sections.parse(rules, by_directory=by_directory, prefix=DOCS)
    assert Sections.from_signature(sections.signature) == sections


@pytest.mark.parametrize("text", ["x", "[]", "7", "[[1], 2]", '[[["news", "x"]], ""]', '{"a": 1}'])
def test_what_is_no_signature(text: str) -> None:
    with pytest.raises(SectionError):
        Sections.from_signature(text)


def test_a_hundred_directories_in_the_order_of_the_urls() -> None:
    sections = Sections.parse(["rule=/099/"], by_directory=True, prefix=DOCS)
    assign = sections.assigner()
    found = {number: assign(f"{DOCS}{number:03}/x") for number in range(150)}
    # The rule's section takes no directory's place, so that of 100 has one.
    assert found == {
        **{number: f"{number:03}" for number in range(101)},
        99: "rule",
        **dict.fromkeys(range(101, 150), ""),
    }
    assert assign(DOCS + "000/y") == "000"
    assert assign(DOCS + "120/y") == ""
    assert assign(DOCS + "y") == ""


def test_published_sections_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_DIRECTORIES", 2)
    sections = Sections.parse(["rule=/r/"], by_directory=True, prefix=DOCS)

    def assigned(directories: str, published: tuple[str, ...]) -> list[str]:
        assign = sections.assigner(published)
        return [assign(f"{DOCS}{letter}/") for letter in directories]

    assert assigned("abc", ()) == ["a", "b", ""]
    # a new one before them takes no place away
    assert assigned("abc", ("", "b", "c", "rule", "images", "news")) == ["", "b", "c"]
    # the place of one that is gone goes to the next
    assert assigned("abc", ("c",)) == ["a", "", "c"]
    assert assigned("abrc", ("", "rule", "news", "videos")) == ["a", "b", "rule", ""]


@given(st.text(max_size=80))
def test_a_directory_gives_a_name_that_a_file_can_have(directory: str) -> None:
    names = Names.for_sitemap(f"{DOCS}map.xml")
    section = Sections.parse([], by_directory=True, prefix=DOCS).section_of(f"{DOCS}{directory}/x")
    assert names.section_and_number(names.shard(3, section)) == (section, 3)
